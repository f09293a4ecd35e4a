# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four-block convolutional net of few-shot learning (Vinyals et al., 2016; Finn et al., 2017).

MAML differentiates this net twice, so only normalizations with correct second derivatives are
allowed: fused batch norm, group norm or none (`suite/models/norms.py`).
"""

from __future__ import annotations

import tensorflow as tf

from suite.models import image_input
from suite.models import norms
from suite.models import precision


@tf.keras.utils.register_keras_serializable("lifelong_suite")
class ReluMaxPool(tf.keras.layers.Layer):
  """ReLU and 2x2 max pooling: [B, H, W, C] -> [B, H // 2, W // 2, C].

  ReLU is increasing, so their order changes no value and no gradient. In training, pooling first
  reduces the work of ReLU and its gradient to a fourth; in evaluation ReLU is first, because it is
  fused into the preceding convolution at no cost.
  """

  def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    if training:
      return tf.nn.relu(tf.nn.max_pool2d(x, 2, 2, "VALID"))
    return tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "VALID")


def conv4(image_shape: tuple[int, int, int] = (64, 64, 3), *, filters: int = 64, blocks: int = 4,
          norm: str = "batch", pixels: str = "symmetric", name: str = "conv4") -> tf.keras.Model:
  """Builds the net: pixels 0..255 [B, H, W, C] -> features [B, D].

  D = H // 2^blocks * (W // 2^blocks) * filters; `pixels` is as of `image_input`.
  """
  norms.check(norm, norms.TWICE_DIFFERENTIABLE)
  if min(image_shape[:2]) < 2 ** blocks:
    raise ValueError(f"Images of {image_shape[0]}x{image_shape[1]} pixels vanish in {blocks} "
                     "blocks, each of which halves them; use at least "
                     f"{2 ** blocks}x{2 ** blocks} pixels or fewer blocks.")
  inputs, x = image_input.image_input(image_shape, pixels)
  for block in range(1, blocks + 1):
    x = norms.conv(x, filters, 3, norm=norm, name=f"block{block}", relu=False)
    x = ReluMaxPool(name=f"block{block}_pool")(x)
  x = tf.keras.layers.Flatten(name="features", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)
