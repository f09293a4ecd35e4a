# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Stochastic gradient descent as PyTorch does it, in one op a variable.

  v <- momentum * v + (gradient + weight_decay * w)
  w <- w - rate * factor * v

Keras multiplies the gradient by the rate *before* it enters v: after a step of the schedule, what
v holds is then still of the old rate. CLEAR's experiments ran PyTorch. All variables decay, norms
and biases too. The factor is 1, or that of the variable's group: PyTorch's parameter groups.
"""

from __future__ import annotations

import dataclasses
from typing import Callable, Optional, Sequence

import tensorflow as tf

FactorOf = Callable[[tf.Variable], float]


class Sgd(tf.Module):
  """Its velocities are variables made at once, for all variables that may ever be updated.

  Args:
    variables: what it may update.
    momentum, weight_decay: see the module.
    factor_of: the factor of a variable's rate; None: 1.
  """

  def __init__(self, variables: Sequence[tf.Variable], *, momentum: float = 0.9,
               weight_decay: float = 0.0, factor_of: Optional[FactorOf] = None):
    super().__init__()
    self._factor_of = factor_of
    self.momentum, self.weight_decay = momentum, weight_decay
    self.velocities = [
        tf.Variable(tf.zeros_like(v), trainable=False, name="velocity") for v in variables]
    # A method, since a checkpoint goes through every dict that is an attribute.
    self._place = {v.ref(): i for i, v in enumerate(variables)}.__getitem__

  def reset(self) -> None:
    """Forgets the velocities."""
    for velocity in self.velocities:
      velocity.assign(tf.zeros_like(velocity))

  def apply(self, gradients: Sequence[Optional[tf.Tensor]], variables: Sequence[tf.Variable],
            rate: tf.Tensor) -> None:
    """Takes one step at the rate, []; a variable whose gradient is None stays as it is."""
    for gradient, variable in zip(gradients, variables):
      if gradient is None:
        continue
      gradient = tf.convert_to_tensor(gradient)
      if self.weight_decay:
        gradient += self.weight_decay * variable
      factor = 1.0 if self._factor_of is None else self._factor_of(variable)
      tf.raw_ops.ResourceApplyMomentum(
          var=variable.handle, accum=self.velocities[self._place(variable.ref())].handle,
          lr=rate if factor == 1.0 else rate * factor, grad=gradient, momentum=self.momentum,
          use_locking=True)


@dataclasses.dataclass(frozen=True)
class Momentum:
  """`Sgd` for `GradientLearner.optimizer`.

  Attributes:
    momentum, weight_decay: see the module.
    factor_of: see `Sgd`.
    keep: whether velocities stay from one phase to the next.
  """

  momentum: float = 0.9
  weight_decay: float = 0.0
  keep: bool = False
  factor_of: Optional[FactorOf] = None

  def build(self, variables: Sequence[tf.Variable]) -> Sgd:
    """The optimizer for these variables."""
    return Sgd(variables, momentum=self.momentum, weight_decay=self.weight_decay,
               factor_of=self.factor_of)
