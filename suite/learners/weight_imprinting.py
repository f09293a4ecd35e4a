# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weight imprinting (Qi et al., 2018) as Wallingford et al. (2020) run it, on frozen features.

At first each class has the direction of its samples as its row of a cosine head, from its first
sample on. After some phases, in which nothing is trained, the rows are left to cross-entropy on all
that is stored; a class that comes later begins at zero and waits for the next phase.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import spending
from suite.learners import around
from suite.learners import gradient
from suite.state import context as context_lib
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means
from suite.training.statistics import statistic


class WeightImprinting(around.AroundGradient):
  """A gradient learner whose head is written from each label at first.

  Args:
    transform: of images, or `feature_set.Features`.
    features: images [B, H, W, 3] to features [B, D]; it never changes. None: examples are features.
    imprint_phases: offline phases, or buckets, that train nothing; the last of them is the end of
      imprinting. FLUID's paper imprints for 10,000 samples with a phase every 5,000: 2. (Its code
      then trains at 15,000 for the first time; so does this.)
    scale: the first scale of logits, which is trained, too.
    learning_rate, momentum, weight_decay: of SGD; velocities stay from phase to phase.
    epochs, batch_size: of a phase.
  """

  can_update = can_answer_in_turn = True

  def __init__(self, *, transform: examples.Transform,
               features: Callable[[tf.Tensor], tf.Tensor] | None = None, imprint_phases: int = 2,
               scale: float = 4.0, learning_rate: float = 0.1, momentum: float = 0.9,
               weight_decay: float = 1e-4, epochs: float = 4, batch_size: int = 256):
    if imprint_phases < 1:
      raise ValueError(f"imprint_phases is {imprint_phases}; it must be at least 1. To train from "
                       "the first phase on take GradientLearner.")
    head = Imprinted(scale)
    super().__init__(gradient.GradientLearner(
        transform=transform, net=trainable_parts.HeadOnly(features), head=head,
        train_on="all", epochs=epochs, batch_size=batch_size, learning_rate=learning_rate,
        optimizer=optimizers.Momentum(momentum, weight_decay, keep=True)))
    self.head, self._imprint_phases = head, imprint_phases
    self.imprinted = tf.Variable(0, trainable=False, name="imprinting_phases")

  @override
  @spending.event
  def learn(self, experience: deliveries.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Imprints the base classes, or a bucket, whatever follows; trains once imprinting has ended.
    """
    if context.is_over:
      return dict(gradient.UNTRAINED)
    codes, labels = self.read(experience, context)
    self.update(codes, labels)
    # Four operations a feature make it a direction, a fifth adds it.
    context.charge(flops.Cost(5 * int(tf.size(codes)), 0))
    record = {"classes_with_a_row": int(tf.math.count_nonzero(self.head.centroids.counts))}
    if context.delivery == deliveries.SEQUENCE:
      context.grant(1)
      return record
    if self._is_early():
      context.grant(1)
      self._count_phase()
      self.learner.keep_codes(codes, labels, context)
      return {**record, "imprinting": True}
    return {**record, **self.learner.learn_codes(codes, labels, context, experience.train.name)}

  @override
  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Imprints features [B, D] on the rows of their classes, int64 [B]."""
    self.head.imprint(codes, labels)

  @override
  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self.head.logits_in_turn(codes, labels)

  @override
  def learn_stored(self, stored: deliveries.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """Trains an offline phase; while imprinting lasts, it changes nothing."""
    if not self._is_early():
      return self.learner.learn_stored(stored, context)
    self._count_phase()
    return {"passes": 0, "imprinting": True}

  def _count_phase(self) -> None:
    self.imprinted.assign_add(1)
    if not self._is_early():
      self.head.close()

  def _is_early(self) -> bool:
    return int(self.imprinted) < self._imprint_phases

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    return 0 if self._is_early() else super().stored_macs(num_stored)


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
