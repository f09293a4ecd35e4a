# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite run RUN --dry_run`: what a run will cost, from its events and the counted costs of steps.

FLOPs are those that the run's ledger will have: counted graphs times planned steps. Hours divide
them by the rate of a step that is measured on this machine, in each phase the step of most FLOPs;
reading and decoding images is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import resource
from typing import Any

from absl import logging

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.contracts import planning
from suite.reporting import quantities
from suite.reporting import text_table
from suite.training.planning import network_costs

_MAX_NAMED = 12  # Data sets that are missing.
_MAX_SECONDS = 10


def report(protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], seed: int,
           distribution: distribution_lib.Distribution) -> str:
  """The costs of a run by learner, as text; arguments as of `experiment.run`.

  Raises:
    NoEstimateError: no learner of the run, or not its protocol, can say what it will cost.
  """
  plans: dict[str, planning.PlannedRun] = {}
  refused: dict[str, str] = {}
  shared: dict[Any, Any] = {}
  for name, make in learners.items():
    plan = planning.PlannedRun(name, seed=seed, distribution=distribution, shared=shared,
                                planned_before=list(plans))
    try:
      logging.info("%s: counting the costs of its steps", name)
      protocol(make(), state=plan)
      plans[name] = plan
    except planning.NoEstimateError as error:
      refused[name] = str(error)
  if not plans:
    raise planning.NoEstimateError("There is no estimate: " + "; ".join(
        f"{name}: {reason}" for name, reason in refused.items()))
  rates = measured_rates(plans.values())
  lines = [_costs(plans, rates).text(), *_rates(rates, distribution)]
  lines += _memory(plans, distribution)
  lines += [f"{name}: no estimate, {reason}" for name, reason in refused.items()]
  return "\n".join([*lines, *_data(next(iter(plans.values())).facts)])


class Rate:
  """A measured rate: FLOPs a second, and of what.

  Attributes:
    flops_per_second: the rate.
    probe: the step that was measured, or a smaller one if it would take more than `_MAX_SECONDS`.
    seconds: of the step.
  """

  def __init__(self, probe: planning.Probe):
    if probe.smaller is not None:
      smaller = Rate(probe.smaller)
      if probe.flops / smaller.flops_per_second > _MAX_SECONDS:
        probe = probe.smaller
    self.probe, self.seconds = probe, network_costs.seconds_of(probe.run)
    self.flops_per_second: float = probe.flops / self.seconds


def measured_rates(plans: Any) -> dict[str, Rate]:
  """By phase: the rate of the step of most FLOPs of all learners; each is measured once."""
  largest: dict[str, planning.Probe] = {}
  for plan in plans:
    for phase, probe in plan.probes.items():
      if phase not in largest or probe.flops > largest[phase].flops:
        largest[phase] = probe
  by_step: dict[str, Rate] = {}
  rates = {}
  for phase, probe in largest.items():
    if probe.what not in by_step:
      logging.info("Measuring %s", probe.what)
      by_step[probe.what] = Rate(probe)
    rates[phase] = by_step[probe.what]
  return rates


def hours(totals: Mapping[str, Any], rates: Mapping[str, Rate]) -> float | None:
  """Hours of the planned FLOPs; None if some are unknown.

  Phases without a measured step of their own only predict, or train.
  """
  other = rates.get("predict") or next(iter(rates.values()), None)
  seconds = 0.0
  for phase in ledger_lib.PHASES:
    amount = totals.get(f"flops_{phase}", 0)
    rate = rates.get(phase, other)
    if amount is None or (amount and rate is None):
      return None
    seconds += amount / rate.flops_per_second if amount and rate is not None else 0.0
  return seconds / 3600


def _costs(plans: Mapping[str, planning.PlannedRun], rates: Mapping[str, Rate]
           ) -> text_table.TextTable:
  totals = {name: plan.ledger.totals() for name, plan in plans.items()}
  phases = [phase for phase in ledger_lib.PHASES
            if any(f"flops_{phase}" in found for found in totals.values())]
  facts = next(iter(plans.values())).facts
  rows = []
  for name, found in totals.items():
    plan, took = plans[name], hours(found, rates)
    rows.append([name, f"{plan.num_events:,}", f"{found['steps']:,}",
                 *(_flops(found.get(f"flops_{phase}", 0)) for phase in phases),
                 _flops(found["flops"]),
                 quantities.duration(None if took is None else 3600 * took),
                 quantities.si(plan.stored_bytes + plan.scratch_bytes, "B"),
                 quantities.si(plan.memory_bytes, "B")])
  return text_table.TextTable(
      f"Dry run of {facts.get('stream', 'the run')}: {facts.get('num_tasks', '?')} tasks",
      ["learner", "events", "steps", *phases, "in all", "time", "disk", "weights"], rows)


def _flops(amount: int | None) -> str:
  return quantities.NOTHING if amount == 0 else quantities.si(amount, "FLOP")


def _rates(rates: Mapping[str, Rate], distribution: distribution_lib.Distribution) -> list[str]:
  """What time, disk and weights mean."""
  lines = [f"time: at the rates measured on {distribution.describe()}, without input pipelines:"]
  for phase, rate in rates.items():
    lines.append(f"  {phase}: {quantities.si(rate.flops_per_second, 'FLOP/s')} in "
                 f"{rate.probe.what} ({1000 * rate.seconds:,.3g} ms each)")
  return [*lines, "disk: weights of all tasks, and the most that one event keeps beside them; "
          "predictions and records come on top.",
          "weights: memory of weights, gradients and optimizer."]


def _memory(plans: Mapping[str, planning.PlannedRun],
            distribution: distribution_lib.Distribution) -> list[str]:
  peak = distribution.peak_bytes()
  where = "the device's memory"
  if peak is None:
    peak, where = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "this process"
  data = [plan.data_bytes for plan in plans.values()]
  most = None if any(size is None for size in data) else max(size or 0 for size in data)
  return [f"memory: {quantities.si(peak, 'B')} of {where} after these steps, and "
          f"images of two tasks, {quantities.si(most, 'B')} at most as pixels."]


def _data(facts: Mapping[str, Any]) -> list[str]:
  """What data is missing, and which sizes are therefore estimated."""
  lines = []
  missing, estimated = facts.get("missing", []), facts.get("estimated", [])
  if facts.get("left_out"):
    lines.append(f"left out: {', '.join(facts['left_out'])}.")
  if estimated:
    lines.append(f"{len(estimated)} tasks have sizes estimated from the paper's, since their data "
                 "is not prepared; batch sizes and validations depend on them.")
  if not missing:
    return [*lines, "data: all of it is prepared."]
  lines.append(f"data: {len(missing)} data sets are not prepared (suite data doctor):")
  for dataset, reason, command in missing[:_MAX_NAMED]:
    lines.append(f"  {dataset}: {reason}{' Run: ' + command if command else ''}")
  if len(missing) > _MAX_NAMED:
    lines.append(f"  and {len(missing) - _MAX_NAMED} more: "
                 + ", ".join(dataset for dataset, _, _ in missing[_MAX_NAMED:]))
  return lines
