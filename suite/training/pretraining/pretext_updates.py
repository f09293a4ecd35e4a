# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The updates of pretraining: SGD with momentum under a cosine, on any `tf.distribute`.

All variables decay, norms and biases too, as in MoCo's own code; the decay enters the momentum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.contracts import user_code
from suite.training.gradient import batch_loop
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.objectives import loss_scale
from suite.training.objectives import losses as losses_lib
from suite.training.pretraining import pretexts


class PretextUpdates(tf.Module):
  """Trains a pretext after its `build`.

  Args:
    pretext: see `pretexts`.
    distribution: the distribution in whose scope the pretext was built.
    batch_size: B, global.
    learning_rate: its peak.
    warmup: the number of updates of linear warm-up.
    momentum, weight_decay: of SGD.
  """

  def __init__(self, pretext: pretexts.Pretext, distribution: distribution_lib.Distribution, *,
               batch_size: int, learning_rate: float, warmup: int, momentum: float,
               weight_decay: float):
    super().__init__()
    self._pretext, self._distribution, self._batch_size = pretext, distribution, batch_size
    with distribution.scope():
      self.total = tf.Variable(1.0, trainable=False, name="total_updates")
      self.schedule = schedules.WarmupCosine(learning_rate, warmup, self.total, end=0.0)
      # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
      sgd = tf.keras.optimizers.SGD(self.schedule, momentum=momentum, jit_compile=False)
      self.optimizer = optimizers.KerasUpdates(
          sgd, pretext.variables_to_train, coupled_decay=weight_decay, decays=lambda _: True,
          num_replicas=distribution.num_replicas)
    self._scaling = loss_scale.of_precision()
    self.scale = list(self._scaling.state)  # A checkpoint holds it.
    self._loop = batch_loop.BatchLoop(self.update, after=self._average)

  def run(self, iterator: Iterator[Any], first: int, num: int, total: int) -> float:
    """Makes updates first ... first + num - 1 of total; returns the sum of their losses."""
    self.total.assign(float(total))
    return self._loop.run(iterator, num, first)

  def rate(self, step: int) -> float:
    """Returns the learning rate of an update."""
    return float(self.schedule(tf.constant(step)))

  def cost(self, spec: dict[str, tf.TensorSpec]) -> flops.Cost:
    """Returns the cost of an update on a *global* batch, for a loop built on one device."""
    with self._scaling.left_out():
      graph = user_code.compiled(self.update).get_concrete_function(
          spec, tf.TensorSpec([], tf.int64))
    return flops.count(graph)

  def update(self, batch: Any, step: tf.Tensor) -> tf.Tensor:
    """Makes an update; returns the mean loss [] of the global batch."""
    self._pretext.before_update()
    loss, result = self._distribution.run(self._in_replica, args=(batch, step))
    self._pretext.after_update(result)
    return self._distribution.sum(loss)

  def _average(self) -> None:
    self._distribution.average(self._pretext.variables)

  def _in_replica(self, batch: Any, step: tf.Tensor) -> Any:
    variables = self._pretext.variables_to_train
    with tf.GradientTape() as tape:
      losses, result = self._pretext.losses(batch, step)
      loss = losses_lib.scaled_sum(losses, self._batch_size)
    gradients = self._scaling.gradients(tape, loss, variables)
    self._scaling.apply(gradients, lambda: self.optimizer.apply(gradients, variables, None))
    return loss, result
