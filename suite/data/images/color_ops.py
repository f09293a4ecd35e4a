# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Changes of color and sharpness, a different one for each image of a batch.

Brightness, contrast, saturation, hue and grayness are all affine in a pixel's (r, g, b). A change
is therefore three rows and an offset, `Affine`, tiny whatever the images' size; changes are joined
into one before any pixel is touched. Two things follow from it: pixels are cut to 0..255 once, at
the end, not after each change; and hue is turned in the YIQ plane, not in HSV's hexagon.

Row b of every result depends on row b of the arguments only, bit for bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.data.images import image_ops

LUMA = (0.299, 0.587, 0.114)
_TO_YIQ = np.array([LUMA, (0.596, -0.274, -0.322), (0.211, -0.523, 0.312)])
_FROM_YIQ = np.linalg.inv(_TO_YIQ)


class Affine(NamedTuple):
  """pixel -> matrix @ pixel + offset; matrix float64 [B, 3, 3], offset float64 [B, 3]."""

  matrix: tf.Tensor
  offset: tf.Tensor


def nothing(num_rows: tf.Tensor) -> Affine:
  """The identity, B times."""
  return Affine(tf.eye(3, batch_shape=[num_rows], dtype=tf.float64),
                tf.zeros([num_rows, 3], tf.float64))


def then(first: Affine, second: Affine) -> Affine:
  """The change that applies `first`, then `second`."""
  # Written out: a matrix product may round a row differently in batches of another size.
  matrix = sum(second.matrix[:, :, k, None] * first.matrix[:, None, k, :] for k in range(3))
  return Affine(matrix, transformed(second, first.offset))


def transformed(change: Affine, colors: tf.Tensor) -> tf.Tensor:
  """The change of one color per image: float64 [B, 3] -> [B, 3]."""
  return sum(change.matrix[:, :, k] * colors[:, k, None] for k in range(3)) + change.offset


def chosen(condition: tf.Tensor, yes: Affine, no: Affine) -> Affine:
  """yes where condition, bool [B], else no."""
  return Affine(tf.where(condition[:, None, None], yes.matrix, no.matrix),
                tf.where(condition[:, None], yes.offset, no.offset))


def luma(colors: tf.Tensor) -> tf.Tensor:
  """The luminance of colors: [B, 3] -> [B]."""
  return sum(LUMA[k] * colors[:, k] for k in range(3))


def mean_colors(images: tf.Tensor) -> tf.Tensor:
  """uint8 [B, H, W, 3] -> float64 [B, 3]; summed as integers, hence the same in any order."""
  total = tf.reduce_sum(tf.cast(images, tf.int64), axis=[1, 2])
  pixels = tf.shape(images)[1] * tf.shape(images)[2]
  return tf.cast(total, tf.float64) / tf.cast(pixels, tf.float64)


def brightness(factor: tf.Tensor) -> Affine:
  """factor * pixel; factor float64 [B]."""
  return Affine(factor[:, None, None] * tf.eye(3, dtype=tf.float64), _zeros(factor))


def contrast(factor: tf.Tensor, means: tf.Tensor) -> Affine:
  """Away from, or for factor < 1 towards, the gray of the image's mean color, float64 [B, 3]."""
  offset = (1.0 - factor) * luma(means)
  return Affine(brightness(factor).matrix, tf.tile(offset[:, None], [1, 3]))


def saturation(factor: tf.Tensor) -> Affine:
  """Away from each pixel's gray, or for factor < 1 towards it; 0 makes the image gray."""
  grays = tf.constant([LUMA] * 3, tf.float64)
  matrix = brightness(factor).matrix + (1.0 - factor)[:, None, None] * grays
  return Affine(matrix, _zeros(factor))


def hue(turns: tf.Tensor) -> Affine:
  """Turned in the plane of I and Q by `turns` turns, float64 [B]; a pixel keeps its luma."""
  angle = (turns * (2.0 * math.pi))[:, None, None]
  # From YIQ after the turn after to YIQ, as the parts of 1, cos and sin.
  kept, cos, sin = (tf.constant(_FROM_YIQ @ part @ _TO_YIQ) for part in (
      np.diag([1.0, 0.0, 0.0]), np.diag([0.0, 1.0, 1.0]),
      np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])))
  return Affine(kept + tf.cos(angle) * cos + tf.sin(angle) * sin, _zeros(turns))


def recolored(images: tf.Tensor, change: Affine) -> tf.Tensor:
  """uint8 [B, H, W, 3] -> float32 [B, H, W, 3], cut to 0..255."""
  pixels = tf.cast(images, tf.float32)
  matrix, offset = (tf.cast(part, tf.float32) for part in change)
  found = offset[:, None, None, :]
  for k in range(3):
    found += pixels[..., k:k + 1] * matrix[:, None, None, :, k]
  return tf.clip_by_value(found, 0.0, 255.0)


def blurred(images: tf.Tensor, sigmas: tf.Tensor, *, radius: int) -> tf.Tensor:
  """Gaussian blur of float32 [B, H, W, C], edges mirrored.

  Args:
    images: the images to blur.
    sigmas: float64 [B], in pixels; 0 leaves an image unchanged.
    radius: taps on either side, 3 sigma or more to be a Gaussian.
  """
  steps = tf.range(-radius, radius + 1, dtype=tf.float64)
  spread = tf.where(sigmas > 0, sigmas, 1.0)[:, None]
  bell = tf.exp(-0.5 * (steps / spread) ** 2)
  weights = bell / (1.0 + 2.0 * sum(bell[:, i, None] for i in range(radius)))
  spike = tf.cast(steps == 0, tf.float64)
  weights = tf.cast(tf.where(sigmas[:, None] > 0, weights, spike), tf.float32)
  for axis in (1, 2):
    wide, side = image_ops.mirrored(images, radius, axis=axis), tf.shape(images)[axis]
    parts = (wide[:, i:i + side] if axis == 1 else wide[:, :, i:i + side]
             for i in range(2 * radius + 1))
    images = sum(part * weights[:, i, None, None, None] for i, part in enumerate(parts))
  return images


def _zeros(rows: tf.Tensor) -> tf.Tensor:
  return tf.zeros([tf.shape(rows)[0], 3], tf.float64)
