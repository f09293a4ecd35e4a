# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Results beside a reference: regret against Independent, the errors that the paper prints, and the
number of tasks after which a pretraining has paid for itself.

Regret is the cumulative error minus Independent's (figures 5, 17, 21 and 22). The printed learners
(appendix N) are `StreamResults` like ours, so every panel can be drawn for them, too. They learned
all 106 tasks with another budget: for other streams and budgets the comparison tells the size of
errors, not more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.data.streams import nevis_table
from suite.metrics import schema
from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import paper_values
from suite.reporting import quantities
from suite.reporting.nevis_panels import stream_results

FILE, LANDMARKS = "nevis_appendix_n", "nevis_landmarks"
# Column of the file: (the paper's name, names of our learners that do the same).
METHODS = {"indep": ("Indep", ("indep",)), "ft_prev": ("FT-prev", ("ft_prev",)),
           "ft_d": ("FT-d", ("ft_d", "ft_dknn")), "mt": ("MT", ("mt",))}


def printed() -> stream_results.StreamResults:
  """The four learners of appendix N on the 104 tasks of the full stream that it prints."""
  notes, lines = paper_values.table(FILE)
  values = {line["task"]: line for line in lines if line["as_printed"]}
  tasks = [stream_results.TaskRow(line.key, line.name, line.year, line.role,
                                  values[line.key]["metric"])
           for line in nevis_table.full() if line.key in values]
  errors = {method: np.array([[1 - float(values[task.key][method]) / 100 for task in tasks]])
            for method in METHODS}
  meta_test = [task.role == "meta_test" for task in tasks]
  return stream_results.StreamResults("NEVIS'22, as printed in appendix N", tasks, [
      stream_results.LearnerResults(
          f"{METHODS[method][0]} (paper)", method, found,
          stream_groups.mean_over(found, meta_test), [None], [None])
      for method, found in errors.items()], notes)


def shared(results: stream_results.StreamResults) -> stream_results.StreamResults:
  """The printed learners on the tasks of our stream, in its order; NaN where none is printed."""
  paper = printed()
  place = {task.key: i for i, task in enumerate(paper.tasks)}

  def ours(values: np.ndarray) -> np.ndarray:
    return np.array([[row[place[task.key]] if task.key in place else np.nan
                      for task in results.tasks] for row in values])

  meta_test = results.is_meta_test
  return stream_results.StreamResults(results.title, results.tasks, [
      stream_results.LearnerResults(
          learner.label, learner.method, ours(learner.errors),
          stream_groups.mean_over(ours(learner.errors), meta_test), [None], [None])
      for learner in paper.learners], paper.notes)


def beside_paper(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds the panel; [] if the paper prints none of the tasks."""
  paper = shared(results)
  if np.isnan(paper.learners[0].errors).all():
    return []
  means = [(learner, stream_groups.seed_mean(learner.errors))
           for learner in (*results.learners, *paper.learners)]
  rows: list[list[Any]] = [
      [task.key, task.role, task.metric, *(panels.plain(mean[i]) for _, mean in means)]
      for i, task in enumerate(results.tasks)]
  known = ~np.isnan(np.stack([mean for _, mean in means])).any(axis=0)
  for name, chosen in (("meta-test", known & np.asarray(results.is_meta_test)), ("all", known)):
    if chosen.any():
      rows.append([f"mean of {int(chosen.sum())} tasks, {name}", "", "",
                   *(float(np.mean(mean[chosen])) for _, mean in means)])
  columns = [panels.Column("task"), panels.Column("role"), panels.Column("metric"),
             *(panels.Column(learner.label, panels.PERCENT) for learner, _ in means)]
  sources, lines = paper_values.table(LANDMARKS)
  landmarks = {line["task"]: float(line["indep"]) / 100 for line in lines}
  if any(task.key in landmarks for task in results.tasks):
    columns.append(panels.Column("Indep (section 5.5)", panels.PERCENT))
    for row in rows:
      row.append(landmarks.get(row[0]))
  else:
    sources = []
  title = f"{results.title}: errors beside appendix N"
  return [panels.Panel(
      "paper", title, columns,
      rows, ["Ours: means over seeds. The means below are of tasks that all columns have.",
             *(f"Paper: {note}" for note in (*paper.notes, *sources)), *results.notes],
      chart=_paper_chart(results, paper))]


def _paper_chart(results: stream_results.StreamResults, paper: stream_results.StreamResults
                 ) -> panels.Plot:
  """Our errors against the printed ones of the same method, a point a task."""
  keys = [task.key for task in results.tasks]
  return panels.Plot("Error in the paper, %", "Our error", [
      *(panels.PlotSeries(label, panels.plain_list(100 * theirs), panels.plain_list(100 * ours),
                          keys, shape=panels.POINTS,
                          labels=keys if not i and len(keys) <= 20 else [])
        for i, (label, ours, theirs) in enumerate(pairs(results, paper))),
      panels.PlotSeries("as in the paper", [0, 100], [0, 100], shape=panels.REFERENCE)],
                     y_unit="%")


def pairs(results: stream_results.StreamResults, paper: stream_results.StreamResults
          ) -> list[tuple[str, np.ndarray, np.ndarray]]:
  """Our learners that have a printed one: (label, our mean errors [T], printed errors [T])."""
  theirs = {learner.method: learner.errors[0] for learner in paper.learners}
  return [(learner.label, stream_groups.seed_mean(learner.errors), theirs[method])
          for learner in results.learners for method, (_, names) in METHODS.items()
          if learner.method in names]


class RegretCurve(NamedTuple):
  """Regret of one learner: [S, T'] over the meta-test tasks and [S, T] over all tasks."""

  label: str
  reference: str
  meta_test: np.ndarray
  every: np.ndarray
  num_gaps: int


def curves(results: stream_results.StreamResults) -> list[RegretCurve]:
  """The learners that have an Independent learner to compare with, which is the mean of its seeds.
  """
  meta_test = np.asarray(results.is_meta_test, bool)
  found = []
  for learner in results.learners:
    reference = results.reference_of(learner)
    if reference is None:
      continue
    mean = stream_groups.seed_mean(reference.errors)
    found.append(RegretCurve(
        learner.label, reference.label,
        stream_groups.regret_curves(learner.errors[:, meta_test], mean[meta_test]),
        stream_groups.regret_curves(learner.errors, mean),
        int(np.max(stream_groups.gaps(learner.errors, mean)))))
  return found


def regret(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds the panel, at equal compute; [] if nothing can be compared with Independent."""
  if any(results.reference_of(learner) is None for learner in results.learners):
    results = results.at_equal_compute()
  found = curves(results)
  if not any(curve.label != curve.reference for curve in found):
    return []
  rows = []
  for curve in found:
    known = int(np.max(np.sum(~np.isnan(curve.every), axis=1)))
    row: list[Any] = [curve.label, curve.reference, len(curve.every), known]
    for values in (curve.meta_test, curve.every):
      end = stream_groups.spread([
          None if not len(seed) or np.isnan(seed).any() else float(seed[-1]) for seed in values])
      row += [panels.plain(end.mean), panels.plain(end.deviation)]
    rows.append(row)
  columns = [panels.Column("learner"), panels.Column("against"),
             panels.Column("seeds", panels.COUNT), panels.Column("tasks", panels.COUNT),
             panels.Column("regret, meta-test", panels.PERCENT),
             panels.Column("deviation", panels.PERCENT),
             panels.Column("regret, all tasks", panels.PERCENT),
             panels.Column("deviation", panels.PERCENT)]
  notes = [f"{curve.label}: the curve leaves out {curve.num_gaps} tasks that it or the reference "
           "has no error for." for curve in found if curve.num_gaps]
  compared = {curve.label for curve in found}
  alone = [learner.label for learner in results.learners if learner.label not in compared]
  if alone:
    notes.append(f"Without a regret, for no single {stream_results.INDEPENDENT} belongs to it: "
                 f"{', '.join(alone)}.")
  return [panels.Panel(
      "regret", f"{results.title}: regret against Independent, negative is better", columns, rows,
      [*notes, *results.notes],
      {"tasks": [task.key for task in results.tasks], "meta_test": results.is_meta_test,
       "curves": {c.label: panels.plain_list(c.every) for c in found}},
      _regret_chart(results, found))]


def _regret_chart(results: stream_results.StreamResults, found: Sequence[RegretCurve]
                  ) -> panels.Plots:
  """The curves over all tasks, and over the meta-test tasks if there are others, too.

  The task with the most training examples is marked, as ImageNet is in figure 22.
  """
  sizes = {task.key: facts.size for task, facts in
           zip(results.tasks, stream_results.facts_of(results.tasks)) if facts.size}
  largest = max(sizes, key=sizes.__getitem__) if len(sizes) > 1 else None
  meta_test = [t for t, chosen in zip(results.tasks, results.is_meta_test) if chosen]
  plots = {"All tasks": _regret_plot(list(results.tasks), found, "every", largest)}
  if meta_test and len(meta_test) < len(results.tasks):
    plots["Meta-test tasks"] = _regret_plot(meta_test, found, "meta_test", largest)
  return panels.Plots(plots, columns=1)


def _regret_plot(tasks: Sequence[stream_results.TaskRow], found: Sequence[RegretCurve], which: str,
                 largest: str | None) -> panels.Plot:
  keys, series = [task.key for task in tasks], []
  for curve in found:
    spreads = [stream_groups.spread(list(column)) for column in 100 * getattr(curve, which).T]
    series.append(panels.PlotSeries(
        curve.label, keys, [panels.plain(s.mean) for s in spreads],
        [f"against {curve.reference}"] * len(spreads),
        [panels.plain(s.deviation) for s in spreads]))
  ticks = {}
  if len(tasks) > 30:
    firsts = [i for i, task in enumerate(tasks) if i == 0 or task.year != tasks[i - 1].year]
    apart = len(tasks) / 40  # Narrower years would be printed over each other.
    ticks = {keys[i]: str(tasks[i].year) for i, after in zip(firsts, [*firsts[1:], len(tasks)])
             if after - i >= apart}
  marks = {after.key: "" for before, after in zip(tasks, tasks[1:])
           if after.role == task_stream.META_TEST != before.role}
  marks.update({key: f"largest: {key}" for key in keys if key == largest})
  zero = panels.PlotSeries("none", keys, [0] * len(keys), shape=panels.REFERENCE)
  return panels.Plot("Task, in the order of the stream", "Regret", [*series, zero], y_unit="%",
                     ticks=ticks, marks=marks)


class ServedTasks(NamedTuple):
  """What a learner's pretraining cost and the tasks that it serves.

  Attributes:
    year: of the encoder; None: not known, and all tasks count as served.
    pretraining: FLOPs, the mean over finished seeds; None is unknown.
    costs: FLOPs of each task in stream order without pretraining and answers, the same.
    is_served: whether a task is of the encoder's year or later.
  """

  year: int | None
  pretraining: float | None
  costs: Sequence[float | None]
  is_served: Sequence[bool]


def served(results: stream_results.StreamResults, learner: stream_results.LearnerResults
           ) -> ServedTasks | None:
  """Reads the costs of a learner's tasks from its records; None without a finished run."""
  runs = [run for run in learner.runs if run.is_finished]
  if not runs:
    return None
  years = {record["pretrained_year"] for run in runs for record in run.records
           if record.get("pretrained_year") is not None}
  year = max(years, default=None)
  by_run: list[list[float | None]] = []
  for run in runs:
    last = {record.get(schema.TASK_KEY): record for record in run.records}  # In order.
    totals: list[float | None] = [0]
    for task in results.tasks:
      totals.append(task_stream.cumulative_cost(last[task.key], without=("pretrain",)))
    by_run.append([None if a is None or b is None else b - a for a, b in zip(totals, totals[1:])])
  return ServedTasks(
      year, _mean_known([run.records[-1].get("flops_pretrain", 0) for run in runs]),
      [_mean_known(costs) for costs in zip(*by_run)],
      [year is None or task.year is None or task.year >= year for task in results.tasks])


def pretraining(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds the panel of pretrained learners' costs; [] if none has paid for a pretraining."""
  rows = []
  for learner in results.learners:
    found = served(results, learner)
    if found is None or found.pretraining == 0:
      continue
    num = sum(found.is_served)
    total = None if None in found.costs else sum(found.costs)  # type: ignore[arg-type]
    share = found.pretraining / num if found.pretraining is not None and num else None
    other = results.reference_of(learner)
    reference = None if other is None or other is learner else served(results, other)
    when = ["-", "-"]
    if reference is not None:
      chosen = [i for i, one in enumerate(found.is_served) if one]
      even = task_stream.break_even(found.pretraining, [found.costs[i] for i in chosen],
                                    [reference.costs[i] for i in chosen])
      if even.num_tasks is not None and even.is_observed:
        task = results.tasks[chosen[even.num_tasks - 1]]
        when = [f"{even.num_tasks:,}",
                task.key if task.year is None else f"{task.key} ({task.year})"]
      elif even.num_tasks is not None:
        when = [f"{even.num_tasks:,}, beyond the stream", "-"]
    rows.append([
        learner.label, "unknown" if found.year is None else str(found.year), num,
        None if total is None or found.pretraining is None else total + found.pretraining, total,
        found.pretraining, share,
        None if total is None or share is None else total / len(found.costs) + share, *when])
  if not rows:
    return []
  return [panels.Panel(
      "pretraining", f"{results.title}: pretraining, charged and divided by the tasks served", [
          panels.Column("learner"), panels.Column("encoder's year"),
          panels.Column("tasks served", panels.COUNT),
          panels.Column("FLOPs with pretraining", panels.FLOPS),
          panels.Column("without", panels.FLOPS), panels.Column("pretraining", panels.FLOPS),
          panels.Column("of it a task served", panels.FLOPS),
          panels.Column("a task with its share", panels.FLOPS),
          panels.Column("breaks even after", panels.MIXED), panels.Column("at the task")], rows,
      ["FLOPs without answers. Served are the tasks of the encoder's year or later, all of them if "
       "it is unknown. Breaks even: the number of served tasks after which "
       f"{stream_results.INDEPENDENT} has spent as much; beyond the stream at its mean saving; -: "
       "never, or a cost is unknown, or there is no such run."])]


def _mean_known(values: Sequence[float | None]) -> float | None:
  known = [value for value in values if value is not None]
  return quantities.mean(known) if known and len(known) == len(values) else None
