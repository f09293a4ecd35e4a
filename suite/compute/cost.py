# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What one call of a compiled function costs: an amount that may be unknown, never silently 0."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Cost:
  """FLOPs and multiply-adds of a piece of graph.

  Attributes:
    flops: floating-point operations, a multiply-add being two; None when unknown.
    macs: multiply-adds of convolutions and matrix products; None when unknown.
    uncounted: what made a number unknown, in the order it was met, without repetition.
  """

  flops: int | None
  macs: int | None
  uncounted: tuple[str, ...] = ()

  def __add__(self, other: Cost) -> Cost:
    if not isinstance(other, Cost):
      return NotImplemented
    return Cost(
        _add(self.flops, other.flops),
        _add(self.macs, other.macs),
        tuple(dict.fromkeys(self.uncounted + other.uncounted)),
    )

  def __mul__(self, times: int) -> Cost:
    """`times` calls. An unknown stays unknown, times 0 too."""
    if isinstance(times, bool) or not isinstance(times, int):
      return NotImplemented
    if times < 0:
      raise ValueError(f"A cost was multiplied by {times}; the number of calls must be 0 or more.")
    return Cost(_times(self.flops, times), _times(self.macs, times), self.uncounted)

  __rmul__ = __mul__


def _add(a: int | None, b: int | None) -> int | None:
  return None if a is None or b is None else a + b


def _times(a: int | None, times: int) -> int | None:
  return None if a is None else a * times


ZERO = Cost(0, 0)
