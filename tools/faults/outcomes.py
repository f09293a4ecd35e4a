# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a fault came to, and the table of all of them."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

SURVIVED = "survived"  # The results are those of an undisturbed run.
REFUSED = "refused"  # One line says what is wrong; what was there is as before.
LOST = "lost"  # Finished work is gone.
SILENT = "silent"  # Other results, and nothing says so.
TRACEBACK = "traceback"  # In place of one line; a crash and a hang are counted here, too.
ALL = (SURVIVED, REFUSED, LOST, SILENT, TRACEBACK)
BAD = (LOST, SILENT, TRACEBACK)


class Fault(NamedTuple):
  """One fault.

  Attributes:
    kind: of the table's rows.
    what: what was done, so that it can be done again.
    outcome: one of `ALL`.
    said: the message, if one was printed.
  """

  kind: str
  what: str
  outcome: str
  said: str = ""


def table(faults: list[Fault]) -> str:
  """The table by kind, as markdown."""
  counts: dict[str, collections.Counter] = {}
  for fault in faults:
    counts.setdefault(fault.kind, collections.Counter())[fault.outcome] += 1
  lines = ["| fault | tried | " + " | ".join(ALL) + " |", "|---|" + "---:|" * (1 + len(ALL))]
  for kind, found in [*counts.items(), ("all", collections.Counter(f.outcome for f in faults))]:
    cells = " | ".join(str(found[outcome]) for outcome in ALL)
    lines.append(f"| {kind} | {sum(found.values())} | {cells} |")
  return "\n".join(lines) + "\n"


def last_line(output: str) -> str:
  """The message of a command that failed: what begins with "suite", to the end of that line."""
  lines = [line for line in output.splitlines() if line.startswith("suite")]
  return lines[-1] if lines else ""


def of_failure(done: Any) -> str:
  """The outcome of a command (`forked.Result`) that did not end with 0: REFUSED or TRACEBACK."""
  return REFUSED if done.code in (1, 2) and is_one_line(done.output) else TRACEBACK


def is_one_line(output: str) -> bool:
  """Whether a failed command said what is wrong, and printed no traceback."""
  return bool(last_line(output)) and "Traceback (most recent call last)" not in output
