# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The classifier of OLTR (Liu et al., 2019): a visual memory and a cosine classifier.

A memory has a key m_c, a centroid of features, for each class c that was met. Features f become
logits by

    o = softmax(H f + h) over the keys    hallucinator: how much of each key f is made of
    e = tanh(S f + s)                     concept selector, [D]
    v = f + e * sum_c o_c m_c             the feature, with the memory's
    r = reach / min_c |f - m_c|           reachability: large near a key
    x = r v / (1 + r |v|)                 squashed: a length below 1
    logit of class c = scale * x . w_c / |w_c|

x is computed as reach v / (d + reach |v|), d = min_c |f - m_c|, which is the same and has no
division by zero: a class with one sample has a key on that sample.

The largest logit is also the score of new classes: x is short if all keys are far.

Centroids come from two sources. `refresh` moves them to the mean of all features that were ever
refreshed with, each counted once; `centroid_loss.CentroidLoss` trains them by gradient. No gradient
of the logits reaches them. What the authors leave open, or what their code does for a fixed list of
classes, is: a class without a key takes no part in o and in d and is not answered; a class that is
first met when the memory is not refreshed any more has a key of zeros at first.

Letters: B samples, C classes, D features.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.models import heads
from suite.training.gradient import class_heads
from suite.training.objectives import losses
from suite.training.statistics import class_means

_CLASSIFIER = ("hallucinator", "selector", "cosine")  # Beginnings of variables' names.
_LEAST = 1e-12  # Of squared distances, under a root.


class VisualMemory(class_heads.Linear):
  """The classifier of OLTR as a head; see the module.

  Args:
    scale: of cosines.
    reach: the distance to the nearest key at which a feature has a reachability of 1.
  """

  def __init__(self, scale: float = 16.0, reach: float = 10.0):
    super().__init__()
    for name, value in (("scale", scale), ("reach", reach)):
      if not value > 0:
        raise ValueError(f"VisualMemory.{name} is {value}; it must be above 0.")
    self._scale, self._reach = scale, reach

  def make(self, num_features: int, num_classes: int, *, is_input: bool) -> tf.keras.Model:
    del is_input
    layer = MetaEmbedding(num_classes, self._scale, self._reach, name="logits")
    return class_heads.as_model(layer, num_features)

  @property
  def memory(self) -> MetaEmbedding:
    """The layer, with its variables."""
    return self._layer

  def refresh(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds new features [B, D] of classes int64 [B] to the centroids, each by its count.

    A centroid of n features that gradients moved counts as n: m <- (n m + sum of new) / (n + new).
    """
    memory = self.memory
    before = class_means.Sums(memory.counts[:, None] * memory.centroids, memory.counts)
    after = class_means.ClassMeans().add(before, tf.cast(features, tf.float32), labels)
    is_new = after.counts > before.counts
    memory.centroids.assign(
        tf.where(is_new[:, None], class_means.means(after), memory.centroids))
    memory.counts.assign(after.counts)

  def before_phase(self, counts: np.ndarray, variables: Sequence[tf.Variable]
                   ) -> list[tf.Variable]:
    """Gives each class of the phase a key, zeros if it was not refreshed; see `Linear`."""
    self.memory.present.assign(tf.logical_or(self.memory.present, np.asarray(counts) > 0))
    return list(variables)

  def answers(self, logits: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C], -inf for classes without a key."""
    return tf.where(self.memory.present, logits, -float("inf"))

  def layers(self) -> list[mac_views.Layer]:
    num_classes, num_features = (int(n) for n in self.memory.centroids.shape)
    product = num_classes * num_features
    return [mac_views.Layer("features", 0, trained=False),
            mac_views.Layer("distances", product, False, ("features",), moves=True),
            mac_views.Layer("hallucinator", product, inputs=("features",)),
            mac_views.Layer("keys", product, trained=False),
            mac_views.Layer("selector", num_features ** 2, inputs=("features",)),
            mac_views.Layer("cosine", product, inputs=("keys", "selector"))]


class MetaEmbedding(tf.keras.layers.Layer):
  """Features [B, D] to logits [B, C] by a memory; see the module.

  Attributes:
    centroids: the keys, [C, D]; trained, though not through the logits.
    counts: the features in each centroid, [C].
    present: the classes that have a key, bool [C].
  """

  def __init__(self, num_classes: int, scale: float = 16.0, reach: float = 10.0, **settings: Any):
    super().__init__(**{"dtype": "float32", **settings})
    self._num_classes, self._scale, self._reach = num_classes, scale, reach

  def build(self, input_shape: Any) -> None:
    width, num = int(input_shape[-1]), self._num_classes

    def uniform(name: str, shape: list[int]) -> tf.Variable:
      return self.add_weight(
          name, shape, initializer=heads.initializers("pytorch", width)["kernel_initializer"])

    self.hallucinator_kernel = uniform("hallucinator_kernel", [width, num])
    self.hallucinator_bias = uniform("hallucinator_bias", [num])
    self.selector_kernel = uniform("selector_kernel", [width, width])
    self.selector_bias = uniform("selector_bias", [width])
    self.cosine_kernel = uniform("cosine_kernel", [num, width])
    self.centroids = self.add_weight("centroids", [num, width], initializer="zeros")
    self.counts = self.add_weight("counts", [num], initializer="zeros", trainable=False)
    self.present = self.add_weight(
        "present", [num], dtype=tf.bool, initializer=class_heads.all_false, trainable=False)
    super().build(input_shape)

  def call(self, inputs: tf.Tensor) -> tf.Tensor:
    keys = tf.stop_gradient(self.centroids)
    shares = tf.nn.softmax(losses.among(
        self.present, tf.matmul(inputs, self.hallucinator_kernel) + self.hallucinator_bias))
    chosen = tf.tanh(tf.matmul(inputs, self.selector_kernel) + self.selector_bias)
    direction = inputs + chosen * tf.matmul(shares, keys)
    length = _length(tf.reduce_sum(tf.square(direction), axis=1, keepdims=True))
    distance = _length(self._nearest(inputs, keys))
    squashed = self._reach * direction / (distance + self._reach * length)
    return self._scale * tf.matmul(
        squashed, tf.math.l2_normalize(self.cosine_kernel, axis=1), transpose_b=True)

  def _nearest(self, features: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
    """The squared distance [B, 1] of features [B, D] to the nearest key; inf without keys."""
    squares = [tf.reduce_sum(tf.square(x), axis=1) for x in (features, keys)]
    found = squares[0][:, None] + squares[1] - 2.0 * tf.matmul(features, keys, transpose_b=True)
    return tf.reduce_min(
        tf.where(self.present, found, float("inf")), axis=1, keepdims=True)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), "num_classes": self._num_classes, "scale": self._scale,
            "reach": self._reach}


def rate_factor(variable: tf.Variable, others: float = 0.1) -> float:
  """The factor of the learning rate of a variable, for `optimizers.Momentum.factor_of`.

  Args:
    variable: of a net with the head `VisualMemory`.
    others: of centroids and the backbone; hallucinator, selector and classifier have 1.
  """
  name = variable.name.rpartition("/")[2]
  return 1.0 if name.startswith(_CLASSIFIER) and "logits/" in variable.name else others


def _length(squares: tf.Tensor) -> tf.Tensor:
  """The root of squared lengths; its gradient is finite, and 0 at 0."""
  return tf.sqrt(tf.maximum(squares, _LEAST))
