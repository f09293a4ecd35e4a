# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""RWalk, Riemannian walk (Chaudhry et al., 2018): Fisher information along the way, and paths.

  loss = cross-entropy + strength * sum_i P_i (w_i - w*_i)^2               w* after the last phase

  each step, with g the gradient of the cross-entropy that it followed:
    F_i <- alpha g_i^2 + (1 - alpha) F_i                                   equation 6, "EWC++"
    path_i <- path_i - g_i (change of w_i)                                 equation 7
  after every `interval` steps:
    s_i <- s_i + path_i / (F_i (change of w_i since then)^2 / 2 + epsilon);  path_i <- 0
  after a phase, with S that of the phases before (0.5 (S + s); s after the first):
    P_i = F_i / max F + max(S_i, 0) / max S                                equation 8; maxima of all

The gradient is that of the whole loss, from which the penalty's is taken. It is of the rows of the
step as they were trained on; a library that has the method computes it once more at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import objective

_EPSILON = 1.1920929e-07  # That of float32.


class Rwalk(objective.Objective):
  """A quadratic penalty by Fisher information and paths; see the module.

  Args:
    strength: lambda. alpha: share of the newest squares in F. interval: steps between scores.
  """

  def __init__(self, strength: float = 1.0, alpha: float = 0.9, interval: int = 10):
    super().__init__()
    if not 0 < alpha <= 1:
      raise ValueError(f"Rwalk.alpha is {alpha}; it must be above 0 and at most 1.")
    if interval < 1:
      raise ValueError(f"Rwalk.interval is {interval}; it must be at least 1.")
    self.strength, self.alpha, self.interval = strength, alpha, interval

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    self._variables = list(model.trainable_variables)
    for name in ("penalty", "anchors", "fisher", "path", "score", "scores", "since"):
      setattr(self, name, objective.zeros_like(self._variables, f"rwalk_{name}"))
    self.steps, self.phases = (tf.Variable(0, dtype=tf.int64, trainable=False, name=name)
                               for name in ("rwalk_steps", "rwalk_phases"))

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    del now
    for path, score, since, variable in zip(self.path, self.score, self.since, self._variables):
      path.assign(tf.zeros_like(path))
      score.assign(tf.zeros_like(score))
      since.assign(variable)

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    gradients = net.gradients(
        net.cross_entropy(net.logits(both), both.labels)
        + self.strength * objective.weighted_distance(
            self.penalty, self._variables, self.anchors))
    net.follow(gradients, then=lambda before: self._go(gradients, before))
    memory.store(rows)

  def _go(self, gradients: Sequence[tf.Tensor | None], before: Sequence[tf.Tensor]) -> None:
    """Notes the way of a step from the values before it."""
    alpha = tf.where(self.steps > 0, self.alpha, 1.0)
    self.steps.assign_add(1)
    is_scored = self.steps % self.interval == 0
    for i, (variable, gradient) in enumerate(zip(self._variables, gradients)):
      if gradient is None:
        continue
      own = tf.convert_to_tensor(gradient) - 2.0 * self.strength * self.penalty[i] * (
          before[i] - self.anchors[i])
      fisher = alpha * tf.square(own) + (1.0 - alpha) * self.fisher[i]
      path = self.path[i] - own * (variable - before[i])
      score = path / (fisher * tf.square(variable - self.since[i]) / 2.0 + _EPSILON)
      self.fisher[i].assign(fisher)
      self.score[i].assign_add(tf.where(is_scored, score, 0.0))
      self.path[i].assign(tf.where(is_scored, 0.0, path))
      self.since[i].assign(tf.where(is_scored, variable, self.since[i]))

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    del known
    for scores, score in zip(self.scores, self.score):
      scores.assign((scores + score) / 2.0 if int(self.phases) else score)
    self.phases.assign_add(1)
    most_fisher, most_score = (tf.reduce_max([tf.reduce_max(part) for part in parts])
                               for parts in (self.fisher, self.scores))
    for i, variable in enumerate(self._variables):
      self.penalty[i].assign(
          tf.math.divide_no_nan(self.fisher[i], most_fisher)
          + tf.math.divide_no_nan(tf.nn.relu(self.scores[i]), tf.nn.relu(most_score)))
      self.anchors[i].assign(variable)
