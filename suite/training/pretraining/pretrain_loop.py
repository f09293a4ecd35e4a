# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop of pretraining: SGD with momentum under a cosine, on any `tf.distribute`.

All variables decay, norms and biases too, as in MoCo's own code; the decay enters the momentum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.pretraining import pretexts


class PretrainLoop(tf.Module):
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
    self._pretext, self._distribution = pretext, distribution
    self._batch_size, self._decay = batch_size, weight_decay
    with distribution.scope():
      self.total = tf.Variable(1.0, trainable=False, name="total_updates")
      self.schedule = schedules.WarmupCosine(learning_rate, warmup, self.total, end=0.0)
      # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
      self.optimizer = tf.keras.optimizers.SGD(
          self.schedule, momentum=momentum, jit_compile=False)
      optimizers.make_slots(self.optimizer, pretext.variables_to_train)
    self._run = tf.function(self._updates)

  def run(self, iterator: Iterator[Any], first: int, num: int, total: int) -> float:
    """Makes updates first ... first + num - 1 of total; returns the sum of their losses."""
    self.total.assign(float(total))
    return float(self._run(iterator, tf.constant(first, tf.int64), tf.constant(num, tf.int64)))

  def rate(self, step: int) -> float:
    """Returns the learning rate of an update."""
    return float(self.schedule(tf.constant(step)))

  def cost(self, spec: dict[str, tf.TensorSpec]) -> flops.Cost:
    """Returns the cost of an update on a *global* batch, for a loop built on one device."""
    graph = tf.function(self.update).get_concrete_function(spec, tf.TensorSpec([], tf.int64))
    return flops.count(graph)

  def _updates(self, iterator: Iterator[Any], first: tf.Tensor, num: tf.Tensor) -> tf.Tensor:
    total = tf.constant(0.0)
    for step in tf.range(first, first + num):
      total += self.update(next(iterator), step)
    return total

  def update(self, batch: Any, step: tf.Tensor) -> tf.Tensor:
    """Makes an update; returns the mean loss [] of the global batch."""
    self._pretext.before_update()
    loss, result = self._distribution.run(self._in_replica, args=(batch, step))
    self._pretext.after_update(result)
    return self._distribution.sum(loss)

  def _in_replica(self, batch: Any, step: tf.Tensor) -> Any:
    variables = self._pretext.variables_to_train
    with tf.GradientTape() as tape:
      losses, result = self._pretext.losses(batch, step)
      loss = tf.reduce_sum(losses) / self._batch_size
    gradients = tape.gradient(loss, variables)
    if self._decay:
      share = self._decay / self._distribution.num_replicas  # Gradients are summed over replicas.
      gradients = [tf.convert_to_tensor(g) + share * v for g, v in zip(gradients, variables)]
    self.optimizer.apply_gradients(zip(gradients, variables))
    return loss, result
