# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loss of iCaRL (Rebuffi et al., 2017, algorithm 3): binary cross-entropies of every class.

  loss = - mean over rows of [ sum over new classes y of d_y log g_y + (1 - d_y) log(1 - g_y)
                             + sum over old classes y of q_y log g_y + (1 - q_y) log(1 - g_y) ]

d is 1 for the label and 0 for others, g are the sigmoids of the logits, q those of the model before
the phase. New classes are those of the rows that came for the phase, old ones all others that were
taught. Rows are the new ones and the exemplars of the memory, as one set
(`GradientLearner.train_on="both"`).

The sum over classes is the paper's. The authors' code takes the mean over 100 outputs, so that its
rate of 2.0 is one of 0.02 here.
"""

from __future__ import annotations

import tensorflow as tf

from suite.training.objectives import losses
from suite.training.objectives import objective


class Icarl(objective.Objective):
  """Classification and distillation by sigmoids; see the module."""

  has_teacher = needs_same_classes = True

  def build(self, model: tf.keras.Model, *, losses_of: objective.LossesFn | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del losses_of, seed
    self.previous, self._pairs = objective.frozen_copy(model)
    self.classes = objective.OldClasses(model.output_shape[-1])

  def note_classes(self, now: tf.Tensor) -> None:
    self.classes.begin(now)

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    logits = tf.cast(batch.logits, tf.float32)
    before = losses.sigmoid(tf.cast(self.previous(batch.codes, training=False), tf.float32))
    targets = tf.where(self.classes.old, tf.stop_gradient(before),
                       tf.one_hot(batch.labels, logits.shape[1]))
    crosses = losses.crosses(logits, targets)
    if batch.classes is not None:
      crosses = tf.where(batch.classes.known, crosses, 0.0)
    each = tf.reduce_sum(crosses, axis=1)
    divisor = tf.shape(each)[0] if batch.divisor is None else batch.divisor
    return losses.scaled_sum(each, divisor, batch.mask)

  def after_phase(self, known: tf.Tensor | None = None) -> None:
    for copy, variable in self._pairs:
      copy.assign(variable)
    self.classes.end(known)
