# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A VGG-like net for 64x64 images: 3x3 convolutions with batch norm, strides instead of pooling.

The default is the net of NEVIS'22: eleven convolutions at four resolutions and a global average.
"""

from __future__ import annotations

import tensorflow as tf

from suite.models import image_input
from suite.models import norms
from suite.models import precision

CHANNELS = (64, 64, 128, 128, 128, 256, 256, 256, 512, 512, 512)
STRIDES = (1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1)


def vgg(image_shape: tuple[int, int, int] = (64, 64, 3), *, channels: tuple[int, ...] = CHANNELS,
        strides: tuple[int, ...] = STRIDES, width: float = 1.0, norm: str = "batch",
        pixels: str = "symmetric", name: str = "vgg") -> tf.keras.Model:
  """Builds the net: pixels 0..255 [B, H, W, 3] -> features [B, channels[-1] * width].

  `pixels` is as of `image_input`.
  """
  if len(channels) != len(strides):
    raise ValueError(f"{len(channels)} channels and {len(strides)} strides were given; each "
                     "convolution needs one of each.")
  norms.check(norm)
  inputs, x = image_input.image_input(image_shape, pixels)
  for layer, (filters, stride) in enumerate(zip(channels, strides)):
    x = norms.conv(x, max(1, round(width * filters)), 3, strides=stride, norm=norm,
                   name=f"layer{layer + 1}")
  x = tf.keras.layers.GlobalAveragePooling2D(name="pool", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)
