# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exemplar Tuning (Wallingford et al., 2020, section 4): class centroids with learned residuals.

The centroids are there from the first sample of a class and move with every sample; the residuals,
zeros at first, are trained by cross-entropy on what is stored, now and then. Features are frozen;
they are not divided by their length, as in the paper's equation 1, and the softmax is over all
classes that have a sample, the right one included (the sum that is printed there leaves it out).

The authors' code has no Exemplar Tuning; this is made from the paper. What its hybrid classifier,
the nearest to it, does otherwise than the paper can be had by name: a later first update (`rules`),
and norms that drift (a `net` that is `trainable_parts.Drifting`).

The head is centroids plus residuals.

    logit of class c for features f    (m_c + r_c) . f      m_c = mean of f_i / |f_i| over class c

Other similarities of f and m_c + r_c are those of the paper's Table 13: minus the squared distance,
and the cosine, times a scale. The centroids m move with every sample; in a phase, which trains the
residuals r, they stay. A head that `closes` ends their moves at a phase: a class that comes later
has a centroid of zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import refusals
from suite.contracts import spending
from suite.contracts import tasks
from suite.learners import around
from suite.learners import gradient
from suite.state import context as context_lib
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means
from suite.training.statistics import statistic

# Phases of the authors' code in which centroids move and nothing is trained: it changes over after
# 10,000 samples, and begins to train at the first multiple of 5,000 beyond.
_CODE_PHASES = 2


class ExemplarTuning(around.AroundGradient):
  """A gradient learner whose head also learns from each label: centroids and residuals.

  Args:
    transform: of images, or `feature_set.Features`.
    features: images [B, H, W, 3] to features [B, D]; it never changes. None: examples are features.
    learning_rate: of the residuals, SGD.
    momentum: of the same; velocities stay from one offline phase to the next.
    weight_decay: added to the gradient, times the residuals.
    epochs: passes over what is stored in each offline phase; the paper's 4.
    batch_size: of offline phases.
    train_on: what buckets train on; see `gradient.GradientLearner`.
    similarity, scale: of features and exemplars; see `exemplar_tuning.Exemplars`.
    net: instead of `features`; see `trainable_parts`.
    rules: "paper": every phase trains. "code", for sequences: the first two phases train
      nothing (nor do base classes), and with the second one centroids stay; a class that comes
      later waits for the next phase with an exemplar of zero. Phases every 5,000 samples train
      after 15,000 for the first time, then.
  """

  can_update = can_answer_in_turn = True

  def __init__(self, *, transform: examples.Transform,
               features: Callable[[tf.Tensor], tf.Tensor] | None = None,
               learning_rate: float = 0.1, momentum: float = 0.9, weight_decay: float = 0.0,
               epochs: float = 4, batch_size: int = 256, train_on: str = "all",
               similarity: str = "dot", scale: float = 1.0,
               net: trainable_parts.TrainablePart | None = None, rules: str = "paper"):
    trainable_parts.check_rules("ExemplarTuning.rules", rules)
    if net is not None and features is not None:
      raise ValueError("ExemplarTuning has both features and a net; give one of them.")
    waits = rules == "code"
    head = Exemplars(similarity, scale, closes=waits)
    super().__init__(gradient.GradientLearner(
        transform=transform, net=net or trainable_parts.HeadOnly(features), head=head,
        train_on=train_on, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate,
        optimizer=optimizers.Momentum(momentum, weight_decay, keep=True)))
    self.head, self._waits = head, waits
    if self._waits:
      self.waited = tf.Variable(0, trainable=False, name="phases_waited")

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if self._waits and context.delivery != deliveries.SEQUENCE:
      raise refusals.RefusedError(
          "ExemplarTuning.rules is 'code', which counts the offline phases of a sequence; "
          f"here are {context.delivery}. Leave rules out.")
    super().begin(task, context)

  @override
  @spending.event
  def learn(self, experience: deliveries.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Centroids of the base classes or of a bucket, then one phase on its training split."""
    if context.is_over:
      return dict(gradient.UNTRAINED)
    codes, labels = self.read(experience, context)
    features = self.learner.composed.features_of_all(codes, context.charge)
    self.head.add(features, labels)
    # An addition for each feature of a sample, and four to make it a direction.
    context.charge(flops.Cost(5 * int(tf.size(features)), 0))
    num = int(tf.math.count_nonzero(self.head.centroids.counts))
    if self._waits:
      context.grant(1)
      return {"classes_with_a_mean": num}
    record = self.learner.learn_codes(codes, labels, context, experience.train.name)
    return {"classes_with_a_mean": num, **record}

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, ...]; -inf for classes without a sample."""
    return self.head.logits(self.learner.composed.features(codes))

  @override
  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds the directions of features to the centroids of their classes; codes [B, ...], int64 [B].
    """
    self.head.add(self._features(codes), labels)

  @override
  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, ...], label t (of int64 [B]) being revealed after answer t."""
    return self.head.in_turn(self._features(codes), labels)

  def _features(self, codes: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of codes, or of numbers of samples [B] whose images are on disk."""
    see = self.see
    if see is not None and codes.shape.rank == 1:
      codes = see(codes)
    return self.learner.composed.features(codes)

  @override
  def learn_stored(self, stored: deliveries.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """An offline phase of the residuals, among the classes that have a sample."""
    if self._is_waiting():
      self.waited.assign_add(1)
      if not self._is_waiting():
        self.head.close()
      return {"passes": 0, "waiting": True}
    known = self.head.known
    return self.learner.learn_stored(
        stored if known is None else stored._replace(known=known), context)

  def _is_waiting(self) -> bool:
    return self._waits and int(self.waited) < _CODE_PHASES

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    return 0 if self._is_waiting() else super().stored_macs(num_stored)


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
