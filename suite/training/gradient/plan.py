# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The steps of a phase, laid out before it begins: which rows each takes, and their seeds.

Each of N rows comes once an epoch, in another order each time, in batches of B:

  "fill"   batches cross from one epoch into the next, and a last one is filled from a further epoch
  "even"   an epoch has ceil(N / B) batches whose sizes differ by one row at most: as many steps as
           a loader of PyTorch makes, which ends each epoch with what is left over. That may be one
           row, and its step would count as much as one of B.

With a memory each step replays R of its rows besides, each once until all have had their turn.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Iterator, NamedTuple

import numpy as np
import tensorflow as tf

from suite.data.images import sampling

LAST = ("fill", "even")
# Rows whose places and seeds are made at once.
_ROWS = 2**17


class Rows(NamedTuple):
  """Places in the data, int64, and seeds of augmentation, uint64, of one shape."""

  places: np.ndarray
  seeds: np.ndarray


class Part(NamedTuple):
  """Steps that one call of a compiled loop takes.

  Attributes:
    first: the number of the first step in the phase.
    incoming: the T rows of all steps, one after the other: [T].
    starts: int64 [S + 1], where the rows of each step begin, and T.
    replayed: Rows [S, R], places being slots of the memory.
    width: B, rows of each step; None if not all have as many.
  """

  first: int
  incoming: Rows
  starts: np.ndarray
  replayed: Rows
  width: int | None

  @property
  def num_steps(self) -> int:
    """S."""
    return len(self.starts) - 1


@dataclasses.dataclass(frozen=True)
class Plan:
  """The rows of a phase.

  Attributes:
    size: N, rows of data that are trained on; they begin at `first`.
    epochs: passes over them; may be a fraction.
    batch_size: B.
    order: seed of the order of rows.
    held: K, slots of the memory taken. replay_batch: R; none are replayed while K is 0.
    replay_order: seed of the order of slots.
    last: one of `LAST`.
    seeded: whether rows are augmented; else all their seeds are 0.
  """

  size: int
  epochs: float
  batch_size: int
  order: tuple[int, int]
  held: int = 0
  replay_batch: int = 0
  replay_order: tuple[int, int] = (0, 0)
  last: str = "fill"
  first: int = 0
  seeded: bool = True

  @property
  def num_steps(self) -> int:
    """Steps of the phase."""
    return len(self._widths)

  @property
  def replayed(self) -> int:
    """R, or 0 while the memory is empty."""
    return self.replay_batch if self.held else 0

  @property
  def num_rows(self) -> int:
    """Rows of all steps, replayed ones included."""
    return sum((width + self.replayed) * num for width, num in self.widths().items())

  def widths(self) -> dict[int, int]:
    """The number of steps by their number of incoming rows."""
    found, counts = np.unique(self._widths, return_counts=True)
    return {int(width): int(num) for width, num in zip(found, counts)}

  @functools.cached_property
  def _widths(self) -> np.ndarray:
    """The number of incoming rows of each step, int64 [S]."""
    batch = self.batch_size
    if self.last == "fill":
      return np.full([max(1, math.ceil(self.epochs * self.size / batch))], batch)
    epochs = [_evenly(num, -(-num // batch)) for num in self._epoch_sizes()]
    return np.concatenate([np.zeros([0], np.int64), *epochs])

  def _epoch_sizes(self) -> list[int]:
    whole = int(self.epochs)
    return [self.size] * whole + list(filter(None, [math.ceil((self.epochs - whole) * self.size)]))

  def epochs_of(self, steps: np.ndarray) -> np.ndarray:
    """The epoch in which each step begins, counted from 0."""
    steps = np.asarray(steps, np.int64)
    if self.last == "even":
      return steps // -(-self.size // self.batch_size)
    return steps * self.batch_size // self.size

  def parts(self) -> Iterator[Part]:
    """All steps in order, as many at once as are laid out at once."""
    starts = np.concatenate([[0], np.cumsum(self._widths)])
    num_steps, length = len(starts) - 1, max(1, _ROWS // self.batch_size)
    for first in range(0, num_steps, length):
      stop = min(first + length, num_steps)
      begin, num = int(starts[first]), int(starts[stop] - starts[first])
      flat = rows(self.size, 1, self.order, begin, num, seeded=self.seeded)
      yield Part(first, Rows(flat.places[:, 0] + self.first, flat.seeds[:, 0]),
                 starts[first:stop + 1] - begin, self._replayed(first, stop - first),
                 self.batch_size if self.last == "fill" else None)

  def _replayed(self, first: int, num: int) -> Rows:
    if not self.replayed:
      return Rows(np.zeros([num, 0], np.int64), np.zeros([num, 0], np.uint64))
    return rows(self.held, self.replay_batch, self.replay_order, first, num, seeded=self.seeded)


def _evenly(num: int, parts: int) -> np.ndarray:
  """Sizes of parts of `num` rows, int64 [parts], each floor or ceil of their mean."""
  return np.diff(np.arange(parts + 1) * num // max(1, parts))


def rows(size: int, batch_size: int, seed: tuple[int, int], first: int, num: int, *,
         seeded: bool = True) -> Rows:
  """The rows of steps first ... first + num - 1; each of N rows comes once an epoch."""
  shape = [num, batch_size]
  with tf.device("CPU:0"):  # The cipher behind the shuffle has no other kernel.
    plan = sampling.TrainPlan(size=size, batch_size=batch_size, seed=seed)
    positions = tf.range(first * batch_size, (first + num) * batch_size, dtype=tf.int64)
    places = plan.indices(positions).numpy().reshape(shape)
    if not seeded:
      return Rows(places, np.zeros(shape, np.uint64))
    return Rows(places, sampling.row_seeds(seed, positions).numpy().reshape(shape))
