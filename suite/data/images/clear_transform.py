# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image transform of CLEAR's experiments: shorter side to `size`, a square of it, a mirror."""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import sampling


@dataclasses.dataclass(frozen=True)
class Clear:
  """The largest square of the image: at a random place in training, else at the center.

  Attributes:
    size: S, 224 in the paper.
    flip_probability: of mirroring left to right in training.
  """

  size: int = 224
  flip_probability: float = 0.5

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, S, S, 3]."""
    draws = sampling.uniform(seeds, 3)
    flip = draws[:, 2] < self.flip_probability
    if images.shape[1:3] == (self.size, self.size):  # Nothing to crop: only a mirror.
      images = image_ops.to_rgb(images)
      return tf.where(flip[:, None, None, None], tf.reverse(images, [2]), images)
    shape = tf.cast(tf.shape(images), tf.float64)
    side = tf.minimum(shape[1], shape[2])
    top = tf.floor(draws[:, 0] * (shape[1] - side + 1.0))
    left = tf.floor(draws[:, 1] * (shape[2] - side + 1.0))
    sides = tf.zeros_like(top) + side
    boxes = tf.stack([top, left, sides, sides], axis=1)
    return image_ops.to_rgb(image_ops.resample(images, boxes, self.size, flip))

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]."""
    return image_ops.to_rgb(
        image_ops.resample(images, image_ops.center_boxes(images), self.size))
