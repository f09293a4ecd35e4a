# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Elastic weight consolidation, online (Kirkpatrick et al., 2017; Schwarz et al., 2018).

  loss = strength * sum_i F_i (w_i - w*_i)^2          F <- decay * F + F of the bucket just learned

w* are the weights at the end of the last bucket. F, the Fisher information's diagonal, is estimated
with the true labels ("empirical"):

  "example"     mean over examples of the squared gradient of one example's loss
  "minibatch"   mean over mini-batches of the squared gradient of the batch's mean loss: what the
                experiments of CLEAR used. With batches of B it is smaller by about a factor of B,
                and a short last batch counts as much as the others.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.penalties import penalty

FISHERS = ("minibatch", "example")
# Gradients of all examples of a batch are made at once if they take no more than this.
_MAX_BYTES = 64 * 2**20


class Ewc(penalty.Penalty):
  """See the module.

  Args:
    strength: lambda; no factor 1/2.
    decay: of the old information, from bucket to bucket.
    fisher: one of `FISHERS`.
  """

  observes = True

  def __init__(self, strength: float = 0.4, decay: float = 0.1, fisher: str = "minibatch"):
    super().__init__()
    if fisher not in FISHERS:
      raise ValueError(f"Ewc.fisher is {fisher!r}; allowed are {', '.join(FISHERS)}.")
    self.strength, self.decay, self.fisher = strength, decay, fisher

  def build(self, model: tf.keras.Model, *, losses_of: Optional[penalty.LossesFn] = None,
            memory: Optional[memory_lib.Memory] = None, seed: Tuple[int, int] = (0, 0)) -> None:
    del losses_of, memory, seed
    self._variables = list(model.trainable_variables)
    self.importance = penalty.zeros_like(self._variables, "ewc_importance")
    self.anchors = penalty.zeros_like(self._variables, "ewc_anchor")
    # Of the bucket that is being observed: sums of squares, and over how many.
    self.squares = penalty.zeros_like(self._variables, "ewc_squares")
    self.count = tf.Variable(0.0, trainable=False, name="ewc_count")

  def loss(self, images: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    del images, logits
    return self.strength * penalty.weighted_distance(
        self.importance, self._variables, self.anchors)

  def observe(self, losses_of: penalty.LossesFn, images: tf.Tensor, labels: tf.Tensor,
              mask: Optional[tf.Tensor] = None) -> None:
    mask = tf.ones(tf.shape(labels)[:1], tf.bool) if mask is None else mask
    real = tf.math.count_nonzero(mask, dtype=tf.float32)
    if self.fisher == "example":
      squares, count = self._of_examples(losses_of, images, labels, mask), real
    else:
      with tf.GradientTape() as tape:
        losses = tf.where(mask, losses_of(images, labels), 0.0)
        mean = tf.math.divide_no_nan(tf.reduce_sum(losses), real)
      squares = [tf.square(g) for g in self._gradient(tape, mean)]
      count = tf.cast(real > 0, tf.float32)
    for total, square in zip(self.squares, squares):
      total.assign_add(square)
    self.count.assign_add(count)

  def _gradient(self, tape: tf.GradientTape, target: tf.Tensor) -> List[tf.Tensor]:
    gradients = tape.gradient(
        target, self._variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [tf.convert_to_tensor(g) for g in gradients]

  def _of_examples(self, losses_of: penalty.LossesFn, images: tf.Tensor, labels: tf.Tensor,
                   mask: tf.Tensor) -> List[tf.Tensor]:
    """The sum over real examples of the squared gradient of one's loss."""
    size = sum(v.shape.num_elements() * v.dtype.size for v in self._variables)
    if images.shape[0] is not None and images.shape[0] * size <= _MAX_BYTES:
      with tf.GradientTape() as tape:
        losses = tf.where(mask, losses_of(images, labels), 0.0)
      rows = tape.jacobian(
          losses, self._variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
      return [tf.reduce_sum(tf.square(r), axis=0) for r in rows]
    return self._one_by_one(losses_of, images, labels, mask)

  def _one_by_one(self, losses_of: penalty.LossesFn, images: tf.Tensor, labels: tf.Tensor,
                  mask: tf.Tensor) -> List[tf.Tensor]:
    """The same with one example's gradients in memory at a time."""
    def step(i, totals):
      with tf.GradientTape() as tape:
        loss = tf.where(mask[i], losses_of(images[i][None], labels[i][None])[0], 0.0)
      return i + 1, [t + tf.square(g) for t, g in zip(totals, self._gradient(tape, loss))]

    num = tf.shape(labels)[0]
    zeros = [tf.zeros_like(v) for v in self._variables]
    return list(tf.while_loop(lambda i, _: i < num, step, [tf.constant(0), zeros],
                              parallel_iterations=1)[1])

  def after_bucket(self) -> None:
    if not self.count.numpy():
      raise ValueError("Ewc observed no example of the bucket. Call observe() for each of its "
                       "batches after training on it.")
    for importance, squares in zip(self.importance, self.squares):
      importance.assign(self.decay * importance + squares / self.count)
      squares.assign(tf.zeros_like(squares))
    self.count.assign(0.0)
    for anchor, variable in zip(self.anchors, self._variables):
      anchor.assign(variable)
