# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Heads of fixed capacity for a sequence (FLUID): features [B, D] to logits [B, C] of all slots.

Which slots take part in a loss is said by a mask of known classes, so nothing grows.
"""

from __future__ import annotations

from typing import List

import tensorflow as tf

from suite.compute import mac_views
from suite.models import feature_head
from suite.training.sequence import running_centroids


class Linear(tf.Module):
  """logits = f W + b; zeros at first, so a class that was never trained has a logit of 0."""

  def begin(self, num_features: int, num_classes: int) -> None:
    """Makes the variables."""
    self.kernel = tf.Variable(tf.zeros([num_features, num_classes]), name="kernel")
    self.bias = tf.Variable(tf.zeros([num_classes]), name="bias")

  @property
  def trained(self) -> List[tf.Variable]:
    """The variables that gradients change."""
    return [self.kernel, self.bias]

  def logits(self, features: tf.Tensor) -> tf.Tensor:
    """[B, D] -> [B, C]."""
    return feature_head.product(features, tf.convert_to_tensor(self.kernel)) + self.bias

  def after_base(self, known: tf.Tensor) -> None:
    """The base classes, bool [C], have been learned."""

  def layers(self) -> List[mac_views.Layer]:
    """For `mac_views.views`."""
    return [mac_views.Layer("head", self.kernel.shape.num_elements())]


class Split(Linear):
  """Two heads in one: the columns of base classes stay as they were learned, others are trained.

  The authors' code has it, the paper has not. The gradient is computed for all columns and masked,
  and it is charged as that.
  """

  def begin(self, num_features: int, num_classes: int) -> None:
    super().begin(num_features, num_classes)
    self.base_kernel = tf.Variable(tf.zeros_like(self.kernel), trainable=False, name="base_kernel")
    self.base_bias = tf.Variable(tf.zeros_like(self.bias), trainable=False, name="base_bias")
    self.is_base = tf.Variable(tf.zeros([num_classes], tf.bool), trainable=False, name="is_base")

  def logits(self, features: tf.Tensor) -> tf.Tensor:
    kernel = tf.where(self.is_base, self.base_kernel, self.kernel)
    bias = tf.where(self.is_base, self.base_bias, self.bias)
    return feature_head.product(features, kernel) + bias

  def after_base(self, known: tf.Tensor) -> None:
    self.base_kernel.assign(self.kernel)
    self.base_bias.assign(self.bias)
    self.is_base.assign(known)
    for variable in self.trained:
      variable.assign(tf.zeros_like(variable))


class Imprinted(tf.Module):
  """Cosine logits whose rows can be written from samples: s w_c . f / |f| (Qi et al., 2018).

  Until `close`, w_c is the direction of the sum of all directions f / |f| of class c. From then on
  only gradients change it, and the scale s; its length is then free. 0 for classes without either.

  Args:
    scale: s at first. The paper tried 1, 2, 4 and 8, and took 4.
  """

  def __init__(self, scale: float = 4.0):
    super().__init__()
    self._first_scale = scale

  def begin(self, num_features: int, num_classes: int) -> None:
    """Makes the variables."""
    self.centroids = running_centroids.RunningCentroids(
        num_classes, num_features, similarity="cosine", normalize=True)
    self.kernel = tf.Variable(tf.zeros([num_classes, num_features]), name="kernel")
    self.scale = tf.Variable(self._first_scale, dtype=tf.float32, name="scale")
    self.is_open = tf.Variable(True, trainable=False, name="is_open")

  @property
  def trained(self) -> List[tf.Variable]:
    """The variables that gradients change."""
    return [self.kernel, self.scale]

  def logits(self, features: tf.Tensor) -> tf.Tensor:
    """[B, D] -> [B, C]."""
    directions = tf.math.l2_normalize(features, axis=1)
    return self.scale * tf.matmul(directions, self.kernel, transpose_b=True)

  def imprint(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] to the rows of their classes, int64 [B], while it is open."""
    self.centroids.add(features, labels)
    rows = tf.math.l2_normalize(tf.gather(self.centroids.sums, labels), axis=1)
    rows = tf.where(self.is_open, rows, tf.gather(self.kernel, labels))
    self.kernel.scatter_update(tf.IndexedSlices(rows, labels))

  def logits_in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C], each as if the samples before it had been imprinted; nothing is changed."""
    def imprinting() -> tf.Tensor:
      found = self.centroids.answer_in_turn(features, labels)
      return self.scale * tf.where(tf.math.is_inf(found), 0.0, found)

    return tf.cond(self.is_open, imprinting, lambda: self.logits(features))

  def close(self) -> None:
    """Nothing is imprinted any more."""
    self.is_open.assign(False)

  def layers(self) -> List[mac_views.Layer]:
    """For `mac_views.views`."""
    return [mac_views.Layer("head", self.kernel.shape.num_elements())]
