# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures as matplotlib objects, without pyplot; global settings change only while drawing.

Equal numbers give equal bytes, as PNG and as SVG, so figures can be kept under version control.
Files and TensorBoard need such static figures; the page draws a panel's chart by Plotly instead
(`suite/reporting/formats/renderers.py`), with the colors and line styles of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import contextlib
import functools
import os
import pathlib
from typing import Any, NamedTuple

import matplotlib
from matplotlib import figure as figure_lib
from matplotlib import ticker
from matplotlib import transforms
from matplotlib.backends import backend_agg
import numpy as np

from suite.reporting import panels

# Okabe and Ito's palette, readable with any color vision; black is reserved for the front.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINE_STYLES = ("-", "--", ":", "-.")
FORMATS = (".png", ".svg")

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold",
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "grid.color": "#DDDDDD", "grid.linewidth": 0.7, "svg.hashsalt": "lifelong-suite",
    "svg.fonttype": "path",
}
# Offsets from the point in typographic points, nearest first, with the side of the text there.
_PLACES = [(dx * r, dy * r, "left" if dx > 0 else "right" if dx < 0 else "center")
           for r in (5, 10, 16, 23, 31, 40, 50)
           for dx, dy in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1.3), (0, -1.3), (1.6, 0),
                          (-1.6, 0))]


def look(i: int) -> dict[str, Any]:
  """Color, marker and line style of the i-th of several lines; 168 differ."""
  return {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)],
          "linestyle": LINE_STYLES[i // len(COLORS) % len(LINE_STYLES)]}


def diverging() -> Any:
  """The color map from red over white to blue; NaN is gray."""
  return matplotlib.colormaps["RdBu"].with_extremes(bad="#E5E5E5")


class TaskCosts(NamedTuple):
  """Costs of a task for a learner: (support sets, MACs or None, ATM or None) by task type."""

  name: str
  task_type: str
  points: Sequence[tuple[int, float | None, float | None]]


def costs_against_support_sets(lines: Iterable[TaskCosts], *, title: str = "") -> figure_lib.Figure:
  """Plots figure 3 of CFSL: MACs of a task and across-task memory against its support sets.

  Colors are learners, markers task types. Unknown values are left out.
  """
  lines = list(lines)
  names = list(dict.fromkeys(line.name for line in lines))
  types = list(dict.fromkeys(line.task_type for line in lines))
  with style():
    figure, left = new_axes("", width=9.6, height=3.8, legend=len(lines))
    left.set_subplotspec(figure.add_gridspec(1, 2)[0])
    right = figure.add_subplot(1, 2, 2)
    for axes, place, label in ((left, 1, "MACs of a task"), (right, 2, "Across-task memory (ATM)")):
      for line in lines:
        known = [(p[0], p[place]) for p in line.points if p[place]]
        i, j = names.index(line.name), types.index(line.task_type)
        axes.plot(*(zip(*known) if known else ([], [])), color=COLORS[i % len(COLORS)],
                  marker=MARKERS[j % len(MARKERS)], markersize=5, linewidth=1.2,
                  linestyle=LINE_STYLES[j % len(LINE_STYLES)],
                  label=f"{line.name}, {line.task_type}")
      axes.set_xscale("log")
      axes.set_yscale("log")
      ticks = sorted({p[0] for line in lines for p in line.points})
      axes.set_xticks(ticks, [str(t) for t in ticks])
      axes.xaxis.set_minor_locator(ticker.NullLocator())
      axes.set_xlabel("Support sets of a task (NSS)")
      axes.set_ylabel(label)
      axes.grid(True, which="major")
    left.yaxis.set_major_formatter(ticker.EngFormatter(sep=" "))
    if lines:
      right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
  return figure


class UpdateCosts(NamedTuple):
  """A learner with an update strategy: MACs of all updates (None: unknown) and accuracy."""

  strategy: str
  learner: str
  macs: float | None
  accuracy: float


def accuracy_against_updates(points: Iterable[UpdateCosts], *, title: str = ""
                             ) -> figure_lib.Figure:
  """Plots FLUID's accuracy against MACs of update strategies; colors and markers are learners.

  A strategy without updates is a horizontal line. Unknown values are left out.
  """
  points = [p for p in points if p.macs is not None]
  learners = list(dict.fromkeys(p.learner for p in points))
  with style():
    figure, axes = new_axes(title, width=7.6, height=4.6)
    labels: list[tuple[str, float, float, str]] = []
    for i, learner in enumerate(learners):
      colour, own = COLORS[i % len(COLORS)], [p for p in points if p.learner == learner]
      spent = [p for p in own if p.macs]
      axes.plot([p.macs for p in spent], [100 * p.accuracy for p in spent], linestyle="none",
                marker=MARKERS[i % len(MARKERS)], markersize=7, color=colour,
                markeredgecolor="white", label=learner, zorder=3)
      labels += [(p.strategy, p.macs, 100 * p.accuracy, colour) for p in spent if p.macs]
      for p in own:
        if not p.macs:
          axes.axhline(100 * p.accuracy, color=colour, linestyle=":", linewidth=1.2, zorder=2,
                       label=f"{learner}, {p.strategy}")
    axes.set_xscale("log")
    axes.margins(0.12)
    flops_ticks(axes)
    axes.set_xlabel("MACs of all updates")
    axes.set_ylabel("Accuracy, %")
    axes.grid(True, which="major")
    if points:
      axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    annotate_points(axes, labels)
  return figure


class RateLine(NamedTuple):
  """Accuracy of one learner by learning rate: (rate, accuracy), rates rising."""

  name: str
  points: Sequence[tuple[float, float]]


def accuracy_against_rates(lines: Iterable[RateLine], *, title: str = "",
                           accuracy_label: str = "Accuracy, %") -> figure_lib.Figure:
  """Plots accuracies of a sweep over learning rates, one line a learner."""
  lines = list(lines)
  with style():
    figure, axes = new_axes(title, width=7.0, height=4.4)
    for i, line in enumerate(lines):
      axes.plot([rate for rate, _ in line.points], [100 * value for _, value in line.points],
                label=line.name, markersize=5, linewidth=1.4, **look(i))
    axes.set_xscale("log")
    rates = sorted({rate for line in lines for rate, _ in line.points})
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel("Learning rate")
    axes.set_ylabel(accuracy_label)
    axes.grid(True, which="major")
    if lines:
      axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
  return figure


def accuracy_matrix(
    acc: np.ndarray, *, title: str = "", names: Sequence[str] | None = None, part: str = "bucket"
    ) -> figure_lib.Figure:
  """Plots a heat map of accuracies [T, T] in [0, 1]; rows are training buckets, NaN is gray.

  `part` is the protocol's word for a bucket.
  """
  acc = np.asarray(acc, np.float64)
  if acc.ndim != 2 or not acc.size:
    raise ValueError(f"Got accuracies of shape {list(acc.shape)}; expected [T, T].")
  rows, columns = acc.shape
  names = list(names) if names is not None else [str(i + 1) for i in range(max(rows, columns))]
  if len(names) != max(rows, columns):
    raise ValueError(f"Got {len(names)} names for {max(rows, columns)} buckets.")
  with style():
    figure, axes = new_axes(title, width=1.9 + 0.5 * columns, height=1.5 + 0.45 * rows)
    colours = matplotlib.colormaps["viridis"].with_extremes(bad="#E5E5E5")
    # Limits in whole tens of percent around the values, so that small differences are visible.
    known = 100 * acc[~np.isnan(acc)]
    low, high = 0.0, 100.0
    if known.size:
      low = float(10 * np.floor(np.min(known) / 10))
      high = max(float(10 * np.ceil(np.max(known) / 10)), low + 10)
    image = axes.imshow(100 * acc, cmap=colours, vmin=low, vmax=high, aspect="equal")
    for i, j in zip(*np.nonzero(~np.isnan(acc))):
      dark = 100 * acc[i, j] < (low + high) / 2
      axes.text(j, i, f"{100 * acc[i, j]:.0f}", ha="center", va="center", fontsize=8,
                color="white" if dark else "black")
    axes.set_xticks(range(columns), names[:columns])
    axes.set_yticks(range(rows), names[:rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"Tested on {part}")
    axes.set_ylabel(f"Trained up to {part}")
    bar = figure.colorbar(image, ax=axes, shrink=0.9)
    bar.set_label("Accuracy, %")
    bar.outline.set_visible(False)
  return figure


def plotted(plot: panels.Plot, *, title: str = "") -> figure_lib.Figure:
  """Draws a plot with its deviations."""
  return plotted_below([plot], [""], title=title)


def plotted_below(plots: Sequence[panels.Plot], names: Sequence[str], *, title: str = ""
                  ) -> figure_lib.Figure:
  """Draws plots of the same axes one below the other, each with its name; one legend for all."""
  return plotted_grid(plots, names, columns=1, title=title)


def plotted_grid(plots: Sequence[panels.Plot], names: Sequence[str], *, columns: int,
                 title: str = "") -> figure_lib.Figure:
  """Draws plots of the same axes row by row, each with its name; one legend for all."""
  rows = -(-len(plots) // columns)
  width, height = (8.6, 3.2) if columns == 1 else (2.6 * columns + 2.2, 2.4)
  with style():
    figure, first = new_axes("", width=width, height=0.6 + height * rows,
                             legend=max(len(plot.series) for plot in plots))
    grid = figure.add_gridspec(rows, columns)
    first.set_subplotspec(grid[0])
    every = [first, *(figure.add_subplot(grid[i]) for i in range(1, len(plots)))]
    for place, (axes, plot, name) in enumerate(zip(every, plots, names)):
      for i, line in enumerate(plot.series):
        y = np.array([np.nan if v is None else v for v in line.y], dtype=float)
        shape = {"linestyle": "none"} if line.shape == panels.POINTS else {}
        style_of = look(i if line.place is None else line.place)
        axes.plot(line.x, y, label=line.name, markersize=4, **{"linewidth": 1.4, **style_of,
                                                               **shape})
        if len(line.deviation) and line.shape != panels.POINTS:
          spread = np.array([0 if v is None else v for v in line.deviation], dtype=float)
          axes.fill_between(line.x, y - spread, y + spread, color=style_of["color"], alpha=0.15,
                            linewidth=0)
      if plot.log_x:
        axes.set_xscale("log")
        if plot.x_unit == "FLOP":
          flops_ticks(axes)
      elif all(isinstance(x, int) for line in plot.series for x in line.x):
        axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
      if place + columns >= len(plots):
        axes.set_xlabel(plot.x_label)
      if place % columns == 0:
        axes.set_ylabel(f"{plot.y_label}, {plot.y_unit}" if plot.y_unit else plot.y_label)
      axes.set_title(name, loc="left", fontsize=10)
      axes.grid(True, which="major")
    every[min(columns, len(plots)) - 1].legend(
        *first.get_legend_handles_labels(), frameon=False, loc="upper left",
        bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
  return figure


def save(figure: figure_lib.Figure, path: str | os.PathLike) -> None:
  """Writes .png or .svg, by the suffix of the path, without a date or version in the file."""
  path = pathlib.Path(path)
  if path.suffix not in FORMATS:
    raise ValueError(f"Cannot write a figure to {path}: allowed endings are {', '.join(FORMATS)}.")
  path.parent.mkdir(parents=True, exist_ok=True)
  metadata = {"Software": None} if path.suffix == ".png" else {"Date": None, "Creator": None}
  with style():
    figure.savefig(path, dpi=150, metadata=metadata, facecolor="white")


@contextlib.contextmanager
def style() -> Iterator[None]:
  """Sets the style, independent of the machine's matplotlibrc, within the context."""
  settings = {
      k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
  with matplotlib.rc_context({**settings, **_STYLE}):
    yield


def new_axes(title: str, *, width: float, height: float, legend: int = 0):
  """Makes a figure of one pair of axes, high enough for a legend of `legend` entries beside it."""
  figure = figure_lib.Figure(
      figsize=(width, max(height, 0.9 + 0.24 * legend)), layout="constrained")
  backend_agg.FigureCanvasAgg(figure)
  axes = figure.add_subplot()
  if title:
    axes.set_title(title, loc="left")
  return figure, axes


def flops_ticks(axes) -> None:
  """Sets ticks such as "20 G" on a logarithmic axis; powers of ten are too few on a short one."""
  axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=" "))
  axes.xaxis.set_minor_formatter(ticker.NullFormatter())
  low, high = axes.get_xlim()
  if high / low < 10:
    axes.xaxis.set_major_locator(ticker.MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
  elif high / low < 100:
    axes.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))


def annotate_points(axes: Any, labels: Sequence[tuple[str, float, float, str]], *,
             fontsize: float = 7) -> None:
  """Writes labels (text, x, y, color) beside their points, in order, each in the first free place.

  Call it when all else is drawn, as a later change of the axes would move the points. A label
  without a free place takes the one that overlaps least; one far from its point has a thin line.
  """
  figure = axes.figure
  figure.draw_without_rendering()  # The layout decides where points are.
  inside = axes.get_window_extent()
  points = [axes.transData.transform((x, y)) for _, x, y, _ in labels]
  taken = [transforms.Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in points]
  for text, x, y, color in labels:
    note = axes.annotate(text, (x, y), xytext=(0, 0), textcoords="offset points", color=color,
                         fontsize=fontsize, va="center", annotation_clip=False,
                         arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5,
                                     "alpha": 0})
    note.set_in_layout(False)
    best = min(_PLACES, key=functools.partial(_label_cost, note, taken, inside))
    _move_label(note, best)
    if max(abs(best[0]), abs(best[1])) > 12:
      note.arrow_patch.set_alpha(0.6)
    taken.append(_label_extent(note))


def _move_label(note: Any, place: tuple[float, float, str]) -> None:
  note.xyann = place[:2]
  note.set_horizontalalignment(place[2])


def _label_extent(note: Any) -> Any:
  # The extent of the text alone: that of an annotation includes its line.
  note.update_positions(note.figure.canvas.get_renderer())
  return super(type(note), note).get_window_extent().padded(1)


def _label_cost(note: Any, taken: Sequence[Any], inside: Any, place: tuple[float, float, str]
                ) -> float:
  """Area in pixels that the label would cover of others, and have outside of the axes."""
  _move_label(note, place)
  box = _label_extent(note)
  area = lambda b: 0.0 if b is None else b.width * b.height
  return (area(box) - area(transforms.Bbox.intersection(box, inside))
          + sum(area(transforms.Bbox.intersection(box, other)) for other in taken))
