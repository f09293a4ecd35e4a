# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A pretrained network as an embedding that meta-training goes on with.

Its batch norms keep the statistics of the pretraining, so that episodes side by side share nothing
and an image's features are its own; their scales and offsets are trained.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple

import tensorflow as tf

from suite.models.episodic import embedding
from suite.training.gradient import frozen_backbone


class TunedEmbedding(tf.Module):
  """As `embedding.KerasEmbedding`.

  Args:
    backbone: called with image_shape=(S, S, 3) it returns a Keras model to features [B, D].
    weights: an .npz of its weights, see `FrozenBackbone`; None: random weights.
  """

  def __init__(self, backbone: Callable[..., tf.keras.Model], *, weights: Optional[str] = None):
    super().__init__()
    self._backbone, self._weights = backbone, weights
    self.model: Any = None

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables, which are a pure function of the arguments."""
    self.model = frozen_backbone.FrozenBackbone(
        self._backbone, image_shape[0], weights=self._weights, seed=seed).model
    self.model.trainable = True

  def train(self, images: tf.Tensor) -> Tuple[tf.Tensor, embedding.Seen]:
    """Features [B, D]; the statistics stay, so nothing was seen."""
    return self.encode(images), self.nothing_seen()

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, S, S, 3]."""
    return self.model(tf.cast(images, tf.float32), training=False)

  def nothing_seen(self) -> embedding.Seen:
    """Of no image."""
    return embedding.Seen(tf.zeros([0]), tf.zeros([0]), tf.constant(0.0))

  def absorb(self, seen: embedding.Seen) -> None:
    """Nothing: the statistics stay."""
