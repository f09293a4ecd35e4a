# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of tested differences: intervals, ranks and groups of methods, and p-values of all pairs.

docs/statistics.md says what is tested and what may be concluded.
"""

from __future__ import annotations

import math
import pathlib

from suite.contracts import descriptions
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_answers
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import table_dir

MARK = "*"
MARK_NOTE = (f"{MARK} in the group of the best: no method of the column is better beyond chance "
             "(5% for all pairs of a column together).")
_FEW_SEEDS = 5
_LEAST = 0.0001


def mark(tested: run_answers.Tested | None, name: str) -> str:
  """The mark of a method in the group of the best, "" for others and where nothing was tested."""
  return MARK if tested is not None and name in tested.best else ""


def of_table(table: table_dir.TableDir) -> list[panels.Panel]:
  """Builds the panels of each column and measure of a table as in a paper; its rows are methods."""
  folders = [folder for row, column in table.pairs() for seed in table.seeds
             if table_dir.is_finished(folder := table.cell(row, column, seed))]
  by_cell: dict[tuple[pathlib.Path, str], list[run_dir.Run]] = {}
  for run in run_dir.load(folders) if folders else ():
    by_cell.setdefault((run.folder.parents[1], run.folder.name), []).append(run)
  found = []
  for column in table.columns:
    learners = {}
    for row in table.rows:
      home = table.cell(row, column, "").resolve()
      names = [name for folder, name in by_cell if folder == home]
      learners.update({row if len(names) == 1 else f"{row} {name}": run_streams.LearnerRuns(
          row, by_cell[home, name]) for name in names})
    runs = [run for learner in learners.values() for run in learner.runs]
    for key, heading in table.measures.items() if len(learners) > 1 else ():
      tested = run_answers.test(learners, runs[0].description.measure(key))
      if tested:
        found += build(tested, f"{table.title}: {column} {heading}",
                       f"{table_dir.folder_name(column)}_{key}".lower())
  return found


def build(tested: run_answers.Tested, title: str, suffix: str = "") -> list[panels.Panel]:
  """Builds the panel of methods and that of pairs.

  Args:
    tested: of the methods.
    title: of the score.
    suffix: of the panels' names, where a section has several.
  """
  name = f"_{suffix}" if suffix else ""
  return [_methods(tested, title, f"significance{name}"), _pairs(tested, title, f"pairs{name}")]


def _methods(tested: run_answers.Tested, title: str, name: str) -> panels.Panel:
  found, order = tested.comparison, tested.order
  first = order[0]
  rows = []
  for i in order:
    parts = found.parts[i]
    rows.append([
        tested.names[i], parts.num_seeds,
        quantities.Quantity(parts.mean, quantities.PERCENT, note=mark(tested, tested.names[i])),
        panels.plain(found.half_widths[i]), panels.plain(_root(parts.seeds)), _root(parts.units),
        *tested.ranks[i], tested.groups[i],
        *([None, None, _nothing(), _nothing()] if i == first else
          [found.difference[i, first], panels.plain(found.margin[i, first]),
           _p_value(found.p_value[i, first]),
           quantities.words(f"{found.seeds_apart[i, first]}/{found.num_seeds[i, first]}")])])
  best = tested.names[first]
  return panels.Panel(
      name, f"{title}, tested", [
          panels.Column("method"), panels.Column("seeds", panels.COUNT),
          panels.Column("score", panels.MIXED), panels.Column("± 95%", panels.PERCENT),
          panels.Column("error by seeds", panels.PERCENT),
          panels.Column("error by images", panels.PERCENT),
          panels.Column("rank from", panels.COUNT), panels.Column("rank to", panels.COUNT),
          panels.Column("groups"), panels.Column("minus the first", panels.PERCENT),
          panels.Column("± 95% of it", panels.PERCENT), panels.Column("p, Holm", panels.MIXED),
          panels.Column("seeds apart", panels.MIXED)],
      rows, _notes(tested, best), best=frozenset(
          (k, 2) for k, i in enumerate(order) if tested.names[i] in tested.best))


def _notes(tested: run_answers.Tested, best: str) -> list[str]:
  notes = [
      f"{MARK} and rank from 1: in the group of the best, no method is better beyond chance. No "
      "two methods that share a letter differ beyond chance. Both hold for all pairs at once at 5% "
      "(Holm).",
      "Errors are standard errors of the mean: by seeds of training, and by the "
      f"{tested.num_units:,} test images or episodes. \"Minus the first\": against {best}. Seeds "
      "apart: within how many seeds the two models differ by McNemar's test, or a z-test of "
      "weighted images; that is of these models, not of the methods."]
  fewest = min(parts.num_seeds for parts in tested.comparison.parts)
  if fewest < 2:
    notes.append("One seed: intervals and p-values are of the test images alone, and say nothing "
                 "of other seeds of training.")
  elif fewest < _FEW_SEEDS:
    notes.append(f"{fewest} seeds: where training differs from seed to seed, only large "
                 f"differences can be shown; {_FEW_SEEDS} to 10 seeds show smaller ones.")
  return notes + [f"Not compared: {name}: {why}." for name, why in tested.left_out.items()]


def _pairs(tested: run_answers.Tested, title: str, name: str) -> panels.Panel:
  """p-values of all pairs, methods in the order of their scores."""
  order = tested.order
  lower = tested.measure.better == descriptions.LOWER
  rows = [[tested.names[i], *(
      _nothing() if i == j else _p_value(tested.comparison.p_value[i, j]) for j in order)]
          for i in order]
  return panels.Panel(
      name, f"{title}, p-values of all pairs", [
          panels.Column("method"),
          *(panels.Column(tested.names[i], panels.MIXED) for i in order)], rows,
      ["Two-sided, corrected by Holm over all pairs; methods from the "
       f"{'lowest' if lower else 'highest'} score on."])


def _p_value(value: float) -> quantities.Quantity:
  return quantities.Quantity(
      panels.plain(value), quantities.NUMBER,
      printed=f"< {_LEAST}" if value < _LEAST else None)


def _nothing() -> quantities.Quantity:
  return quantities.words(quantities.NOTHING)


def _root(variance: float) -> float:
  return math.sqrt(variance) if variance == variance else math.nan

