# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How meta-training changes from epoch to epoch (MAML++, Antoniou et al., 2019, section 4).

Progress is the optimizer's own count of updates, so a checkpoint holds it; an epoch is a number of
updates. Every function here is traced: epochs are tensors.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Dict, Optional, Sequence

import tensorflow as tf

# The least that a step before the last one weighs, of an equal share: 0.03 in the MAML++ code.
_LEAST_SHARE = 0.03


def step_weights(epoch: tf.Tensor, num_steps: int, num_epochs: int, dtype: Any = tf.float32
                 ) -> tf.Tensor:
  """Weights [num_steps] of the target losses after each inner step, summing to 1.

  At epoch 0 all weigh 1 / num_steps. All but the last fall linearly, to 0 at num_epochs were it not
  for a floor; the last one gets what they lose. From num_epochs on only the last one counts.
  """
  share, epoch = 1.0 / num_steps, tf.cast(epoch, dtype)
  early = tf.maximum(share * (1.0 - epoch / max(1, num_epochs)), _LEAST_SHARE * share)
  early = tf.where(epoch < num_epochs, early, tf.zeros_like(early))
  return tf.stack([early] * (num_steps - 1) + [1.0 - early * (num_steps - 1)])


class EpochCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
  """From peak along half a cosine to end at epoch `epochs`, constant within an epoch and after."""

  def __init__(self, peak: float, end: float, epochs: int, updates_per_epoch: int):
    self.peak, self.end, self.epochs = peak, end, epochs
    self.updates_per_epoch = updates_per_epoch

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    epoch = tf.minimum(tf.cast(step, tf.int64) // self.updates_per_epoch, self.epochs)
    progress = tf.cast(epoch, tf.float32) / float(self.epochs)
    return self.end + (self.peak - self.end) * 0.5 * (1.0 + tf.cos(math.pi * progress))

  def get_config(self) -> Dict[str, Any]:
    return {"peak": self.peak, "end": self.end, "epochs": self.epochs,
            "updates_per_epoch": self.updates_per_epoch}


class CoupledAdam(tf.keras.optimizers.Adam):
  """Adam on the gradient of the loss plus decay / 2 * |w|^2."""

  def __init__(self, learning_rate: Any, decay: float, **settings: Any):
    super().__init__(learning_rate, **settings)
    self._decay = decay

  def update_step(self, gradient: tf.Tensor, variable: tf.Variable) -> None:
    """One variable's update; its gradient was clamped, and added up over replicas."""
    super().update_step(gradient + self._decay * variable, variable)

  def get_config(self) -> Dict[str, Any]:
    return {**super().get_config(), "decay": self._decay}


@dataclasses.dataclass(frozen=True)
class MetaTraining:
  """The outer loop of a gradient-based meta-learner.

  Attributes:
    learning_rate: of Adam at the start. end_rate: where a cosine takes it; None keeps it constant.
    epochs: how many the cosine takes. updates_per_epoch: one epoch of every schedule here.
    weight_decay: of all that is meta-trained.
    decoupled: as in AdamW, w -= rate * weight_decay * w; False: the gradient gets weight_decay * w,
      after the clamp, as Adam does in PyTorch.
    gradient_limit: each element of the meta-gradient is clamped to [-limit, limit]; None: is not.
    multi_step_epochs: in the first so many epochs the target loss after each inner step counts, as
      `step_weights` says; 0: after the last one only.
    first_order_epochs: in the first so many epochs the inner gradients count as constants, which is
      three times as fast.
    second_order: False: they always do.
  """

  learning_rate: float = 1e-3
  end_rate: Optional[float] = None
  epochs: int = 250
  updates_per_epoch: int = 500
  weight_decay: float = 0.0
  decoupled: bool = True
  gradient_limit: Optional[float] = None
  multi_step_epochs: int = 0
  first_order_epochs: int = 0
  second_order: bool = True

  def optimizer(self) -> tf.keras.optimizers.Optimizer:
    """Adam, or with decay AdamW or `CoupledAdam`."""
    rate: Any = self.learning_rate
    if self.end_rate is not None:
      rate = EpochCosine(self.learning_rate, self.end_rate, self.epochs, self.updates_per_epoch)
    # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
    settings = dict(epsilon=1e-8, clipvalue=self.gradient_limit, jit_compile=False)
    if self.weight_decay and not self.decoupled:
      return CoupledAdam(rate, self.weight_decay, **settings)
    if self.weight_decay:
      return tf.keras.optimizers.AdamW(rate, weight_decay=self.weight_decay, **settings)
    return tf.keras.optimizers.Adam(rate, **settings)

  def epoch(self, updates: tf.Tensor) -> tf.Tensor:
    return tf.cast(updates, tf.int64) // self.updates_per_epoch

  def choose(self, epoch: tf.Tensor, parameters: Any,
             make: Callable[[Any, bool, bool], tf.Tensor]) -> tf.Tensor:
    """make(parameters, second_order, multi_step), a loss [], as the epoch wants it.

    All variants are traced only where a schedule passes from one to the other. Each then takes its
    gradients for the parameters (a structure of tensors) itself: a tape that goes through a branch
    from outside takes longer, and loses the shapes and trip counts that the ledger needs.
    """
    orders = [self.second_order]
    if self.second_order and self.first_order_epochs:
      orders.append(False)
    kinds = [False] + [True] * bool(self.multi_step_epochs)
    if len(orders) == len(kinds) == 1:
      return make(parameters, self.second_order, False)

    def branch(values: Sequence[tf.Tensor], order: bool, multi_step: bool) -> Any:
      return lambda: _with_gradients(
          lambda v: make(tf.nest.pack_sequence_as(parameters, v), order, multi_step), values)

    @tf.custom_gradient
    def chosen(*values: tf.Tensor) -> Any:
      early = len(orders) > 1 and tf.cast(epoch < self.first_order_epochs, tf.int32)
      many = len(kinds) > 1 and tf.cast(epoch < self.multi_step_epochs, tf.int32)
      loss, gradients = tf.switch_case(early + len(orders) * many, [
          branch(values, order, multi_step) for multi_step in kinds for order in orders])
      return loss, lambda upstream: [upstream * gradient for gradient in gradients]

    return chosen(*tf.nest.flatten(parameters))


def _with_gradients(loss_fn: Callable[[Any], tf.Tensor], values: Any) -> Any:
  """The loss, and its dense gradients for the values."""
  with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(values)
    loss = loss_fn(values)
  gradients = tape.gradient(loss, values, unconnected_gradients=tf.UnconnectedGradients.ZERO)
  return loss, [tf.convert_to_tensor(gradient) for gradient in gradients]
