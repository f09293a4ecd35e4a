# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cumulative error against Independent over the stream (figures 5, 17, 21 and 22)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import charts
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import stream_results


class Curve(NamedTuple):
  """Regret of one learner: [S, T'] over the meta-test tasks and [S, T] over all tasks."""

  label: str
  reference: str
  meta_test: np.ndarray
  every: np.ndarray
  num_gaps: int


def curves(results: stream_results.StreamResults) -> list[Curve]:
  """The learners that have an Independent learner to compare with, which is the mean of its seeds.
  """
  meta_test = np.asarray(results.is_meta_test, bool)
  found = []
  for learner in results.learners:
    reference = results.reference_of(learner)
    if reference is None:
      continue
    mean = stream_groups.seed_mean(reference.errors)
    found.append(Curve(
        learner.label, reference.label,
        stream_groups.regret_curves(learner.errors[:, meta_test], mean[meta_test]),
        stream_groups.regret_curves(learner.errors, mean),
        int(np.max(stream_groups.gaps(learner.errors, mean)))))
  return found


def build(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  """Builds the panel; [] if nothing can be compared with Independent."""
  found = curves(results)
  if not any(curve.label != curve.reference for curve in found):
    return []
  rows = []
  for curve in found:
    known = int(np.max(np.sum(~np.isnan(curve.every), axis=1)))
    row: list[Any] = [curve.label, curve.reference, len(curve.every), known]
    for values in (curve.meta_test, curve.every):
      end = stream_groups.spread([_end(seed) for seed in values])
      row += [panel_lib.plain(end.mean), panel_lib.plain(end.deviation)]
    rows.append(row)
  columns = [panel_lib.Column("learner"), panel_lib.Column("against"),
             panel_lib.Column("seeds", panel_lib.COUNT), panel_lib.Column("tasks", panel_lib.COUNT),
             panel_lib.Column("regret, meta-test", panel_lib.PERCENT),
             panel_lib.Column("deviation", panel_lib.PERCENT),
             panel_lib.Column("regret, all tasks", panel_lib.PERCENT),
             panel_lib.Column("deviation", panel_lib.PERCENT)]
  return [panel_lib.Panel(
      "regret", f"{results.title}: regret against Independent, negative is better", columns, rows,
      [*_notes(results, found), *results.notes],
      {"tasks": [task.key for task in results.tasks], "meta_test": results.is_meta_test,
       "curves": {c.label: panel_lib.plain_list(c.every) for c in found}},
      lambda: draw(results, found), _chart(results, found))]


def _chart(results: stream_results.StreamResults, found: Sequence[Curve]) -> charts.Plot:
  series = []
  for curve in found:
    spreads = [stream_groups.spread(list(column)) for column in 100 * curve.every.T]
    series.append(charts.Series(
        curve.label, [task.key for task in results.tasks],
        [panel_lib.plain(s.mean) for s in spreads], [f"against {curve.reference}"] * len(spreads),
        [panel_lib.plain(s.deviation) for s in spreads]))
  return charts.Plot("Task, in the order of the stream", "Regret, all tasks", series, y_unit="%")


def _end(seed: np.ndarray) -> float | None:
  """The regret over all tasks of a seed; None if it is not known at every task."""
  return None if not len(seed) or np.isnan(seed).any() else float(seed[-1])


def _notes(results: stream_results.StreamResults, found: Sequence[Curve]) -> list[str]:
  notes = [f"{curve.label}: the curve leaves out {curve.num_gaps} tasks that it or the reference "
           "has no error for." for curve in found if curve.num_gaps]
  compared = {curve.label for curve in found}
  alone = [learner.label for learner in results.learners if learner.label not in compared]
  if alone:
    notes.append(f"Without a regret, for no single {stream_results.INDEPENDENT} belongs to it: "
                 f"{', '.join(alone)}.")
  return notes


def draw(results: stream_results.StreamResults, found: Sequence[Curve]) -> Any:
  """Draws the curves over the meta-test tasks, if there are any, and over all tasks."""
  meta_test = [t for t, chosen in zip(results.tasks, results.is_meta_test) if chosen]
  shown = [("All tasks", list(results.tasks), [c.every for c in found])]
  if meta_test and len(meta_test) < len(results.tasks):
    shown.insert(0, ("Meta-test tasks", meta_test, [c.meta_test for c in found]))
  with figures.style():
    figure, first = figures.new_axes("", width=8.6, height=3.0 * len(shown) + 0.4,
                                     legend=len(found))
    grid = figure.add_gridspec(len(shown), 1)
    first.set_subplotspec(grid[0])
    rows = [first, *(figure.add_subplot(grid[i]) for i in range(1, len(shown)))]
    for axes, (title, tasks, values) in zip(rows, shown):
      _draw_axes(axes, tasks, [c.label for c in found], values)
      axes.set_title(title, loc="left", fontsize=10)
    first.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    figure.suptitle(results.title, x=0.01, ha="left", fontsize=11, fontweight="bold")
  return figure


def _draw_axes(axes: Any, tasks: Sequence[stream_results.TaskRow], labels: Sequence[str],
               values: Sequence[np.ndarray]) -> None:
  places = np.arange(len(tasks))
  for i, (label, curve) in enumerate(zip(labels, values)):
    mean = 100 * stream_groups.seed_mean(curve)
    look = {**figures.look(i), "marker": figures.look(i)["marker"] if len(tasks) <= 30 else None}
    axes.plot(places, mean, label=label, markersize=4, linewidth=1.4, **look)
    if len(curve) > 1:
      spreads = [stream_groups.spread(column).deviation for column in 100 * curve.T]
      axes.fill_between(places, mean - spreads, mean + spreads, color=look["color"], alpha=0.15,
                        linewidth=0)
  axes.axhline(0, color="#888888", linewidth=0.8, zorder=1)
  starts = [i for i in places[1:] if tasks[i].role == task_stream.META_TEST != tasks[i - 1].role]
  for start in starts:
    axes.axvline(start - 0.5, color="#888888", linewidth=0.8, linestyle=":", zorder=1)
  axes.set_ylabel("Regret, %")
  if len(tasks) <= 30:
    axes.set_xticks(places, [task.key for task in tasks], rotation=35, ha="right", fontsize=8)
  else:
    firsts = [i for i in places if i == 0 or tasks[i].year != tasks[i - 1].year]
    apart = len(tasks) / 40  # Narrower years would be printed over each other.
    shown = [i for i, after in zip(firsts, [*firsts[1:], len(tasks)]) if after - i >= apart]
    axes.set_xticks(shown, [str(tasks[i].year) for i in shown], rotation=60, fontsize=7)
  axes.grid(True, which="major")
