# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of finished and unfinished runs, made from records: what `suite report DIR` prints.

The module imports no plotting library, so that a finished table is reported quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import os
from typing import Any

from suite.contracts import descriptions
from suite.metrics import schema
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import paper_table
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import significance
from suite.reporting import table_dir

# The learner whose errors regret is measured against (NEVIS'22, section 4).
INDEPENDENT = "indep"
Compared = tuple[descriptions.Measure, significance.Tested | None]
_WIDEST = 40
_MOST_ROWS, _MOST_MATRICES = 40, 3
_COSTS = ("flops", "macs", "examples", "steps", "seconds", "peak")
# Totals of a run that are named in its table, by their names in summaries and records.
_TOTALS = {"flops": "FLOPs in all", "macs": "MACs in all", schema.MACS_PER_TASK: "MACs of a task",
           "atm": "across-task memory", "examples_train": "examples trained on",
           "steps_train": "gradient steps", "seconds": "time",
           "saved_flops": "FLOPs of answers that were not asked",
           "budget_flops": "budget of FLOPs", "budget_flops_left": "FLOPs left of it",
           "budget_macs": "budget of MACs", "budget_macs_left": "MACs left of it",
           "state_bytes": "state", "memory_bytes": "memory of examples",
           "stored_bytes": "stored on disk"}


def build(runs: Sequence[run_dir.Run]) -> list[quantities.TextTable]:
  """Builds one table for each protocol and stream, whose runs are comparable."""
  groups: dict[tuple[str, str], list[run_dir.Run]] = {}
  for run in runs:
    groups.setdefault((run.protocol, str(run.summary.get("stream", ""))), []).append(run)
  return [of_stream(group) for group in groups.values()]


def of_stream(runs: Sequence[run_dir.Run]) -> quantities.TextTable:
  """Builds the table of the runs of one stream: errors by task, or all values of the summaries."""
  by_task = descriptions.TASKS in runs[0].description.panels
  return nevis(runs) if by_task else generic(runs)


def nevis(runs: Sequence[run_dir.Run]) -> quantities.TextTable:
  """Builds NEVIS's table: a row per task with each run's error, then totals of the stream."""
  tested: dict[str, Mapping[str, Any]] = {}  # The first record of each task.
  errors: list[dict[str, Any]] = []  # Of each run, by task.
  bounds: list[dict[str, Any]] = []
  for run in runs:
    of_run = {r[schema.TASK_KEY]: r for r in schema.of_tests(run.records)}
    bounds.append({key: r[schema.ERROR_INTERVAL] for key, r in of_run.items()
                   if r.get(schema.ESTIMATED)})
    for key, record in of_run.items():
      tested.setdefault(key, record)
    errors.append({key: record.get(schema.ERROR) for key, record in of_run.items()})
  about = dict(sorted(tested.items(), key=lambda item: item[1].get("event", 0)))
  split = next(iter(about.values()), {}).get("split", "test")
  rows: list[list[Any]] = [
      [str(r[schema.TASK]), str(r.get(schema.OCCURRENCE, 1)), str(r.get(schema.YEAR, "")),
       str(r.get(schema.ROLE, "")), str(r.get(schema.METRIC, "error")), *(
          _score(by_run.get(key), within.get(key)) for by_run, within in zip(errors, bounds))]
      for key, r in about.items()]
  best = {(i, 5 + j) for i, key in enumerate(about) for j in _lowest([e.get(key) for e in errors])}
  headline = [run.summary.get("mean_error") for run in runs]
  own = [run.summary.get(run_dir.OWN_METRICS, {}) for run in runs]
  best |= {(len(rows), 5 + j) for j in _lowest(headline)}
  rows += [
      _footer("mean error, meta-test tasks, %", [
          _score(value, run.summary.get("intervals", {}).get("mean_error"))
          for value, run in zip(headline, runs)]),
      _footer("mean error, all tasks so far, %", [
          _score(None if not e or None in e.values() else sum(e.values()) / len(e),
                 run.summary.get("intervals", {}).get("mean_error_all"))
          for e, run in zip(errors, runs)]),
      *_regret(runs, about, errors),
      *(_footer(name, [quantities.Quantity(values.get(name), quantities.NUMBER) for values in own])
        for name in dict.fromkeys(name for values in own for name in values)),
      _footer("forward transfer, %", [
          _score(run.summary.get("forward_transfer")) for run in runs]),
      _footer("cumulative FLOPs", [quantities.Quantity(
          task_stream.cumulative_cost(run.totals), quantities.FLOPS) for run in runs]),
      _footer("cumulative MACs", [quantities.Quantity(
          task_stream.cumulative_cost(run.totals, "macs"), quantities.MACS) for run in runs]),
      _footer("time", [quantities.Quantity(run.last("seconds"), quantities.SECONDS)
                       for run in runs]),
  ]
  return quantities.TextTable(
      title=f"{title(runs[0])}: {split} error by task, %",
      header=["task", schema.OCCURRENCE, "year", "role", "metric", *(
          run.named(run.label) for run in runs)],
      rows=rows, num_left=5, best=frozenset(best), notes=[
          *([run_streams.ESTIMATE_NOTE] if any(bounds) else []), *_notes(runs)])


def generic(runs: Sequence[run_dir.Run]) -> quantities.TextTable:
  """Builds a table with a row per value of the summaries and a column per run."""
  flat = [flatten(run.summary) for run in runs]
  names = dict.fromkeys(name for values in flat for name in values)
  rows = [[name, *(quantities.by_name(name, values.get(name)) if name in values else
                   quantities.words(quantities.NOTHING) for values in flat)] for name in names]
  # A long text would widen every column.
  long = [row for row in rows if max(len(str(cell)) for cell in row[1:]) > _WIDEST]
  notes = []
  for name, *texts in long:
    if len(set(map(str, texts))) == 1:
      notes.append(f"{name}: {texts[0]}.")
    else:
      notes += [f"{name} of {run.label}: {cell}." for run, cell in zip(runs, texts)]
  return quantities.TextTable(
      title=title(runs[0]), header=["", *(run.named(run.label) for run in runs)],
               rows=[row for row in rows if row not in long], notes=[*notes, *_notes(runs)])


def _regret(runs: Sequence[run_dir.Run], tasks: Iterable[str],
            errors: Sequence[Mapping[str, Any]]) -> list[list[str]]:
  """Builds the row of regret, the cumulative error minus Independent's; [] without Independent.

  A run is compared with the Independent run of the same work directory, or else with the only one
  given. Its cell is empty without such a run, and if either was not tested on every task.
  """
  if INDEPENDENT not in [run.learner for run in runs]:
    return []
  tasks = list(tasks)
  rows = {run.folder: found for run, found in zip(runs, errors)}
  cells = []
  for run, found in zip(runs, errors):
    every = [other.folder for other in runs if other.learner == INDEPENDENT]
    chosen = [folder for folder in every if folder.parent == run.folder.parent] or every
    reference = rows[chosen[0]] if len(chosen) == 1 else {}
    regret = None
    if tasks and all(e.get(task) is not None for e in (found, reference) for task in tasks):
      regret = float(task_stream.regret(
          [found[t] for t in tasks], [reference[t] for t in tasks])[-1])
    cells.append(_score(regret))
  return [_footer(f"regret against {INDEPENDENT}, %", cells)]


def _lowest(values: Sequence[float | None]) -> list[int]:
  """Indices of the smallest value; [] unless there are two values to compare."""
  known = [value for value in values if value is not None]
  return [i for i, value in enumerate(values) if value == min(known)] if len(known) > 1 else []


def _footer(name: str, values: Sequence[quantities.Quantity]) -> list[Any]:
  return [name, "", "", "", "", *values]


def _score(value: float | None, bounds: Sequence[Any] | None = None) -> quantities.Quantity:
  """A share in percent, marked as an estimate if it has bounds."""
  made = quantities.Quantity(value, quantities.PERCENT)
  return made if value is None or not bounds or bounds[0] == bounds[1] else made.estimated(*bounds)


def _notes(runs: Sequence[run_dir.Run]) -> list[str]:
  notes = []
  for run in runs:
    headline = run.summary.get("headline", "ok")
    if not run.is_finished:
      notes.append(f"{run.label}: not finished, {len(run.records)} events so far; run the same "
                   "command again to resume.")
    elif headline != "ok":
      notes.append(f"{run.label}: {headline}.")
  return notes


def title(run: run_dir.Run) -> str:
  """Protocol and stream of a run, as titles of tables begin."""
  stream = run.summary.get("stream")
  return f"{run.protocol} ({stream})" if stream else run.protocol


def flatten(summary: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
  """Joins nested names by dots; replaces a matrix by its shape."""
  flat: dict[str, Any] = {}
  for name, value in summary.items():
    if not prefix and name in (
        "protocol", "run", "stream", "headline", "class_names"):
      continue
    if isinstance(value, Mapping):
      flat.update(flatten(value, f"{prefix}{name}."))
    elif isinstance(value, list) and value and isinstance(value[0], list):
      flat[f"{prefix}{name}"] = f"[{len(value)} x {len(value[0])}]"
    else:
      flat[f"{prefix}{name}"] = value
  return flat


def report(dirs: Iterable[str | os.PathLike], *, every: bool = False, most: int | None = None
           ) -> str:
  """Renders all runs in the directories as text, one table per stream; whole tables come first.

  Args:
    dirs: directories.
    every: whether all values of the summaries are shown, in place of the named ones, and all runs
      of a learner, in place of the latest one and a list of the others.
    most: columns of the terminal; None: tables are as wide as they are.
  """
  dirs = list(dirs)
  shown = text(sections_of(dirs, every=every), most)
  if every:
    return shown
  _, single = table_dir.split(dirs)
  earlier = [folder for folder in table_dir.split(dirs, every=True)[1] if folder not in single]
  return "\n".join([shown, *([
      f"Earlier runs, of other settings, data or code (--all shows them): "
      f"{', '.join(os.path.relpath(folder) for folder in earlier)}", ""] if earlier else [])])


def text(sections: Sequence[panels.Section], most: int | None = None) -> str:
  """Tables of fixed widths, of at most `most` columns."""
  return "\n".join(panel.text_table(is_fitted=True).text(most)
                   for section in sections for panel in section.panels)


def sections_of(dirs: Iterable[str | os.PathLike], *, every: bool = False
                ) -> list[panels.Section]:
  """Builds the sections of directories: whole tables as they are, then a section for each stream.

  A stream has a table of its methods, with named scores and costs, and the errors by task or the
  accuracy by bucket; with `every` one panel of every value of the summaries.
  """
  whole, single = table_dir.split(dirs, every=every)
  found = [panels.Section(table_dir.read(d).title, panels_of_table(d)) for d in whole]
  runs = run_dir.load(single, every=every) if single else []
  if every:  # Not by `run_streams`: partial runs stand beside each other, whatever they began with.
    return found + [panels.Section(one.title, [as_panel("summary", one)]) for one in build(runs)]
  return found + [panels.Section(stream.title, brief(stream)) for stream in run_streams.build(runs)]


def brief(stream: run_streams.StreamRuns, compared: Compared | None = None
          ) -> list[panels.Panel]:
  """What a run prints of a stream; see `sections_of`, and `headline` for the arguments."""
  if not measures(stream) and any(run.is_finished for run in stream.runs):
    return [as_panel("summary", of_stream(stream.runs))]  # Counts and texts alone.
  if descriptions.TASKS not in stream.description.panels:
    return [headline(stream, compared), *_bucket_matrices(stream)]
  made = nevis(stream.runs)
  is_total = [not any(row[1:made.num_left]) for row in made.rows]
  totals = [[row[0], *row[made.num_left:]] for row, is_one in zip(made.rows, is_total) if is_one]
  measure, tested = compared = compared or headline_test(stream)
  best = {(is_total[:row].count(True), 1 + column - made.num_left)
          for row, column in made.best if is_total[row]}
  if tested and measure.key == "mean_error" and len(stream.runs) == len(stream.learners):
    best = {(row, column) for row, column in best if row} | {
        (0, 1 + i) for i, learner in enumerate(stream.learners) if learner.label in tested.best}
    totals[0][1:] = [
        dataclasses.replace(cell, note=significance.mark(tested, learner.label))
        for cell, learner in zip(totals[0][1:], stream.learners)]
    made = dataclasses.replace(made, notes=[significance.MARK_NOTE, *made.notes])
  of_tasks = [row for row, is_one in zip(made.rows, is_total) if not is_one]
  first = (headline(stream, compared) if len(stream.runs) > len(stream.learners) else
           as_panel("headline", quantities.TextTable(
               stream.title, ["", *made.header[made.num_left:]], totals, notes=made.notes,
               best=frozenset(best))))
  shown = as_panel("tasks", dataclasses.replace(
      made, rows=of_tasks, notes=(),
      best=frozenset(cell for cell in made.best if not is_total[cell[0]])))
  return [first, shown] if 0 < len(of_tasks) <= _MOST_ROWS else [first]


def measures(stream: run_streams.StreamRuns) -> list[descriptions.Measure]:
  """The measures that the stream's summaries have a value of; a user's metrics come last."""
  summaries = [run.summary for run in stream.runs]
  known = list(stream.description.measures)
  if not known:
    names = dict.fromkeys(
        name for summary in summaries for name, value in flatten(summary).items()
        if isinstance(value, float) and name.split("_")[0] not in _COSTS)
    known = [descriptions.Measure(name, name, unit=descriptions.NUMBER) for name in names]
  own = {f"{run_dir.OWN_METRICS}.{name}": name for summary in summaries
         for name in summary.get(run_dir.OWN_METRICS) or {}}
  known = [measure for measure in known if measure.key not in own]
  known += [descriptions.Measure(key, name, unit=descriptions.NUMBER) for key, name in own.items()]
  return [measure for measure in known
          if any(learner.score(measure.key).num for learner in stream.learners)]


def headline_test(stream: run_streams.StreamRuns) -> Compared:
  """The first score of a stream, and the comparison of its methods by it if that is possible."""
  shown = measures(stream) or [descriptions.Measure("", "")]
  return shown[0], significance.test(
      {learner.label: learner for learner in stream.learners}, shown[0])


def headline(stream: run_streams.StreamRuns, compared: Compared | None = None) -> panels.Panel:
  """The table of a stream's methods: a row for each score and cost, a column for each method.

  Args:
    stream: the methods.
    compared: of `headline_test`; None: made here.
  """
  rows: list[list[Any]] = []
  best: set[tuple[int, int]] = set()
  first, tested = compared or headline_test(stream)
  for measure in measures(stream):
    scores = [learner.score(measure.key) for learner in stream.learners]
    sign = 1 if measure.better == descriptions.LOWER else -1
    means = [sign * score.mean if score.num else None for score in scores]
    if measure == first and tested is not None:
      best |= {(len(rows), 1 + i) for i, learner in enumerate(stream.learners)
               if learner.label in tested.best}
    elif len(set(means)) > 1:
      best |= {(len(rows), 1 + i) for i in _lowest(means)}
    rows.append([f"{measure.text}, %" if measure.unit == descriptions.SHARE else measure.text, *(
        learner.shown(measure, significance.mark(tested, learner.label) if measure == first else "")
        for learner in stream.learners)])
  if any(learner.finished for learner in stream.learners):
    rows.append(["FLOPs without answers", *(
        quantities.Quantity(learner.learning_flops(), quantities.FLOPS) if learner.finished else
        learner.learning_cell() for learner in stream.learners)])
  cells_of = [learner.cost_cells() for learner in stream.learners]
  for place in range(1, 4):  # Of pretraining.
    if any(cells[place] is not None for cells in cells_of):
      column = run_streams.COSTS[place]
      rows.append([f"FLOPs, {column.name}", *(
          quantities.Quantity(cells[place], column.kind, printed=(
              quantities.NOTHING if cells[place] is None else None)) for cells in cells_of)])
  for name, heading in _TOTALS.items():
    if any(name in {**(run.records[-1] if run.records else {}), **run.summary}
           for run in stream.runs):
      cells = [learner.total(name) for learner in stream.learners]
      rows.append([heading, *(quantities.by_name(
          name, int(cell) if isinstance(cell, float) and cell.is_integer() else cell)
          for cell in cells)])
  several = max((len(learner.runs) for learner in stream.learners), default=1)
  notes = ["Mean ± standard deviation (n - 1) over seeds."] if several > 1 else []
  notes += [significance.MARK_NOTE] if tested else []
  notes += [run_streams.ESTIMATE_NOTE] if stream.has_estimates else []
  made = quantities.TextTable(
      stream.title, ["", *(learner.label for learner in stream.learners)], rows,
      best=frozenset(best), notes=[*notes, *_notes(stream.runs)])
  return as_panel("headline", made)


def _bucket_matrices(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Accuracy by bucket trained on and tested, of each of a few methods: means over seeds."""
  found, part = [], stream.description.part
  for learner in stream.learners[:_MOST_MATRICES]:
    matrices = [run.summary["matrix"] for run in learner.finished
                if descriptions.BUCKETS in stream.description.panels and run.summary.get("matrix")]
    if not matrices or len({(len(matrix), len(matrix[0])) for matrix in matrices}) > 1:
      continue
    # A cell that the mode does not evaluate is empty.
    mean = [[None if None in cells else sum(cells) / len(cells) for cells in zip(*rows)]
            for rows in zip(*matrices)]
    bounds = [[run.summary.get(name) or run.summary["matrix"] for run in learner.finished]
              for name in ("matrix_low", "matrix_high")]
    low, high = ([[None if None in cells else sum(cells) / len(cells) for cells in zip(*rows)]
                  for rows in zip(*one)] for one in bounds)
    notes = ([f"Of the first {_MOST_MATRICES} of {len(stream.learners)} methods; all: --panel "
              "matrix."] if learner is stream.learners[_MOST_MATRICES - 1:][:1] else [])
    found.append(panels.Panel(
        "buckets", f"{panels.short_label(learner.label)}: accuracy, %, by the {part} trained up to "
        f"and the {part} tested on", [panels.Column("trained up to"),
                      *(panels.Column(str(j + 1), panels.MIXED) for j in range(len(mean[0])))],
        [[str(i + 1), *(None if cell is None else _score(cell, (low[i][j], high[i][j]))
                        for j, cell in enumerate(row))]
         for i, row in enumerate(mean)], notes))
  return found


def summary_of_stream(stream: run_streams.StreamRuns) -> panels.Panel:
  """Every value of the summaries of a stream."""
  made = of_stream(stream.runs)
  shown = made.title.replace(title(stream.runs[0]), stream.title, 1)
  return as_panel("summary", dataclasses.replace(made, title=shown))


def panels_of_table(directory: str | os.PathLike) -> list[panels.Panel]:
  """A whole table as in a paper."""
  return [as_panel(f"table_{i}", table)
          for i, table in enumerate(paper_table.build(directory), 1)]


def as_panel(name: str, table: quantities.TextTable) -> panels.Panel:
  """A table whose cells are quantities and texts as a panel."""
  kinds = [panels.TEXT if i < table.num_left else panels.MIXED
           for i in range(len(table.header))]
  rows, label = [], ""
  for first, *others in table.rows:
    shown = str(first)
    if shown.startswith(" "):  # A paper's indented line names its learner: rows get sorted.
      rows.append([f"{label}, {shown.strip()}", *others])
    else:
      rows.append([first, *others])
      label = shown
  return panels.Panel(name, table.title, [
      panels.Column(heading, kind) for heading, kind in zip(table.header, kinds)],
      rows, table.notes, best=table.best, chart=table.chart)
