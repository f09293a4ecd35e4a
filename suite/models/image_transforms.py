# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rotation and cutout by TensorFlow's own ops.

Stand in for tensorflow-addons' functions where that library cannot be installed.
"""

from __future__ import annotations

import tensorflow as tf


def rotate(images: tf.Tensor, radians: tf.Tensor, *, interpolation: str,
           fill_value: float) -> tf.Tensor:
  """Rotates images [B, H, W, C] counter-clockwise by radians [B]; corners get `fill_value`."""
  images = tf.convert_to_tensor(images)
  height, width = tf.unstack(tf.cast(tf.shape(images)[1:3], tf.float32) - 1.0)
  radians = tf.convert_to_tensor(radians, tf.float32)
  cos, sin, zero = tf.cos(radians), tf.sin(radians), tf.zeros_like(radians)
  # Row and column that the output's pixel (0, 0) comes from: the centre stays where it is.
  across = (width - (cos * width - sin * height)) / 2.0
  down = (height - (sin * width + cos * height)) / 2.0
  return tf.raw_ops.ImageProjectiveTransformV3(
      images=images, transforms=tf.stack([cos, -sin, across, sin, cos, down, zero, zero], axis=1),
      output_shape=tf.shape(images)[1:3], fill_value=fill_value,
      interpolation=interpolation.upper(), fill_mode="CONSTANT")


def cutout(images: tf.Tensor, size: int, centers: tf.Tensor, *, fill_value: float) -> tf.Tensor:
  """Fills a size x size square around centers [B, 2] (row, column) of images [B, H, W, C]."""
  images, centers = tf.convert_to_tensor(images), tf.cast(centers, tf.int32)
  rows, columns = (
      tf.range(tf.shape(images)[axis + 1])[None] - centers[:, axis, None] for axis in (0, 1))
  rows, columns = ((at >= -(size // 2)) & (at < size // 2) for at in (rows, columns))
  inside = rows[:, :, None] & columns[:, None, :]
  return tf.where(inside[..., None], tf.cast(fill_value, images.dtype), images)
