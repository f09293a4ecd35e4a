# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Synaptic intelligence (Zenke et al., 2017).

  loss   = cross-entropy + strength / 2 * sum_i W_i (w_i - w*_i)^2
  path_i = - sum over steps of gradient_i * (change of w_i)          how much w_i lowered the loss
  W_i   <- W_i + path_i / ((change of w_i over the phase)^2 + epsilon)           after each phase

The gradient is that of the cross-entropy alone, as in the authors' code (`unreg_grads`,
pathint/protocols.py of github.com/ganguli-lab/pathint at 34c06d0); with path="whole" it is that of
the whole loss, penalty included (avalanche/training/plugins/synaptic_intelligence.py of
github.com/ContinualAI/avalanche at eb075be, and models/cl/continual_learner.py of
github.com/GMvandeVen/continual-learning at e6d795a). The paper's c is half of `strength`. The
library behind CLEAR's table cuts W in the loss (`max_importance`; Maltoni & Lomonaco, 2019); with
its 1e-3 and a strength of 1e-4 the penalty hardly acts. A W below zero stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from suite.models import keras3
from suite.training.memories import step_rows
from suite.training.objectives import objective

PATHS = ("cross_entropy", "whole")


class Si(objective.Objective):
  """A quadratic penalty by path integrals; see the module.

  Args:
    strength: lambda. epsilon: damps what hardly moved.
    max_importance: where W is cut; None: nowhere.
    spare_norms: leave out scales and offsets of batch norms, as that library did.
    path: one of `PATHS`, what the path is the gradient of.
  """

  def __init__(self, strength: float = 0.2, epsilon: float = 0.1,
               max_importance: float | None = None, spare_norms: bool = True,
               path: str = "cross_entropy"):
    super().__init__()
    if path not in PATHS:
      raise ValueError(f"Si.path is {path!r}; allowed are {', '.join(PATHS)}.")
    self._is_whole = path == "whole"
    self.spare_norms = spare_norms
    self.strength, self.epsilon, self.max_importance = strength, epsilon, max_importance

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    spared = set(norm_variables(model)) if self.spare_norms else set()
    variables = list(model.trainable_variables)
    self._places = tuple(i for i, v in enumerate(variables) if v.ref() not in spared)
    self._variables = [variables[i] for i in self._places]
    self.importance = objective.zeros_like(self._variables, "si_importance")
    self.anchors = objective.zeros_like(self._variables, "si_anchor")
    self.path = objective.zeros_like(self._variables, "si_path")

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    del now
    for anchor, path, variable in zip(self.anchors, self.path, self._variables):
      anchor.assign(variable)
      path.assign(tf.zeros_like(path))

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    weights = self.importance
    if self.max_importance is not None:
      weights = [tf.minimum(w, self.max_importance) for w in weights]
    gradients = net.gradients(
        net.cross_entropy(net.logits(both), both.labels)
        + self.strength / 2 * objective.weighted_distance(weights, self._variables, self.anchors))

    def lengthen(before: Sequence[tf.Tensor]) -> None:
      for path, place, variable, weight, anchor in zip(
          self.path, self._places, self._variables, weights, self.anchors):
        if gradients[place] is None:
          continue
        gradient = tf.convert_to_tensor(gradients[place])
        if not self._is_whole:
          gradient -= self.strength * weight * (before[place] - anchor)
        path.assign_sub(gradient * (variable - before[place]))

    net.follow(gradients, then=lengthen)
    memory.store(rows)

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    del known
    for importance, path, variable, anchor in zip(
        self.importance, self.path, self._variables, self.anchors):
      importance.assign_add(path / (tf.square(variable - anchor) + self.epsilon))
      anchor.assign(variable)


def norm_variables(model: tf.keras.Model) -> list[Any]:
  """Returns references to the scales and offsets of all batch norms in a model, however deep."""
  kinds = (tf.keras.layers.BatchNormalization,)
  layers = [layer for layer in model.submodules if isinstance(layer, kinds)]
  layers += [norm for held in keras3.held_in(model) for norm in held.norms()]
  return [v.ref() for layer in layers for v in layer.trainable_variables]
