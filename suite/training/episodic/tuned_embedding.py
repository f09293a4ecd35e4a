# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Embeddings that meta-training trains and that no support set changes, and the loss of an episode.

A pretrained network is one. Its batch norms keep the statistics of the pretraining, so that
parallel episodes are independent and an image's features depend on no other image; the norms'
scales and offsets are trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import tensorflow as tf

from suite.models.episodic import embedding as embedding_lib
from suite.training.gradient import frozen_backbone
from suite.training.objectives import losses

State = Any


class EpisodeEmbedding(Protocol):
  """An embedding whose variables meta-training changes; see `suite.models.episodic.embedding`."""

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables for images (H, W, C)."""

  def train(self, images: tf.Tensor) -> tuple[tf.Tensor, embedding_lib.Seen]:
    """Returns features of images normalized as one batch, and statistics for the norms."""

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, ...] of images [B, H, W, C], each independent of the others."""

  def zero_statistics(self) -> embedding_lib.Seen:
    """Returns zeros in the form of the statistics that `train` returns."""

  def update_statistics(self, seen: embedding_lib.Seen) -> None:
    """Moves the running statistics towards those of an update."""


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

  def train(self, images: tf.Tensor) -> tuple[tf.Tensor, embedding_lib.Seen]:
    """Returns features [B, D], and empty statistics: the norms' statistics do not move."""
    return self.encode(images), self.zero_statistics()

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, S, S, 3]."""
    return self.model(tf.cast(images, tf.float32), training=False)

  def zero_statistics(self) -> embedding_lib.Seen:
    """Returns the statistics before any image."""
    return embedding_lib.Seen(tf.zeros([0]), tf.zeros([0]), tf.constant(0.0))

  def update_statistics(self, seen: embedding_lib.Seen) -> None:
    """Does nothing: the statistics never change."""


def loss_of_targets(
    embedding: EpisodeEmbedding,
    state: State,
    adapt: Callable[[State, tf.Tensor, tf.Tensor], State],
    logits: Callable[[State, tf.Tensor], tf.Tensor],
    episode: tuple[tf.Tensor, ...],
) -> tuple[tf.Tensor, embedding_lib.Seen]:
  """Returns the targets' mean cross-entropy [] after all support sets, and norm statistics.

  Every support set is normalized as a separate batch, and so are the targets.

  Args:
    embedding: maps images to features.
    state: state of the learner before the first support set.
    adapt: adapt(state, features [B, D], labels [B]) returns the state after one more set.
    logits: logits(state, features [T, D]) returns [T, W].
    episode: S support sets, images [S, B, H, W, C] and labels [S, B]; T targets, images
      [T, H, W, C] and labels [T].
  """
  support_images, support_labels, images, labels = episode[:4]
  every = []
  for s in range(support_images.shape[0]):
    codes, seen = embedding.train(support_images[s])
    state = adapt(state, codes, support_labels[s])
    every.append(seen)
  codes, seen = embedding.train(images)
  loss = losses.softmax_cross_entropy(labels, logits(state, codes))
  return tf.reduce_mean(loss), embedding_lib.add(*every, seen)
