# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The report of a whole table: our values over seeds, the paper's below, costs, validation curves.

  86.12 ±0.31        mean and standard deviation (n - 1) over seeds
  86.12 ±0.31 (2/3)  two of three seeds are finished
  86.12 [0.45]       one seed: half of the 95% interval over its tasks, if the run has one
  -                  nothing is finished
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import os
import pathlib
import re
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import descriptions
from suite.metrics import episodic
from suite.metrics import schema
from suite.reporting import leaderboard
from suite.reporting import panels
from suite.reporting import paper_values
from suite.reporting import quantities
from suite.reporting import records
from suite.reporting import run_dir
from suite.reporting import table_dir

_INTERVAL = "_interval_95"
_MATRIX = "matrix"
_FSL = "FSL"
_RATE = re.compile(r"rate ([0-9.]+(?:e-?[0-9]+)?)")
# Costs as papers print them: measure of the file: what a line of the table says.
_PRINTED_COSTS = {"gmacs_x1e6": "10^6 GMACs, cached / uncached"}
_FEWEST = 4  # Validations; the halves of a shorter curve have one point each.
_RISING = 1.0  # Points of percent in the second half of meta-training.


class TableLine(NamedTuple):
  """A line of the table: the summaries of one learner by column and seed; what is shown of it."""

  label: str
  cells: Mapping[str, Mapping[table_dir.Seed, Mapping[str, Any]]]
  shown: str


def build(directory: str | os.PathLike) -> list[quantities.TextTable]:
  """Builds the tables of scores, of costs if requested, of curves, and of accuracy matrices.

  A table without measures has no scores; one with `scores` is a leaderboard.
  """
  table = table_dir.read(directory)
  if table.scores:
    return [panel.text_table() for panel in leaderboard.build(table)]
  lines = list(_lines(table))
  return [*([_scores(table, lines)] if table.measures else []), *_costs(table, lines),
          *validation_gains(table),
          *(_matrix(table, lines, *names) for names in table.matrices)]


def cost_plots(table: table_dir.TableDir) -> dict[str, panels.Plot]:
  """Returns MACs of a task and across-task memory against its support sets (figure 3 of CFSL).

  {} if no learner has tasks of several lengths.
  """
  points: dict[tuple[str, str], dict[int, tuple[Any, Any]]] = {}
  for line in _lines(table):
    for by_seed in line.cells.values():
      for s in by_seed.values():
        if s.get("num_support_sets"):
          points.setdefault((line.label, str(s.get("task_type"))), {})[s["num_support_sets"]] = (
              s.get(schema.MACS_PER_TASK), s.get("atm"))
  found = {}
  for (label, task_type), by_length in points.items():
    if task_type != _FSL or len({t for name, t in points if name == label}) == 1:
      # A task of one set is of every type.
      found[f"{label}, {task_type}"] = {**points.get((label, _FSL), {}), **by_length}
  if all(len(by_length) == 1 for by_length in found.values()):
    return {}
  ticks = {length: str(length) for length in sorted({x for one in found.values() for x in one})}
  return {name: panels.Plot("Support sets of a task (NSS)", name, [panels.PlotSeries(
      label, sorted(one), [one[length][i] for length in sorted(one)])
      for label, one in found.items()], log_x=True, x_unit="sets", log_y=True, ticks=ticks)
          for i, name in enumerate(("MACs of a task", "Across-task memory (ATM)"))}


def length_plots(table: table_dir.TableDir) -> dict[str, panels.Plot]:
  """Returns accuracy against the number of support sets, a plot a task type (figure 4 of CFSL).

  Means over seeds; the paper's values are points of their own. A task of one set is of every type.
  {} unless the table's first measure is of tasks of several lengths.
  """
  measure = next(iter(table.measures), None)
  if measure is None:
    return {}
  places: dict[str, tuple[str, int]] = {}  # Of columns that some cell is finished of.
  ours: dict[str, dict[str, float]] = {}
  for line in _lines(table):
    for column, by_seed in line.cells.items():
      known = [s for s in by_seed.values()
               if s.get("num_support_sets") and table_dir.value(s, measure) is not None]
      if known:
        places[column] = str(known[0].get("task_type")), int(known[0]["num_support_sets"])
        ours.setdefault(line.label, {})[column] = 100 * float(np.mean(
            [table_dir.value(s, measure) for s in known]))
  types = [name for name in dict.fromkeys(name for name, _ in places.values()) if name != _FSL]
  printed = paper_values.scores(table.paper).values if table.paper else {}
  plots = {}
  for task_type in types:
    columns = sorted((length, column) for column, (name, length) in places.items()
                     if name in (_FSL, task_type))
    if len({length for length, _ in columns}) < 2:
      continue
    series = []
    for place, (label, by_column) in enumerate(ours.items()):
      own = [(length, by_column[column]) for length, column in columns if column in by_column]
      theirs = [(length, float(value.value)) for length, column in columns
                if (value := printed.get((label, column, measure)))]
      series.append(panels.PlotSeries(label, [x for x, _ in own], [y for _, y in own],
                                      place=place))
      if theirs:
        series.append(panels.PlotSeries(
            f"{label} (paper)", [x for x, _ in theirs], [y for _, y in theirs],
            shape=panels.POINTS, place=place))
    plots[task_type] = panels.Plot("Support sets of a task (NSS)",
                                   str(table.measures[measure]).capitalize(), series, y_unit="%")
  return plots


def update_plots(table: table_dir.TableDir) -> dict[str, panels.Plot]:
  """Returns FLUID's accuracy against MACs of all updates, means over seeds, a series a learner.

  A strategy without updates is a horizontal line; one of unknown costs is left out. {} unless
  learners have several rows each, one per update strategy.
  """
  found: dict[str, dict[str, tuple[float, float]]] = {}
  num = 0
  for row in table.rows:
    for learner in table.learners(row):
      cells = [table.summaries(row, column, learner) for column in table.columns]
      known = [s for by_seed in cells for s in by_seed.values()
               if s.get("overall") is not None]
      num += bool(known)
      macs = [s.get("macs_train", 0) for s in known]  # One that was never charged is missing.
      own = found.setdefault(learner, {})
      if known and None not in macs:
        own[row] = quantities.mean(macs), 100 * float(np.mean([s["overall"] for s in known]))
  if num <= len(found):
    return {}
  every = [macs for own in found.values() for macs, _ in own.values() if macs]
  series = []
  for place, (learner, own) in enumerate(found.items()):
    spent = {row: point for row, point in own.items() if point[0]}
    series.append(panels.PlotSeries(
        learner, [macs for macs, _ in spent.values()], [y for _, y in spent.values()], list(spent),
        shape=panels.POINTS, labels=list(spent), place=place))
    series += [panels.PlotSeries(f"{learner}, {row}", [min(every), max(every)], [y, y], place=place)
               for row, (macs, y) in own.items() if not macs and every]
  return {"": panels.Plot("MACs of all updates", "Accuracy", series, log_x=True, y_unit="%")}


def rate_plots(table: table_dir.TableDir) -> dict[str, panels.Plot]:
  """Returns accuracy against learning rates, means over seeds; {} unless a table sweeps rates.

  Its rows or its columns have names such as "rate 0.01"; the other names, if there are several,
  tell the lines apart. The accuracy is the table's first measure.
  """
  if not table.measures:
    return {}
  measure = next(iter(table.measures))
  by_row, by_column = ([float(match[1]) if (match := _RATE.fullmatch(name)) else None
                        for name in names] for names in (table.rows, table.columns))
  swept = by_column if None not in by_column else by_row
  if None in swept or len(set(swept)) < 2 or len(set(swept)) < len(swept):
    return {}
  found: dict[str, dict[float, float]] = {}
  for row, row_rate in zip(table.rows, by_row):
    for learner in table.learners(row):
      for column, column_rate in zip(table.columns, by_column):
        rate, other = (column_rate, row) if swept is by_column else (row_rate, column)
        known = [value for value in (table_dir.value(s, measure) for s in table.summaries(
            row, column, learner).values()) if value is not None]
        others = table.rows if swept is by_column else table.columns
        name = learner if len(others) == 1 or other == learner else f"{other} {learner}"
        if known and rate is not None:
          found.setdefault(name, {})[rate] = 100 * float(np.mean(known))
  if not found:
    return {}
  return {"": panels.Plot(
      "Learning rate", str(table.measures[measure]).capitalize(),
      [panels.PlotSeries(name, sorted(one), [one[rate] for rate in sorted(one)])
       for name, one in found.items()],
      log_x=True, y_unit="%", x_unit="rates",
      ticks={rate: f"{rate:g}" for rate in sorted({x for one in found.values() for x in one})})}


def _lines(table: table_dir.TableDir) -> Iterator[TableLine]:
  """Yields the lines: one per row of the table, or one per learner if its runs hold several."""
  for row in table.rows:
    learners = table.learners(row)
    for learner in learners or [""]:
      cells = {c: table.summaries(row, c, learner) if learner else {} for c in table.columns}
      is_one_run = list(table.rows) == [table.title]  # With several seeds.
      label = learner if is_one_run else f"{row} {learner}"
      label = label if len(learners) > 1 or learner and is_one_run else row
      # What differs from column to column is said by their names.
      changes = {table.changes(row, column, learner) for column in table.columns if cells[column]}
      more = f" ({changes.pop()})" if len(changes) == 1 and any(changes) else ""
      yield TableLine(label, cells, label + more)


def _scores(table: table_dir.TableDir, lines: Sequence[TableLine]) -> quantities.TextTable:
  paper = paper_values.scores(table.paper) if table.paper else None
  labels = {line.label for line in lines}
  printed = {key[1:] for key in paper.values if key[0] in labels} if paper else set()
  shown = []  # (column, measure) of all values that are known or still expected.
  for column in table.columns:
    finished = [s for line in lines for s in line.cells[column].values()]
    open_yet = not finished and column not in {c for c, _ in printed}
    shown += [(column, measure) for measure in table.measures
              if open_yet or (column, measure) in printed
              or any(table_dir.value(s, measure) is not None for s in finished)]
  rows, conventions = [], {}
  for line in lines:
    ours = []
    for column, measure in shown:
      known = [s for s in line.cells[column].values() if table_dir.value(s, measure) is not None]
      if not known:
        ours.append(quantities.words(quantities.NOTHING))
        continue
      over, one = episodic.over_seeds([table_dir.value(s, measure) for s in known]), len(known) == 1
      ours.append(quantities.Quantity(
          over["accuracy"], quantities.PERCENT,
          deviation=None if one else over["accuracy_std_over_seeds"],
          interval=known[0].get(measure + _INTERVAL) if one else None,
          note="" if len(known) == len(table.seeds) else f"({len(known)}/{len(table.seeds)})"))
    rows.append([line.shown, *ours])
    values = {} if paper is None else {
        key: paper.values[(line.label, *key)] for key in shown
        if (line.label, *key) in paper.values}
    if values:
      rows.append(["  paper", *(
          _printed(str(values[key]), values[key].value) if key in values else
          quantities.words(quantities.NOTHING) for key in shown)])
    conventions.update({column: v.convention for (column, _), v in values.items() if v.convention})
  measures = len(table.measures) > 1
  header = [f"{column} {table.measures[measure]}" if measures else column
            for column, measure in shown]
  notes = [f"{_progress(table)} In percent: mean ±standard deviation over seeds; [half of the 95% "
           "interval over tasks] where there is one seed."]
  notes += _convention_notes(lines, conventions) + _transductive_notes(lines)
  notes += [f"Paper: {note}" for note in (paper.notes if paper else ())] + list(table.notes)
  plots = length_plots(table) or rate_plots(table) or update_plots(table)
  return quantities.TextTable(title=table.title, header=["", *header], rows=rows, notes=notes,
                              chart=panels.Plots(plots) if plots else None)


def _progress(table: table_dir.TableDir) -> str:
  return f"{table.num_finished()} of {table.num_cells} runs are finished."


def _printed(text: str, number: str) -> quantities.Quantity:
  """A value as a paper prints it, in percent; the number is unknown if it prints none."""
  try:
    return quantities.Quantity(float(number) / 100, quantities.PERCENT, printed=text)
  except ValueError:
    return quantities.words(text)


def _convention_notes(lines: Sequence[TableLine], printed: Mapping[str, str]) -> list[str]:
  """Notes on the conventions of drawn tasks; numbers of different ones are not comparable."""
  ours = {column: s["convention"] for line in lines for column, by_seed in line.cells.items()
          for s in by_seed.values() if s.get("convention")}
  notes = []
  for whose, found in (("Ours", ours), ("The paper's", printed)):
    columns: dict[str, list[str]] = {}
    for column, value in found.items():
      columns.setdefault(value, []).append(column)
    if len(columns) == 1:
      notes.append(f"{whose} follow the convention {next(iter(columns))}.")
    elif columns:  # "feb (FSL, A 3), apr (D 4)".
      shown = ", ".join(f"{value} ({', '.join(names)})" for value, names in columns.items())
      notes.append(f"{whose} follow the conventions {shown}.")
  return notes


def _transductive_notes(lines: Sequence[TableLine]) -> list[str]:
  """Notes on transductive rows, which may use all target images of a task."""
  found = [line.label for line in lines
           if any(s.get("transductive") for by_seed in line.cells.values()
                  for s in by_seed.values())]
  return [f"Transductive, an answer may depend on the other target images: {', '.join(found)}."
          ] if found else []


def _costs(table: table_dir.TableDir, lines: Sequence[TableLine]) -> list[quantities.TextTable]:
  """Builds the table of costs, means over seeds; [] if no summary has costs and scores are shown.

  A table of one column has one line a learner here, too, and its costs as columns.
  """
  found: dict[tuple[str, str], list[quantities.Quantity | None]] = {}
  for line in lines:
    for cost in table.costs:
      by_column = found[line.label, cost] = []
      for by_seed in line.cells.values():
        known = [s[cost] for s in by_seed.values() if s.get(cost) is not None]
        by_column.append(quantities.by_name(cost, quantities.mean(known)) if known else None)
  if table.measures and not any(any(by_column) for by_column in found.values()):
    return []
  plots = cost_plots(table)
  chart = panels.Plots(plots, columns=2) if plots else None
  title, notes = f"{table.title}: costs", [] if table.measures else [
      _progress(table), *_convention_notes(lines, {}), *_transductive_notes(lines)]
  values = paper_values.scores(table.paper).values if table.paper else {}
  printed = {(line.label, words): [
      quantities.words(str(values.get((line.label, column, measure), quantities.NOTHING)))
      for column in table.columns] for line in lines for measure, words in _PRINTED_COSTS.items()
      if any((line.label, column, measure) in values for column in table.columns)}
  if len(table.columns) == 1:
    shown = [cost for cost in table.costs if any(found[line.label, cost][0] for line in lines)]
    theirs = list(dict.fromkeys(words for _, words in printed))
    nothing = quantities.words(quantities.NOTHING)
    rows = [[line.shown, *(found[line.label, cost][0] or nothing for cost in shown),
             *(printed.get((line.label, words), [nothing])[0] for words in theirs)]
            for line in lines]
    return [quantities.TextTable(title=title, notes=notes, rows=rows, chart=chart, header=[
        "", *shown, *(f"paper: {words}" for words in theirs)])]
  rows = []
  for line in lines:
    own = [[line.shown, cost,
            *(value or quantities.words(quantities.NOTHING) for value in by_column)]
           for (label, cost), by_column in found.items() if label == line.label and any(by_column)]
    rows += own
    if own:
      rows += [["  paper", words, *cells] for (label, words), cells in printed.items()
               if label == line.label]
  return [quantities.TextTable(title=title, header=["", "", *table.columns], rows=rows,
                               notes=notes, num_left=2, chart=chart)]


def _matrix(table: table_dir.TableDir, lines: Sequence[TableLine], column: str, label: str,
            name: str) -> quantities.TextTable:
  """Builds the table of accuracies after each bucket, ours as means over seeds."""
  notes, printed = paper_values.matrix(name)
  found = [s[_MATRIX] for line in lines if line.label == label
           for s in line.cells[column].values()]
  ours = np.mean(np.array(found, dtype=float), axis=0) if found else None
  rows = []
  for i, values in enumerate(printed):
    is_alike = ours is not None and ours.shape == (len(printed), len(values))
    means = ours[i].tolist() if ours is not None and is_alike else [None] * len(values)
    rows += [[f"trained up to {i + 1}", *(
        quantities.Quantity(mean, quantities.PERCENT) for mean in means)],
             ["  paper", *(_printed(value, value) for value in values)]]
  return quantities.TextTable(
      title=f"{table.title}: {label}, {column}, accuracy by bucket in percent",
      header=["", *(str(j + 1) for j in range(len(printed[0])))], rows=rows,
      notes=[f"Ours: mean over seeds, {len(found)} of them.",
             *(f"Paper: {note}" for note in notes)])


class ValidationCurve(NamedTuple):
  """Means over the finished seeds of a cell.

  Attributes:
    row, column: of the table; with several learners in a run the row has the learner's name.
    flops: of meta-training up to each validation, validations excluded.
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


def validation_curves(table: table_dir.TableDir) -> list[ValidationCurve]:
  """Reads the curves of all cells with at least four validations, row by row."""
  found = []
  for row in table.rows:
    learners = table.learners(row)
    for learner in learners:
      for column in table.columns:
        folders = [table.cell(row, column, seed) / learner for seed in table.seeds]
        runs = [points for folder in folders if (points := _validations(folder))]
        if runs and len(runs[0]) >= _FEWEST and len({len(run) for run in runs}) == 1:
          flops, accuracies = np.mean(np.array(runs, dtype=float), axis=0).T
          label = f"{row} {learner}" if len(learners) > 1 else row
          found.append(ValidationCurve(
              label, column, flops.tolist(), (100 * accuracies).tolist(), len(runs)))
  return found


def _validations(folder: pathlib.Path) -> list[tuple[float, float]]:
  """(FLOPs, accuracy) of the validations of a finished run; [] if its protocol has none."""
  summary, path = run_dir.read_json(folder / run_dir.SUMMARY), folder / run_dir.RECORDS
  if not summary or not path.exists():
    return []
  about = run_dir.description(folder) or descriptions.named(str(summary.get("protocol")))
  if descriptions.VALIDATIONS not in about.panels:
    return []
  return [(r["flops_meta_train"], r[schema.VALIDATION_ACCURACY]) for r in records.read(path)
          if r.get("flops_meta_train") and r.get(schema.VALIDATION_ACCURACY) is not None]


def validation_gains(table: table_dir.TableDir) -> list[quantities.TextTable]:
  """Builds the table of gains over the second half of meta-training; [] if there are no curves."""
  by_cell = {(curve.row, curve.column): curve for curve in validation_curves(table)}
  if not by_cell:
    return []
  columns = [c for c in table.columns if any(c == column for _, column in by_cell)]
  rows: list[list[Any]] = []
  best: set[tuple[int, int]] = set()
  for row in dict.fromkeys(row for row, _ in by_cell):
    cells: list[Any] = [row]
    for column in columns:
      curve = by_cell.get((row, column))
      if curve is not None and curve.gain >= _RISING:
        best.add((len(rows), len(cells)))
      cells.append(quantities.Quantity(None if curve is None else curve.gain / 100,
                                       quantities.GAIN))
    rows.append(cells)
  return [quantities.TextTable(
      title=f"{table.title}: validation accuracy, gain over the second half of meta-training",
      header=["", *columns], rows=rows, best=frozenset(best),
      chart=panels.Plots(validation_plots(table)), notes=[
          f"In points of percent, means over seeds. Bold: at least {_RISING:g}, so that the budget "
          "leaves the learner under-trained."])]


def validation_plots(table: table_dir.TableDir) -> dict[str, panels.Plot]:
  """Returns validation accuracy against FLOPs of meta-training, a plot a column; {} if none."""
  curves = validation_curves(table)
  rows = list(dict.fromkeys(curve.row for curve in curves))
  found = {}
  for column in table.columns:
    own = {curve.row: curve for curve in curves if curve.column == column}
    if own:
      # A row without a curve keeps its color and its place in the legend.
      found[column] = panels.Plot("FLOPs of meta-training", "Validation accuracy", [
          panels.PlotSeries(row, own[row].flops if row in own else [],
                        own[row].accuracies if row in own else []) for row in rows],
          log_x=True, y_unit="%")
  return found
