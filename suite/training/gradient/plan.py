# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The steps of a phase, laid out before it begins: which rows each takes, and their seeds.

Each of N rows comes once an epoch, in another order each time, in batches of B:

  "fill"   batches cross from one epoch into the next, and a last one is filled from a further epoch
  "rest"   each epoch ends with a batch of what is left over, as PyTorch's loaders have it

With a memory each step replays R of its rows besides, each once until all have had their turn.
"""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Iterator, NamedTuple

import numpy as np
import tensorflow as tf

from suite.data.images import sampling

LAST = ("fill", "rest")
# Rows whose places and seeds are made at once.
_ROWS = 2**17


class Rows(NamedTuple):
  """The rows of S steps: places int64 [S, B] in the data, seeds uint64 [S, B] of augmentation."""

  places: tf.Tensor
  seeds: tf.Tensor


class Part(NamedTuple):
  """Steps that one call of a compiled loop takes; all of them have B rows.

  Attributes:
    first: the number of the first step in the phase.
    incoming: Rows [S, B]. replayed: Rows [S, R], places being slots of the memory.
    is_rest: whether it is what is left over, of another width in each phase.
  """

  first: int
  incoming: Rows
  replayed: Rows
  is_rest: bool = False

  @property
  def num_steps(self) -> int:
    """S."""
    return int(self.incoming.places.shape[0])


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

  @property
  def num_steps(self) -> int:
    """Steps of the phase."""
    return sum(self.widths().values())

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
    if self.last == "fill":
      return {self.batch_size: max(1, math.ceil(self.epochs * self.size / self.batch_size))}
    found: collections.Counter[int] = collections.Counter()
    for rows_of_epoch in self._epoch_sizes():
      whole, rest = divmod(rows_of_epoch, self.batch_size)
      found.update({self.batch_size: whole, rest: int(rest > 0)})
    return {width: num for width, num in found.items() if width and num}

  def _epoch_sizes(self) -> list[int]:
    whole = int(self.epochs)
    return [self.size] * whole + list(filter(None, [math.ceil((self.epochs - whole) * self.size)]))

  def epochs_of(self, steps: np.ndarray) -> np.ndarray:
    """The epoch in which each step begins, counted from 0."""
    steps = np.asarray(steps, np.int64)
    if self.last == "rest":
      return steps // -(-self.size // self.batch_size)
    return steps * self.batch_size // self.size

  def parts(self) -> Iterator[Part]:
    """All steps in order, as many at once as are laid out at once and have one width."""
    if self.last == "fill":
      steps = self.num_steps
      order = _Order(self, steps * self.batch_size)
      yield from self._parts(order, 0, 0, steps, self.batch_size)
      return
    step, order = 0, _Order(self, sum(self._epoch_sizes()))
    for epoch, rows_of_epoch in enumerate(self._epoch_sizes()):
      whole, rest = divmod(rows_of_epoch, self.batch_size)
      begin = epoch * self.size
      yield from self._parts(order, step, begin, whole, self.batch_size)
      if rest:
        yield from self._parts(order, step + whole, begin + whole * self.batch_size, 1, rest)
      step += whole + (rest > 0)

  def _parts(self, order: _Order, step: int, position: int, num: int, width: int
             ) -> Iterator[Part]:
    """`num` steps from number `step` on, whose rows begin at a position of the endless order."""
    length = max(1, _ROWS // self.batch_size)
    for done in range(0, num, length):
      count = min(length, num - done)
      incoming = order.steps(position + done * width, count, width)
      if self.replayed:
        replayed = rows(self.held, self.replay_batch, self.replay_order, step + done, count)
      else:
        empty = tf.zeros([count, 0], tf.int64)
        replayed = Rows(empty, tf.cast(empty, tf.uint64))
      yield Part(step + done, incoming, replayed, width != self.batch_size)


class _Order:
  """The rows of a phase in order, many of which are laid out at once: each time has a price."""

  def __init__(self, plan: Plan, num: int):
    self._plan, self._num = plan, num
    self._begin, self._flat = 0, Rows(tf.zeros([0], tf.int64), tf.zeros([0], tf.uint64))

  def steps(self, position: int, count: int, width: int) -> Rows:
    """The rows [count, width] from a position on; positions come in rising order."""
    plan, num = self._plan, count * width
    if position + num > self._begin + int(self._flat.places.shape[0]):
      laid = rows(plan.size, 1, plan.order, position, max(num, min(_ROWS, self._num - position)))
      self._begin, self._flat = position, Rows(*(tf.reshape(part, [-1]) for part in laid))
    first = position - self._begin
    with tf.device("CPU:0"):
      places, seeds = (tf.reshape(part[first:first + num], [count, width]) for part in self._flat)
      return Rows(places + plan.first, seeds)


def rows(size: int, batch_size: int, seed: tuple[int, int], first: int, num: int) -> Rows:
  """The rows of steps first ... first + num - 1; each of N rows comes once an epoch."""
  with tf.device("CPU:0"):  # The cipher behind the shuffle has no other kernel.
    plan = sampling.TrainPlan(size=size, batch_size=batch_size, seed=seed, first_step=first)
    places, seeds, _ = plan.at(
        tf.constant(0, tf.int64), tf.range(num * batch_size, dtype=tf.int64))
    return Rows(tf.reshape(places, [num, batch_size]), tf.reshape(seeds, [num, batch_size]))
