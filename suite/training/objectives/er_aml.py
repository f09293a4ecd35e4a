# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ER-AML (Caccia et al., 2022, section 3): incoming rows are compared with rows, not with classes.

  loss   = metric(incoming) + CE(replayed; known classes)
  metric = T / 0.07 * mean over incoming rows i of - mean over p in P(i) of
           log [ exp(s_ip) / sum over n in P(i) and N(i) of exp(s_in) ]

s is the cosine of two rows' features, divided by the temperature T; the factor T / 0.07 is that of
the authors' code (github.com/pclucas14/AML at 7c92936, methods/er_aml.py). P(i) are the other rows
of the step, incoming and replayed, of i's class; N(i) are those of the step's other incoming
classes. So no row of a class that is not incoming is pushed away: representations of earlier
classes stay. An incoming row without one of P or of N counts nothing.

Until something was taught, incoming rows have their cross-entropy instead, as in the authors' code.
That draws one row of each kind from the memory for each incoming row and passes them through the
net besides; here the rows of the step serve, as they stand in the equation.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import objective

_BASE_TEMPERATURE = 0.07


class ErAml(objective.Objective):
  """Asymmetric metric learning; see the module.

  Args:
    temperature: T; 0.2 by default in the authors' code (main.py).
  """

  needs = frozenset({objective.REPLAY, objective.ONE_HEAD})

  def __init__(self, temperature: float = 0.2):
    super().__init__()
    if not temperature > 0:
      raise ValueError(f"ErAml.temperature is {temperature}; it must be above 0.")
    self._temperature = temperature

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    self.classes = objective.OldClasses(model.output_shape[-1])

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    if now is not None:
      self.classes.begin(now)

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    drawn = memory.draw()
    both = step_rows.joined(rows, drawn)
    features, logits = net.answers(both)
    now = logits[:rows.num]
    metric = contrast(tf.cast(features, tf.float32), both.labels, drawn.num, self._temperature)
    loss = tf.where(tf.reduce_any(self.classes.taught),
                    metric * (self._temperature / _BASE_TEMPERATURE),
                    net.cross_entropy(now, rows.labels))
    if not memory.is_empty:
      loss += net.cross_entropy(logits[rows.num:], drawn.labels)
    net.update(loss)
    memory.store(rows)

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    self.classes.end(known)


def contrast(features: tf.Tensor, labels: tf.Tensor, num_replayed: int, temperature: float
             ) -> tf.Tensor:
  """`metric`, [], of features [B + R, D] and labels int64 [B + R], incoming rows first."""
  directions = tf.math.l2_normalize(features, axis=1)
  num = tf.shape(labels)[0]
  anchors = num - num_replayed
  similar = tf.matmul(directions[:anchors], directions, transpose_b=True) / temperature
  same = labels[:anchors, None] == labels[None]
  is_other = tf.range(anchors)[:, None] != tf.range(num)[None]
  compared = tf.reduce_any(same, axis=0)[None] & is_other  # Of incoming classes.
  of_class = same & is_other
  log_shares = similar - tf.reduce_logsumexp(
      losses.among(compared, similar), axis=1, keepdims=True)
  each = -tf.math.divide_no_nan(
      tf.reduce_sum(tf.where(of_class, log_shares, 0.0), axis=1),
      tf.reduce_sum(tf.cast(of_class, tf.float32), axis=1))
  counts = tf.reduce_any(of_class, axis=1) & tf.reduce_any(compared & ~same, axis=1)
  return tf.math.divide_no_nan(tf.reduce_sum(tf.where(counts, each, 0.0)),
                               tf.reduce_sum(tf.cast(counts, tf.float32)))
