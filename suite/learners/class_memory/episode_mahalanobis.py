# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The classifier of Simple CNAPS (Bateni et al., 2020) within an episode, on frozen features.

The state has the sum, the number and the scatter of the samples of each class; a support set is
merged into it in closed form. It is the head alone, as in `mahalanobis`: nothing is meta-trained,
so run it with `cfsl.run.updates = 0`.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.state import context as context_lib
from suite.training.episodic import class_means
from suite.training.episodic import episode_features
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_mahalanobis


class MahalanobisState(NamedTuple):
  """Statistics of the support sets so far: float32 [W, D], [W] and [W, D, D]."""

  sums: tf.Tensor
  counts: tf.Tensor
  scatter: tf.Tensor


class EpisodeMahalanobis(tf.Module):
  """An `EpisodicLearner` without meta-training; D features, W classes of the whole task.

  Args:
    transform: image preparation; its `size` is H = W.
    features: a function of images [B, H, W, C] to features [B, D], such as a `FrozenBackbone`;
      None: pixels.
    channels: C of the prepared images.
    ridge: see `running_mahalanobis`.
  """

  transductive = False

  def __init__(self, *, transform: transform_lib.Transform,
               features: frozen_backbone.FeatureFn | None = None, channels: int = 3,
               ridge: float = 1.0):
    super().__init__()
    running_mahalanobis.check(ridge)
    self.transform, self._ridge = transform, ridge
    self._features = episode_features.EpisodeFeatures(features, transform, channels)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Finds the width of the features."""
    del context
    self._features.begin(task)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]."""
    return self._features(images)

  def initial_state(self, num_classes: int) -> MahalanobisState:
    """Returns statistics of no sample."""
    width = self._features.width
    return MahalanobisState(tf.zeros([num_classes, width]), tf.zeros([num_classes]),
                            tf.zeros([num_classes, width, width]))

  def adapt(self, state: MahalanobisState, codes: tf.Tensor, labels: tf.Tensor
            ) -> MahalanobisState:
    """Returns the state after one more support set, features [B, D] and labels [B]."""
    is_class = tf.one_hot(labels, state.counts.shape[0], axis=0)  # [W, B]
    sums, counts = tf.matmul(is_class, codes), tf.reduce_sum(is_class, axis=1)
    means = sums / tf.maximum(counts, 1.0)[:, None]
    away = (codes - means[:, None]) * is_class[:, :, None]  # [W, B, D]
    # Two groups have the sum of their scatters and that of their means, n n' / (n + n') d d^T.
    apart = means - state.sums / tf.maximum(state.counts, 1.0)[:, None]
    weights = state.counts * counts / tf.maximum(state.counts + counts, 1.0)
    between = weights[:, None, None] * apart[:, :, None] * apart[:, None]
    return MahalanobisState(
        state.sums + sums, state.counts + counts,
        state.scatter + tf.matmul(away, away, transpose_a=True) + between)

  def logits(self, state: MahalanobisState, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of features [B, D]; `class_means.NOT_SHOWN` without a sample."""
    sums, counts, scatter = (tf.cast(part, tf.float64) for part in state)
    whole = running_mahalanobis.task_covariance(counts, sums, tf.reduce_sum(scatter, axis=0))
    inverse = running_mahalanobis.precisions(scatter, counts, whole, self._ridge)
    means = sums / tf.maximum(counts, 1.0)[:, None]
    away = tf.cast(codes, tf.float64) - means[:, None]  # [W, B, D]
    distances = tf.reduce_sum(tf.matmul(away, inverse) * away, axis=2)
    found = tf.cast(-0.5 * tf.transpose(distances), tf.float32)
    return tf.where(state.counts > 0.0, found, class_means.NOT_SHOWN)
