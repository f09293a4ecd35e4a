# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exemplar Tuning (Wallingford et al., 2020, section 4): class centroids with learned residuals.

The centroids are there from the first sample of a class and move with every sample; the residuals,
zeros at first, are trained by cross-entropy on what is stored, now and then. Features are frozen;
they are not divided by their length, as in the paper's equation 1, and the softmax is over all
classes that have a sample, the right one included (the sum that is printed there leaves it out).

The authors' code has no Exemplar Tuning; this is made from the paper.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.contracts import experience as experience_lib
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import example_arrays
from suite.learners import gradient
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.gradient import sgd
from suite.training.gradient import trainable_parts
from suite.training.sequence import exemplar_head


class ExemplarTuning(tf.Module):
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
  """

  predict_stays = True
  shares_updates = True

  def __init__(self, *, transform: transform_lib.Transform,
               features: Callable[[tf.Tensor], tf.Tensor] | None = None,
               learning_rate: float = 0.1, momentum: float = 0.9, weight_decay: float = 0.0,
               epochs: float = 4, batch_size: int = 256, train_on: str = "all",
               similarity: str = "dot", scale: float = 1.0):
    super().__init__()
    self.transform = transform
    self.head = exemplar_head.Exemplars(similarity, scale)
    self.tuned = gradient.GradientLearner(
        transform=transform, net=trainable_parts.HeadOnly(features), head=self.head,
        train_on=train_on, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate,
        optimizer=sgd.Momentum(momentum, weight_decay, keep=True))

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return self.tuned.frozen_features

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    self.tuned.begin(task, context)

  def learn(self, experience: experience_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Centroids of the base classes or of a bucket, then one phase on its training split."""
    read = example_arrays.read([experience.train], experience.task, self.transform)
    labels = tf.constant(read.labels, tf.int64)
    codes = self.tuned.codes(read.images, context)
    self.head.centroids.add(codes, labels)
    # An addition for each feature of a sample, and four to make it a direction.
    context.ledger.charge(context.phase, flops=5 * int(tf.size(codes)), macs=0)
    record = self.tuned.learn_codes(codes, labels, context, experience.train.name)
    num = int(tf.math.count_nonzero(self.head.centroids.counts))
    return {"classes_with_a_mean": num, **record}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]; what was learned plays no part."""
    return self.tuned.encode(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D]; -inf for classes without a sample."""
    return self.head.logits(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds the directions of features [B, D] to the centroids of their classes, int64 [B]."""
    self.head.centroids.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self.head.in_turn(codes, labels)

  def learn_stored(self, stored: stored_samples.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """An offline phase of the residuals, among the classes that have a sample."""
    known = np.asarray(self.head.centroids.counts) > 0
    return self.tuned.learn_stored(stored._replace(known=known), context)

  def stored_macs(self, num_stored: int) -> int | None:
    return self.tuned.stored_macs(num_stored)

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Layers of the backbone, and centroids with residuals."""
    return self.tuned.mac_layers()
