# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cost of a step as a function of its number of rows; the last batch may have any size.

A step does its work once per row or once per step, so its cost is linear in the number of rows. Two
points are counted and the others interpolated: tracing another size takes as long as training it.
"""

from __future__ import annotations

from typing import Callable

from suite.compute import flops


class RowCosts:
  """Cost of a step on any number of rows.

  Args:
    count: number of rows -> the cost counted on a graph with that batch size.
  """

  def __init__(self, count: Callable[[int], flops.Cost]):
    self._count = count
    self._points: tuple[flops.Cost, flops.Cost] | None = None  # Of 1 and 2 rows.

  def __call__(self, rows: int) -> flops.Cost:
    """Returns the cost of one step on `rows` examples; zero for 0 rows.

    If the cost is unknown for one size, it is unknown for all.
    """
    if not rows:
      return flops.ZERO
    if self._points is None:
      self._points = self._count(1), self._count(2)
    one, two = self._points
    return flops.Cost(_on_line(one.flops, two.flops, rows), _on_line(one.macs, two.macs, rows),
                      one.uncounted)


def _on_line(one: int | None, two: int | None, rows: int) -> int | None:
  return None if one is None or two is None else one + (rows - 1) * (two - one)
