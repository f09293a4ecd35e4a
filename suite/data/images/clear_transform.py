# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image transform of CLEAR's experiments: shorter side to S, a square of S pixels, a mirror."""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from suite.contracts import transform as transform_lib
from suite.data.images import example_storage
from suite.data.images import image_ops
from suite.data.images import sampling
from suite.data.images import uncropped


@dataclasses.dataclass(frozen=True)
class Clear:
  """Resizes the shorter side to S; the square is at a random place in training, else central.

  Attributes:
    size: S, 224 in the paper.
    flip_probability: of mirroring left to right in training.
    longest: the longer side that is stored, as a multiple of S; both ends of a longer one are cut.
      CLEAR's images have an aspect ratio of at most 2. 1 stores the central square. A stored image
      takes as many times the memory of a square.
  """

  size: int = 224
  flip_probability: float = 0.5
  longest: float = 2.0

  def __post_init__(self) -> None:
    if self.longest < 1:
      raise ValueError(f"Clear.longest is {self.longest}; it must be at least 1, for squares.")

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  @property
  def storage(self) -> transform_lib.Storage:
    """Images at their aspect ratio, so that each step cuts another square."""
    return Uncropped(self) if self.longest > 1 else example_storage.AsEvaluated(self)

  def draws(self, seeds: tf.Tensor, wide: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Place of the square in [0, 1) and whether it is mirrored, of seeds [B]; wide: [B] or []."""
    draws = sampling.uniform(seeds, 3)
    return tf.where(wide, draws[:, 1], draws[:, 0]), draws[:, 2] < self.flip_probability

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, S, S, 3]."""
    places, flip = self.draws(seeds, uncropped.is_wide(images))
    if images.shape[1:3] == (self.size, self.size):  # Nothing to crop: only a mirror.
      images = image_ops.to_rgb(images)
      return tf.where(flip[:, None, None, None], tf.reverse(images, [2]), images)
    return self._squares(images, places, flip)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]."""
    return self._squares(images, None, None)

  def _squares(self, images: tf.Tensor, places: tf.Tensor | None, flip: tf.Tensor | None
               ) -> tf.Tensor:
    """Squares at places in [0, 1), [B], along the longer side; None: the central ones."""
    whole = uncropped.resized_length(images, self.size)
    length = tf.minimum(whole, uncropped.shape(self.size, self.longest)[0] - 1)
    starts = starts_of(places, length + tf.zeros_like(images[:, 0, 0, 0], tf.int32), self.size)
    boxes = uncropped.box(images, (whole - length) // 2 + starts, self.size, self.size)
    return image_ops.to_rgb(image_ops.resample(images, boxes, self.size, flip))


@dataclasses.dataclass(frozen=True)
class Uncropped:
  """The storage of `Clear`; see `uncropped`."""

  transform: Clear

  @property
  def shape(self) -> tuple[int, int, int]:
    """(1 + L, S, 3)."""
    return uncropped.shape(self.transform.size, self.transform.longest)

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, 1 + L, S, 3]."""
    return uncropped.pack(images, self.transform.size, self.transform.longest)

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, 1 + L, S, 3], uint64 [B] -> uint8 [B, S, S, 3]."""
    places, flip = self.transform.draws(seeds, uncropped.is_packed_wide(rows))
    starts = starts_of(places, uncropped.lengths(rows), self.transform.size)
    return uncropped.squares(rows, starts, flip)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """uint8 [B, 1 + L, S, 3] -> uint8 [B, S, S, 3]."""
    return uncropped.squares(
        rows, starts_of(None, uncropped.lengths(rows), self.transform.size))


def starts_of(places: tf.Tensor | None, lengths: tf.Tensor, size: int) -> tf.Tensor:
  """First lines of squares, int32 [B], from places in [0, 1) and lengths, [B]; None: central ones.
  """
  spare = lengths - size
  if places is None:
    return spare // 2
  return tf.cast(tf.floor(places * tf.cast(spare + 1, tf.float64)), tf.int32)
