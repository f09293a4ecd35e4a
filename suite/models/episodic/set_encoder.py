# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The set encoder of CNAPS (Requeima et al., 2019, section 2.2): an embedding of a task.

Convolutional blocks and a mean over positions make an embedding of each image; that of the task is
the mean over all its support images, in any order. The authors' has five blocks of 64 channels.

B images, Z channels of the last block.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.models.episodic import embedding


class SetEncoder(embedding.Embedding):
  """An `Embedding` [B, Z] of a net whose features are cells with Z channels, such as `ProtoConv4`.

  Args are those of `Embedding`.
  """

  @property
  def width(self) -> int:
    """Z, once made."""
    return self._sizes[-1]

  def train(self, images: tf.Tensor, **layers: Any) -> tuple[tf.Tensor, embedding.Seen]:
    """As `Embedding.train`, [B, Z]."""
    features, seen = super().train(images, **layers)
    return self._pooled(features), seen

  def encode(self, images: tf.Tensor, **layers: Any) -> tf.Tensor:
    """As `Embedding.encode`, [B, Z]."""
    return self._pooled(super().encode(images, **layers))

  def _pooled(self, features: tf.Tensor) -> tf.Tensor:
    """Means [B, Z] over the cells of [B, cells * Z]."""
    cells = features.shape[-1] // self.width
    return tf.reduce_mean(tf.reshape(features, [-1, cells, self.width]), axis=1)
