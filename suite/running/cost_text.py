# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What `suite run --dry_run` prints: the planned costs of a run, or of a table of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suite.compute import ledger as ledger_lib
from suite.reporting import quantities
from suite.reporting import text_table

_MAX_NAMED = 12  # Data sets that are missing.
_HEADER = ("in all", "time", "disk", "weights")
_MEANING = (
    "disk: of a run directory; of NEVIS'22's learners the weights of all tasks and the most that "
    "one event keeps beside them, to which predictions and records come.",
    "weights: memory of weights and optimizer, in NEVIS'22 with gradients.")


def of_run(facts: Mapping[str, Any]) -> str:
  """The text of a run.

  Args:
    facts: "learners": {name: {"events", "totals" (of a ledger), "seconds", "disk_bytes",
      "memory_bytes", "notes"}}; "refused": {name: reason}; "missing": {data set: (reason,
      command)}; "estimated", "left_out": names; "rates": lines; "stream", "machine", "peak_of":
      text; "peak_bytes", "data_bytes".
  """
  learners = facts["learners"]
  phases = phases_of([one["totals"] for one in learners.values()])
  rows = [[name, f"{one['events']:,}", f"{one['totals']['steps']:,}",
           *costs(one["totals"], phases), *rest(one)] for name, one in learners.items()]
  table = text_table.TextTable(
      f"Dry run of {facts['stream']}", ["learner", "events", "steps", *phases, *_HEADER], rows)
  lines = [table.text(), *times(facts), *_MEANING]
  lines.append(f"memory: {quantities.si(facts['peak_bytes'], 'B')} of {facts['peak_of']} after "
               "these steps" + (f", and images of two tasks, "
                                f"{quantities.si(facts['data_bytes'], 'B')} at most as pixels."
                                if facts["data_bytes"] != 0 else "."))
  lines += [f"{name}: {note}." for name, one in learners.items() for note in one["notes"]]
  lines += [f"{name}: no estimate, {reason}" for name, reason in facts["refused"].items()]
  return "\n".join([*lines, *data(facts)])


def times(facts: Mapping[str, Any]) -> list[str]:
  """What time means."""
  if facts["rates"]:
    return [f"time: of all FLOPs at these rates ({facts['machine']}), without input pipelines:",
            *(f"  {line}" for line in facts["rates"])]
  return [f"time: of all events on {facts['machine']}, a step of each kind having been measured."]


def phases_of(totals: Sequence[Mapping[str, Any]]) -> list[str]:
  """The phases in which something was charged."""
  return [phase for phase in ledger_lib.PHASES
          if any(f"flops_{phase}" in found for found in totals)]


def costs(totals: Mapping[str, Any], phases: Sequence[str]) -> list[str]:
  """FLOPs by phase."""
  return [flops(totals.get(f"flops_{phase}", 0)) for phase in phases]


def rest(one: Mapping[str, Any]) -> list[str]:
  """FLOPs in all, time, disk and memory."""
  return [flops(one["totals"]["flops"]), quantities.duration(one["seconds"]),
          quantities.si(one["disk_bytes"], "B"), quantities.si(one["memory_bytes"], "B")]


def flops(amount: int | None) -> str:
  """FLOPs, "-" for 0."""
  return quantities.NOTHING if amount == 0 else quantities.si(amount, "FLOP")


def data(facts: Mapping[str, Any]) -> list[str]:
  """What data is missing, and which sizes are therefore estimated."""
  lines, missing, estimated = [], facts["missing"], facts["estimated"]
  if facts["left_out"]:
    lines.append(f"left out: {', '.join(facts['left_out'])}.")
  if estimated:
    lines.append(f"{len(estimated)} tasks or data sets have sizes estimated from what is "
                 "published, since their data is not prepared; batch sizes and validations depend "
                 "on them.")
  if not missing:
    return [*lines, "data: all of it is prepared."]
  lines.append(f"data: {len(missing)} data sets are not prepared (suite data doctor):")
  for dataset, (reason, command) in list(missing.items())[:_MAX_NAMED]:
    lines.append(f"  {dataset}: {reason}{' Run: ' + command if command else ''}")
  if len(missing) > _MAX_NAMED:
    lines.append(f"  and {len(missing) - _MAX_NAMED} more: "
                 + ", ".join(list(missing)[_MAX_NAMED:]))
  return lines
