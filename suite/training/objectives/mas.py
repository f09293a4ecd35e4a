# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Memory aware synapses (Aljundi et al., 2018): keep the weights that the answers depend on.

  loss = cross-entropy + strength * sum_i O_i (w_i - w*_i)^2

O_i, the mean over examples of |d ||logits||^2 / d w_i|, needs no labels. It is summed over phases;
w* are the weights after the last one.
"""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import rehearsal
from suite.training.objectives import example_gradients
from suite.training.objectives import objective


class Mas(objective.Objective):
  """A quadratic penalty by sensitivity; see the module.

  Args:
    strength: lambda; the paper's is 1.
    decay: of the earlier importance, from phase to phase; 1 is the paper's sum.
  """

  observes = objective.TRAINING
  observes_each = True

  def __init__(self, strength: float = 1.0, decay: float = 1.0):
    super().__init__()
    self.strength, self.decay = strength, decay

  def build(self, model: tf.keras.Model, *, losses_of: objective.LossesFn | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del losses_of, seed
    self._model, self._variables = model, list(model.trainable_variables)
    self.importance = objective.zeros_like(self._variables, "mas_importance")
    self.anchors = objective.zeros_like(self._variables, "mas_anchor")
    self.sums = objective.zeros_like(self._variables, "mas_sums")
    self.count = tf.Variable(0.0, trainable=False, name="mas_count")

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    return super().loss(batch) + self.strength * objective.weighted_distance(
        self.importance, self._variables, self.anchors)

  def observe(self, answers_of: objective.AnswersFn, codes: tf.Tensor, labels: tf.Tensor,
              mask: tf.Tensor | None = None) -> None:
    del answers_of
    mask = tf.ones(tf.shape(labels)[:1], tf.bool) if mask is None else mask

    def lengths(codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
      del labels
      return tf.reduce_sum(tf.square(self._model(codes, training=False)), axis=-1)

    sums = example_gradients.summed(tf.abs, lengths, self._variables, codes, labels, mask)
    for total, part in zip(self.sums, sums):
      total.assign_add(part)
    self.count.assign_add(tf.math.count_nonzero(mask, dtype=tf.float32))

  def after_phase(self, known: tf.Tensor | None = None) -> None:
    del known
    if not self.count.numpy() and rehearsal.current() is None:
      raise ValueError("Mas observed no example of the phase. Call observe() for each of its "
                       "batches after training on it.")
    for importance, sums, anchor, variable in zip(
        self.importance, self.sums, self.anchors, self._variables):
      importance.assign(self.decay * importance + tf.math.divide_no_nan(sums, self.count))
      sums.assign(tf.zeros_like(sums))
      anchor.assign(variable)
    self.count.assign(0.0)
