# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loss of OLTR (Liu et al., 2019): features near the centroid of their class, far from others.

  loss    = cross-entropy + weight * (attract + repel_weight * repel)
  attract = mean over rows i of |f_i - m_(y_i)|^2 / 2
  repel   = max(0, margin - mean over rows i and classes c != y_i of |f_i - m_c|^2)

The second mean counts a row's own class as 0, and divides by all classes, as the authors' code
does. There these are all classes of the data; here those that have a centroid. The gradient of
`attract` by a centroid is that of the center loss (Wen et al., 2016), as in their code:

  sum over rows i of class c of (m_c - f_i) / (1 + n_c) / B        n_c rows of class c among B

so that a class with many rows in a batch moves no further than by their mean.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.training.objectives import objective


class CentroidLoss(objective.Objective):
  """Cross-entropy and the loss of centroids; see the module.

  On several devices the mean that the margin is compared with is of each device's rows.

  Args:
    weight: of the loss of centroids, 0.01 in the authors' code.
    repel_weight: of `repel` within it.
    margin: the mean squared distance from which other classes are far enough.
  """

  reads_features = True

  def __init__(self, weight: float = 0.01, repel_weight: float = 0.01, margin: float = 10.0):
    super().__init__()
    self._weight, self._repel_weight, self._margin = weight, repel_weight, margin

  def build(self, model: tf.keras.Model, *, losses_of: objective.LossesFn | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del losses_of, seed
    found: list[Any] = [
        layer for layer in model.submodules
        if hasattr(layer, "centroids") and hasattr(layer, "present")]
    if not found:
      raise ValueError(f"CentroidLoss trains the centroids of a head, but {model.name!r} has none; "
                       "give GradientLearner the head oltr.VisualMemory().")
    self._layer = found[0]

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    features = tf.cast(batch.features, tf.float32)
    labels = batch.labels if batch.step_labels is None else batch.step_labels
    attract = attraction(features, batch.labels, self._layer.centroids, labels)
    repel = tf.maximum(0.0, self._margin - mean_distance(
        features, batch.labels, self._layer.centroids, self._layer.present))
    return super().loss(batch) + self._weight * (attract + self._repel_weight * repel)


def attraction(features: tf.Tensor, labels: tf.Tensor, centroids: tf.Variable,
               step_labels: tf.Tensor) -> tf.Tensor:
  """`attract` [] of features [B, D] with labels int64 [B]; `step_labels`: those n_c counts.

  It has the value of the mean, and the center loss's gradient by centroids [C, D].
  """
  own = tf.gather(tf.convert_to_tensor(centroids), labels)
  counts = tf.math.bincount(tf.cast(step_labels, tf.int32), minlength=centroids.shape[0],
                            maxlength=centroids.shape[0], dtype=tf.float32)
  shares = 1.0 / (1.0 + tf.gather(counts, labels))
  of_features = tf.reduce_sum(tf.square(features - tf.stop_gradient(own)), axis=1)
  of_centroids = shares * tf.reduce_sum(tf.square(tf.stop_gradient(features) - own), axis=1)
  return tf.reduce_mean(
      of_features + of_centroids - tf.stop_gradient(of_centroids)) / 2.0


def mean_distance(features: tf.Tensor, labels: tf.Tensor, centroids: tf.Variable,
                  present: tf.Tensor) -> tf.Tensor:
  """The mean squared distance [] of features [B, D] to the centroids [C, D] of other classes.

  The mean over B rows and all classes present, bool [C], a row's own class counting as 0. It is
  computed from sums, without distances of all pairs.
  """
  mask = tf.cast(present, tf.float32)
  num_rows = tf.cast(tf.shape(features)[0], tf.float32)
  num_classes = tf.maximum(tf.reduce_sum(mask), 1.0)
  every = mask[:, None] * tf.convert_to_tensor(centroids)
  own = tf.gather(tf.convert_to_tensor(centroids), labels)
  total = (num_classes * tf.reduce_sum(tf.square(features))
           + num_rows * tf.reduce_sum(tf.square(every))
           - 2.0 * tf.reduce_sum(tf.reduce_sum(features, axis=0) * tf.reduce_sum(every, axis=0)))
  total -= tf.reduce_sum(tf.square(features - own))
  return total / (num_rows * num_classes)
