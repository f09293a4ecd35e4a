# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming LDA within an episode as pure functions; the recursion is `running_discriminant`'s.

The state holds sums [W, D] and counts [W] of features by class and the scatter [D, D]. A support
set of B samples is added in closed form: the samples of a class that come before sample i are a
masked sum over the set, so no loop is needed. The covariance is inverted when logits are asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from suite.training.episodic import class_means


class LdaState(NamedTuple):
  """Statistics of the support sets so far.

  Attributes:
    sums: float32 [W, D].
    counts: float32 [W].
    scatter: float32 [D, D].
  """

  sums: tf.Tensor
  counts: tf.Tensor
  scatter: tf.Tensor


def zeros(num_classes: int, num_features: int) -> LdaState:
  """Returns the state before the first sample."""
  return LdaState(tf.zeros([num_classes, num_features]), tf.zeros([num_classes]),
               tf.zeros([num_features, num_features]))


def add(state: LdaState, features: tf.Tensor, labels: tf.Tensor, weights: str) -> LdaState:
  """Returns the state after samples [B, D] with labels [B], added in their order.

  Args:
    state: before them.
    features: [B, D].
    labels: int [B].
    weights: "steps" or "class", see `running_discriminant`.
  """
  is_class = tf.one_hot(labels, state.counts.shape[0])  # [B, W]
  steps = tf.range(labels.shape[0])
  earlier = tf.cast(steps[:, None] > steps, tf.float32)  # [B, B], 1 at [i, j] for j before i.
  same = tf.matmul(is_class, is_class, transpose_b=True) * earlier
  counts = tf.linalg.matvec(is_class, state.counts) + tf.reduce_sum(same, axis=1)
  sums = tf.matmul(is_class, state.sums) + tf.matmul(same, features)
  deltas = features - sums / tf.maximum(counts, 1.0)[:, None]
  before = counts
  if weights == "steps":
    before = tf.reduce_sum(state.counts) + tf.cast(steps, tf.float32)
  weighted = deltas * (before / (before + 1.0))[:, None]
  return LdaState(state.sums + tf.matmul(is_class, features, transpose_a=True),
               state.counts + tf.reduce_sum(is_class, axis=0),
               state.scatter + tf.matmul(weighted, deltas, transpose_a=True))


def logits(state: LdaState, features: tf.Tensor, shrinkage: float) -> tf.Tensor:
  """Returns logits [B, W] of features [B, D]: z^T P m_c - m_c^T P m_c / 2.

  P is the inverse of the covariance, shrunk by `shrinkage`, in float64; classes without a sample
  have the logit `class_means.NOT_SHOWN`.
  """
  scatter, sums, counts = (tf.cast(part, tf.float64)
                           for part in (state.scatter, state.sums, state.counts))
  total = tf.maximum(tf.reduce_sum(counts), 1.0)
  eye = tf.eye(state.scatter.shape[0], dtype=tf.float64)
  covariance = (scatter + tf.transpose(scatter)) / (2.0 * total)
  shrunk = (1.0 - shrinkage) * covariance + shrinkage * eye
  means = sums / tf.maximum(counts, 1.0)[:, None]  # [W, D]
  solved = tf.linalg.cholesky_solve(tf.linalg.cholesky(shrunk), tf.transpose(means))  # P m, [D, W]
  offsets = 0.5 * tf.reduce_sum(means * tf.transpose(solved), axis=1)
  found = tf.matmul(features, tf.cast(solved, tf.float32)) - tf.cast(offsets, tf.float32)
  return tf.where(state.counts > 0.0, found, class_means.NOT_SHOWN)
