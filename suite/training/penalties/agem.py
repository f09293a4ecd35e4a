# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A-GEM (Chaudhry et al., 2019): no step may raise the loss on a memory, to first order.

  g <- g - (g . r) / (r . r) * r        if g . r < 0; r is the gradient of the memory's mean loss

Afterwards g . r = 0. The memory is the learner's: it fills it after each bucket.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.penalties import penalty


class Agem(penalty.Penalty):
  """See the module.

  Args:
    sample_size: how many examples of the memory r is made of, others in each step; None: all that
      are held, as in CLEAR's experiments.
    chunk: examples whose gradient is made at once.

  Until the memory holds something, gradients stay as they are.
  """

  def __init__(self, sample_size: Optional[int] = None, chunk: int = 64):
    super().__init__()
    for name, value in (("sample_size", sample_size), ("chunk", chunk)):
      if value is not None and value < 1:
        raise ValueError(f"Agem.{name} is {value}; it must be at least 1.")
    self.sample_size, self.chunk = sample_size, chunk

  def build(self, model: tf.keras.Model, *, losses_of: Optional[penalty.LossesFn] = None,
            memory: Optional[memory_lib.Memory] = None, seed: Tuple[int, int] = (0, 0)) -> None:
    if memory is None or losses_of is None:
      raise ValueError("Agem needs a memory and the training loss; give build() both.")
    self.memory, self._losses_of, self._seed = memory, losses_of, seed
    self._variables = list(model.trainable_variables)
    self.step = tf.Variable(0, trainable=False, name="agem_step")

  def gradients(self, gradients: Sequence[tf.Tensor]) -> List[tf.Tensor]:
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g)
                 for g, v in zip(gradients, self._variables)]
    step = self.step.assign_add(1)
    return list(tf.cond(
        self.memory.size.read_value() > 0,
        lambda: projected(gradients, self.reference(step)), lambda: gradients))

  def reference(self, step: tf.Tensor) -> List[tf.Tensor]:
    """The gradient of the mean loss of the sample that belongs to the step."""
    size = self.memory.size.read_value()
    if self.sample_size is None:
      places = tf.range(size)
    else:
      wanted = tf.minimum(size, self.sample_size)
      places = self.memory.places(tf.stack([self._seed[0] + step, self._seed[1]]),
                                  self.sample_size)[:wanted]
    num = tf.size(places)

    def add(first, totals):
      images, labels = self.memory.take(places[first:first + self.chunk])
      with tf.GradientTape() as tape:
        loss = tf.reduce_sum(self._losses_of(images, labels))
      parts = tape.gradient(
          loss, self._variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
      return first + self.chunk, [t + p for t, p in zip(totals, parts)]

    zeros = [tf.zeros_like(v) for v in self._variables]
    _, totals = tf.while_loop(
        lambda first, _: first < num, add, [tf.constant(0), zeros], parallel_iterations=1)
    return [t / tf.cast(num, t.dtype) for t in totals]


def projected(gradients: Sequence[tf.Tensor], reference: Sequence[tf.Tensor]) -> List[tf.Tensor]:
  """Gradients without their part against the reference, if they go against it at all."""
  product = dot(gradients, reference)
  # Where the product is not negative nothing is taken away; 0 / 0 is 0.
  share = tf.math.divide_no_nan(tf.minimum(product, 0.0), dot(reference, reference))
  return [g - share * r for g, r in zip(gradients, reference)]


def dot(first: Sequence[tf.Tensor], second: Sequence[tf.Tensor]) -> tf.Tensor:
  """The inner product over all parameters, []."""
  return tf.add_n([tf.reduce_sum(a * b) for a, b in zip(first, second)])
