# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image input of all models, so that every model scales pixels the same way."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def image_input(image_shape: Sequence[int]) -> tuple[tf.Tensor, tf.Tensor]:
  """Builds a Keras input [B, H, W, C] of pixels 0..255, and the tensor scaled to [-1, 1], float32.

  The input is declared float32: Keras casts uint8 images to it, whereas an input declared uint8
  would truncate augmented float images.
  """
  if len(image_shape) != 3 or any(not size for size in image_shape):
    raise ValueError(f"image_shape is {tuple(image_shape)}; it must be (height, width, channels), "
                     "all known: the ledger can only count graphs with static shapes.")
  inputs = tf.keras.Input(shape=tuple(image_shape), dtype=tf.float32, name="image")
  scale = tf.keras.layers.Rescaling(1 / 127.5, offset=-1.0, dtype=tf.float32, name="to_unit_range")
  return inputs, scale(inputs)
