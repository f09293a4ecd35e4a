# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Memory aware synapses (Aljundi et al., 2018): keep the weights that the answers depend on.

  loss = cross-entropy + strength * sum_i O_i (w_i - w*_i)^2

w* are the weights after the last phase. The importance O_i needs no labels:

  "paper"     the mean over examples of |d ||logits||^2 / d w_i|, summed over phases
  "authors"   the mean over batches of |d (mean of ||logits||^2) / d w_i|, summed over phases
  "facil"     half the mean over batches of |d (mean of ||logits||) / d w_i|; after each phase O is
              the mean of what it was and of the new one

The authors' code (github.com/rahafaljundi/MAS-Memory-Aware-Synapses at c3e6a85, MAS.py) takes
batches of 200 and a rate of 0.0008. Squared lengths grow with the logits: at a strength of 1 and
rates of 0.01 and more the steps of the penalty soon diverge. FACIL, a benchmark of methods that
learn classes task by task (github.com/mmasana/FACIL at e09d2c8, src/approach/mas.py), has lengths
and means, with the same strength and a rate of 0.05. Both codes have a head for each task, which
they leave out.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.contracts import rehearsal
from suite.training.memories import step_rows
from suite.training.objectives import example_gradients
from suite.training.objectives import objective

IMPORTANCES = ("paper", "authors", "facil")


class Mas(objective.Objective):
  """A quadratic penalty by sensitivity; see the module.

  Args:
    strength: lambda; 1 in the paper and in both codes.
    importance: one of `IMPORTANCES`.
  """

  def __init__(self, strength: float = 1.0, importance: str = "facil"):
    super().__init__()
    if importance not in IMPORTANCES:
      raise ValueError(
          f"Mas.importance is {importance!r}; allowed are {', '.join(IMPORTANCES)}.")
    self.strength, self.kind = strength, importance
    self.observes = objective.Observes(objective.TRAINING, each=importance == "paper")

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    self._model, self._variables = model, list(model.trainable_variables)
    self.importance = objective.zeros_like(self._variables, "mas_importance")
    self.anchors = objective.zeros_like(self._variables, "mas_anchor")
    self.sums = objective.zeros_like(self._variables, "mas_sums")
    self.count = tf.Variable(0.0, trainable=False, name="mas_count")
    self.phases = tf.Variable(0, trainable=False, name="mas_phases")

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    net.update(
        net.cross_entropy(net.logits(both), both.labels)
        + self.strength * objective.weighted_distance(
            self.importance, self._variables, self.anchors))
    memory.store(rows)

  def observe(self, answers_of: objective.AnswersFn, codes: tf.Tensor, labels: tf.Tensor,
              mask: tf.Tensor | None = None) -> None:
    del answers_of
    mask = tf.ones(tf.shape(labels)[:1], tf.bool) if mask is None else mask

    def lengths(codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
      del labels
      squares = tf.reduce_sum(tf.square(self._model(codes, training=False)), axis=-1)
      # Of logits that are all 0 the gradient of the length is 0, too.
      return tf.sqrt(tf.maximum(squares, 1e-12)) if self.kind == "facil" else squares

    num = tf.math.count_nonzero(mask, dtype=tf.float32)
    if self.kind == "paper":
      sums = example_gradients.summed(tf.abs, lengths, self._variables, codes, labels, mask)
    else:
      with tf.GradientTape() as tape:
        mean = tf.math.divide_no_nan(
            tf.reduce_sum(tf.where(mask, lengths(codes, labels), 0.0)), num)
      sums = [num * tf.abs(g) for g in example_gradients.gradient(tape, mean, self._variables)]
    for total, part in zip(self.sums, sums):
      total.assign_add(part)
    self.count.assign_add(num)

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    del known
    if not self.count.numpy() and rehearsal.current() is None:
      raise ValueError("Mas observed no example of the phase. Call observe() for each of its "
                       "batches after training on it.")
    for importance, sums, anchor, variable in zip(
        self.importance, self.sums, self.anchors, self._variables):
      new = tf.math.divide_no_nan(sums, self.count)
      if self.kind == "facil":
        importance.assign((importance + new / 2.0) / 2.0)
      else:
        importance.assign_add(new)
      sums.assign(tf.zeros_like(sums))
      anchor.assign(variable)
    self.count.assign(0.0)
