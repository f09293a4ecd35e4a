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

from typing import Any

import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import objective


class Icarl(objective.Objective):
  """Classification and distillation by sigmoids; see the module."""

  needs = frozenset({objective.ONE_HEAD})

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    self.previous, self._pairs = objective.frozen_copy(model)
    self.classes = objective.OldClasses(model.output_shape[-1])

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    if now is not None:
      self.classes.begin(now)

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    logits = tf.cast(net.logits(both), tf.float32)
    before = losses.sigmoid(tf.cast(net.at_rest(self.previous, both), tf.float32))
    targets = tf.where(self.classes.old, before, tf.one_hot(both.labels, logits.shape[1]))
    crosses = losses.crosses(logits, targets)
    if net.known is not None:
      crosses = tf.where(net.known, crosses, 0.0)
    net.update(net.mean(tf.reduce_sum(crosses, axis=1)))
    memory.store(rows)

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    for copy, variable in self._pairs:
      copy.assign(variable)
    self.classes.end(known)
