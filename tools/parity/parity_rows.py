# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows of `tools/parity`: what was compared, and whether the suite and the authors' code agree.

The rows of a benchmark are stored as one JSON file with the command, the versions of both sides and
the date; `tools/make_parity_page.py` makes docs/parity.md of these files.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import math
import pathlib
import statistics
from typing import Any, NamedTuple

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results" / "parity"
EQUAL, AGREES, KNOWN, DIFFERS = "equal", "agrees", "differs, explained", "DIFFERS"


class Row(NamedTuple):
  """One comparison on the same inputs.

  Attributes:
    what: the quantity that is compared.
    inputs: the inputs and their number.
    theirs, ours: the values, as they are to be printed.
    difference: a distance of the two, 0 or more; its meaning is `measure`.
    measure: name of the distance.
    allowed: largest difference at which both agree.
    reason: why the difference may be larger: a defect of the reference or a choice of the suite,
      by name. Without one, a larger difference is a failure.
    least: with a `reason`, the smallest difference for which it holds; a smaller one would mean
      that the explanation is out of date.
  """

  what: str
  inputs: str
  theirs: str
  ours: str
  difference: float
  measure: str
  allowed: float = 0.0
  reason: str = ""
  least: float = 0.0

  @property
  def verdict(self) -> str:
    """One of EQUAL, AGREES, KNOWN and DIFFERS."""
    if math.isnan(self.difference) or self.difference < 0:
      return DIFFERS
    if self.reason:
      return KNOWN if self.difference > max(self.allowed, self.least) else DIFFERS
    if self.difference > self.allowed:
      return DIFFERS
    return AGREES if self.difference else EQUAL

  def line(self) -> str:
    """Renders the row for a terminal."""
    text = (f"{self.verdict:18s}  {self.what}\n{'':20s}{self.inputs}; theirs {self.theirs}, ours "
            f"{self.ours}; {self.measure} {self.difference:.3g} (allowed {self.allowed:.3g})")
    return f"{text}\n{'':20s}{self.reason}" if self.reason else text


def within_seeds(what: str, inputs: str, theirs: Sequence[float], ours: Sequence[float], *,
                 least: float = 0.002, reason: str = "") -> Row:
  """A row that compares means over seeds, which agree within three standard errors.

  Args:
    what, inputs: as of a row.
    theirs, ours: one value a seed, 2 at least.
    least: smallest allowed difference, where the seeds hardly differ.
    reason: as of a row.
  """
  error = math.sqrt(sum(statistics.variance(values) / len(values) for values in (theirs, ours)))
  return Row(what, f"{inputs}; {len(theirs)} and {len(ours)} seeds", _spread(theirs), _spread(ours),
             abs(statistics.mean(theirs) - statistics.mean(ours)), "difference of the means",
             max(least, 3 * error), reason)


def _spread(values: Sequence[float]) -> str:
  return f"{statistics.mean(values):.4f} ± {statistics.stdev(values):.4f}"


class Result(NamedTuple):
  """All rows of a benchmark, and how they were made.

  Attributes:
    title: the benchmark, for the page.
    command: with CODE for the checkout and PYTHON for the environment of the authors' code.
    code: the repository's address and commit.
    date: of the run.
    versions: by side ("here", "there") and package.
    rows: the comparisons.
  """

  title: str
  command: str
  code: str
  date: str
  versions: dict[str, dict[str, str]]
  rows: tuple[Row, ...]

  def failed(self) -> list[Row]:
    return [row for row in self.rows if row.verdict == DIFFERS]


def store(result: Result, path: pathlib.Path) -> None:
  """Writes a result as JSON, with the verdicts for readers of the file."""
  rows = [{**row._asdict(), "verdict": row.verdict} for row in result.rows]
  found: dict[str, Any] = {**result._asdict(), "rows": rows}
  path.parent.mkdir(parents=True, exist_ok=True)
  path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def load(path: pathlib.Path) -> Result:
  """Reads a stored result; raises ValueError if a stored verdict does not follow from its row."""
  found = json.loads(path.read_text(encoding="utf-8"))
  rows = []
  for values in found.pop("rows"):
    verdict = values.pop("verdict")
    row = Row(**values)
    if row.verdict != verdict:
      raise ValueError(f"{path}: the verdict of {row.what!r} is {verdict!r}, but its numbers give "
                       f"{row.verdict!r}. Run the comparison again instead of editing the file.")
    rows.append(row)
  return Result(**found, rows=tuple(rows))
