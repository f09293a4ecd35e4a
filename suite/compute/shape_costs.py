# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cost of a step as a function of its numbers of rows and of classes, from few counted graphs.

Each op of a step works once, once per row, once per class, or once per row and class: the cost is
a + b B + c C + d B C. Four graphs give the four numbers; a fifth, larger one confirms them, and
where it does not, every shape that is asked for is counted by itself.
"""

from __future__ import annotations

from typing import Callable

from absl import logging

from suite.compute import flops

_FIRST = 2  # A graph of one row or one class may be another one.
_CHECKED = (5, 7)


class ShapeCosts:
  """Cost of a step on B rows of a task with C classes.

  Args:
    count: (B, C) -> the cost counted on a graph of that shape.
  """

  def __init__(self, count: Callable[[int, int], flops.Cost]):
    self._count = count
    self._known: dict[tuple[int, int], flops.Cost] = {}
    self._is_bilinear: bool | None = None

  def __call__(self, rows: int, classes: int) -> flops.Cost:
    """Returns the cost; if it is unknown for one shape, it is unknown for all."""
    if (rows, classes) in self._known:
      return self._known[rows, classes]
    if not rows:
      return flops.ZERO
    if self._is_bilinear is None:
      self._is_bilinear = self._fits(_CHECKED)
    return self._at(rows, classes) if self._is_bilinear else self._counted(rows, classes)

  def _counted(self, rows: int, classes: int) -> flops.Cost:
    if (rows, classes) not in self._known:
      self._known[rows, classes] = self._count(rows, classes)
    return self._known[rows, classes]

  def _fits(self, shape: tuple[int, int]) -> bool:
    expected, counted = self._at(*shape), self._counted(*shape)
    if (expected.flops, expected.macs) == (counted.flops, counted.macs):
      return True
    logging.info("The cost of a step is not bilinear in its rows and classes (%s expected, %s "
                 "counted for %s): each shape is counted.", expected.flops, counted.flops, shape)
    return False

  def _at(self, rows: int, classes: int) -> flops.Cost:
    corners = [[self._counted(_FIRST + i, _FIRST + j) for j in (0, 1)] for i in (0, 1)]

    def extended(values: list[list[int | None]]) -> int | None:
      (a, b), (c, d) = values
      if a is None or b is None or c is None or d is None:
        return None
      x, y = rows - _FIRST, classes - _FIRST
      return a + x * (c - a) + y * (b - a) + x * y * (d - c - b + a)

    return flops.Cost(extended([[cost.flops for cost in line] for line in corners]),
                      extended([[cost.macs for cost in line] for line in corners]),
                      corners[0][0].uncounted)
