# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The cost of one call of a compiled function; an unknown amount is None, never 0."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Cost:
  """FLOPs and multiply-adds of a graph or of a part of it.

  Attributes:
    flops: floating-point operations, a multiply-add being two; None when unknown.
    macs: multiply-adds of convolutions and matrix products; None when unknown.
    uncounted: reasons for an unknown number, in the order of the walk, without repetition.
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
    """Cost of `times` calls. An unknown amount stays unknown, also for 0 calls."""
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
