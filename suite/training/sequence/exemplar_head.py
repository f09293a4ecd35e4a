# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The head of Exemplar Tuning (Wallingford et al., 2020, section 4): centroids plus residuals.

    logit of class c for features f    (m_c + r_c) . f      m_c = mean of f_i / |f_i| over class c

Other similarities of f and m_c + r_c are those of the paper's Table 13: minus the squared distance,
and the cosine, times a scale. The centroids m move with every sample; in a phase, which trains the
residuals r, they stay. A head that `closes` ends their moves at a phase: a class that comes later
has a centroid of zero.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.training.gradient import class_heads
from suite.training.statistics import class_means
from suite.training.statistics import statistic


class Exemplars(class_heads.Linear):
  """The head of Exemplar Tuning.

  Args:
    similarity: "dot", "euclidean" or "cosine".
    scale: of cosines.
    closes: whether there is `close`.
  """

  def __init__(self, similarity: str = "dot", scale: float = 1.0, closes: bool = False):
    super().__init__()
    self._means = class_means.ClassMeans(similarity, normalize=True)
    if scale != 1.0 and similarity != "cosine":
      raise ValueError(f"scale is {scale}, and similarity {similarity!r}; a scale is of cosines.")
    self._similarity, self._scale, self._closes = similarity, scale, closes

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    del is_input
    return class_heads.as_model(
        ResidualDense(num_classes, self._similarity, self._scale, name="logits"), num_features)

  def attach(self, model: tf.keras.Model, num_classes: int) -> None:
    super().attach(model, num_classes)
    self.centroids = statistic.Running(self._means, num_classes, model.input_shape[-1])
    if self._closes:
      self.is_open = tf.Variable(True, trainable=False, name="is_open")

  def close(self) -> None:
    """Ends the moves of centroids."""
    self.is_open.assign(False)

  @property
  def known(self) -> np.ndarray | None:
    """The classes with a centroid, bool [C]; None: the head is closed, and needs none."""
    if self._closes and not self.is_open:
      return None
    return np.asarray(self.centroids.counts) > 0

  def add(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Moves the centroids of the classes int64 [B] by the directions of features [B, D]."""
    if not self._closes:
      self.centroids.add(features, labels)
      return

    def move() -> tf.Tensor:
      self.centroids.add(features, labels)
      return tf.constant(True)

    tf.cond(self.is_open, move, lambda: tf.constant(False))

  @property
  def residuals(self) -> tf.Variable:
    """The residuals r, [C, D]."""
    return self._layer.residuals

  def before_phase(self, counts: np.ndarray, variables: Sequence[tf.Variable]
                   ) -> list[tf.Variable]:
    self._layer.set_means(class_means.means(self.centroids.state))
    return list(variables)

  def logits(self, features: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D] by the centroids as they are; -inf without a sample."""
    can_answer = self.centroids.counts > 0.0
    if self._closes:
      can_answer = tf.logical_or(can_answer, tf.logical_not(self.is_open))
    offset = tf.where(can_answer, 0.0, -float("inf"))
    exemplars = class_means.means(self.centroids.state) + self.residuals
    return similarity_of(features, exemplars, self._similarity, self._scale) + offset

  def in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D], label t (of int64 [B]) being added after row t."""
    if self._closes:
      return tf.cond(self.is_open, lambda: self._in_turn(features, labels),
                     lambda: self.logits(features))
    return self._in_turn(features, labels)

  def _in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    found = self._means.answers_in_turn(self.centroids.state, self.centroids.solution, features,
                                        labels, moved_by=self.residuals.read_value())
    return found if self._scale == 1.0 else found * self._scale

  def layers(self) -> list[mac_views.Layer]:
    return [mac_views.Layer("exemplars", self.residuals.shape.num_elements())]


class ResidualDense(tf.keras.layers.Layer):
  """The similarity of f and means + residuals; means are set, residuals trained; both are [C, D].

  The means follow from the centroids, and are set before every phase: no checkpoint holds them.
  """

  def __init__(self, num_classes: int, similarity: str = "dot", scale: float = 1.0,
               **settings: Any):
    super().__init__(**{"dtype": "float32", **settings})
    self._num_classes, self._similarity, self._scale = num_classes, similarity, scale

  def build(self, input_shape: Any) -> None:
    shape = [self._num_classes, input_shape[-1]]
    self.residuals = self.add_weight("residuals", shape, initializer="zeros")
    # In a function, since Keras saves every variable that is an attribute.
    means = tf.Variable(tf.zeros(shape), trainable=False, name="means")
    self._means = lambda: means
    super().build(input_shape)

  def set_means(self, means: tf.Tensor) -> None:
    """Sets the means, [C, D]."""
    self._means().assign(means)

  def call(self, inputs: tf.Tensor) -> tf.Tensor:
    return similarity_of(inputs, self._means() + self.residuals, self._similarity, self._scale)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), "num_classes": self._num_classes,
            "similarity": self._similarity, "scale": self._scale}


def similarity_of(features: tf.Tensor, exemplars: tf.Tensor, similarity: str, scale: float
                  ) -> tf.Tensor:
  """Similarities [B, C] of features [B, D] and exemplars [C, D], times a scale."""
  found = class_means.similarity_of(similarity, features, exemplars)
  return found if scale == 1.0 else found * scale
