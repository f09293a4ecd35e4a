# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Mean error by domain, training-set size and image resolution (figures 6 to 8).

All tasks count, meta-train and meta-test; errors of different groups are not comparable, for each
has its own tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.metrics import stream_groups
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import pareto
from suite.reporting.nevis_panels import stream_results
from suite.reporting.nevis_panels import task_facts


class GroupError(NamedTuple):
  """Mean error and cost of a learner over the tasks of a group; the error minus Independent's.

  The cost is that of the whole stream.
  """

  group: str
  num_tasks: int
  point: pareto.LearnerPoint
  against_independent: float | None

  @property
  def label(self) -> str:
    return self.point.label

  @property
  def error(self) -> stream_groups.Spread:
    return self.point.error


def errors_by_group(results: stream_results.StreamResults, groups: Mapping[str, Sequence[int]]
                    ) -> list[GroupError]:
  """Mean errors over seeds; a learner that misses a task of a group has no mean there."""
  found = []
  for name, places in groups.items():
    chosen = [i in places for i in range(len(results.tasks))]
    for learner in results.learners:
      error = stream_groups.spread(list(stream_groups.mean_over(learner.errors, chosen)))
      reference, difference = results.reference_of(learner), None
      if reference is not None and reference is not learner:
        base = stream_groups.spread(list(stream_groups.mean_over(reference.errors, chosen)))
        difference = panel_lib.plain(error.mean - base.mean)
      found.append(GroupError(
          name, len(places), pareto.point(learner, error), difference))
  return found


def build(results: stream_results.StreamResults, facts: Sequence[task_facts.TaskFacts]
          ) -> list[panel_lib.Panel]:
  """Builds a panel for each of domain, size and resolution that is known of some task."""
  sizes = stream_groups.places([stream_groups.size_class(f.size) for f in facts])
  sides = stream_groups.places([stream_groups.resolution_class(f.resolution) for f in facts])
  ways = (
      ("domain", "by domain", stream_groups.places([f.domain for f in facts])),
      ("size", "by number of training examples",
       {name: sizes[name] for name in stream_groups.in_order(sizes, stream_groups.SIZES)}),
      ("resolution", "by average resolution",
       {name: sides[name] for name in stream_groups.in_order(sides, stream_groups.RESOLUTIONS)}))
  return [_panel(results, name, title, groups) for name, title, groups in ways
          if set(groups) != {stream_groups.UNKNOWN}]


def _panel(results: stream_results.StreamResults, name: str, title: str,
           groups: Mapping[str, Sequence[int]]) -> panel_lib.Panel:
  found = errors_by_group(results, groups)
  rows = [[e.group, e.label, e.num_tasks, panel_lib.plain(e.error.mean),
           panel_lib.plain(e.error.deviation), e.error.num, e.against_independent] for e in found]
  columns = [panel_lib.Column(name), panel_lib.Column("learner"),
             panel_lib.Column("tasks", panel_lib.COUNT),
             panel_lib.Column("mean error", panel_lib.PERCENT),
             panel_lib.Column("deviation", panel_lib.PERCENT),
             panel_lib.Column("seeds", panel_lib.COUNT),
             panel_lib.Column("minus Independent", panel_lib.PERCENT)]
  whole = f"{results.title}: mean error of all tasks {title}"
  return panel_lib.Panel(
      name, whole, columns, rows, results.notes,
      {"tasks": {group: [results.tasks[i].key for i in places]
                 for group, places in groups.items()}},
      lambda: (draw_fronts if _has_budgets(found) else draw)(found, whole))


def _has_budgets(found: Sequence[GroupError]) -> bool:
  """Whether a method has several budgets, whose costs are known."""
  points = {e.label: e.point for e in found if e.point.flops}
  methods = [point.method for point in points.values()]
  return len(set(methods)) < len(methods)


def draw_fronts(found: Sequence[GroupError], title: str) -> Any:
  """Draws error against FLOPs for each group, as figures 6 to 8 do."""
  groups = list(dict.fromkeys(e.group for e in found))
  methods = list(dict.fromkeys(e.point.method for e in found))
  across = min(4, len(groups))
  down = -(-len(groups) // across)
  with figures.style():
    figure, first = figures.new_axes("", width=2.9 * across + 1.8, height=2.6 * down + 0.5,
                                     legend=len(methods) + 1)
    grid = figure.add_gridspec(down, across)
    first.set_subplotspec(grid[0, 0])
    every = [first, *(figure.add_subplot(grid[divmod(i, across)]) for i in range(1, len(groups)))]
    for axes, group in zip(every, groups):
      own = [e.point for e in found if e.group == group and e.error.num]
      pareto.draw_axes(axes, own, methods, pareto.WITH, names=False)
      axes.set_title(group, loc="left", fontsize=9)
      axes.tick_params(labelsize=7)
    for axes in every[-across:]:
      axes.set_xlabel("Cumulative FLOPs", fontsize=8)
    for axes in every[::across]:
      axes.set_ylabel("Mean error, %", fontsize=8)
    every[across - 1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0),
                             borderaxespad=0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
  return figure


def draw(found: Sequence[GroupError], title: str) -> Any:
  """Draws a row of points for each group, one a learner, with the deviation over seeds."""
  groups = list(dict.fromkeys(e.group for e in found))
  labels = list(dict.fromkeys(e.label for e in found))
  counts = {e.group: e.num_tasks for e in found}
  with figures.style():
    figure, axes = figures.new_axes(title, width=7.6, height=1.3 + 0.55 * len(groups),
                                    legend=len(labels))
    for i, label in enumerate(labels):
      own = {e.group: e.error for e in found if e.label == label}
      offset = 0.5 * ((i + 0.5) / len(labels) - 0.5)
      axes.errorbar(
          [100 * own[group].mean for group in groups], np.arange(len(groups)) + offset,
          xerr=[100 * (panel_lib.plain(own[group].deviation) or 0) for group in groups],
          markersize=6, capsize=2, label=label, **{**figures.look(i), "linestyle": "none"})
    axes.set_yticks(range(len(groups)), [
        f"{group} ({counts[group]} {'task' if counts[group] == 1 else 'tasks'})"
        for group in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlabel("Mean error, %")
    axes.grid(True, which="major", axis="x")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
  return figure
