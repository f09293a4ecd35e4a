# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How meta-training changes from epoch to epoch (MAML++, Antoniou et al., 2019, section 4).

Progress is the optimizer's count of updates, so a checkpoint holds it; an epoch is a number of
updates. Every function here is traced: epochs are tensors.

Keras's Adam and AdamW with one operation a variable.

Keras composes a step of some fifteen operations for each variable, most of which pass over memory.
TensorFlow has a kernel for it, which Keras's legacy optimizers call; these have no `build`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import math
from typing import Any, Protocol

import tensorflow as tf

from suite.compute import own_gradients
from suite.training.gradient import optimizers

# The smallest weight of a step before the last one, as a fraction of an equal share (MAML++ code).
_LEAST_SHARE = 0.03


class _OneOperation:
  """The step of both optimizers. For amsgrad and sparse gradients it is that of Keras."""

  def update_step(self: Any, gradient: Any, variable: tf.Variable) -> None:
    """Updates a variable by its gradient, as `tf.keras.optimizers.Adam.update_step`."""
    if self.amsgrad or isinstance(gradient, tf.IndexedSlices):
      super().update_step(gradient, variable)  # type: ignore[misc]
      return
    number, dtype = self._index_dict[self._var_key(variable)], variable.dtype
    step = tf.cast(self.iterations + 1, dtype)
    powers = [tf.pow(tf.cast(beta, dtype), step) for beta in (self.beta_1, self.beta_2)]
    tf.raw_ops.ResourceApplyAdam(
        var=variable.handle, m=self._momentums[number].handle,
        v=self._velocities[number].handle, beta1_power=powers[0], beta2_power=powers[1],
        lr=tf.cast(self.learning_rate, dtype), beta1=tf.cast(self.beta_1, dtype),
        beta2=tf.cast(self.beta_2, dtype), epsilon=tf.cast(self.epsilon, dtype), grad=gradient)


class FusedAdam(_OneOperation, tf.keras.optimizers.Adam):
  """`tf.keras.optimizers.Adam`."""


class FusedAdamW(_OneOperation, tf.keras.optimizers.AdamW):
  """`tf.keras.optimizers.AdamW`."""


def step_weights(epoch: tf.Tensor, num_steps: int, num_epochs: int, dtype: Any = tf.float32
                 ) -> tf.Tensor:
  """Returns weights [num_steps] of the target losses after each inner step; their sum is 1.

  At epoch 0 each weight is 1 / num_steps. All but the last fall linearly towards 0 at num_epochs,
  down to a floor, and the last one increases by the difference. From num_epochs on the last weight
  is 1.
  """
  share, epoch = 1.0 / num_steps, tf.cast(epoch, dtype)
  early = tf.maximum(share * (1.0 - epoch / max(1, num_epochs)), _LEAST_SHARE * share)
  early = tf.where(epoch < num_epochs, early, tf.zeros_like(early))
  return tf.stack([early] * (num_steps - 1) + [1.0 - early * (num_steps - 1)])


class EpochCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
  """Half a cosine from peak to end at epoch `epochs`; constant within an epoch and afterwards."""

  def __init__(self, peak: float, end: float, epochs: int, updates_per_epoch: int):
    self.peak, self.end, self.epochs = peak, end, epochs
    self.updates_per_epoch = updates_per_epoch

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    epoch = tf.minimum(tf.cast(step, tf.int64) // self.updates_per_epoch, self.epochs)
    progress = tf.cast(epoch, tf.float32) / float(self.epochs)
    return self.end + (self.peak - self.end) * 0.5 * (1.0 + tf.cos(math.pi * progress))

  def get_config(self) -> dict[str, Any]:
    return {"peak": self.peak, "end": self.end, "epochs": self.epochs,
            "updates_per_epoch": self.updates_per_epoch}


class CoupledAdam(FusedAdam):
  """Adam on the gradient of the loss plus decay / 2 * |w|^2."""

  def __init__(self, learning_rate: Any, decay: float, **settings: Any):
    super().__init__(learning_rate, **settings)
    self._decay = decay

  def update_step(self, gradient: tf.Tensor, variable: tf.Variable) -> None:
    """Updates one variable by a gradient that was clamped and summed over replicas."""
    super().update_step(gradient + self._decay * variable, variable)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), "decay": self._decay}


class Training(Protocol):
  """How variables are meta-trained, such as `MetaTraining` or `BaseEpisodes`."""

  def optimizer(self) -> tf.keras.optimizers.Optimizer:
    """Returns a new optimizer, not built."""


@dataclasses.dataclass(frozen=True)
class MetaTraining:
  """The outer loop of a gradient-based meta-learner.

  Attributes:
    learning_rate: the initial rate of Adam.
    end_rate: the rate at the end of a cosine; None: the rate is constant.
    epochs: the number of epochs of the cosine.
    updates_per_epoch: the number of updates in an epoch of any schedule here.
    weight_decay: of all meta-trained variables.
    decoupled: whether the decay is AdamW's, w -= rate * weight_decay * w; otherwise weight_decay *
      w is added to the gradient after the clamp, as in PyTorch's Adam.
    gradient_limit: each element of the meta-gradient is clamped to [-limit, limit]; None: no clamp.
    multi_step_epochs: the number of first epochs in which the target losses after all inner steps
      count, with `step_weights`; 0: only the loss after the last step counts.
    first_order_epochs: the number of first epochs in which inner gradients are constants, which is
      three times as fast.
    second_order: whether meta-gradients pass through inner gradients after those epochs.
    own_optimizer: a Keras optimizer, or a function that makes one, in place of Adam; its rate and
      decay are its own.
  """

  learning_rate: float = 1e-3
  end_rate: float | None = None
  epochs: int = 250
  updates_per_epoch: int = 500
  weight_decay: float = 0.0
  decoupled: bool = True
  gradient_limit: float | None = None
  multi_step_epochs: int = 0
  first_order_epochs: int = 0
  second_order: bool = True
  own_optimizer: optimizers.OwnOptimizer | None = None

  def optimizer(self) -> tf.keras.optimizers.Optimizer:
    """Returns a new Adam, or with decay AdamW or `CoupledAdam`, or the user's optimizer."""
    if self.own_optimizer is not None:
      return optimizers.own(self.own_optimizer, "MetaTraining.own_optimizer")
    rate: Any = self.learning_rate
    if self.end_rate is not None:
      rate = EpochCosine(self.learning_rate, self.end_rate, self.epochs, self.updates_per_epoch)
    # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
    settings = dict(epsilon=1e-8, clipvalue=self.gradient_limit, jit_compile=False)
    if self.weight_decay and not self.decoupled:
      return CoupledAdam(rate, self.weight_decay, **settings)
    if self.weight_decay:
      return FusedAdamW(rate, weight_decay=self.weight_decay, **settings)
    return FusedAdam(rate, **settings)

  def epoch(self, updates: tf.Tensor) -> tf.Tensor:
    """Returns the epoch, int64 [], after a number of updates."""
    return tf.cast(updates, tf.int64) // self.updates_per_epoch

  def choose(self, epoch: tf.Tensor, parameters: Any,
             make: Callable[[Any, bool, bool], tf.Tensor]) -> tf.Tensor:
    """Returns make(parameters, second_order, multi_step), a loss [], for the epoch.

    If a schedule changes the variant, all variants are traced as branches. Each branch computes its
    gradients for the parameters (a structure of tensors) itself: a tape around the branches is
    slower, and loses the shapes and trip counts that the ledger needs.
    """
    orders = [self.second_order]
    if self.second_order and self.first_order_epochs:
      orders.append(False)
    kinds = [False] + [True] * bool(self.multi_step_epochs)
    if len(orders) == len(kinds) == 1:
      return make(parameters, self.second_order, False)

    def branch(values: Sequence[tf.Tensor], order: bool, multi_step: bool) -> Any:
      def traced() -> Any:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
          tape.watch(values)
          loss = make(tf.nest.pack_sequence_as(parameters, values), order, multi_step)
        gradients = tape.gradient(loss, values, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return loss, [tf.convert_to_tensor(gradient) for gradient in gradients]

      return traced

    @own_gradients.custom_gradient
    def chosen(*values: tf.Tensor) -> Any:
      early = len(orders) > 1 and tf.cast(epoch < self.first_order_epochs, tf.int32)
      many = len(kinds) > 1 and tf.cast(epoch < self.multi_step_epochs, tf.int32)
      loss, gradients = tf.switch_case(early + len(orders) * many, [
          branch(values, order, multi_step) for multi_step in kinds for order in orders])

      return loss, lambda upstream: [upstream * gradient for gradient in gradients]

    return chosen(*tf.nest.flatten(parameters))
