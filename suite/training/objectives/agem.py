# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A-GEM (Chaudhry et al., 2019): no step may raise the loss on a memory, to first order.

  g <- g - (g . r) / (r . r) * r        if g . r < 0; r is the gradient of the memory's mean loss

Afterwards g . r = 0.
"""

from __future__ import annotations

from typing import Sequence

import tensorflow as tf

from suite.compute import flops
from suite.training.memories import memory as memory_lib
from suite.training.objectives import objective


class Agem(objective.Objective):
  """Projects gradients; while the memory is empty, they stay as they are.

  Args:
    sample_size: examples of the memory that r is made of, others in each step; None: all that are
      held, as in CLEAR's experiments.
    chunk: examples whose gradient is made at once.
  """

  needs_memory = True

  def __init__(self, sample_size: int | None = None, chunk: int = 64):
    super().__init__()
    for name, value in (("sample_size", sample_size), ("chunk", chunk)):
      if value is not None and value < 1:
        raise ValueError(f"Agem.{name} is {value}; it must be at least 1.")
    self.sample_size, self.chunk = sample_size, chunk

  def build(self, model: tf.keras.Model, *, losses_of: objective.LossesFn | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    if losses_of is None:
      raise ValueError("Agem needs the training loss; give it to build() as losses_of.")
    self._losses_of, self._seed = losses_of, seed
    self.variables_to_follow = list(model.trainable_variables)
    self.step = tf.Variable(0, trainable=False, name="agem_step")

  def gradients(self, gradients: Sequence[tf.Tensor], data: objective.Data) -> list[tf.Tensor]:
    followed = self.variables_to_follow
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g)
                 for g, v in zip(gradients, followed)]
    step = self.step.assign_add(1)
    return list(tf.cond(
        tf.size(data.places) > 0,
        lambda: projected(gradients, self.reference(step, data)), lambda: gradients))

  def reference(self, step: tf.Tensor, data: objective.Data) -> list[tf.Tensor]:
    """The gradient of the mean loss of the sample of the memory that belongs to the step."""
    return self.mean_gradient(self._sampled(step, data.places), data)

  def _sampled(self, step: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
    size = tf.size(places, out_type=tf.int64)
    if self.sample_size is not None:
      seed = tf.stack([self._seed[0] + step, self._seed[1]])
      places = tf.gather(places, memory_lib.sample(size, seed, self.sample_size))
      places = places[:tf.minimum(size, self.sample_size)]
    return places

  def mean_gradient(self, places: tf.Tensor, data: objective.Data) -> list[tf.Tensor]:
    """The gradient of the mean loss of the rows at these places, int64 [n], n > 0."""
    num, variables = tf.size(places), self.variables_to_follow
    known = None if data.classes is None else data.classes.known

    def add(first, totals):
      chosen = places[first:first + self.chunk]
      with tf.GradientTape() as tape:
        loss = tf.reduce_sum(self._losses_of(
            tf.gather(data.images, chosen), tf.gather(data.labels, chosen), known))
      parts = tape.gradient(loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
      return first + self.chunk, [t + p for t, p in zip(totals, parts)]

    zeros = [tf.zeros_like(v) for v in variables]
    _, totals = tf.while_loop(
        lambda first, _: first < num, add, [tf.constant(0), zeros], parallel_iterations=1)
    return [t / tf.cast(num, t.dtype) for t in totals]

  def cost(self, counter: objective.Counter) -> flops.Cost:
    # The loop over the memory depends on data; the same in one batch can be counted.
    used = min(counter.held, self.sample_size or counter.held)
    if not used:
      return counter.update(lambda gradients: gradients)
    return counter.gradient(used) + counter.update(lambda g: projected(g, g))

  def passes(self, incoming: int, replayed: int, held: int) -> tuple[int, int]:
    return incoming + replayed + min(held, self.sample_size or held), 0


def projected(gradients: Sequence[tf.Tensor], reference: Sequence[tf.Tensor]) -> list[tf.Tensor]:
  """Gradients without their part against the reference, if they go against it at all."""
  product = dot(gradients, reference)
  # Where the product is not negative nothing is taken away; 0 / 0 is 0.
  share = tf.math.divide_no_nan(tf.minimum(product, 0.0), dot(reference, reference))
  return [g - share * r for g, r in zip(gradients, reference)]


def dot(first: Sequence[tf.Tensor], second: Sequence[tf.Tensor]) -> tf.Tensor:
  """The inner product over all parameters, []."""
  return tf.add_n([tf.reduce_sum(a * b) for a, b in zip(first, second)])
