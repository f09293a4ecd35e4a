# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A leaderboard: a table whose rows are methods and whose columns are protocols, each with a score.

Scores of different protocols are never averaged, only ranks are. Costs are all FLOPs of a run,
answers included: in episodes and sequences methods learn while they answer. Differences are tested
on the saved answers (`significance`), and the best of a column is a group.

Rank 1 is the best; equal scores share the mean of their ranks. A method without a score, because
the protocol refuses it or its runs are not finished, has no rank there and takes none from others.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.metrics import paired_tests
from suite.metrics import schema
from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import significance
from suite.reporting import table_dir

# How a protocol delivers data, in words; {part} is its own word for a bucket.
_DELIVERED = {
    deliveries.TASKS: "tasks one after another, each tested after it is learned",
    deliveries.BUCKETS: "{part}s one after another, all test sets after each",
    deliveries.SEQUENCE: "one sample at a time, answered before its label comes",
    deliveries.EPISODES: "few-shot episodes of several support sets"}

Cells = Mapping[str, run_streams.LearnerRuns]


class Point(NamedTuple):
  """A method's score and what it cost, None if that is unknown."""

  name: str
  score: float
  cost: float | None


class MeanRank(NamedTuple):
  """A mean over `num` protocols; None over none."""

  mean: float | None
  num: int


def ranks_of(scores: Mapping[str, float | None], *, lower_is_better: bool = False
             ) -> dict[str, float | None]:
  """Returns the rank of each method by name, 1 to the number of scores; None without a score."""
  known = {name: score if lower_is_better else -score
           for name, score in scores.items() if score is not None and not math.isnan(score)}
  from scipy import stats  # pylint: disable=import-outside-toplevel
  found = dict(zip(known, stats.rankdata(list(known.values())).tolist()))
  return {name: found.get(name) for name in scores}


def mean_ranks(by_protocol: Sequence[Mapping[str, float | None]]) -> dict[str, MeanRank]:
  """Returns the mean of each method's ranks over the protocols where it has one."""
  names = dict.fromkeys(name for found in by_protocol for name in found)
  known = {name: [rank for found in by_protocol if (rank := found.get(name)) is not None]
           for name in names}
  return {name: MeanRank(sum(values) / len(values) if values else None, len(values))
          for name, values in known.items()}


def common(by_protocol: Sequence[Mapping[str, float | None]]) -> list[str]:
  """Returns the methods that have a score under every protocol."""
  names = dict.fromkeys(name for found in by_protocol for name in found)
  return [name for name in names
          if all(ranks_of(found).get(name) is not None for found in by_protocol)]


def best_within(points: Sequence[Point], budget: float, *, lower_is_better: bool = False
                ) -> list[Point]:
  """Returns the best of the points that cost at most `budget`, all of them if several are equal.

  A point of unknown cost is none of them.
  """
  fitting = [p for p in points if p.cost is not None and p.cost <= budget]
  if not fitting:
    return []
  best = (min if lower_is_better else max)(p.score for p in fitting)
  return [p for p in fitting if p.score == best]


def budgets(costs: Sequence[float | None]) -> list[float]:
  """Returns 1, 3, 10, 30, ...: from the largest that is at most the least cost above 0, to the
  smallest that is at least the greatest cost; [] if no cost is above 0.
  """
  known = [cost for cost in costs if cost is not None and cost > 0]
  if not known:
    return []
  steps = [factor * 10.0 ** power for power in range(
      math.floor(math.log10(min(known))), math.ceil(math.log10(max(known))) + 1)
      for factor in (1, 3)]
  first = max(i for i, step in enumerate(steps) if step <= min(known))
  last = min(i for i, step in enumerate(steps) if step >= max(known))
  return steps[first:last + 1]


@dataclasses.dataclass(frozen=True)
class Ranked:
  """One column.

  Attributes:
    name: of the column.
    measure: the score, as the protocol describes it.
    cells: the runs by row; a row without one is refused or has not begun.
    streams: titles of the streams of the finished runs; several are not ranked.
    protocol: name of the runs' protocol; "" before the first has begun.
  """

  name: str
  measure: descriptions.Measure
  cells: Cells
  streams: Sequence[str]
  protocol: str = ""

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

  @functools.cached_property
  def tested(self) -> significance.Tested | None:
    """The comparison by the saved answers; None if nothing can be compared."""
    return None if len(self.streams) > 1 else significance.test(self.cells, self.measure)

  def group(self, budget: float) -> tuple[list[Point], list[str]]:
    """The best points within a budget, and the others within it that are not apart from them."""
    best = best_within(self.points(), budget, lower_is_better=self.lower_is_better)
    if not best or self.tested is None or best[0].name not in self.tested.names:
      return best, []
    return best, [p.name for p in self.points() if p not in best and p.name in self.tested.names
                  and p.cost is not None and p.cost <= budget
                  and not any(self.tested.is_worse(p.name, one.name) for one in best)]

  def points(self) -> list[Point]:
    """Mean score and mean FLOPs of each row that has a finished seed."""
    return [Point(row, score, cell.total("flops"))
            for row, cell in self.cells.items() if (score := self.score(row)) is not None]

  def ranks(self, rows: Sequence[str]) -> dict[str, float | None]:
    return ranks_of({row: self.score(row) for row in rows}, lower_is_better=self.lower_is_better)


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
      names = sorted({run.learner for run in runs})
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
    protocol = next((run.protocol for cell in cells.values() for run in cell.runs), "")
    columns.append(Ranked(name, measure, cells, [stream.title for stream in streams], protocol))
  return columns


def build(table: table_dir.TableDir) -> list[panels.Panel]:
  """Builds ranks, scores, what the columns are, tests of differences, scores against FLOPs, the
  best at each budget, what learning spends and holds, and lifelong estimates.
  """
  columns = load(table)
  return [_ranks(table, columns), _scores(table, columns),
          *_protocols(table, columns), *(
      panel for column in columns if column.tested is not None for panel in significance.build(
          column.tested, f"{table.title}: {column.heading}",
          table_dir.folder_name(column.name).lower())), *(
      panel for column in columns if (panel := _front(table, column)) is not None),
          *_budgets(table, columns), *_costs(table, columns), *_lifelong(table)]


def _named(columns: Sequence[Ranked], row: str) -> str:
  """A row with the changes of its runs beside it, by column if these are not the same."""
  said: dict[str, list[str]] = {}
  for column in columns:
    if row in column.cells:
      said.setdefault(column.cells[row].runs[0].changes, []).append(column.name)
  parts = [text if len(said) == 1 else f"{', '.join(names)}: {text}"
           for text, names in said.items() if text]
  return f"{row} ({'; '.join(parts)})" if parts else row


def _ranks(table: table_dir.TableDir, columns: Sequence[Ranked]) -> panels.Panel:
  by_column = [column.ranks(table.rows) for column in columns]
  means = mean_ranks(by_column)
  everywhere = common(by_column)
  among = mean_ranks([column.ranks(everywhere) for column in columns])
  order = sorted(table.rows, key=lambda row: (means[row].mean is None, means[row].mean or 0.0))
  best: set[tuple[int, int]] = set()  # The cells with the lowest number of each column.
  numbers = [[means[row].mean, among[row].mean if row in among else None,
              *(found[row] for found in by_column)] for row in order]
  for place, values in zip([1, *range(3, 4 + len(columns))], zip(*numbers)):
    known = [value for value in values if value is not None]
    best |= {(i, place) for i, value in enumerate(values) if known and value == min(known)}
  rows = [[_named(columns, row), _mean_rank(columns, row, means[row]), means[row].num,
           among[row].mean if row in among else None,
           *(_rank(column, row, found[row]) for column, found in zip(columns, by_column))]
          for row in order]
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
             "have a score everywhere.", *_rank_notes(columns, everywhere),
             *_stream_notes(columns)],
      best=frozenset(best))


def _rank(column: Ranked, row: str, rank: float | None) -> Any:
  """A rank with the ranks that are possible; the rank alone if it was not tested."""
  if column.tested is None or row not in column.tested.names:
    return rank
  first, last = column.tested.ranks[column.tested.names.index(row)]
  return quantities.Quantity(rank, quantities.RANK, note=f"[{first}-{last}]")


def _mean_rank(columns: Sequence[Ranked], row: str, mean: MeanRank) -> Any:
  """A mean rank with the mean of the possible ranks, of which none is missed with 95%."""
  tested = [column.tested for column in columns if row in column.cells]
  found = [paired_tests.rank_intervals(
      one.comparison, lower_is_better=one.measure.better == descriptions.LOWER,
      level=paired_tests.LEVEL / len(tested))[one.names.index(row)]
           for one in tested if one is not None and row in one.names]
  if mean.mean is None or len(found) < mean.num:
    return mean.mean
  first, last = np.mean(found, axis=0)
  return quantities.Quantity(mean.mean, quantities.RANK, note=f"[{first:.3g}-{last:.3g}]")


def _rank_notes(columns: Sequence[Ranked], everywhere: Sequence[str]) -> list[str]:
  """What brackets say, and whether mean ranks differ over protocols."""
  if all(column.tested is None for column in columns):
    return []
  notes = ["In brackets: the ranks that are possible, 95% for all methods of a column at once; of "
           "a mean rank 95% over all of its columns (docs/statistics.md)."]
  found = paired_tests.friedman(np.array(
      [[-(column.score(row) or 0.0) * (-1 if column.lower_is_better else 1) for row in everywhere]
       for column in columns]))
  if not math.isnan(found.p_value):
    notes.append(
        f"Friedman's test of the {len(everywhere)} methods that have a score everywhere over the "
        f"{len(columns)} protocols: p = {found.p_value:.2g}; Nemenyi's critical difference of two "
        f"mean ranks is {found.critical_difference:.2f}.")
  return notes


def _scores(table: table_dir.TableDir, columns: Sequence[Ranked]) -> panels.Panel:
  rows = []
  for row in table.rows:
    shown: list[Any] = [_named(columns, row)]
    for column in columns:
      if f"{row}/{column.name}" in table.missing:
        shown.append(quantities.NOTHING)
      else:  # "- (0/3)" if nothing is finished, "- (3/3)" if the runs have no such score.
        found, of = column.spread(row), len(table.seeds)
        done = len(column.cells[row].finished) if row in column.cells else 0
        made = quantities.Quantity(
            found.mean if found.num else None, quantities.PERCENT,
            deviation=found.deviation if found.num > 1 else None,
            note=" ".join(filter(None, (
                "" if done == of and found.num else f"({done}/{of})",
                significance.mark(column.tested, row)))))
        bounds = column.cells[row].bounds(column.measure.key) if found.num else None
        shown.append(made if bounds is None else made.estimated(*bounds))
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
       *([significance.MARK_NOTE] if any(c.tested for c in columns) else []),
       *([run_streams.ESTIMATE_NOTE] if any(
           cell.bounds(c.measure.key) for c in columns for cell in c.cells.values()) else []),
       *(f"No cell: {', '.join(names)}: {why}." for why, names in refusals.items()),
       *(f"Does not fit: {name}: {why}" for name, (_, why) in table.refused().items()),
       *_stream_notes(columns)],
      best=frozenset((i, 1 + j) for i, row in enumerate(table.rows)
                     for j, column in enumerate(columns)
                     if (column.ranks(table.rows)[row] == 1 if column.tested is None else
                         row in column.tested.best)))


def _protocols(table: table_dir.TableDir, columns: Sequence[Ranked]
               ) -> list[panels.Panel]:
  """What each column is: how data comes, on what data, what is scored; [] if nothing has begun."""
  if not any(column.cells for column in columns):
    return []
  rows = []
  for column in columns:
    shipped = descriptions.SHIPPED.get(column.protocol)
    data = [title[len(column.protocol) + 2:-1] if title.startswith(f"{column.protocol} (")
            and title.endswith(")") else title for title in column.streams]
    part = next((one.runs[0].description.part for one in column.cells.values()), "bucket")
    delivered = _DELIVERED.get(shipped.delivery if shipped else "", "").format(part=part)
    rows.append([column.name, ": ".join(filter(None, (column.protocol, delivered))) or "not begun",
                 "; ".join(data) or "not finished", column.measure_text,
                 "lower" if column.lower_is_better else "higher"])
  return [panels.Panel(
      "protocols", f"{table.title}: protocols and data",
      [panels.Column("column"), panels.Column("protocol"), panels.Column("data"),
       panels.Column("score"), panels.Column("better")], rows)]


def _progress(table: table_dir.TableDir) -> list[str]:
  done, refused = table.num_finished(), sum(num for num, _ in table.refused().values())
  return [f"{done} of {table.num_cells} runs are finished"
          + (f", {refused} do not fit the budget" if refused else "")
          + ("." if done + refused == table.num_cells else ": partial, not final.")]


def _stream_notes(columns: Sequence[Ranked]) -> list[str]:
  return [f"{column.name}: not ranked, its runs are of different streams: "
          f"{'; '.join(column.streams)}." for column in columns if len(column.streams) > 1]


def front(column: Ranked) -> list[Point]:
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
      [f"Not in the figure, FLOPs not counted or 0: {', '.join(without)}."] if without else [],
      chart=panels.Plot("FLOPs of the run, answers included", heading.capitalize(),
                        [line, *series], log_x=True, y_unit="%"))


def _budgets(table: table_dir.TableDir, columns: Sequence[Ranked]) -> list[panels.Panel]:
  """The best mean of each column for budgets of FLOPs, with its group; [] without FLOPs."""
  limits = budgets([p.cost for column in columns for p in column.points()])
  if not limits:
    return []
  rows = []
  for budget in limits:
    rows.append([budget, *(
        f"{', '.join(p.name for p in best)} {100 * best[0].score:.2f}"
        + (f" ({', '.join(others)})" if others else "") if best else quantities.NOTHING
        for best, others in (column.group(budget) for column in columns))])
  return [panels.Panel(
      "budgets", f"{table.title}: the best mean score within a budget of FLOPs",
      [panels.Column("budget", panels.FLOPS),
       *(panels.Column(column.heading, panels.MIXED) for column in columns)], rows,
      ["The best mean score among the methods whose runs, answers included, cost at most the "
       f"budget; {quantities.NOTHING}: none does. In parentheses, not distinguishable from it: "
       "methods within the budget that are not worse beyond chance."])]


def _costs(table: table_dir.TableDir, columns: Sequence[Ranked]) -> list[panels.Panel]:
  """What methods spend and hold, if some are pretrained or have a budget; else []."""
  places = [(row, column) for row in table.rows for column in columns
            if row in column.cells and column.cells[row].finished]
  heads, cells = run_streams.cost_table([column.cells[row] for row, column in places])
  if len(heads) < 2:
    return []
  return [panels.Panel(
      "costs", f"{table.title}: pretraining, budgets and bytes",
      [panels.Column("method"), panels.Column("protocol"), *heads],
      [[row, column.name, *found] for (row, column), found in zip(places, cells)],
      ["Means over finished seeds. Pretraining by task: divided by the tasks or buckets that it "
       "serves in a run."])]


def _lifelong(table: table_dir.TableDir) -> list[panels.Panel]:
  """Estimates for held-out models, by column and method; [] before the last run has begun."""
  folder = table.folder / table.last
  if not table.last or not any(folder.rglob(run_dir.RECORDS)):
    return []
  rows, notes = [], []
  for run in run_dir.load([folder]):
    if not run.is_finished:
      notes.append(f"{run.learner}: partial, {len(run.records):,} events so far.")
    by_column = collections.defaultdict(list)
    for record in run.records:
      parts = str(record.get(schema.MODEL, "")).split("/")  # WORKDIR/ROW/COLUMN/SEED/LEARNER/EVENT.
      by_column[parts[-4] if len(parts) > 4 else ""].append(record)
    for column in table.columns:
      if found := by_column[table_dir.folder_name(column)]:
        rows.append([column, run.learner, len({r[schema.TABLE] for r in found}), len(found),
                     sum(r[schema.NUM_ASKED] for r in found),
                     sum(r[schema.NUM_SAMPLES] for r in found),
                     *(sum(r[name] for r in found) / len(found) for name in (
                         "per_sample_error", "constant_error", "accuracy_error")),
                     sum(r[schema.IDENTICAL_MODELS] > 0 for r in found)])
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
