# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A transform that shows each sample twice: as it is evaluated, and as it is trained on."""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from suite.contracts import examples
from suite.data.images import sampling

_PURPOSE = 6  # Of the seed, beside those of sampling.py and prepared_sets.py.


@dataclasses.dataclass(frozen=True)
class WithCrop:
  """Stacks both views of a sample by channels: [B, S, S, 2 C].

  The random view follows from the seed and the sample alone, its number or its pixels, so that it
  is the same in a block of any size and after a resumption.

  Attributes:
    transform: of both views. seed: of the random one.
  """

  transform: examples.Transform
  seed: int = 0

  @property
  def size(self) -> int:
    """S."""
    return self.transform.size

  @property
  def shape(self) -> tuple[int, ...]:
    """(S, S, 2 C)."""
    *sides, channels = self.transform.shape
    return (*sides, 2 * channels)

  def evaluate(self, samples: tf.Tensor) -> tf.Tensor:
    """Samples [B, ...] -> uint8 [B, S, S, 2 C], the evaluated view first."""
    samples = tf.convert_to_tensor(samples)
    root = sampling.root_seed((self.seed, 0), _PURPOSE)
    # A number of each sample, int64 [B]: its own, or a weighted sum of its pixels.
    if samples.shape.rank == 1:
      keys = tf.cast(samples, tf.int64)
    else:
      pixels = tf.cast(tf.reshape(samples, [tf.shape(samples)[0], -1]), tf.int64)
      places = tf.range(1, tf.cast(tf.shape(pixels)[1], tf.int64) + 1)
      keys = tf.reduce_sum(pixels * places, axis=1)
    seeds = sampling.derive(root, keys)
    return tf.concat([self.transform.evaluate(samples), self.transform.train(samples, seeds)], -1)

  def train(self, samples: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Samples [B, ...] and seeds uint64 [B] -> uint8 [B, S, S, 2 C]."""
    return tf.concat(
        [self.transform.evaluate(samples), self.transform.train(samples, seeds)], -1)
