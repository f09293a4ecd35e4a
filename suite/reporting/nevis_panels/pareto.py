# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Mean error against FLOPs of the stream, with and without pretraining (figures 4 and 20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import charts
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import stream_results

WITH = "with pretraining"
WITHOUT = "without pretraining"


class LearnerPoint(NamedTuple):
  """Mean error and FLOPs of one learner, over its finished seeds; None is unknown."""

  label: str
  method: str
  error: stream_groups.Spread
  flops: float | None
  flops_without: float | None


def points(results: stream_results.StreamResults) -> list[LearnerPoint]:
  """The learners that have a headline score."""
  found = []
  for learner in results.learners:
    error = stream_groups.spread(list(learner.mean_errors))
    if error.num:
      found.append(point(learner, error))
  return found


def point(learner: stream_results.LearnerResults, error: stream_groups.Spread) -> LearnerPoint:
  """An error of the learner with its mean costs over the finished seeds."""
  flops, without = (
      panel_lib.plain(stream_results.spread_of(
          [cost for cost, run in zip(costs, learner.runs) if run.is_finished]).mean)
      for costs in (learner.flops, learner.flops_without_pretraining))
  return LearnerPoint(learner.label, learner.method, error, flops, without)


def build(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  """Builds the panel; [] if no learner has a headline score."""
  found = points(results)
  if not found:
    return []
  is_front = {name: set(_front(found, name)) for name in (WITHOUT, WITH)}
  rows = [[p.label, p.error.num, p.error.mean, panel_lib.plain(p.error.deviation), p.flops_without,
           "yes" if i in is_front[WITHOUT] else "", p.flops, "yes" if i in is_front[WITH] else ""]
          for i, p in enumerate(found)]
  columns = [panel_lib.Column("learner"), panel_lib.Column("seeds", panel_lib.COUNT),
             panel_lib.Column("mean error", panel_lib.PERCENT),
             panel_lib.Column("deviation", panel_lib.PERCENT),
             panel_lib.Column(WITHOUT, panel_lib.FLOPS), panel_lib.Column("on its front"),
             panel_lib.Column(WITH, panel_lib.FLOPS), panel_lib.Column("on its front")]
  unknown = [p.label for p in found if p.flops is None]
  notes = [*results.notes, *([f"Not in the figure, FLOPs unknown: {', '.join(unknown)}."]
                             if unknown else [])]
  return [panel_lib.Panel(
      "pareto", f"{results.title}: mean error of the meta-test tasks against cumulative FLOPs",
      columns, rows, notes,
      figure=(lambda: draw(found, results.title)) if any(is_front.values()) else None,
      chart=_chart(found))]


def _chart(found: Sequence[LearnerPoint]) -> charts.Plot | None:
  """Errors against FLOPs with pretraining; None if no FLOPs are known."""
  front = _front(found, WITH)
  line = charts.Series("Pareto front", [found[i].flops for i in front],
                       [100 * found[i].error.mean for i in front], shape=charts.STEP,
                       is_front=True)
  series = [charts.Series(
      p.label, [p.flops], [100 * p.error.mean], [f"{p.error.num} finished seeds"],
      [panel_lib.plain(100 * p.error.deviation)], charts.POINTS) for p in found if p.flops]
  return charts.Plot("Cumulative FLOPs, with pretraining", "Mean error, meta-test tasks",
                     [line, *series], log_x=True, y_unit="%") if front else None


def _front(found: Sequence[LearnerPoint], which: str) -> list[int]:
  return task_stream.pareto_front([(_flops(p, which), p.error.mean) for p in found]).indices


def _bars(deviations: Sequence[float]) -> list[float] | None:
  """Deviations in percent, 0 where a learner has one seed; None if all have."""
  known = [panel_lib.plain(deviation) for deviation in deviations]
  return [100 * (value or 0) for value in known] if any(v is not None for v in known) else None


def _flops(point: LearnerPoint, which: str) -> float | None:
  return (point.flops if which == WITH else point.flops_without) or None  # 0 has no logarithm.


def draw(found: Sequence[LearnerPoint], title: str) -> Any:
  """Draws the points; two axes if pretraining cost anything. One color a method."""
  pretrained = any(p.flops != p.flops_without for p in found)
  shown = [WITHOUT, WITH] if pretrained else [WITH]
  methods = list(dict.fromkeys(p.method for p in found))
  with figures.style():
    figure, first = figures.new_axes("", width=4.4 * len(shown) + 2, height=4.2,
                                     legend=len(methods) + 1)
    first.set_subplotspec(figure.add_gridspec(1, len(shown))[0])
    both = [first, *(figure.add_subplot(1, len(shown), i + 1, sharex=first, sharey=first)
                     for i in range(1, len(shown)))]
    for axes, which in zip(both, shown):
      draw_axes(axes, found, methods, which)
      axes.set_xlabel("Cumulative FLOPs" + (f", {which}" if pretrained else ""))
    first.set_ylabel("Mean error, meta-test tasks, %")
    both[-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    unknown = [p.label for p in found if p.flops is None]
    if unknown:
      figure.supxlabel(f"FLOPs unknown: {', '.join(unknown)}", x=0.01, ha="left", fontsize=8,
                       color="#555555")
  return figure


def draw_axes(axes: Any, found: Sequence[LearnerPoint], methods: Sequence[str], which: str,
              names: bool = True) -> None:
  """Draws points and the front; those of one method are joined, and named if there are several."""
  front = [found[i] for i in _front(found, which)]
  axes.step([_flops(p, which) for p in front], [100 * p.error.mean for p in front], where="post",
            color="black", linewidth=1, linestyle=":", label="Pareto front", zorder=1)
  for i, method in enumerate(methods):
    every = [p for p in found if p.method == method]
    own = [p for p in every if _flops(p, which)]
    if not any(p.flops or p.flops_without for p in every):
      continue  # Neither a point nor a line in the legend.
    own.sort(key=lambda p: p.flops or 0)
    axes.errorbar([_flops(p, which) for p in own], [100 * p.error.mean for p in own],
                  yerr=_bars([p.error.deviation for p in own]),
                  capsize=3, linewidth=1, markersize=7, markeredgecolor="white",
                  label=own[0].label if len(own) == 1 else method, **figures.look(i))
    if len(own) > 1 and names:
      for p in own:
        axes.annotate(p.label.rpartition("/")[0] or p.label, (_flops(p, which), 100 * p.error.mean),
                      xytext=(5, 5), textcoords="offset points", fontsize=7,
                      color=figures.look(i)["color"])
  axes.set_xscale("log")
  axes.margins(0.12)
  figures.flops_ticks(axes)
  axes.grid(True, which="major")
