# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures as matplotlib objects, without pyplot; global settings change only while drawing.

Equal numbers give equal bytes, as PNG and as SVG, so figures can be kept under version control.
Files and TensorBoard need such static figures; the page draws the same charts by Plotly
(`suite/reporting/formats/renderers.py`), with the colors and line styles of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
import os
import pathlib
import sys
from typing import Any

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

_NUMBERED = 20  # Rows and columns of a matrix whose cells have numbers.
_MARKED = 60  # Points of a line that has markers.
_HATCHES = ("", "//", "xx", "--", "..", "\\\\", "++", "||")
# Fills light enough for black text; NEVIS'22 has 11 domains. Further ones differ by their edges.
_FILLS = ("#A6CEE3", "#FDBF6F", "#B2DF8A", "#FB9A99", "#CAB2D6", "#FFFF99", "#E5C494", "#8DD3C7",
          "#F4CAE4", "#CCCCCC", "#FFFFFF", "#B3B8FF")
_EDGES = ({"edgecolor": "#555555", "linewidth": 0.6}, {"edgecolor": "#000000", "linewidth": 1.8},
          {"edgecolor": "#000000", "linewidth": 1.8, "linestyle": ":"})
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


def draw(chart: panels.Chart, *, title: str = "") -> figure_lib.Figure:
  """Draws a chart, but a gallery; each of several plots or matrices has axes, all have one legend.
  """
  parts: Mapping[str, Any] = {"": chart}
  if isinstance(chart, panels.Plots):
    parts = chart.choices
  elif isinstance(chart, panels.Matrices):
    parts = {name if len(chart.choices) > 1 else "": dataclasses.replace(
        chart, choices={name: values}) for name, values in chart.choices.items()}
  columns = max(1, min(len(parts), chart.columns if isinstance(chart, panels.Plots) else 3))
  rows = max(1, -(-len(parts) // columns))
  names = _legend_names(parts.values())
  widths, heights = zip(*(_size(part, columns) for part in parts.values())) or ((4,), (3,))
  with style():
    figure, first = new_axes("", width=columns * max(widths) + 2.2 * bool(names),
                             height=rows * max(heights) + 0.5, legend=len(names))
    grid = figure.add_gridspec(rows, columns)
    first.set_subplotspec(grid[0])
    every = [first, *(figure.add_subplot(grid[i]) for i in range(1, len(parts)))]
    for axes, (name, part) in zip(every, parts.items()):
      _WAYS[type(part)](axes, part)
      axes.set_title(name, loc="left", fontsize=10)
    if len({(axes.get_xlabel(), axes.get_ylabel()) for axes in every}) == 1:
      for i, axes in enumerate(every):
        axes.set_xlabel(axes.get_xlabel() if i + columns >= len(every) else "")
        axes.set_ylabel(axes.get_ylabel() if i % columns == 0 else "")
    handles = {label: handle for axes in every
               for handle, label in zip(*axes.get_legend_handles_labels())}
    if names:
      figure.legend([handles[name] for name in names], names, frameon=False,
                    loc="outside right upper")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", wrap=True)
    for axes, part in zip(every, parts.values()):  # Places of points are known at the end.
      if isinstance(part, panels.Plot):
        _annotate(axes, part)
  return figure


def can_draw(chart: panels.Chart | None) -> bool:
  """Whether there is something to draw: galleries are pictures already."""
  return chart is not None and not isinstance(chart, panels.Gallery)


def _legend_names(parts: Iterable[Any]) -> list[str]:
  """Names of series, parts and groups, but of a single one and of lines for reference."""
  found: list[tuple[int, str]] = []  # With their places, the front last.
  for part in parts:
    if isinstance(part, panels.Plot):
      found += [(sys.maxsize if one.is_front else one.place or 0, one.name)
                for one in part.series if one.shape != panels.REFERENCE]
    elif not isinstance(part, panels.Matrices):
      found += [(0, name) for name in (
          part.parts if isinstance(part, panels.Bars) else part.groups.values())]
  names = list(dict.fromkeys(name for _, name in sorted(found, key=lambda one: one[0]) if name))
  return names if len(names) > 1 else []


def _size(part: Any, columns: int) -> tuple[float, float]:
  """Width and height of a part without the legend."""
  if isinstance(part, panels.Matrices):
    (name, values), = part.choices.items()
    across, down = len(part.columns[name]), len(values)
    cell = 0.5 if max(across, down) <= _NUMBERED else 0.16
    return 2.6 + cell * across, 1.6 + cell * down
  if isinstance(part, panels.Bars):
    return 6.4, 1.2 + 0.35 * len(part.names)
  if isinstance(part, panels.Graph):
    depth, rows = (max(place[i] for place in part.places.values()) for i in (0, 1))
    return ((0.075 * max(map(len, part.places)) + 0.35) * (depth + 1) + 1,
            max(2.4, 0.34 * (rows + 1) + 0.9))
  return {1: (6.4, 3.3), 2: (4.4, 3.3)}.get(columns, (2.9, 2.5))


def series_looks(plot: panels.Plot) -> list[tuple[panels.PlotSeries, dict[str, Any]]]:
  """The series with their looks, as of `look`."""
  found, place = [], 0
  for series in plot.series:
    is_own = not series.is_front and series.shape != panels.REFERENCE
    found.append((series, look(place if series.place is None else series.place) if is_own else {
        "color": "#888888" if series.shape == panels.REFERENCE else "#000000",
        "marker": "" if series.shape == panels.REFERENCE else "o",
        "linestyle": "-" if series.shape == panels.REFERENCE else ":"}))
    place += is_own
  return found


def _draw_plot(axes: Any, plot: panels.Plot) -> None:
  for series, found in series_looks(plot):
    x = list(series.x)
    y = list(series.y) if any(isinstance(v, str) for v in series.y) else np.array(
        [np.nan if v is None else v for v in series.y], dtype=float)
    spread = np.array([0 if d is None else d for d in series.deviation], dtype=float)
    if series.shape == panels.POINTS:
      axes.errorbar(x, y, yerr=spread if spread.any() else None, label=series.name, markersize=7,
                    markeredgecolor="white", capsize=3, **{**found, "linestyle": "none"})
      continue
    if series.shape != panels.LINE or len(x) > _MARKED:
      found = {**found, "marker": ""}
    axes.plot(x, y, label=series.name, markersize=5,
              linewidth=0.8 if series.shape == panels.REFERENCE else 1.4,
              drawstyle="steps-post" if series.shape == panels.STEP else "default", **found)
    if len(spread):
      axes.fill_between(x, y - spread, y + spread, color=found["color"], alpha=0.15, linewidth=0)
  if plot.log_x:
    axes.set_xscale("log")
    axes.margins(x=0.12)
    if plot.x_unit == "FLOP":
      flops_ticks(axes)
  elif all(isinstance(x, int) for series in plot.series for x in series.x):
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
  if plot.log_y:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.EngFormatter(sep=" "))
  if plot.ticks:
    axes.set_xticks(list(plot.ticks), list(plot.ticks.values()))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
  if any(isinstance(x, str) for series in plot.series for x in series.x):
    axes.tick_params(axis="x", labelrotation=35, labelsize=8)
    for label in axes.get_xticklabels():
      label.set(ha="right", rotation_mode="anchor")
  for x, text in plot.marks.items():
    axes.axvline(x, color="#bbbbbb", linewidth=0.8, linestyle="-" if text else ":", zorder=1)
    axes.text(x, 0.97, f" {text}", transform=axes.get_xaxis_transform(), fontsize=7, va="top",
              color="#555555")
  axes.set_xlabel(plot.x_label)
  axes.set_ylabel(f"{plot.y_label}, {plot.y_unit}" if plot.y_unit else plot.y_label)
  axes.grid(True, which="major")


def _draw_matrix(axes: Any, chart: panels.Matrices) -> None:
  (name, rows), = chart.choices.items()
  values = np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=float)
  if values.ndim != 2 or not values.size:
    raise ValueError(f"Got a matrix of shape {list(values.shape)}; expected rows and columns.")
  known = values[~np.isnan(values)]
  limit = float(np.max(np.abs(known), initial=0)) or 1.0
  low, high = -limit, limit
  if not chart.is_diverging:  # In whole tens of percent, so that small differences are visible.
    low = float(10 * np.floor(np.min(known, initial=limit) / 10)) if known.size else 0.0
    high = max(float(10 * np.ceil(limit / 10)), low + 10) if known.size else 100.0
  colors = matplotlib.colormaps["RdBu" if chart.is_diverging else "viridis"]
  image = axes.imshow(values, cmap=colors.with_extremes(bad="#E5E5E5"), vmin=low, vmax=high)
  is_numbered = max(values.shape) <= _NUMBERED
  for i, j in zip(*np.nonzero(~np.isnan(values))) if is_numbered else ():
    dark = abs(values[i, j]) > 0.6 * limit if chart.is_diverging else (
        values[i, j] < (low + high) / 2)
    axes.text(j, i, f"{values[i, j]:.{int(chart.is_diverging)}f}", ha="center", va="center",
              fontsize=8, color="white" if dark else "black")
  size = 8 if is_numbered else 5
  columns = chart.columns[name]
  axes.set_xticks(range(len(columns)), columns, fontsize=size)
  if max(map(len, columns), default=0) > 3:
    for label in axes.get_xticklabels():
      label.set(rotation=60, ha="right", rotation_mode="anchor")
  axes.set_yticks(range(len(values)), chart.rows[name], fontsize=size)
  axes.tick_params(length=0)
  axes.spines[:].set_visible(False)
  axes.set_xlabel(chart.x_label)
  axes.set_ylabel(chart.y_label)
  bar = axes.figure.colorbar(image, ax=axes, shrink=0.9)
  bar.set_label(chart.value_label)
  bar.outline.set_visible(False)


def _draw_bars(axes: Any, chart: panels.Bars) -> None:
  left = np.zeros(len(chart.names))
  for i, (part, values) in enumerate(chart.parts.items()):
    widths = np.array([0 if v is None else v for v in values], dtype=float)
    axes.barh(range(len(chart.names)), widths, left=left, label=part, color=look(i)["color"],
              hatch=_HATCHES[i % len(_HATCHES)], edgecolor="white")
    left += widths
  axes.set_yticks(range(len(chart.names)), chart.names)
  axes.invert_yaxis()
  axes.xaxis.set_major_formatter(ticker.EngFormatter(chart.unit))
  axes.set_xlabel(chart.label)


def _draw_graph(axes: Any, chart: panels.Graph) -> None:
  """A box for each node, an arrow for each edge, whose head is in the middle: no box hides it."""
  groups = list(dict.fromkeys(chart.groups.values()))
  for source, target in chart.edges:
    ends = chart.places[source], chart.places[target]
    axes.plot(*zip(*ends), color="#888888", linewidth=0.8, zorder=1)
    axes.annotate("", xy=[0.5 * (a + b) for a, b in zip(*ends)], xytext=ends[0], zorder=1,
                  arrowprops={"arrowstyle": "-|>", "color": "#888888", "linewidth": 0.8,
                              "shrinkA": 0, "shrinkB": 0})
  for name, place in chart.places.items():
    axes.text(*place, name, fontsize=7, ha="center", va="center", zorder=3,
              bbox={"boxstyle": "round,pad=0.25", **_fill(groups.index(chart.groups[name]))})
  for i, group in enumerate(groups):  # For the legend.
    axes.fill([], [], label=group, **_fill(i))
  depth, rows = (max(place[i] for place in chart.places.values()) for i in (0, 1))
  axes.set_xlim(-0.6, depth + 0.6)
  axes.set_ylim(rows + 0.6, -0.6)
  axes.set_axis_off()


def _fill(i: int) -> dict[str, Any]:
  return {"facecolor": _FILLS[i % len(_FILLS)], **_EDGES[i // len(_FILLS) % len(_EDGES)]}


_WAYS: dict[type, Callable[[Any, Any], None]] = {
    panels.Plot: _draw_plot, panels.Matrices: _draw_matrix, panels.Bars: _draw_bars,
    panels.Graph: _draw_graph}


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


def new_axes(title: str, *, width: float, height: float, legend: int = 0) -> Any:
  """Makes a figure of one pair of axes, high enough for a legend of `legend` entries beside it."""
  figure = figure_lib.Figure(
      figsize=(width, max(height, 0.9 + 0.24 * legend)), layout="constrained")
  backend_agg.FigureCanvasAgg(figure)
  axes = figure.add_subplot()
  if title:
    axes.set_title(title, loc="left")
  return figure, axes


def flops_ticks(axes: Any) -> None:
  """Sets ticks such as "20 G" on a logarithmic axis; powers of ten are too few on a short one."""
  axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=" "))
  axes.xaxis.set_minor_formatter(ticker.NullFormatter())
  low, high = axes.get_xlim()
  if high / low < 10:
    axes.xaxis.set_major_locator(ticker.MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
  elif high / low < 100:
    axes.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))


def _annotate(axes: Any, plot: panels.Plot) -> None:
  """Writes labels beside their points, in order, each in the first free place.

  A label without a free place takes the one that overlaps least; one far from its point has a thin
  line.
  """
  labels = [(text, x, y, look["color"]) for series, look in series_looks(plot)
            for text, x, y in zip(series.labels, map(axes.convert_xunits, series.x), series.y)
            if text and y is not None]
  if not labels:
    return
  axes.figure.draw_without_rendering()  # The layout decides where points are.
  inside = axes.get_window_extent()
  points = [axes.transData.transform((x, y)) for _, x, y, _ in labels]
  taken = [transforms.Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in points]
  for text, x, y, color in labels:
    note = axes.annotate(text, (x, y), xytext=(0, 0), textcoords="offset points", color=color,
                         fontsize=7, va="center", annotation_clip=False,
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
