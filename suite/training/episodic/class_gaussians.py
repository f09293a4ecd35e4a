# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Means and covariances of an episode's classes as pure functions: the head of Simple CNAPS.

The state has the sum, the number and the scatter of the samples of each class; a support set is
merged into it in closed form. Logits are those of `running_mahalanobis`, with the covariances of
all sets so far, and have gradients for the features of both support and targets.

B samples, D features, W classes.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from suite.training.episodic import class_means
from suite.training.sequence import running_mahalanobis


class ClassGaussians(NamedTuple):
  """Statistics of the support sets so far: float32 [W, D], [W] and [W, D, D]."""

  sums: tf.Tensor
  counts: tf.Tensor
  scatter: tf.Tensor


def zeros(num_classes: int, num_features: int) -> ClassGaussians:
  """Returns statistics of no sample."""
  return ClassGaussians(tf.zeros([num_classes, num_features]), tf.zeros([num_classes]),
                        tf.zeros([num_classes, num_features, num_features]))


def add(state: ClassGaussians, features: tf.Tensor, labels: tf.Tensor) -> ClassGaussians:
  """Returns the state after one more support set, features [B, D] and labels [B]."""
  is_class = tf.one_hot(labels, state.counts.shape[0], axis=0)  # [W, B]
  sums, counts = tf.matmul(is_class, features), tf.reduce_sum(is_class, axis=1)
  means = sums / tf.maximum(counts, 1.0)[:, None]
  away = (features - means[:, None]) * is_class[:, :, None]  # [W, B, D]
  # Two groups have the sum of their scatters and that of their means, n n' / (n + n') d d^T.
  apart = means - state.sums / tf.maximum(state.counts, 1.0)[:, None]
  weights = state.counts * counts / tf.maximum(state.counts + counts, 1.0)
  between = weights[:, None, None] * apart[:, :, None] * apart[:, None]
  return ClassGaussians(
      state.sums + sums, state.counts + counts,
      state.scatter + tf.matmul(away, away, transpose_a=True) + between)


def logits(state: ClassGaussians, features: tf.Tensor, ridge: float) -> tf.Tensor:
  """Returns logits [B, W] of features [B, D]; `class_means.NOT_SHOWN` without a sample.

  Args:
    state: after all support sets.
    features: [B, D].
    ridge: the multiple of the identity in every covariance.
  """
  sums, counts, scatter = (tf.cast(part, tf.float64) for part in state)
  whole = running_mahalanobis.task_covariance(counts, sums, tf.reduce_sum(scatter, axis=0))
  factors = tf.linalg.cholesky(
      running_mahalanobis.covariances(scatter, counts, whole, ridge))  # L L^T = Q_k.
  means = sums / tf.maximum(counts, 1.0)[:, None]
  away = tf.cast(features, tf.float64) - means[:, None]  # [W, B, D]
  # (f - m)^T Q^-1 (f - m) = |L^-1 (f - m)|^2: B solutions cost less than D of an inverse.
  whitened = tf.linalg.triangular_solve(factors, tf.linalg.matrix_transpose(away))  # [W, D, B]
  distances = tf.reduce_sum(tf.square(whitened), axis=1)
  found = tf.cast(-0.5 * tf.transpose(distances), tf.float32)
  return tf.where(state.counts > 0.0, found, class_means.NOT_SHOWN)
