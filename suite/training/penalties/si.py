# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Synaptic intelligence (Zenke et al., 2017), as the experiments of CLEAR ran it.

  loss   = strength / 2 * sum_i W_i (w_i - w*_i)^2
  path_i = - sum over steps of gradient_i * (change of w_i)          how much w_i lowered the loss
  W_i   <- W_i + path_i / ((change of w_i over the bucket)^2 + epsilon)          after each bucket

The gradient is of the whole loss, this penalty included, as the step followed it. In `loss` W is
cut at `max_importance`: the library behind CLEAR's table did that (Maltoni & Lomonaco, 2019), and
with its 1e-3 and a strength of 1e-4 the penalty hardly acts; None is the paper. A W below zero
stays as it is.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.penalties import penalty


class Si(penalty.Penalty):
  """See the module.

  Args:
    strength: lambda. epsilon: damps what hardly moved.
    max_importance: where W is cut; None: nowhere.
    spare_norms: leave out scales and offsets of batch norms, as that library did.
  """

  def __init__(self, strength: float = 1e-4, epsilon: float = 1e-7,
               max_importance: Optional[float] = 1e-3, spare_norms: bool = True):
    super().__init__()
    self.spare_norms = spare_norms
    self.strength, self.epsilon, self.max_importance = strength, epsilon, max_importance

  def build(self, model: tf.keras.Model, *, losses_of: Optional[penalty.LossesFn] = None,
            memory: Optional[memory_lib.Memory] = None, seed: Tuple[int, int] = (0, 0)) -> None:
    del losses_of, memory, seed
    spared = set(norm_variables(model)) if self.spare_norms else set()
    variables = list(model.trainable_variables)
    self._kept = tuple(i for i, v in enumerate(variables) if v.ref() not in spared)
    self._variables = [variables[i] for i in self._kept]
    self.importance = penalty.zeros_like(self._variables, "si_importance")
    self.anchors = penalty.zeros_like(self._variables, "si_anchor")
    self.path = penalty.zeros_like(self._variables, "si_path")
    self.before = penalty.zeros_like(self._variables, "si_before")

  def before_bucket(self) -> None:
    for anchor, path, variable in zip(self.anchors, self.path, self._variables):
      anchor.assign(variable)
      path.assign(tf.zeros_like(path))

  def loss(self, images: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    del images, logits
    weights = self.importance
    if self.max_importance is not None:
      weights = [tf.minimum(w, self.max_importance) for w in weights]
    return self.strength / 2 * penalty.weighted_distance(weights, self._variables, self.anchors)

  def before_update(self) -> None:
    for before, variable in zip(self.before, self._variables):
      before.assign(variable)

  def after_update(self, gradients: Sequence[tf.Tensor]) -> None:
    for path, gradient, variable, before in zip(
        self.path, [gradients[i] for i in self._kept], self._variables, self.before):
      if gradient is not None:
        path.assign_sub(tf.convert_to_tensor(gradient) * (variable - before))

  def after_bucket(self) -> None:
    for importance, path, variable, anchor in zip(
        self.importance, self.path, self._variables, self.anchors):
      importance.assign_add(path / (tf.square(variable - anchor) + self.epsilon))
      anchor.assign(variable)


def norm_variables(model: tf.keras.Model) -> List[Any]:
  """References to the scales and offsets of all batch norms in a model, however deep."""
  kinds = (tf.keras.layers.BatchNormalization,)
  layers = [layer for layer in model.submodules if isinstance(layer, kinds)]
  return [v.ref() for layer in layers for v in layer.trainable_variables]
