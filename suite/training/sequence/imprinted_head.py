# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A head whose class weights can be written from samples (weight imprinting, Qi et al., 2018)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.training.gradient import class_heads
from suite.training.statistics import class_means
from suite.training.statistics import statistic


class Imprinted(class_heads.Linear):
  """Cosine logits whose rows can be written from samples: s w_c . f / |f| (Qi et al., 2018).

  Until `close`, w_c is the direction of the sum of all directions f / |f| of class c. From then on
  only gradients change it, and the scale s; its length is then free. 0 for classes without either.

  Args:
    scale: s at first. FLUID's paper tried 1, 2, 4 and 8, and took 4.
  """

  def __init__(self, scale: float = 4.0):
    super().__init__()
    self._first_scale = scale

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    del is_input
    layer = CosineDense(num_classes, self._first_scale, name="logits")
    return class_heads.as_model(layer, num_features)

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self.centroids = statistic.Running(
        class_means.ClassMeans("cosine", normalize=True), num_classes, model.input_shape[-1])
    self.is_open = tf.Variable(True, trainable=False, name="is_open")

  @property
  def scale(self) -> tf.Variable:
    """The scale s, []."""
    return self._layer.scale

  def imprint(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] to the rows of their classes, int64 [B], while it is open."""
    self.centroids.add(features, labels)
    rows = tf.math.l2_normalize(tf.gather(self.centroids.sums, labels), axis=1)
    rows = tf.where(self.is_open, rows, tf.gather(self._layer.kernel, labels))
    self._layer.kernel.scatter_update(tf.IndexedSlices(rows, labels))

  def logits_in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C], each as if the samples before it had been imprinted; nothing is changed."""
    def imprinting() -> tf.Tensor:
      found = self.centroids.answer_in_turn(features, labels)
      return self._layer.scale * tf.where(tf.math.is_inf(found), 0.0, found)

    return tf.cond(self.is_open, imprinting, lambda: self._layer(features))

  def close(self) -> None:
    """Ends the imprinting."""
    self.is_open.assign(False)


class CosineDense(tf.keras.layers.Layer):
  """scale * w_c . f / |f|; features [B, D] to logits [B, C]. The kernel is [C, D]."""

  def __init__(self, num_classes: int, first_scale: float = 4.0, **settings: Any):
    super().__init__(**{"dtype": "float32", **settings})
    self._num_classes, self._first_scale = num_classes, first_scale

  def build(self, input_shape: Any) -> None:
    self.kernel = self.add_weight(
        "kernel", [self._num_classes, input_shape[-1]], initializer="zeros")
    self.scale = self.add_weight(
        "scale", [], initializer=tf.keras.initializers.Constant(self._first_scale))
    super().build(input_shape)

  def call(self, inputs: tf.Tensor) -> tf.Tensor:
    directions = tf.math.l2_normalize(inputs, axis=1)
    return self.scale * tf.matmul(directions, self.kernel, transpose_b=True)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), "num_classes": self._num_classes,
            "first_scale": self._first_scale}
