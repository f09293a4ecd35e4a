# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A transform whose examples show which image and which seed they were made of.

For tests of what comes in which order: tracing it takes a tenth of the time that tracing
transforms of the suite takes.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class ShownSeeds:
  """Examples uint8 [1, 3, 3]: the first value of the image, then the eight bytes of the seed."""

  size: int = 3

  @property
  def shape(self):
    return (1, 3, 3)

  def train(self, images, seeds):
    shown = tf.concat([images[:, 0, 0, :1], tf.bitcast(seeds, tf.uint8)], axis=1)
    return tf.reshape(shown, [-1, 1, 3, 3])

  def evaluate(self, images):
    return self.train(images, tf.zeros_like(images[:, 0, 0, 0], tf.uint64))


def first_values(images) -> np.ndarray:
  """Returns the first value [B] of each source image, from examples [B, 1, 3, 3]."""
  return np.asarray(images).reshape(-1, 9)[:, 0]


def seeds(images) -> np.ndarray:
  """Returns the seed of each example, uint64 [B], from examples [B, 1, 3, 3]."""
  return np.ascontiguousarray(np.asarray(images).reshape(-1, 9)[:, 1:]).view(np.uint64)[:, 0]
