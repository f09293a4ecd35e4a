# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""DER and DER++, dark experience replay (Buzzega et al., 2020).

  loss = CE(incoming) + alpha D(net, stored logits of replayed rows) + beta CE(other replayed rows)

DER++ draws rows of the memory twice in each step, for the one term and for the other (algorithm 2;
models/derpp.py of github.com/aimagelab/mammoth at e75a491); the two draws share no row until all
have come.

Replayed rows stay near the logits that they had when they entered the memory: in the step that
trained on them (`GradientLearner.remember="each_step"`, algorithm 1 of the paper), or at the end of
their phase; those of classes that come later count as 0. beta is 0 in DER. The logits of the end of
a phase may be large; then follows a first step of the next phase whose loss is, too, and lower
rates or a lower alpha are needed.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import lwf
from suite.training.objectives import objective

DIVERGENCES = ("mse", "kl")


class Der(objective.Objective):
  """DER, and DER++ with a beta above 0.

  Args:
    alpha: weight of the distance to stored logits. beta: weight of the replayed cross-entropy.
    divergence: D, "mse", the mean square over a row's stored logits, as in the method's paper; or
      "kl", as in FLUID's text (its code has the other).
  """

  needs = frozenset({objective.REPLAY, objective.ONE_HEAD})

  def __init__(self, alpha: float = 0.5, beta: float = 0.0, divergence: str = "mse"):
    super().__init__()
    if divergence not in DIVERGENCES:
      raise ValueError(f"Der.divergence is {divergence!r}; allowed are {', '.join(DIVERGENCES)}.")
    self._alpha, self._beta, self._divergence = alpha, beta, divergence

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    first = memory.draw()
    second = memory.draw() if self._beta else memory.draw(0)
    logits, then, again = net.logits(rows, first, second)
    loss = net.cross_entropy(logits, rows.labels)
    if not memory.is_empty:
      loss += self._alpha * self._distance(then, first.logits)
      if self._beta:
        loss += self._beta * net.cross_entropy(again, second.labels)
    net.update(loss)
    memory.store(rows, logits)

  def _distance(self, logits: tf.Tensor, stored: tf.Tensor) -> tf.Tensor:
    """D, over the classes that were known when a row was stored; logits [R, C]."""
    there = ~tf.math.is_nan(stored)
    stored = tf.where(there, stored, 0.0)
    if self._divergence == "kl":
      return lwf.divergence(losses.among(there, stored), losses.among(there, logits))
    squares = tf.where(there, tf.square(tf.cast(logits, tf.float32) - stored), 0.0)
    counts = tf.reduce_sum(tf.cast(there, tf.float32), axis=1)
    return tf.reduce_mean(tf.math.divide_no_nan(tf.reduce_sum(squares, axis=1), counts))
