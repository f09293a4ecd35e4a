# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image at each place of each batch, by index arithmetic without state.

A training pass is one endless sequence of positions p = 0, 1, 2, ...; batch `step` holds the
positions step * B ... step * B + B - 1, and

  epoch(p) = p // N        index(p) = shuffle(p % N) under (seed, epoch)

so that each of the N images comes exactly once an epoch, a batch may span two epochs, and any step
can be computed without those before it. With R shards, shard r of a step is
rows r * B / R ... (r + 1) * B / R - 1 of the same batch:

  step 0           step 1
  [ r0 | r1 ]      [ r0 | r1 ]     shards_here=2: elements come as (0, r0) (0, r1) (1, r0) (1, r1)

Random numbers are hashes (SplitMix64) of (seed, position): one op computes them for all rows, and
those of a row depend neither on the batch size nor on the number of shards.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_WORD = 2**64 - 1

# The cipher behind RandomIndexShuffle is visibly uneven for small N at its default of 4 rounds.
_SHUFFLE_ROUNDS = 12
_SMALL = 128
_SHUFFLE, _AUGMENT = 0, 1


def derive(seeds: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
  """New 64-bit seeds from uint64 seeds and integers, element by element (shapes broadcast)."""
  steps = tf.cast(values, tf.uint64) * tf.constant(_GOLDEN, tf.uint64)
  bits = seeds + (steps + tf.constant(_GOLDEN, tf.uint64))
  for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
    bits = _xor_shift(bits, shift) * tf.constant(factor, tf.uint64)
  return _xor_shift(bits, 31)


def root_seed(seed: tuple[int, int], purpose: int) -> tf.Tensor:
  """One uint64 scalar from a pair of Python integers of any size and sign."""
  return tf.constant(_root(seed, purpose), tf.uint64)


def _root(seed: tuple[int, int], purpose: int) -> int:
  """`derive` applied three times, in Python's integers: a graph needs no ops for it."""
  state = 0
  for value in (*seed, purpose):
    state = (state + (int(value) + 1) * _GOLDEN) & _WORD
    for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
      state = (state ^ (state >> shift)) * factor & _WORD
    state ^= state >> 31
  return state


def row_seeds(seed: tuple[int, int], positions: tf.Tensor) -> tf.Tensor:
  """The augmentation seeds of the given positions: int64 [R] -> uint64 [R]."""
  return derive(root_seed(seed, _AUGMENT), positions)


def uniform(seeds: tf.Tensor, num: int | tf.Tensor) -> tf.Tensor:
  """`num` numbers in [0, 1) for each seed: uint64 [R] -> float64 [R, num]."""
  bits = derive(seeds[:, None], tf.range(num, dtype=tf.int64)[None, :])
  bits = tf.bitwise.right_shift(bits, tf.constant(11, tf.uint64))
  return tf.cast(tf.cast(bits, tf.int64), tf.float64) * 2.0**-53


def permutation(keys: tf.Tensor, size: int | tf.Tensor) -> tf.Tensor:
  """The permutation of 0..size-1 that belongs to each key: uint64 [R] -> int64 [R, size]."""
  return tf.cast(tf.argsort(uniform(keys, size), axis=1), tf.int64)


def shuffled(places: tf.Tensor, size: int | tf.Tensor, keys: tf.Tensor, *,
             is_small: bool | None = None) -> tf.Tensor:
  """Element p of the permutation of 0..size-1 that belongs to its key: int64 [R] -> [R].

  `size` may be an int64 scalar of a graph, which then has a branch unless it knows whether the size
  `is_small`.

  A cipher computes it without the permutation. The raw op is used because the public
  `index_shuffle` of TensorFlow 2.15 pads a matrix of seeds along the wrong axis; all three words of
  its seed are hashed because it uses their low bits only. It works on 16 bits or more and repeats
  until the result is below `size`, so a small permutation is faster computed as a whole.
  """
  def small() -> tf.Tensor:
    return tf.gather(permutation(keys, size), places, batch_dims=1)

  def large() -> tf.Tensor:
    # `shuffled` by the cipher.
    words = derive(keys[:, None], tf.range(3, dtype=tf.int64)[None, :])
    words = tf.bitwise.right_shift(words, tf.constant(32, tf.uint64))
    return tf.raw_ops.RandomIndexShuffle(
        index=places, seed=tf.cast(words, tf.int64),
        max_index=tf.fill(tf.shape(places), tf.convert_to_tensor(size - 1, tf.int64)),
        rounds=_SHUFFLE_ROUNDS)

  if is_small is None and isinstance(size, int):
    is_small = size <= _SMALL
  if is_small is None:
    return tf.cond(size <= _SMALL, small, large)
  return small() if is_small else large()


@dataclasses.dataclass(frozen=True)
class TrainForm:
  """The part of a `TrainPlan` that its graph depends on; the rest, `numbers`, may be tensors.

  `is_small` says whether the size is small enough to compute permutations as a whole; None: it is
  decided in the graph.
  """

  batch_size: int
  shard_index: int
  num_shards: int
  shards_here: int
  is_small: bool | None

  is_training = True

  @property
  def rows(self) -> int:
    """Rows of one element: the slice of one replica."""
    return self.batch_size // self.num_shards

  def positions(self, first_step: Any, element: tf.Tensor, row: tf.Tensor) -> tf.Tensor:
    """Positions in the endless sequence of rows `row` int64 [R] of element `element` int64 []."""
    step = first_step + element // self.shards_here
    shard = self.shard_index + element % self.shards_here
    return step * self.batch_size + shard * self.rows + row

  def at(self, numbers: Any, element: tf.Tensor, row: tf.Tensor) -> Any:
    """(indices int64 [R], seeds uint64 [R], valid bool [R]) of the rows `row` int64 [R]."""
    size, first_step, shuffle, augment = numbers
    position = self.positions(first_step, element, row)
    indices = shuffled(position % size, size, derive(shuffle, position // size),
                       is_small=self.is_small)
    return indices, derive(augment, position), tf.ones_like(indices, tf.bool)


@dataclasses.dataclass(frozen=True)
class TrainPlan:
  """The endless plan of training rows; `form.at(numbers, e, r)` gives row r of element e."""

  size: int
  batch_size: int
  seed: tuple[int, int]
  first_step: int = 0
  shard_index: int = 0
  num_shards: int = 1
  shards_here: int = 1

  is_training = True
  num_elements: int | None = None

  def __post_init__(self) -> None:
    if self.batch_size < 1 or self.num_shards < 1 or self.batch_size % self.num_shards:
      raise ValueError(
          f"A batch of {self.batch_size} cannot be cut into {self.num_shards} equal shards. "
          "Choose a batch size that is a positive multiple of the number of replicas.")
    if not 0 <= self.shard_index <= self.num_shards - self.shards_here or self.shards_here < 1:
      raise ValueError(
          f"shard_index={self.shard_index} with shards_here={self.shards_here} is not inside "
          f"num_shards={self.num_shards}.")
    if self.first_step < 0:
      raise ValueError(f"first_step={self.first_step}; the first step is 0.")

  @property
  def rows(self) -> int:
    """Rows of one element: the slice of one replica."""
    return self.form.rows

  @property
  def form(self) -> TrainForm:
    """The part that the graph depends on."""
    return TrainForm(self.batch_size, self.shard_index, self.num_shards, self.shards_here,
                     self.size <= _SMALL)

  @property
  def numbers(self) -> tuple[Any, ...]:
    """The size, the first step, and the seeds of the order and of augmentation."""
    return (np.int64(self.size), np.int64(self.first_step),
            *(np.uint64(_root(self.seed, purpose)) for purpose in (_SHUFFLE, _AUGMENT)))

  def is_here(self, position: tf.Tensor) -> tf.Tensor:
    """Whether a position of the endless sequence belongs to one of this host's shards."""
    shard = position % self.batch_size // self.rows
    return (shard >= self.shard_index) & (shard < self.shard_index + self.shards_here)

  def indices(self, positions: tf.Tensor) -> tf.Tensor:
    """The images at positions of the endless sequence: int64 [R] -> int64 [R]."""
    epoch_keys = derive(root_seed(self.seed, _SHUFFLE), positions // self.size)
    return shuffled(positions % self.size, self.size, epoch_keys)


class TrainPlans:
  """The plans of T tasks, one of which each element follows; no op for each of the tasks.

  Args:
    plans: they differ in their size, seed and first step only.
  """

  def __init__(self, plans: Sequence[TrainPlan]) -> None:
    self._form = dataclasses.replace(plans[0].form, is_small=None)
    self._numbers = [np.stack(every) for every in zip(*(plan.numbers for plan in plans))]

  @property
  def rows(self) -> int:
    """Rows of one element."""
    return self._form.rows

  def at(self, task: tf.Tensor, element: tf.Tensor, row: tf.Tensor) -> Any:
    """As `TrainForm.at` with the numbers of the plan of a task, int64 []."""
    return self._form.at([tf.gather(every, task) for every in self._numbers], element, row)


@dataclasses.dataclass(frozen=True)
class EvalForm:
  """The part of an `EvalPlan` that its graph depends on; the rest, `numbers`, may be tensors."""

  rows: int

  is_training = False

  def at(self, numbers: Any, element: tf.Tensor, row: tf.Tensor) -> Any:
    """(indices int64 [R], seeds uint64 [R], valid bool [R]) of the rows `row` int64 [R]."""
    size, = numbers
    position = element * self.rows + row
    indices = tf.minimum(position, size - 1)
    return indices, tf.zeros_like(indices, tf.uint64), position < size


@dataclasses.dataclass(frozen=True)
class EvalPlan:
  """All N images once and in order; the last batch is padded with rows that are not valid.

  `form.at(numbers, e, r)` gives row r of element e.
  """

  size: int
  batch_size: int

  is_training = False

  def __post_init__(self) -> None:
    if self.batch_size < 1:
      raise ValueError(f"batch_size={self.batch_size}; a batch has at least one image.")

  @property
  def rows(self) -> int:
    """Rows of one element."""
    return self.batch_size

  @property
  def form(self) -> EvalForm:
    """The part that the graph depends on."""
    return EvalForm(self.batch_size)

  @property
  def numbers(self) -> tuple[Any, ...]:
    """The size."""
    return (np.int64(self.size),)

  @property
  def num_elements(self) -> int:
    """ceil(N / B)."""
    return -(-self.size // self.batch_size)


Form = TrainForm | EvalForm
Plan = TrainPlan | EvalPlan


def draw_without_replacement(size: int, num: int, seed: Any) -> np.ndarray:
  """`num` different indices below `size`, sorted; seed is an integer or a tuple of them."""
  words = np.atleast_1d(np.asarray(seed, np.int64)).view(np.uint64)
  return np.sort(np.random.default_rng(words).choice(size, num, replace=False))


def _xor_shift(bits: tf.Tensor, shift: int) -> tf.Tensor:
  return tf.bitwise.bitwise_xor(bits, tf.bitwise.right_shift(bits, tf.constant(shift, tf.uint64)))
