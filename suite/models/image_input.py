# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image input of all models, so that every model scales pixels the same way, by name.

  symmetric   to [-1, 1]
  imagenet    (x / 255 - mean) / deviation of ImageNet's channels, as torchvision's models have it
  lite        (x - 127) / 128, as EfficientNet-Lite has it
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

IMAGENET_MEAN = (0.485, 0.456, 0.406)  # Red, green, blue.
IMAGENET_DEVIATION = (0.229, 0.224, 0.225)
PIXELS = ("symmetric", "imagenet", "lite")


def image_input(image_shape: Sequence[int], pixels: str = "symmetric"
                ) -> tuple[tf.Tensor, tf.Tensor]:
  """Builds a Keras input [B, H, W, C] of pixels 0..255, and the scaled tensor, float32.

  The input is declared float32: Keras casts uint8 images to it, whereas an input declared uint8
  would truncate augmented float images.

  Args:
    image_shape: (H, W, C); C is 3 for "imagenet".
    pixels: one of `PIXELS`.
  """
  if len(image_shape) != 3 or any(not size for size in image_shape):
    raise ValueError(f"image_shape is {tuple(image_shape)}; it must be (height, width, channels), "
                     "all known: the ledger can only count graphs with static shapes.")
  if pixels not in PIXELS:
    raise ValueError(f"pixels is {pixels!r}; allowed are {', '.join(PIXELS)}.")
  inputs = tf.keras.Input(shape=tuple(image_shape), dtype=tf.float32, name="image")
  if pixels != "imagenet":
    factor, offset = (1 / 127.5, -1.0) if pixels == "symmetric" else (1 / 128, -127 / 128)
    scale = tf.keras.layers.Rescaling(
        factor, offset=offset, dtype=tf.float32, name="to_unit_range")
    return inputs, scale(inputs)
  if image_shape[2] != 3:
    raise ValueError(f"Images have {image_shape[2]} channels; pixels='imagenet' has a mean and a "
                     "deviation for 3. Take 'symmetric', or repeat the channel.")
  scale = tf.keras.layers.Rescaling(
      [1 / (255 * d) for d in IMAGENET_DEVIATION],
      offset=[-m / d for m, d in zip(IMAGENET_MEAN, IMAGENET_DEVIATION)], dtype=tf.float32,
      name="by_imagenet")
  return inputs, scale(inputs)
