# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Names beside the points of a figure, placed so that they do not cover each other or a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib import transforms

# Offsets from the point in typographic points, nearest first, with the side of the text there.
_PLACES = [(dx * r, dy * r, "left" if dx > 0 else "right" if dx < 0 else "center")
           for r in (5, 10, 16, 23, 31, 40, 50)
           for dx, dy in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1.3), (0, -1.3), (1.6, 0),
                          (-1.6, 0))]


def annotate(axes: Any, labels: Sequence[tuple[str, float, float, str]], *,
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
    best = min(_PLACES, key=lambda place: _cost(note, place, taken, inside))
    _move(note, best)
    if max(abs(best[0]), abs(best[1])) > 12:
      note.arrow_patch.set_alpha(0.6)
    taken.append(_extent(note))


def _move(note: Any, place: tuple[float, float, str]) -> None:
  note.xyann = place[:2]
  note.set_horizontalalignment(place[2])


def _extent(note: Any) -> Any:
  # The extent of the text alone: that of an annotation includes its line.
  note.update_positions(note.figure.canvas.get_renderer())
  return super(type(note), note).get_window_extent().padded(1)


def _cost(note: Any, place: tuple[float, float, str], taken: Sequence[Any], inside: Any) -> float:
  """Area in pixels that the label would cover of others, and have outside of the axes."""
  _move(note, place)
  box = _extent(note)
  area = lambda b: 0.0 if b is None else b.width * b.height
  return (area(box) - area(transforms.Bbox.intersection(box, inside))
          + sum(area(transforms.Bbox.intersection(box, other)) for other in taken))
