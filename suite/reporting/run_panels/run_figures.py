# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures of runs and tables as matplotlib objects, for files, results pages and TensorBoard.

Costs by length of a task, error against FLOPs, accuracy matrices, and a leaderboard's scores
against FLOPs with one pair of axes for each protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import os
from typing import Any

import numpy as np

from suite.contracts import descriptions
from suite.reporting import figures
from suite.reporting import leaderboard
from suite.reporting import panels
from suite.reporting import paper_table
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.reporting.nevis_panels import error_panels
from suite.reporting.nevis_panels import stream_results

_ACROSS = 2
_FRONT = "Pareto front"


def draw(runs: Sequence[run_dir.Run], tables: Sequence[str | os.PathLike] = (), *,
         stem: str = "figure") -> dict[str, Any]:
  """Draws costs, rates or updates of tables, error against FLOPs of runs, and accuracy matrices.

  Args:
    runs: single runs.
    tables: directories of whole tables.
    stem: beginning of all names.

  Returns:
    {name: matplotlib figure}; runs without such results have none.
  """
  drawn: dict[str, Any] = {}

  def add(figure: Any) -> None:
    drawn[stem if not drawn else f"{stem}_{len(drawn) + 1}"] = figure

  for results in stream_results.build(runs):
    points = error_panels.learner_points(results)
    if points:
      add(error_panels.draw_against_flops(points, results.title))
  for directory in tables:
    for figure in _of_table(directory):
      add(figure)
  for run in runs:
    if descriptions.BUCKETS in run.description.panels and "matrix" in run.summary:
      acc = np.array(run.summary["matrix"], dtype=float)  # None becomes NaN.
      name = f"{stem}_{run.label.replace('/', '_')}_matrix"
      drawn[name] = figures.accuracy_matrix(
          acc, title=f"Accuracy by {run.description.part}, {run.label}", part=run.description.part)
  return drawn


def _of_table(directory: str | os.PathLike) -> Iterator[Any]:
  """Yields the figures of a whole table: scores against FLOPs, costs, accuracy by length, curves of
  validation, a sweep over rates, or update strategies.
  """
  table = table_dir.read(directory)
  name = table.title
  if table.scores:
    yield draw_leaderboard(leaderboard.load(table), table.rows, title=name)
    return
  if costs := [figures.TaskCosts(*line) for line in paper_table.costs(directory)]:
    yield figures.costs_against_support_sets(costs, title=f"Cost of a task by its length, {name}")
  if lengths := paper_table.length_plots(table):
    yield figures.plotted_grid(list(lengths.values()), list(lengths), columns=min(4, len(lengths)),
                               title=f"Accuracy by the length of a task, {name}")
  if curves := paper_table.validation_plots(table):
    yield figures.plotted_grid(list(curves.values()), list(curves), columns=min(4, len(curves)),
                               title=f"Validation accuracy along meta-training, {name}")
  if swept := [figures.RateLine(*line) for line in paper_table.rates(directory)]:
    measure = next(iter(table.measures.values()))
    yield figures.accuracy_against_rates(
        swept, title=f"Accuracy by learning rate, {name}",
        accuracy_label=f"{measure[:1].upper()}{measure[1:]}, %")
  if spent := [figures.UpdateCosts(*point) for point in paper_table.updates(directory)]:
    yield figures.accuracy_against_updates(
        spent, title=f"Accuracy by update strategy, {name}")


def draw_leaderboard(
  columns: Sequence[leaderboard.Ranked], rows: Sequence[str], *, title: str = ""
) -> Any:
  """Draws the points of each column; a method has one color and marker everywhere.

  Methods whose FLOPs are unknown or 0 are left out. Bars are deviations over seeds.
  """
  down = -(-len(columns) // _ACROSS)
  with figures.style():
    figure, first = figures.new_axes("", width=10.0, height=3.4 * down)
    grid = figure.add_gridspec(down, _ACROSS)
    first.set_subplotspec(grid[0])
    for i, column in enumerate(columns):
      _draw_axes(first if not i else figure.add_subplot(grid[i]), column, rows)
    shown: dict[str, Any] = {}
    for axes in figure.axes:
      shown.update({label: handle for handle, label in zip(*axes.get_legend_handles_labels())})
    if shown:
      labels = [label for label in (*rows, _FRONT) if label in shown]
      figure.legend([shown[label] for label in labels], labels, loc="outside right center",
                    frameon=False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
  return figure


def _draw_axes(axes: Any, column: leaderboard.Ranked, rows: Sequence[str]) -> None:
  best = leaderboard.front(column)
  if best:
    axes.step([p.cost for p in best], [100 * p.score for p in best], where="post", color="black",
              linewidth=1.2, zorder=1, label=_FRONT)
  for point in column.points():
    if point.cost:
      deviation = panels.plain(column.spread(point.name).deviation)
      look = figures.look(list(rows).index(point.name))
      axes.errorbar([point.cost], [100 * point.score], linestyle="none", markersize=6,
                    yerr=None if deviation is None else [100 * deviation], color=look["color"],
                    marker=look["marker"], markeredgecolor="white", label=point.name, zorder=3)
  axes.set_title(column.name, loc="left")
  if best:
    axes.set_xscale("log")
    figures.flops_ticks(axes)
  axes.set_xlabel("FLOPs of the run, answers included")
  axes.set_ylabel(f"{column.measure_text.capitalize()}, %")
  axes.grid(True, which="major")
