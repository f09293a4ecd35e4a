# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of a stream of tasks: by task, against FLOPs (figures 4, 20), by group (figures 6 to 8).

Values are means and deviations over seeds. Groups are domains, training-set sizes and resolutions.
All tasks count there, meta-train and meta-test; errors of different groups are not comparable,
since each group has other tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
from typing import Any, NamedTuple

import numpy as np

from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import figures
from suite.reporting import panels
from suite.reporting.nevis_panels import stream_results

WITH = "with pretraining"
WITHOUT = "without pretraining"


class GroupError(NamedTuple):
  """Mean error and cost of a learner over the tasks of a group; the error minus Independent's.

  The cost is the whole stream's.
  """

  group: str
  num_tasks: int
  point: LearnerPoint
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
        difference = panels.plain(error.mean - base.mean)
      found.append(GroupError(
          name, len(places), learner_point(learner, error), difference))
  return found


def by_group(results: stream_results.StreamResults, facts: Sequence[stream_results.TaskFacts]
          ) -> list[panels.Panel]:
  """Builds a panel for each of domain, size and resolution that is known of some task."""
  sizes = stream_groups.places([stream_groups.size_class(f.size) for f in facts])
  sides = stream_groups.places([stream_groups.resolution_class(f.resolution) for f in facts])
  ways = (
      ("domain", "by domain", stream_groups.places([f.domain for f in facts])),
      ("size", "by number of training examples",
       {name: sizes[name] for name in stream_groups.in_order(sizes, stream_groups.SIZES)}),
      ("resolution", "by average resolution",
       {name: sides[name] for name in stream_groups.in_order(sides, stream_groups.RESOLUTIONS)}))
  made = []
  for name, title, groups in ways:
    if set(groups) == {stream_groups.UNKNOWN}:
      continue
    found = errors_by_group(results, groups)
    rows = [[e.group, e.label, e.num_tasks, panels.plain(e.error.mean),
             panels.plain(e.error.deviation), e.error.num, e.against_independent] for e in found]
    columns = [panels.Column(name), panels.Column("learner"),
               panels.Column("tasks", panels.COUNT),
               panels.Column("mean error", panels.PERCENT),
               panels.Column("deviation", panels.PERCENT),
               panels.Column("seeds", panels.COUNT),
               panels.Column("minus Independent", panels.PERCENT)]
    whole = f"{results.title}: mean error of all tasks {title}"
    known = {e.label: e.point.curve for e in found if e.point.flops}
    # Fronts join the budgets of a curve, where it has several, whose costs are known.
    draw = draw_fronts if len(set(known.values())) < len(known) else draw_groups
    made.append(panels.Panel(
        name, whole, columns, rows, results.notes,
        {"tasks": {group: [results.tasks[i].key for i in places]
                   for group, places in groups.items()}},
        functools.partial(draw, found, whole)))
  return made


def draw_fronts(found: Sequence[GroupError], title: str) -> Any:
  """Draws error against FLOPs for each group, as figures 6 to 8 do."""
  groups = list(dict.fromkeys(e.group for e in found))
  curves = list(dict.fromkeys(e.point.curve for e in found))
  across = min(4, len(groups))
  down = -(-len(groups) // across)
  with figures.style():
    figure, first = figures.new_axes("", width=2.9 * across + 1.8, height=2.6 * down + 0.5,
                                     legend=len(curves) + 1)
    grid = figure.add_gridspec(down, across)
    first.set_subplotspec(grid[0, 0])
    every = [first, *(figure.add_subplot(grid[divmod(i, across)]) for i in range(1, len(groups)))]
    for axes, group in zip(every, groups):
      own = [e.point for e in found if e.group == group and e.error.num]
      draw_axes(axes, own, curves, WITH, names=False)
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


def draw_groups(found: Sequence[GroupError], title: str) -> Any:
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
          xerr=[100 * (panels.plain(own[group].deviation) or 0) for group in groups],
          markersize=6, capsize=2, label=label, **{**figures.look(i), "linestyle": "none"})
    axes.set_yticks(range(len(groups)), [
        f"{group} ({counts[group]} {'task' if counts[group] == 1 else 'tasks'})"
        for group in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlabel("Mean error, %")
    axes.grid(True, which="major", axis="x")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
  return figure


def by_task(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds the panel, with a deviation column for learners of several seeds."""
  columns = [panels.Column("task"), panels.Column("metric"),
             panels.Column("year"), panels.Column("role")]
  for learner in results.learners:
    columns.append(panels.Column(learner.label, panels.PERCENT))
    if learner.num_seeds > 1:
      columns.append(panels.Column(f"± over {learner.num_seeds}", panels.PERCENT))
  rows = [[task.key, task.metric, task.year, task.role, *_cells_of_task(results, learners=[
      learner.errors[:, i] for learner in results.learners])]
      for i, task in enumerate(results.tasks)]
  rows.append(["mean, all tasks", "", "", "", *_cells_of_task(results, learners=[
      np.mean(learner.errors, axis=1) for learner in results.learners])])
  return [panels.Panel("tasks", f"{results.title}: errors by task", columns, rows,
                          results.notes)]


def _cells_of_task(results: stream_results.StreamResults, learners: list[np.ndarray]) -> list[Any]:
  cells: list[Any] = []
  for learner, values in zip(results.learners, learners):
    found = stream_groups.spread(list(values))
    cells.append(panels.plain(found.mean))
    if learner.num_seeds > 1:
      cells.append(panels.plain(found.deviation))
  return cells


class LearnerPoint(NamedTuple):
  """Mean error and FLOPs of one learner, over its finished seeds; None is unknown.

  Points of one `curve` are its budgets.
  """

  label: str
  curve: str
  error: stream_groups.Spread
  flops: float | None
  flops_without: float | None


def learner_points(results: stream_results.StreamResults) -> list[LearnerPoint]:
  """The learners that have a headline score."""
  found = []
  for learner in results.learners:
    error = stream_groups.spread(list(learner.mean_errors))
    if error.num:
      found.append(learner_point(learner, error))
  return found


def learner_point(
  learner: stream_results.LearnerResults, error: stream_groups.Spread
) -> LearnerPoint:
  """An error of the learner with its mean costs over the finished seeds."""
  flops, without = (
      panels.plain(stream_results.spread_of(
          [cost for cost, run in zip(costs, learner.runs) if run.is_finished]).mean)
      for costs in (learner.flops, learner.flops_without_pretraining))
  return LearnerPoint(learner.label, learner.curve or learner.method, error, flops, without)


def against_flops(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds the panel; [] if no learner has a headline score."""
  found = learner_points(results)
  if not found:
    return []
  is_front = {name: set(_front(found, name)) for name in (WITHOUT, WITH)}
  rows = [[p.label, p.error.num, p.error.mean, panels.plain(p.error.deviation), p.flops_without,
           "yes" if i in is_front[WITHOUT] else "", p.flops, "yes" if i in is_front[WITH] else ""]
          for i, p in enumerate(found)]
  columns = [panels.Column("learner"), panels.Column("seeds", panels.COUNT),
             panels.Column("mean error", panels.PERCENT),
             panels.Column("deviation", panels.PERCENT),
             panels.Column(WITHOUT, panels.FLOPS), panels.Column("on its front"),
             panels.Column(WITH, panels.FLOPS), panels.Column("on its front")]
  unknown = [p.label for p in found if p.flops is None]
  notes = [*results.notes, *([f"Not in the figure, FLOPs not counted: {', '.join(unknown)}."]
                             if unknown else [])]
  front = _front(found, WITH)
  line = panels.PlotSeries("Pareto front", [found[i].flops for i in front],
                           [100 * found[i].error.mean for i in front], shape=panels.STEP,
                           is_front=True)
  series = [panels.PlotSeries(
      p.label, [p.flops], [100 * p.error.mean], [f"{p.error.num} finished seeds"],
      [panels.percent(p.error.deviation)], panels.POINTS) for p in found if p.flops]
  chart = panels.Plot("Cumulative FLOPs, with pretraining", "Mean error, meta-test tasks",
                      [line, *series], log_x=True, y_unit="%")
  return [panels.Panel(
      "pareto", f"{results.title}: mean error of the meta-test tasks against cumulative FLOPs",
      columns, rows, notes,
      figure=(lambda: draw_against_flops(found, results.title)) if any(is_front.values()) else None,
      chart=chart if front else None)]


def _front(found: Sequence[LearnerPoint], which: str) -> list[int]:
  return task_stream.pareto_front([(_flops(p, which), p.error.mean) for p in found]).indices


def _flops(point: LearnerPoint, which: str) -> float | None:
  return (point.flops if which == WITH else point.flops_without) or None  # 0 has no logarithm.


def draw_against_flops(found: Sequence[LearnerPoint], title: str) -> Any:
  """Draws the points; two axes if pretraining cost anything. One color a curve."""
  pretrained = any(p.flops != p.flops_without for p in found)
  shown = [WITHOUT, WITH] if pretrained else [WITH]
  curves = list(dict.fromkeys(p.curve for p in found))
  with figures.style():
    figure, first = figures.new_axes("", width=4.4 * len(shown) + 2, height=4.2,
                                     legend=len(curves) + 1)
    first.set_subplotspec(figure.add_gridspec(1, len(shown))[0])
    both = [first, *(figure.add_subplot(1, len(shown), i + 1, sharex=first, sharey=first)
                     for i in range(1, len(shown)))]
    for axes, which in zip(both, shown):
      draw_axes(axes, found, curves, which)
      axes.set_xlabel("Cumulative FLOPs" + (f", {which}" if pretrained else ""))
    first.set_ylabel("Mean error, meta-test tasks, %")
    both[-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    unknown = [p.label for p in found if p.flops is None]
    if unknown:
      figure.supxlabel(f"FLOPs not counted: {', '.join(unknown)}", x=0.01, ha="left", fontsize=8,
                       color="#555555")
  return figure


def draw_axes(axes: Any, found: Sequence[LearnerPoint], curves: Sequence[str], which: str,
              names: bool = True) -> None:
  """Draws points and the front; those of one curve are joined, and named if there are several."""
  front = [found[i] for i in _front(found, which)]
  axes.step([_flops(p, which) for p in front], [100 * p.error.mean for p in front], where="post",
            color="black", linewidth=1, linestyle=":", label="Pareto front", zorder=1)
  for i, curve in enumerate(curves):
    every = [p for p in found if p.curve == curve]
    own = [p for p in every if _flops(p, which)]
    if not any(p.flops or p.flops_without for p in every):
      continue  # Neither a point nor a line in the legend.
    own.sort(key=lambda p: p.flops or 0)
    bars = [panels.percent(p.error.deviation) for p in own]  # None: a single seed.
    axes.errorbar([_flops(p, which) for p in own], [100 * p.error.mean for p in own],
                  yerr=[bar or 0 for bar in bars] if any(b is not None for b in bars) else None,
                  capsize=3, linewidth=1, markersize=7, markeredgecolor="white",
                  label=own[0].label if len(own) == 1 else curve, **figures.look(i))
    if len(own) > 1 and names:
      for p in own:
        axes.annotate(p.label.rpartition("/")[0] or p.label, (_flops(p, which), 100 * p.error.mean),
                      xytext=(5, 5), textcoords="offset points", fontsize=7,
                      color=figures.look(i)["color"])
  axes.set_xscale("log")
  axes.margins(0.12)
  figures.flops_ticks(axes)
  axes.grid(True, which="major")
