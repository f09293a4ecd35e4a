# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Open Long-Tailed Recognition (OLTR; Liu et al., 2019), as FLUID runs it on a sequence.

A gradient learner with a visual memory as its head and a loss that moves the memory's centroids
(`CentroidLoss`). Each offline phase first adds the features of the samples that came since the last
one to their centroids, then trains. FLUID trains 4 epochs every 200 samples up
to 10,000 samples, and from then on every 5,000, when centroids are not refreshed any more; the
update strategy says when (`gin/data/fluid_update.gin`: 'early').

Net and centroids train at a tenth of the rate of the classifier. With a frozen net
(`trainable_parts.HeadOnly`) memory and classifier are trained alone; `AllLayers` trains the
backbone, too, which may end in a modulated attention (`modulated_attention.attended`).

The head is a memory and a cosine classifier. A memory has a key m_c, a centroid of features, for
each class c that was met. Features f become logits by

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
refreshed with, each counted once; `CentroidLoss` trains them by gradient. No gradient
of the logits reaches them. What the authors leave open, or what their code does for a fixed list of
classes, is: a class without a key takes no part in o and in d and is not answered; a class that is
first met when the memory is not refreshed any more has a key of zeros at first.

Letters: B samples, C classes, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import spending
from suite.learners import around
from suite.learners import gradient
from suite.models import heads
from suite.state import context as context_lib
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import objective
from suite.training.statistics import class_means

_CLASSIFIER = ("hallucinator", "selector", "cosine")  # Beginnings of variables' names.
_LEAST = 1e-12  # Of squared distances, under a root.


class Oltr(around.AroundGradient):
  """OLTR for buckets and sequences; see the module.

  Args:
    transform: of images, or `feature_set.Features`.
    net: what is trained besides the head; see `trainable_parts`.
    refresh_until: samples of a sequence after which centroids are not refreshed; base classes and
      buckets always refresh them.
    learning_rate: of hallucinator, selector and classifier; SGD.
    slow_rate: of the centroids and of the net.
    momentum, weight_decay: of all; velocities stay from phase to phase.
    epochs, batch_size: of a phase.
    train_on: "current" or "all"; see `gradient.GradientLearner`.
    head: the classifier; None: `VisualMemory()`.
    objective: None: `CentroidLoss()`.
  """

  def __init__(self, *, transform: examples.Transform, net: trainable_parts.TrainablePart,
               refresh_until: int = 10_000, learning_rate: float = 0.1, slow_rate: float = 0.01,
               momentum: float = 0.9, weight_decay: float = 5e-4, epochs: float = 4,
               batch_size: int = 128, train_on: str = "all",
               head: VisualMemory | None = None, objective: CentroidLoss | None = None):
    if isinstance(net, trainable_parts.Drifting):
      raise ValueError("Oltr.net is Drifting, whose norms move while the head is trained by "
                       "cross-entropy; take HeadOnly, LastLayers or AllLayers.")
    if min(learning_rate, slow_rate) <= 0:
      raise ValueError(f"Oltr has learning_rate={learning_rate} and slow_rate={slow_rate}; both "
                       "must be above 0.")
    head = head or VisualMemory()
    super().__init__(gradient.GradientLearner(
      transform=transform,
      net=net,
      head=head,
      objective=objective or CentroidLoss(),
      train_on=train_on,
      epochs=epochs,
      batch_size=batch_size,
      learning_rate=learning_rate,
      optimizer=optimizers.Momentum(
        momentum,
        weight_decay,
        keep=True,
        factor_of=functools.partial(rate_factor, others=slow_rate / learning_rate),
      ),
    ))
    self.head, self._refresh_until = head, refresh_until

  @override
  @spending.event
  def learn(self, experience: deliveries.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Refreshes the memory with the base classes or a bucket, then trains a phase on it."""
    if context.is_over:
      return dict(gradient.UNTRAINED)
    codes, labels = self.read(experience, context)
    self._refresh(codes, labels, context)
    record = self.learner.learn_codes(codes, labels, context, experience.train.name)
    return {**record,
            "classes_with_a_centroid": int(np.count_nonzero(self.head.memory.present.numpy()))}

  def _refresh(self, codes: tf.Tensor, labels: tf.Tensor, context: context_lib.Context) -> int:
    """Adds new codes [N, ...] to the memory; returns how many passed the net for that."""
    features = self.learner.composed.features_of_all(codes, context.charge)
    self.head.refresh(features, labels)
    # An addition for each feature; three operations for each feature of each centroid.
    adding = int(tf.size(features)) + 3 * int(tf.size(self.head.memory.centroids))
    context.charge(flops.Cost(adding, 0))
    return 0 if self.learner.composed.upper is None else int(labels.shape[0])

  @override
  @spending.event
  def learn_stored(self, stored: deliveries.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """An offline phase: refreshes the memory if it is still open, then trains."""
    refreshed, passed = self._refreshed(len(stored.labels), stored.num_old), 0
    if context.is_over:
      refreshed = 0
    if refreshed:
      new = slice(stored.num_old, None)
      passed = self._refresh(tf.convert_to_tensor(stored.codes[new]),
                             tf.constant(stored.labels[new], tf.int64), context)
    record = self.learner.learn_stored(stored, context)
    return {**record, "teacher_passes": record["teacher_passes"] + passed, "refreshed": refreshed}

  def _refreshed(self, num_stored: int, num_old: int) -> int:
    """The samples that the memory is refreshed with in a phase on `num_stored`."""
    return num_stored - num_old if num_stored <= self._refresh_until else 0

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    trained = super().stored_macs(num_stored)
    if trained is None or self.learner.composed.upper is None:
      return trained
    passed = self._refreshed(num_stored, int(self.learner.num_learned))
    return trained + passed * mac_views.costs(self.learner.mac_layers()[0]).cached_forward


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
    # The squared distance [B, 1] to the nearest key; infinite without keys.
    squares = [tf.reduce_sum(tf.square(x), axis=1) for x in (inputs, keys)]
    found = squares[0][:, None] + squares[1] - 2.0 * tf.matmul(inputs, keys, transpose_b=True)
    distance = _length(tf.reduce_min(
        tf.where(self.present, found, float("inf")), axis=1, keepdims=True))
    squashed = self._reach * direction / (distance + self._reach * length)
    return self._scale * tf.matmul(
        squashed, tf.math.l2_normalize(self.cosine_kernel, axis=1), transpose_b=True)

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


class CentroidLoss(objective.Objective):
  """The loss of OLTR: features near the centroid of their class, far from others.

    loss    = cross-entropy + weight * (attract + repel_weight * repel)
    attract = mean over rows i of |f_i - m_(y_i)|^2 / 2
    repel   = max(0, margin - mean over rows i and classes c != y_i of |f_i - m_c|^2)

  The second mean counts a row's own class as 0, and divides by all classes, as the authors' code
  does. There these are all classes of the data; here those that have a centroid. The gradient of
  `attract` by a centroid is that of the center loss (Wen et al., 2016), as in their code:

    sum over rows i of class c of (m_c - f_i) / (1 + n_c) / B        n_c rows of class c among B

  so that a class with many rows in a batch moves no further than by their mean.

  Args:
    weight: of the loss of centroids, 0.01 in the authors' code.
    repel_weight: of `repel` within it.
    margin: the mean squared distance from which other classes are far enough.
  """

  def __init__(self, weight: float = 0.01, repel_weight: float = 0.01, margin: float = 10.0):
    super().__init__()
    self._weight, self._repel_weight, self._margin = weight, repel_weight, margin

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    found: list[Any] = [
        layer for layer in model.submodules
        if hasattr(layer, "centroids") and hasattr(layer, "present")]
    if not found:
      raise ValueError(f"CentroidLoss trains the centroids of a head, but {model.name!r} has none; "
                       "give GradientLearner the head oltr.VisualMemory().")
    self._layer = found[0]

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    features, logits = net.answers(both)
    features = tf.cast(features, tf.float32)
    attract = attraction(features, both.labels, self._layer.centroids)
    repel = tf.maximum(0.0, self._margin - mean_distance(
        features, both.labels, self._layer.centroids, self._layer.present))
    net.update(net.cross_entropy(logits, both.labels)
               + self._weight * (attract + self._repel_weight * repel))
    memory.store(rows)


def attraction(features: tf.Tensor, labels: tf.Tensor, centroids: tf.Variable) -> tf.Tensor:
  """`attract` [] of features [B, D] with labels int64 [B].

  It has the value of the mean, and the center loss's gradient by centroids [C, D].
  """
  own = tf.gather(tf.convert_to_tensor(centroids), labels)
  counts = tf.math.bincount(tf.cast(labels, tf.int32), minlength=centroids.shape[0],
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
