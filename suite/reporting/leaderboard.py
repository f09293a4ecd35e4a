# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A leaderboard: a table whose rows are methods and whose columns are protocols, each with a score.

Scores of different protocols are never averaged, only ranks are. Costs are all FLOPs of a run,
answers included: in episodes and sequences methods learn while they answer.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
import dataclasses
from typing import Any

from suite.contracts import descriptions
from suite.metrics import rankings
from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import table_dir

Cells = Mapping[str, run_streams.LearnerRuns]


@dataclasses.dataclass(frozen=True)
class Ranked:
  """One column.

  Attributes:
    name: of the column.
    measure: the score, as the protocol describes it.
    cells: the runs by row; a row without one is refused or has not begun.
    streams: titles of the streams of the finished runs; several are not ranked.
  """

  name: str
  measure: descriptions.Measure
  cells: Cells
  streams: Sequence[str]

  @property
  def lower_is_better(self) -> bool:
    return self.measure.better == descriptions.LOWER

  @property
  def heading(self) -> str:
    return f"{self.name} {self.measure_text}"

  @property
  def measure_text(self) -> str:
    return self.measure.key.replace("_", " ")

  def spread(self, row: str) -> stream_groups.Spread:
    """Mean and deviation over the finished seeds; none if the runs are of several streams."""
    if row not in self.cells or len(self.streams) > 1:
      return stream_groups.spread([])
    return self.cells[row].score(self.measure.key)

  def score(self, row: str) -> float | None:
    """The mean score, to nine decimals: equal means tie whatever the order of their sums."""
    found = self.spread(row)
    return round(found.mean, 9) if found.num else None

  def points(self) -> list[rankings.Point]:
    """Mean score and mean FLOPs of each row that has a finished seed."""
    return [rankings.Point(row, score, cell.total("flops"))
            for row, cell in self.cells.items() if (score := self.score(row)) is not None]

  def ranks(self, rows: Sequence[str]) -> dict[str, float | None]:
    return rankings.ranks({row: self.score(row) for row in rows},
                          lower_is_better=self.lower_is_better)


def load(table: table_dir.TableDir) -> list[Ranked]:
  """Reads the cells of each column that has a score.

  Raises:
    ValueError: a cell has several learners.
  """
  begun = [folder for row, column in table.pairs() for seed in table.seeds
           if any((folder := table.cell(row, column, seed)).rglob(run_dir.RECORDS))]
  by_cell: dict[Any, list[run_dir.Run]] = {}
  for run in run_dir.load(begun):
    by_cell.setdefault(run.folder.parent, []).append(run)
  columns = []
  for name, key in table.scores.items():
    cells = {}
    for row in table.rows:
      runs = [run for seed in table.seeds
              for run in by_cell.get(table.cell(row, name, seed).resolve(), ())]
      names = sorted({run.folder.name for run in runs})
      if len(names) > 1:
        raise ValueError(f"Row {row!r}, column {name!r} of {table.folder} has the learners "
                         f"{', '.join(names)}; a leaderboard has one a cell. Bind "
                         "experiment.run.only in the row, or leave table.Report.scores out.")
      if runs:
        cells[row] = run_streams.LearnerRuns(row, runs)
    finished = [run for cell in cells.values() for run in cell.finished]
    streams = run_streams.build(finished)
    about = next((run.description for cell in cells.values() for run in cell.runs),
                 descriptions.ProtocolDescription(name))
    measure = about.measure(key) if key or about.headline is None else about.headline
    columns.append(Ranked(name, measure, cells, [stream.title for stream in streams]))
  return columns


def build(table: table_dir.TableDir) -> list[panels.Panel]:
  """Builds ranks, scores, scores against FLOPs, the best at each budget, lifelong estimates."""
  columns = load(table)
  return [_ranks(table, columns), _scores(table, columns), *(
      panel for column in columns if (panel := _front(table, column)) is not None),
          *_budgets(table, columns), *_lifelong(table)]


def _ranks(table: table_dir.TableDir, columns: Sequence[Ranked]) -> panels.Panel:
  by_column = [column.ranks(table.rows) for column in columns]
  means = rankings.mean_ranks(by_column)
  everywhere = rankings.common(by_column)
  among = rankings.mean_ranks([column.ranks(everywhere) for column in columns])
  order = sorted(table.rows, key=lambda row: (means[row].mean is None, means[row].mean or 0.0))
  rows = [[row, means[row].mean, means[row].num, among[row].mean if row in among else None,
           *(found[row] for found in by_column)] for row in order]
  counts = ", ".join(f"{column.name} {sum(rank is not None for rank in found.values())}"
                     for column, found in zip(columns, by_column))
  return panels.Panel(
      "ranks", f"{table.title}: ranks",
      [panels.Column("method"), panels.Column("mean rank", quantities.RANK),
       panels.Column("protocols", panels.COUNT),
       panels.Column(f"among {len(everywhere)} everywhere", quantities.RANK),
       *(panels.Column(column.name, quantities.RANK) for column in columns)],
      rows, [*_progress(table), "1 is the best of those that have a score (methods: "
             f"{counts}); equal scores share the mean of their ranks. A mean over fewer protocols "
             f"is of other ranks: the fourth column ranks only the {len(everywhere)} methods that "
             "have a score everywhere.", *_stream_notes(columns)])


def _scores(table: table_dir.TableDir, columns: Sequence[Ranked]) -> panels.Panel:
  rows = []
  for row in table.rows:
    shown: list[Any] = [row]
    for column in columns:
      if f"{row}/{column.name}" in table.missing:
        shown.append(quantities.NOTHING)
      else:  # "- (0/3)" if nothing is finished, "- (3/3)" if the runs have no such score.
        found, of = column.spread(row), len(table.seeds)
        done = len(column.cells[row].finished) if row in column.cells else 0
        shown.append(quantities.Quantity(
            found.mean if found.num else None, quantities.PERCENT,
            deviation=found.deviation if found.num > 1 else None,
            note="" if done == of and found.num else f"({done}/{of})"))
    rows.append(shown)
  refusals: dict[str, list[str]] = {}
  for name, why in table.missing.items():
    refusals.setdefault(why, []).append(name)
  return panels.Panel(
      "scores", f"{table.title}: scores",
      [panels.Column("method"),
       *(panels.Column(column.heading, panels.MIXED) for column in columns)], rows,
      [*_progress(table), "In percent: mean ±standard deviation over seeds (finished/all). "
       f"Lower is better: {', '.join(c.name for c in columns if c.lower_is_better) or 'none'}.",
       *(f"No cell: {', '.join(names)}: {why}." for why, names in refusals.items()),
       *_stream_notes(columns)])


def _progress(table: table_dir.TableDir) -> list[str]:
  done = table.num_finished()
  return [f"{done} of {table.num_cells} runs are finished"
          + ("." if done == table.num_cells else ": partial, not final.")]


def _stream_notes(columns: Sequence[Ranked]) -> list[str]:
  return [f"{column.name}: not ranked, its runs are of different streams: "
          f"{'; '.join(column.streams)}." for column in columns if len(column.streams) > 1]


def front(column: Ranked) -> list[rankings.Point]:
  """The points of a column that no other dominates, by FLOPs."""
  points = column.points()
  sign = 1 if column.lower_is_better else -1
  found = task_stream.pareto_front([(p.cost or None, sign * p.score) for p in points])
  return [points[i] for i in found.indices]


def _front(table: table_dir.TableDir, column: Ranked) -> panels.Panel | None:
  """The score of a column against FLOPs; None if no FLOPs are known."""
  best = front(column)
  if not best:
    return None
  points = column.points()
  rows = [[p.name, p.score, panels.plain(column.spread(p.name).deviation), p.cost,
           "yes" if p in best else ""] for p in points]
  heading = column.measure_text
  line = panels.PlotSeries("Pareto front", [p.cost for p in best], [100 * p.score for p in best],
                       shape=panels.STEP, is_front=True)
  series = [panels.PlotSeries(column.cells[p.name].shown_label, [p.cost], [100 * p.score], (),
                          [panels.percent(column.spread(p.name).deviation)], panels.POINTS,
                          place=list(table.rows).index(p.name)) for p in points if p.cost]
  without = [p.name for p in points if not p.cost]
  return panels.Panel(
      f"front_{table_dir.folder_name(column.name).lower()}",
      f"{table.title}: {column.heading} against FLOPs",
      [panels.Column("method"), panels.Column(heading, panels.PERCENT),
       panels.Column("deviation", panels.PERCENT),
       panels.Column("FLOPs with answers", panels.FLOPS),
       panels.Column("on the front")], rows,
      [f"Not in the figure, FLOPs unknown or 0: {', '.join(without)}."] if without else [],
      chart=panels.Plot("FLOPs of the run, answers included", heading.capitalize(),
                        [line, *series], log_x=True, y_unit="%"))


def _budgets(table: table_dir.TableDir, columns: Sequence[Ranked]) -> list[panels.Panel]:
  """The best method of each column for budgets of FLOPs; [] if no FLOPs are known."""
  budgets = rankings.budgets([p.cost for column in columns for p in column.points()])
  if not budgets:
    return []
  rows = []
  for budget in budgets:
    best = [rankings.best_within(column.points(), budget, lower_is_better=column.lower_is_better)
            for column in columns]
    rows.append([budget, *(
        f"{', '.join(p.name for p in points)} {100 * points[0].score:.2f}" if points else
        quantities.NOTHING for points in best)])
  return [panels.Panel(
      "budgets", f"{table.title}: the best method within a budget of FLOPs",
      [panels.Column("budget", panels.FLOPS),
       *(panels.Column(column.heading, panels.MIXED) for column in columns)], rows,
      ["The best mean score among the methods whose runs, answers included, cost at most the "
       f"budget; {quantities.NOTHING}: none does."])]


def _lifelong(table: table_dir.TableDir) -> list[panels.Panel]:
  """Estimates for held-out models, by column and method; [] before the last run has begun."""
  folder = table.folder / table.last
  if not table.last or not any(folder.rglob(run_dir.RECORDS)):
    return []
  rows, notes = [], []
  for run in run_dir.load([folder]):
    if not run.is_finished:
      notes.append(f"{run.folder.name}: partial, {len(run.records):,} events so far.")
    by_column = collections.defaultdict(list)
    for record in run.records:
      parts = str(record.get("model", "")).split("/")  # WORKDIR/ROW/COLUMN/SEED/LEARNER/EVENT.
      by_column[parts[-4] if len(parts) > 4 else ""].append(record)
    for column in table.columns:
      if found := by_column[table_dir.folder_name(column)]:
        rows.append([column, run.folder.name, len({r["table"] for r in found}), len(found),
                     sum(r["num_asked"] for r in found), sum(r["num_samples"] for r in found),
                     *(sum(r[name] for r in found) / len(found) for name in (
                         "per_sample_error", "constant_error", "accuracy_error")),
                     sum(r["identical_models"] > 0 for r in found)])
  rows.sort(key=lambda row: list(table.columns).index(row[0]))
  return [panels.Panel(
      "lifelong", f"{table.title}: lifelong estimates of held-out models",
      [panels.Column("protocol"), panels.Column("estimate"),
       panels.Column("test sets", panels.COUNT), panels.Column("models", panels.COUNT),
       panels.Column("answers asked", panels.COUNT),
       panels.Column("of", panels.COUNT),
       panels.Column("wrong answers", panels.PERCENT),
       panels.Column("constant answer", panels.PERCENT),
       panels.Column("error of the accuracy", panels.PERCENT),
       panels.Column("with a twin", panels.COUNT)], rows,
      ["Each model of a test set, a method at the end of a run, is held out once; the answers of "
       "all others are known, those of its other seeds included. Means over models; a twin is a "
       "known model with equal answers.", *notes])] if rows else []
