# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exemplar Tuning (Wallingford et al., 2020, section 4): class centroids with learned residuals.

The centroids are there from the first sample of a class and move with every sample; the residuals,
zeros at first, are trained by cross-entropy on what is stored, now and then. Features are frozen;
they are not divided by their length, as in the paper's equation 1, and the softmax is over all
classes that have a sample, the right one included (the sum that is printed there leaves it out).

The authors' code has no Exemplar Tuning; this is made from the paper. What its hybrid classifier,
the nearest to it, does otherwise than the paper can be had by name: a later first update (`rules`),
and norms that drift (a `net` that is `trainable_parts.Drifting`).
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf
from typing_extensions import override

from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.learners import gradient
from suite.learners import learner_each_task
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.sequence import exemplar_head

# Phases of the authors' code in which centroids move and nothing is trained: it changes over after
# 10,000 samples, and begins to train at the first multiple of 5,000 beyond.
_CODE_PHASES = 2


class ExemplarTuning(learner_lib.SequenceLearner):
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
    similarity, scale: of features and exemplars; see `exemplar_head.Exemplars`.
    net: instead of `features`; see `trainable_parts`.
    rules: "paper": every phase trains. "code", for sequences: the first two phases train
      nothing (nor do base classes), and with the second one centroids stay; a class that comes
      later waits for the next phase with an exemplar of zero. Phases every 5,000 samples train
      after 15,000 for the first time, then.
  """

  predict_stays = True
  shares_updates = True

  def __init__(self, *, transform: examples.Transform,
               features: Callable[[tf.Tensor], tf.Tensor] | None = None,
               learning_rate: float = 0.1, momentum: float = 0.9, weight_decay: float = 0.0,
               epochs: float = 4, batch_size: int = 256, train_on: str = "all",
               similarity: str = "dot", scale: float = 1.0,
               net: trainable_parts.TrainablePart | None = None, rules: str = "paper"):
    super().__init__()
    trainable_parts.check_rules("ExemplarTuning.rules", rules)
    if net is not None and features is not None:
      raise ValueError("ExemplarTuning has both features and a net; give one of them.")
    self.transform, self._waits = transform, rules == "code"
    self.head = exemplar_head.Exemplars(similarity, scale, closes=self._waits)
    self.tuned = gradient.GradientLearner(
        transform=transform, net=net or trainable_parts.HeadOnly(features), head=self.head,
        train_on=train_on, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate,
        optimizer=optimizers.Momentum(momentum, weight_decay, keep=True))
    if self._waits:
      self.waited = tf.Variable(0, trainable=False, name="phases_waited")

  @property
  @override
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return self.tuned.frozen_features

  @property
  @override
  def see(self) -> Callable[[tf.Tensor], tf.Tensor] | None:
    """See `contracts.learner.SequenceLearner`."""
    return self.tuned.see

  @override
  def form(self, delivery: str) -> learner_lib.BaseLearner:
    """Returns a learner for each task where tasks are separate; else this one."""
    return learner_each_task.of(self) if delivery == deliveries.TASKS else self

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if self._waits and context.delivery != deliveries.SEQUENCE:
      raise refusals.RefusedError(
          "ExemplarTuning.rules is 'code', which counts the offline phases of a sequence; "
          f"here are {context.delivery}. Leave rules out.")
    self.tuned.begin(task, context)

  @override
  def learn(self, experience: deliveries.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Centroids of the base classes or of a bucket, then one phase on its training split."""
    refusals.check_held(self.see, experience.train)
    read = example_arrays.read([experience.train], experience.task, self.transform)
    labels = tf.constant(read.labels, tf.int64)
    codes = self.tuned.codes(read.images, context)
    features, cost = self.tuned.composed.features_of_all(codes)
    self.head.add(features, labels)
    # An addition for each feature of a sample, and four to make it a direction.
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs)
    context.ledger.charge(context.phase, flops=5 * int(tf.size(features)), macs=0)
    num = int(tf.math.count_nonzero(self.head.centroids.counts))
    if self._waits:
      return {"classes_with_a_mean": num}
    record = self.tuned.learn_codes(codes, labels, context, experience.train.name)
    return {"classes_with_a_mean": num, **record}

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3]; what was learned plays no part."""
    return self.tuned.encode(images)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, ...]; -inf for classes without a sample."""
    return self.head.logits(self.tuned.composed.features(codes))

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
    return self.tuned.composed.features(codes)

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
    return self.tuned.learn_stored(
        stored if known is None else stored._replace(known=known), context)

  def _is_waiting(self) -> bool:
    return self._waits and int(self.waited) < _CODE_PHASES

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    return 0 if self._is_waiting() else self.tuned.stored_macs(num_stored)

  @override
  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Layers of the backbone, and centroids with residuals."""
    return self.tuned.mac_layers()
