# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of a stream of tasks: by task, against FLOPs (figures 4, 20), by group (figures 6 to 8).

Values are means and deviations over seeds. Groups are domains, training-set sizes and resolutions.
All tasks count there, meta-train and meta-test; errors of different groups are not comparable,
since each group has other tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.metrics import stream_groups
from suite.metrics import task_stream
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
    made.append(panels.Panel(
        name, f"{results.title}: mean error of all tasks {title}", columns, rows, results.notes,
        {"tasks": {group: [results.tasks[i].key for i in places]
                   for group, places in groups.items()}}, _group_chart(found)))
  return made


def _group_chart(found: Sequence[GroupError]) -> panels.Chart:
  """Fronts of each group, as figures 6 to 8 have, where a curve has several budgets whose costs are
  known; else a point for each group and learner.
  """
  known = {e.label: e.point.curve for e in found if e.point.flops}
  groups = {e.group: e.num_tasks for e in found}
  if len(set(known.values())) < len(known):
    return panels.Plots({group: pareto([e.point for e in found if e.group == group and e.error.num],
                                       WITH, "Mean error", names=False) for group in groups})
  texts = {group: f"{group} ({num} {'task' if num == 1 else 'tasks'})"
           for group, num in groups.items()}
  return panels.Plot("Group", "Mean error", [panels.PlotSeries(
      label, [texts[e.group] for e in own], [panels.percent(e.error.mean) for e in own], (),
      [panels.percent(e.error.deviation) for e in own], panels.POINTS)
      for label in dict.fromkeys(e.label for e in found)
      for own in [[e for e in found if e.label == label]]], y_unit="%")


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
  return [panels.Panel(
      "pareto", f"{results.title}: mean error of the meta-test tasks against cumulative FLOPs",
      columns, rows, notes, chart=pareto_chart(found) if any(is_front.values()) else None)]


def pareto_chart(found: Sequence[LearnerPoint]) -> panels.Chart:
  """The points with and without pretraining, if that cost anything."""
  plots = {which: pareto(found, which, "Mean error, meta-test tasks") for which in (WITH, WITHOUT)}
  pretrained = any(p.flops != p.flops_without for p in found)
  return panels.Plots(plots, columns=2) if pretrained else plots[WITH]


def pareto(found: Sequence[LearnerPoint], which: str, y_label: str, names: bool = True
           ) -> panels.Plot:
  """Points and their front; those of one curve are joined, and named if there are several."""
  front = [found[i] for i in _front(found, which)]
  series = [panels.PlotSeries(
      "Pareto front", [_flops(p, which) for p in front], [100 * p.error.mean for p in front],
      shape=panels.STEP, is_front=True)]
  for curve in dict.fromkeys(p.curve for p in found if p.flops or p.flops_without):
    own = sorted((p for p in found if p.curve == curve and _flops(p, which)),
                 key=lambda p: p.flops or 0)
    several = len(own) > 1
    series.append(panels.PlotSeries(
        curve if several or not own else own[0].label, [_flops(p, which) for p in own],
        [100 * p.error.mean for p in own],
        [f"{p.label}, {p.error.num} finished seeds" for p in own],
        [panels.percent(p.error.deviation) for p in own],
        panels.LINE if several else panels.POINTS,
        [p.label.rpartition("/")[0] or p.label for p in own] if several and names else []))
  series += [panels.PlotSeries(f"{p.label}: FLOPs not counted", [], [], shape=panels.POINTS)
             for p in found if p.flops is None]
  return panels.Plot("Cumulative FLOPs", y_label, series, log_x=True, y_unit="%")


def _front(found: Sequence[LearnerPoint], which: str) -> list[int]:
  return task_stream.pareto_front([(_flops(p, which), p.error.mean) for p in found]).indices


def _flops(point: LearnerPoint, which: str) -> float | None:
  return (point.flops if which == WITH else point.flops_without) or None  # 0 has no logarithm.
