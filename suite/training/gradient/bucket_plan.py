# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a bucket's training does at each step, laid out before it begins: rows, seeds and rates."""

from __future__ import annotations

import dataclasses
import math
from typing import Iterator, NamedTuple, Tuple

import numpy as np
import tensorflow as tf

from suite.data.images import sampling

# Rows whose places and seeds are made at once.
_ROWS = 2**17


@dataclasses.dataclass(frozen=True)
class EpochSteps:
  """The rate falls by `factor` every `step` epochs, and begins anew with each bucket."""

  step: int = 60
  factor: float = 0.1

  def __post_init__(self):
    if self.step < 1:
      raise ValueError(f"EpochSteps.step is {self.step}; it must be at least 1 epoch.")

  def rates(self, peak: float, epochs: np.ndarray) -> np.ndarray:
    """Rates, float32, at the given epochs, counted from 0."""
    return (peak * self.factor ** (np.asarray(epochs) // self.step)).astype(np.float32)


class Rows(NamedTuple):
  """Of S steps: places int64 [S, B] in the data, seeds uint64 [S, B] of the augmentation."""

  places: tf.Tensor
  seeds: tf.Tensor


def side_by_side(left: Rows, right: Rows, offset: int) -> Rows:
  """Each step takes the rows of both; those of the right are of data that begin at `offset`."""
  return Rows(tf.concat([left.places, right.places + offset], 1),
              tf.concat([left.seeds, right.seeds], 1))


def num_steps(size: int, epochs: float, batch_size: int) -> int:
  """How many batches of B make so many epochs of N examples, the last one rounded up."""
  return max(1, math.ceil(epochs * size / batch_size))


def epochs_of(steps: np.ndarray, size: int, batch_size: int) -> np.ndarray:
  """In which epoch each step begins."""
  return np.asarray(steps, np.int64) * batch_size // size


def chunks(total: int, batch_size: int) -> Iterator[Tuple[int, int]]:
  """(first step, number of steps) of parts of a training that are laid out at once."""
  length = max(1, _ROWS // batch_size)
  for first in range(0, total, length):
    yield first, min(length, total - first)


def rows(size: int, batch_size: int, seed: Tuple[int, int], first: int, num: int) -> Rows:
  """The rows of steps first ... first + num - 1; each example comes once an epoch."""
  with tf.device("CPU:0"):  # The cipher behind the shuffle has no other kernel.
    plan = sampling.TrainPlan(size=size, batch_size=batch_size, seed=seed, first_step=first)
    places, seeds, _ = plan.at(
        tf.constant(0, tf.int64), tf.range(num * batch_size, dtype=tf.int64))
    return Rows(tf.reshape(places, [num, batch_size]), tf.reshape(seeds, [num, batch_size]))
