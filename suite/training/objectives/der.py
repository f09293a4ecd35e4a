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

import tensorflow as tf

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

  reads_logits = needs_memory = needs_same_classes = True

  def __init__(self, alpha: float = 0.5, beta: float = 0.0, divergence: str = "mse"):
    super().__init__()
    if divergence not in DIVERGENCES:
      raise ValueError(f"Der.divergence is {divergence!r}; allowed are {', '.join(DIVERGENCES)}.")
    self._alpha, self._beta, self._divergence = alpha, beta, divergence
    self.draws = 2 if beta else 1

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    loss = super().loss(batch.incoming())
    if not batch.num_replayed:
      return loss
    first, second = self._drawn(batch)
    # The distance D over the classes that were known when a row was stored.
    logits, stored = first.logits, first.stored
    there = ~tf.math.is_nan(stored)
    stored = tf.where(there, stored, 0.0)
    if self._divergence == "kl":
      distance = lwf.divergence(losses.among(there, stored), losses.among(there, logits))
    else:
      squares = tf.where(there, tf.square(tf.cast(logits, tf.float32) - stored), 0.0)
      counts = tf.reduce_sum(tf.cast(there, tf.float32), axis=1)
      distance = tf.reduce_mean(tf.math.divide_no_nan(tf.reduce_sum(squares, axis=1), counts))
    loss += self._alpha * distance
    if self._beta:
      loss += self._beta * objective.cross_entropy(second)
    return loss

  def _drawn(self, batch: objective.Batch) -> list[objective.Batch]:
    """The replayed rows of both terms: those of each draw, or of the one that there is.

    Rows of the draws alternate, so that devices that share a step have as many of each.
    """
    replayed = batch.replayed()
    assert replayed.stored is not None
    return [replayed._replace(codes=replayed.codes[part], logits=replayed.logits[part],
                              labels=replayed.labels[part], stored=replayed.stored[part])
            for part in (slice(None, None, self.draws), slice(self.draws - 1, None, self.draws))]
