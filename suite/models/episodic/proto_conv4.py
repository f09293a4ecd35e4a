# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four-block net of prototypical networks, for `embedding.Embedding`.

A block is a 3x3 convolution without bias, batch norm, ReLU and 2x2 max pooling (Snell et al., 2017,
section 3). CFSL's code applies LeakyReLU before the norm instead: `norm_last`.

B images, C channels, F filters, N blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np
import tensorflow as tf

from suite.models import precision
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks
from suite.models.episodic import twice_norm


@dataclasses.dataclass(frozen=True)
class ProtoConv4:
  """The net, an `embedding.EmbeddingNet`.

  Attributes:
    filters: F.
    blocks: N.
    norm_last: whether the norm follows the LeakyReLU, as in CFSL's code.
    pixel_range: values that the pixels 0 and 255 are mapped to, or "imagenet".
    dtype: float64 is slow and serves to check gradients.
  """

  filters: int = 64
  blocks: int = 4
  norm_last: bool = False
  pixel_range: functional_conv4.PixelRange = (-1.0, 1.0)
  dtype: str = "float32"

  def initial(self, seed: int, image_shape: Sequence[int]) -> dict[str, np.ndarray]:
    """Initial weights "block1/kernel" [3, 3, C, F], ... by Glorot's uniform rule."""
    weights = functional_conv4.initial(seed, image_shape, self.filters, self.blocks, 1)
    return {name: weights[name] for name in weights if name.endswith("/kernel")
            and name.startswith("block")}

  def norm_sizes(self, image_shape: Sequence[int]) -> list[int]:
    del image_shape
    return [self.filters] * self.blocks

  def features(self, weights: embedding.Weights, images: tf.Tensor,
               normalize: embedding.Normalize) -> tf.Tensor:
    """Computes features: [B, H, W, C] -> [B, D] with D = H // 2^N * (W // 2^N) * F."""
    return twice_norm.finish(self.passing(weights, images), normalize)

  def passing(self, weights: embedding.Weights, images: tf.Tensor) -> twice_norm.Pass:
    """The pass of `features`, which stops at each norm."""
    x, first, kernel = images, 1, weights["block1/kernel"]
    if not self.norm_last and twice_norm.folds(kernel):
      values, offset = yield twice_norm.Convolution(images, kernel)
      x, first = kinks.rectify(kinks.max_pool(values, twice=False) + offset, leak=0.0), 2
    for block in range(first, self.blocks + 1):
      x = precision.conv2d(x, weights[f"block{block}/kernel"])
      if self.norm_last:
        x = kinks.max_pool((yield kinks.rectify(x)), twice=False)
      else:  # ReLU is increasing: pooling before it takes the same maximum at a lower cost.
        x = kinks.rectify(kinks.max_pool((yield x), twice=False), leak=0.0)
    return tf.reshape(x, [-1, int(np.prod(x.shape[1:]))])

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Scales pixels 0..255 of any type to floats in `pixel_range`."""
    return functional_conv4.scaled(images, self.pixel_range, self.dtype)
