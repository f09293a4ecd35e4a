# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cost of a step as a function of its number of rows; the last batch may have any size.

A step does its work once per row or once per step, so its cost is linear in the number of rows. Two
points are counted and the others lie on their line: tracing another size takes as long as training
it.
"""

from __future__ import annotations

from typing import Callable

from suite.compute import flops


class RowCosts:
  """Cost of a step on any number of rows.

  Args:
    count: number of rows -> the cost counted on a graph with that batch size.
    size: the size, above 1, that is counted beside 1 row.
  """

  def __init__(self, count: Callable[[int], flops.Cost], size: int = 2):
    if size < 2:
      raise ValueError(f"size is {size}; a line goes through 1 row and a larger batch.")
    self._count, self._size = count, size
    self._points: tuple[flops.Cost, flops.Cost] | None = None  # Of 1 and `size` rows.

  def __call__(self, rows: int) -> flops.Cost:
    """Returns the cost of one step on `rows` examples; zero for 0 rows.

    If the cost is unknown for one size, it is unknown for all.
    """
    if not rows:
      return flops.ZERO
    if self._points is None:
      self._points = self._count(1), self._count(self._size)
    one, other = self._points
    if any(a is not None and b is not None and (b - a) % (self._size - 1)
           for a, b in ((one.flops, other.flops), (one.macs, other.macs))):
      return self._count(rows)  # On no line: a row has no cost that is the same for all.
    return flops.Cost(self._on_line(one.flops, other.flops, rows),
                      self._on_line(one.macs, other.macs, rows), one.uncounted)

  def _on_line(self, one: int | None, other: int | None, rows: int) -> int | None:
    if one is None or other is None:
      return None
    return one + (rows - 1) * ((other - one) // (self._size - 1))
