# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GEM (Lopez-Paz & Ranzato, 2017): no step may raise the loss on any past bucket, to first order.

With G [T, P], the gradients of the mean losses of the T buckets in the memory, and g [P], that of
the step: if an entry of G g is negative,

  g <- g + G' v,    v = argmin 1/2 v' G G' v + (G g)' v    over v >= margin         (equation 11)

With margin 0 the result is the vector nearest to g that goes against no bucket, G g >= 0. A margin
favors past buckets further; the authors' code has 0.5, and so had CLEAR's. A-GEM is the case of one
bucket.

A-GEM (Chaudhry et al., 2019): no step may raise the loss on a memory, to first order.

  g <- g - (g . r) / (r . r) * r        if g . r < 0; r is the gradient of the memory's mean loss

Afterwards g . r = 0.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np
import scipy.linalg
import scipy.optimize
import tensorflow as tf

from suite.compute import flops
from suite.training.memories import memory
from suite.training.objectives import objective


class Agem(objective.Objective):
  """Projects gradients; while the memory is empty, they stay as they are.

  Args:
    sample_size: examples of the memory that r is made of, others in each step; 256 as in the
      authors' code (github.com/facebookresearch/agem at 4542149, conv_split_cifar.py). None: all
      that are held, as in CLEAR's experiments.
    chunk: examples whose gradient is made at once.
  """

  needs_memory = True

  def __init__(self, sample_size: int | None = 256, chunk: int = 64):
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
    places = data.places
    size = tf.size(places, out_type=tf.int64)
    if self.sample_size is not None:
      seed = tf.stack([self._seed[0] + step, self._seed[1]])
      places = tf.gather(places, memory.sample(size, seed, self.sample_size))
      places = places[:tf.minimum(size, self.sample_size)]
    return self.mean_gradient(places, data)

  def mean_gradient(self, places: tf.Tensor, data: objective.Data) -> list[tf.Tensor]:
    """The gradient of the mean loss of the rows at these places, int64 [n], n > 0."""
    num, variables = tf.size(places), self.variables_to_follow
    known = None if data.classes is None else data.classes.known

    def add(first, totals):
      chosen = places[first:first + self.chunk]
      with tf.GradientTape() as tape:
        loss = tf.reduce_sum(self._losses_of(
            tf.gather(data.codes, chosen), tf.gather(data.labels, chosen), known))
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


# Added to the diagonal of G G', relative to its largest entry: float32 products are no more exact.
_RIDGE = 1e-6


class Gem(Agem):
  """Projects gradients by a quadratic program; see the module.

  The memory keeps the rows of each bucket apart: `reservoir.GroupBalanced` by "bucket". Every
  row is looked at in each step, and G is held in memory.

  Args:
    margin: the least v, at least 0. chunk: examples whose gradient is made at once.
  """

  reads_groups = True

  def __init__(self, margin: float = 0.5, chunk: int = 64):
    super().__init__(None, chunk)
    if not margin >= 0:
      raise ValueError(f"Gem.margin is {margin}; it must be at least 0.")
    self.margin = margin

  def gradients(self, gradients: Sequence[tf.Tensor], data: objective.Data) -> list[tf.Tensor]:
    followed = self.variables_to_follow
    gradients = [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g)
                 for g, v in zip(gradients, followed)]

    def projected() -> list[tf.Tensor]:
      references = self.references(data)
      products, gram = _products(gradients, references)

      def moved() -> list[tf.Tensor]:
        solution = tf.numpy_function(
            lambda a, b: dual(a, b, self.margin), [gram, products], tf.float32)
        return _moved(gradients, references, tf.ensure_shape(solution, [None]))

      return tf.cond(tf.reduce_any(products < 0.0), moved, lambda: list(gradients))

    return list(tf.cond(tf.size(data.places) > 0, projected, lambda: gradients))

  def references(self, data: objective.Data) -> tf.Tensor:
    """G, [T, P], a row for each group of the memory."""
    groups, _ = tf.unique(data.groups)

    def mean(group: tf.Tensor) -> tf.Tensor:
      return flat(self.mean_gradient(tf.boolean_mask(data.places, data.groups == group), data))

    return tf.map_fn(mean, groups, fn_output_signature=tf.float32, parallel_iterations=1)

  def cost(self, counter: objective.Counter) -> flops.Cost:
    """The gradients and the products of them; the program in T numbers is not counted."""
    if not counter.held:
      return counter.update(lambda gradients: gradients)

    def change(gradients: Sequence[tf.Tensor]) -> list[tf.Tensor]:
      references = tf.stack([flat(gradients)] * counter.groups)
      products, gram = _products(gradients, references)
      with tf.control_dependencies([gram]):
        return _moved(gradients, references, products + tf.linalg.diag_part(gram))

    return counter.gradient(counter.held) + counter.update(change)


def dual(gram: np.ndarray, products: np.ndarray, margin: float) -> np.ndarray:
  """argmin 1/2 v' A v + b' v over v >= margin, from A = G G' [T, T] and b = G g [T]; float32 [T].

  With A = L L' and v = margin + u it is the least squares problem |L' u + L^-1 (b + A margin)|^2
  over u >= 0, which `scipy.optimize.nnls` solves exactly.
  """
  gram, products = gram.astype(np.float64), products.astype(np.float64)
  largest = gram.diagonal().max()
  if not (largest > 0 and np.isfinite(gram).all() and np.isfinite(products).all()):
    return np.zeros(len(products), np.float32)  # No bucket has a gradient, or training diverged.
  # To the scale of 1.
  gram, products = gram / largest + _RIDGE * np.eye(len(gram)), products / largest
  lower = np.linalg.cholesky(gram)
  target = scipy.linalg.solve_triangular(lower, products + gram.sum(1) * margin, lower=True)
  return (margin + scipy.optimize.nnls(lower.T, -target)[0]).astype(np.float32)


def flat(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
  """All entries one after the other, [P]."""
  return tf.concat([tf.reshape(t, [-1]) for t in tensors], 0)


def _products(gradients: Sequence[tf.Tensor], references: tf.Tensor
              ) -> tuple[tf.Tensor, tf.Tensor]:
  """(G g, [T]; G G', [T, T])."""
  return (tf.linalg.matvec(references, flat(gradients)),
          tf.matmul(references, references, transpose_b=True))


def _moved(gradients: Sequence[tf.Tensor], references: tf.Tensor, weights: tf.Tensor
           ) -> list[tf.Tensor]:
  """Gradients plus G' weights, in their shapes."""
  moves = tf.linalg.matvec(references, weights, transpose_a=True)
  parts = tf.split(moves, [g.shape.num_elements() for g in gradients])
  return [g + tf.reshape(p, g.shape) for g, p in zip(gradients, parts)]
