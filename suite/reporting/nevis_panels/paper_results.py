# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of each task beside those that the paper prints (appendix N).

The printed learners are `StreamResults` like ours, so every panel can be drawn for them, too. They
learned all 106 tasks with a budget of their own: of other streams and budgets the comparison tells
the size of errors, not more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suite.data.streams import nevis_table
from suite.metrics import stream_groups
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting import paper_values
from suite.reporting.nevis_panels import stream_results

FILE = "nevis_appendix_n"
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


def build(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  """Builds the panel; [] if the paper prints none of the tasks."""
  paper = shared(results)
  if np.isnan(paper.learners[0].errors).all():
    return []
  means = [(learner, stream_groups.seed_mean(learner.errors))
           for learner in (*results.learners, *paper.learners)]
  rows: list[list[Any]] = [
      [task.key, task.role, task.metric, *(panel_lib.plain(mean[i]) for _, mean in means)]
      for i, task in enumerate(results.tasks)]
  known = ~np.isnan(np.stack([mean for _, mean in means])).any(axis=0)
  for name, chosen in (("meta-test", known & np.asarray(results.is_meta_test)), ("all", known)):
    if chosen.any():
      rows.append([f"mean of {int(chosen.sum())} tasks, {name}", "", "",
                   *(float(np.mean(mean[chosen])) for _, mean in means)])
  title = f"{results.title}: errors beside appendix N"
  return [panel_lib.Panel(
      "paper", title,
      [panel_lib.Column("task"), panel_lib.Column("role"), panel_lib.Column("metric"),
       *(panel_lib.Column(learner.label, panel_lib.PERCENT) for learner, _ in means)],
      rows, ["Ours: means over seeds. The means below are of tasks that all columns have.",
             *(f"Paper: {note}" for note in paper.notes), *results.notes],
      figure=lambda: draw(results, paper, title))]


def pairs(results: stream_results.StreamResults, paper: stream_results.StreamResults
          ) -> list[tuple[str, np.ndarray, np.ndarray]]:
  """Our learners that have a printed one: (label, our mean errors [T], printed errors [T])."""
  theirs = {learner.method: learner.errors[0] for learner in paper.learners}
  return [(learner.label, stream_groups.seed_mean(learner.errors), theirs[method])
          for learner in results.learners for method, (_, names) in METHODS.items()
          if learner.method in names]


def draw(results: stream_results.StreamResults, paper: stream_results.StreamResults, title: str
         ) -> Any:
  """Draws our errors against the printed ones of the same method, a point a task."""
  found = pairs(results, paper)
  with figures.style():
    figure, axes = figures.new_axes(title, width=6.6, height=4.8, legend=len(found))
    for i, (label, ours, theirs) in enumerate(found):
      axes.plot(100 * theirs, 100 * ours, label=label, markersize=5, alpha=0.8,
                **{**figures.look(i), "linestyle": "none"})
    if len(results.tasks) <= 20:
      _name_tasks(axes, results.tasks, found)
    axes.plot([0, 100], [0, 100], color="#888888", linewidth=0.8, zorder=1)
    axes.set_xlabel("Error in the paper, %")
    axes.set_ylabel("Our error, %")
    axes.grid(True, which="major")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
  return figure


def _name_tasks(axes: Any, tasks: Sequence[stream_results.TaskRow],
                found: Sequence[tuple[str, np.ndarray, np.ndarray]]) -> None:
  """Names each task at its highest point."""
  if not found:
    return
  highest = np.max(np.stack([np.nan_to_num(ours, nan=-1) for _, ours, _ in found]), axis=0)
  for task, ours, theirs in zip(tasks, highest, found[0][2]):
    if ours >= 0 and not np.isnan(theirs):
      axes.annotate(task.key, (100 * theirs, 100 * ours), xytext=(4, 4), fontsize=7,
                    textcoords="offset points", color="#555555")
