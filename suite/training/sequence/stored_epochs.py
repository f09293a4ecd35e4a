# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Epochs over what a sequence has shown, in one compiled call whatever its length (FLUID)."""

from __future__ import annotations

from typing import Callable, Tuple

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import row_costs
from suite.data.images import sampling
from suite.training.memories import draws

_ORDER, _AUGMENT = 40, 41  # The purposes of its draws.

# codes [B, ...], labels int64 [B], known bool [C] and seeds uint64 [B] to the loss before the step.
StepFn = Callable[[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


class StoredEpochs(tf.Module):
  """Takes each sample once an epoch, in an order of its own, the last batch being what is left.

  Order and seeds are functions of the seed and the number of the epoch, which is a variable: a run
  that goes on draws the same.

  Args:
    step: trains on a batch.
    code: the shape and type of one code, without B.
    num_classes: C.
    batch_size: B.
    seed: of the run, not of the event.

  Attributes:
    num_classes: C.
  """

  def __init__(self, step: StepFn, code: tf.TensorSpec, num_classes: int, *, batch_size: int,
               seed: Tuple[int, int]):
    super().__init__()
    self._step, self._code, self.num_classes = step, code, num_classes
    self._batch_size, self._seed = batch_size, seed
    self._costs = row_costs.RowCosts(self._step_cost)
    self.epochs_done = tf.Variable(tf.constant(0, tf.int64), trainable=False, name="epochs_done")
    self._run = tf.function(self._epochs, input_signature=[
        tf.TensorSpec([None, *code.shape], code.dtype), tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([num_classes], tf.bool), tf.TensorSpec([], tf.int32)])

  def run(self, codes: np.ndarray, labels: np.ndarray, known: np.ndarray, epochs: int) -> float:
    """Trains on codes [N, ...] with labels int64 [N]; returns the mean loss of the last epoch."""
    if not len(labels):
      raise ValueError("There is nothing to train on: no sample is stored. Train after the first "
                       "label is revealed.")
    return float(self._run(codes, labels, known, tf.constant(epochs)))

  def num_steps(self, num: int, epochs: int) -> int:
    """Steps in so many epochs over N samples."""
    return epochs * -(-num // self._batch_size)

  def cost(self, num: int, epochs: int) -> flops.Cost:
    """Of so many epochs over N samples, as counted from the graph of a step."""
    whole, rest = divmod(num, self._batch_size)
    return (self._costs(self._batch_size) * whole + self._costs(rest)) * epochs

  def _step_cost(self, rows: int) -> flops.Cost:
    return flops.count(tf.function(self._step).get_concrete_function(
        tf.TensorSpec([rows, *self._code.shape], self._code.dtype),
        tf.TensorSpec([rows], tf.int64), tf.TensorSpec([self.num_classes], tf.bool),
        tf.TensorSpec([rows], tf.uint64)))

  def _epochs(self, codes: tf.Tensor, labels: tf.Tensor, known: tf.Tensor, epochs: tf.Tensor
              ) -> tf.Tensor:
    num, total = tf.size(labels), tf.constant(0.0)
    for _ in tf.range(epochs):
      order = tf.argsort(draws.at(self._seed, _ORDER, self.epochs_done, num), stable=True)
      root = sampling.derive(sampling.root_seed(self._seed, _AUGMENT), self.epochs_done)
      self.epochs_done.assign_add(1)
      total = tf.constant(0.0)
      for start in tf.range(0, num, self._batch_size):
        chosen = order[start:start + self._batch_size]
        loss = self._step(tf.gather(codes, chosen), tf.gather(labels, chosen), known,
                          sampling.derive(root, chosen))
        total += loss * tf.cast(tf.size(chosen), tf.float32)
    return total / tf.cast(num, tf.float32)


def masked_cross_entropy(labels: tf.Tensor, logits: tf.Tensor, known: tf.Tensor) -> tf.Tensor:
  """Mean over int64 [B] of the cross-entropy of logits [B, C] among known classes, bool [C]."""
  masked = tf.where(known, logits, -float("inf"))
  return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
      labels=labels, logits=masked))
