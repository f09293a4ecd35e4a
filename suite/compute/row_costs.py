# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Costs of a step by its number of rows, where a last batch may have any size.

All that a step does is once a row or once a step, so its cost is a straight line in the rows. Two
points of it are counted; every further size would take as long to trace as to train.
"""

from __future__ import annotations

from typing import Callable

from suite.compute import flops


class RowCosts:
  """Of a step on any number of rows.

  Args:
    count: rows to the cost that is counted from a graph of so many.
  """

  def __init__(self, count: Callable[[int], flops.Cost]):
    self._count = count
    self._points: tuple[flops.Cost, flops.Cost] | None = None  # Of 1 and 2 rows.

  def __call__(self, rows: int) -> flops.Cost:
    """The cost; none of no rows. What is unknown of one size is unknown of all."""
    if not rows:
      return flops.ZERO
    if self._points is None:
      self._points = self._count(1), self._count(2)
    one, two = self._points
    return flops.Cost(_on_line(one.flops, two.flops, rows), _on_line(one.macs, two.macs, rows),
                      one.uncounted)


def _on_line(one: int | None, two: int | None, rows: int) -> int | None:
  return None if one is None or two is None else one + (rows - 1) * (two - one)
