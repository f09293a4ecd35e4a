# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A leaderboard's figure: scores against FLOPs, an axis for each protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suite.reporting import figures
from suite.reporting import leaderboard
from suite.reporting import panel as panel_lib

_ACROSS = 2


def draw(columns: Sequence[leaderboard.Ranked], rows: Sequence[str], *, title: str = "") -> Any:
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


_FRONT = "Pareto front"


def _draw_axes(axes: Any, column: leaderboard.Ranked, rows: Sequence[str]) -> None:
  best = leaderboard.front(column)
  if best:
    axes.step([p.cost for p in best], [100 * p.score for p in best], where="post", color="black",
              linewidth=1.2, zorder=1, label=_FRONT)
  for point in column.points():
    if point.cost:
      deviation = panel_lib.plain(column.spread(point.name).deviation)
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
