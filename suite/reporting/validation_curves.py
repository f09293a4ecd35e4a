# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Validation accuracy along the meta-training of a table's cells: who is still rising."""

from __future__ import annotations

from collections.abc import Sequence
import pathlib
from typing import NamedTuple

import numpy as np

from suite.contracts import descriptions
from suite.reporting import charts
from suite.reporting import quantities
from suite.reporting import records as records_lib
from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting import text_table

_FEWEST = 4  # Validations; the halves of a shorter curve have one point each.
_RISING = 1.0  # Points of percent in the second half of meta-training.


class Curve(NamedTuple):
  """Means over the finished seeds of a cell.

  Attributes:
    row, column: of the table; with several learners in a run the row has the learner's name.
    flops: of meta-training up to each validation, without those of validations.
    accuracies: in percent.
    seeds: number of seeds.
  """

  row: str
  column: str
  flops: Sequence[float]
  accuracies: Sequence[float]
  seeds: int

  @property
  def gain(self) -> float:
    """Gain over the second half of meta-training, in points of percent."""
    return self.accuracies[-1] - self.accuracies[len(self.accuracies) // 2 - 1]


def read(table: table_dir.TableDir) -> list[Curve]:
  """Reads the curves of all cells with at least four validations, row by row."""
  found = []
  for row in table.rows:
    learners = table.learners(row)
    for learner in learners:
      for column in table.columns:
        folders = [table.cell(row, column, seed) / learner for seed in table.seeds]
        runs = [points for folder in folders if (points := _points(folder))]
        if runs and len(runs[0]) >= _FEWEST and len({len(run) for run in runs}) == 1:
          flops, accuracies = np.mean(np.array(runs, dtype=float), axis=0).T
          label = f"{row} {learner}" if len(learners) > 1 else row
          found.append(Curve(label, column, flops.tolist(), (100 * accuracies).tolist(), len(runs)))
  return found


def _points(folder: pathlib.Path) -> list[tuple[float, float]]:
  """(FLOPs, accuracy) of the validations of a finished run; [] if its protocol has none."""
  summary, path = runs_lib.read_json(folder / runs_lib.SUMMARY), folder / runs_lib.RECORDS
  if not summary or not path.exists():
    return []
  about = runs_lib.description(folder) or descriptions.named(str(summary.get("protocol")))
  if descriptions.VALIDATIONS not in about.panels:
    return []
  return [(r["flops_meta_train"], r["validation_accuracy"]) for r in records_lib.read(path)
          if r.get("flops_meta_train") and r.get("validation_accuracy") is not None]


def build(table: table_dir.TableDir) -> list[text_table.TextTable]:
  """Builds the table of gains over the second half of meta-training; [] if there are no curves."""
  by_cell = {(curve.row, curve.column): curve for curve in read(table)}
  if not by_cell:
    return []
  columns = [c for c in table.columns if any(c == column for _, column in by_cell)]
  rows: list[list[str]] = []
  best: set[tuple[int, int]] = set()
  for row in dict.fromkeys(row for row, _ in by_cell):
    cells = [row]
    for column in columns:
      curve = by_cell.get((row, column))
      if curve is not None and curve.gain >= _RISING:
        best.add((len(rows), len(cells)))
      cells.append(quantities.NOTHING if curve is None else f"{curve.gain:+.2f}")
    rows.append(cells)
  return [text_table.TextTable(
      title=f"{table.title}: validation accuracy, gain over the second half of meta-training",
      header=["", *columns], rows=rows, best=frozenset(best), notes=[
          f"In points of percent, means over seeds. Bold: at least {_RISING:g}, so that the budget "
          "leaves the learner under-trained."])]


def plots(table: table_dir.TableDir) -> dict[str, charts.Plot]:
  """Returns validation accuracy against FLOPs of meta-training, a plot a column; {} if none."""
  curves = read(table)
  rows = list(dict.fromkeys(curve.row for curve in curves))
  found = {}
  for column in table.columns:
    own = {curve.row: curve for curve in curves if curve.column == column}
    if own:
      # A row without a curve keeps its color and its place in the legend.
      found[column] = charts.Plot("FLOPs of meta-training", "Validation accuracy", [
          charts.Series(row, own[row].flops if row in own else [],
                        own[row].accuracies if row in own else []) for row in rows],
          log_x=True, y_unit="%")
  return found
