# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A pretrained network as an embedding that meta-training trains further.

Its batch norms keep the statistics of the pretraining, so that parallel episodes are independent
and an image's features depend on no other image; the norms' scales and offsets are trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from suite.models.episodic import embedding
from suite.training.gradient import frozen_backbone


class TunedEmbedding(tf.Module):
  """A pretrained `embedding.KerasEmbedding`.

  Args:
    backbone: backbone(image_shape=(S, S, 3)) returns a Keras model, images to features [B, D].
    weights: an .npz of its weights, see `FrozenBackbone`; None: random weights.
  """

  def __init__(self, backbone: Callable[..., tf.keras.Model], *, weights: str | None = None):
    super().__init__()
    self._backbone, self._weights = backbone, weights
    self.model: Any = None

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables, a pure function of the arguments."""
    self.model = frozen_backbone.FrozenBackbone(
        self._backbone, image_shape[0], weights=self._weights, seed=seed,
        channels=image_shape[2]).model
    self.model.trainable = True

  def train(self, images: tf.Tensor) -> tuple[tf.Tensor, embedding.Seen]:
    """Returns features [B, D], and empty statistics: the norms' statistics do not move."""
    return self.encode(images), self.zero_statistics()

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, S, S, 3]."""
    return self.model(tf.cast(images, tf.float32), training=False)

  def zero_statistics(self) -> embedding.Seen:
    """Returns the statistics before any image."""
    return embedding.Seen(tf.zeros([0]), tf.zeros([0]), tf.constant(0.0))

  def update_statistics(self, seen: embedding.Seen) -> None:
    """Does nothing: the statistics never change."""
