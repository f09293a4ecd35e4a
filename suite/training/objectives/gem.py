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

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.memories import step_rows
from suite.training.objectives import objective

# Added to the diagonal of G G', relative to its largest entry: float32 products are no more exact.
_RIDGE = 1e-6


class Agem(objective.Objective):
  """Projects gradients; while the memory is empty, they stay as they are.

  Args:
    sample_size: examples of the memory that r is made of, others in each step; 256 as in the
      authors' code (github.com/facebookresearch/agem at 4542149, conv_split_cifar.py). None: all
      that are held, as in CLEAR's experiments.
    chunk: examples whose gradient is made at once.
  """

  needs = frozenset({objective.MEMORY})

  def __init__(self, sample_size: int | None = 256, chunk: int = 64):
    super().__init__()
    for name, value in (("sample_size", sample_size), ("chunk", chunk)):
      if value is not None and value < 1:
        raise ValueError(f"Agem.{name} is {value}; it must be at least 1.")
    self.sample_size, self.chunk = sample_size, chunk

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del model, backbone
    self._seed = seed
    self.steps = tf.Variable(0, trainable=False, name="agem_step")

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    gradients = dense(net, net.gradients(net.cross_entropy(net.logits(both), both.labels)))
    number = self.steps.assign_add(1)
    if memory.places is not None:
      gradients = projected(gradients, net.mean_gradient(
          memory, self._sample(memory, number), self.chunk))
    net.follow(gradients)
    memory.store(rows)

  def _sample(self, memory: step_rows.StepMemory, number: tf.Tensor) -> tf.Tensor:
    """Places of the rows that r is made of in a step, int64 [n]."""
    places: Any = memory.places
    if self.sample_size is None:
      return places
    size = tf.size(places, out_type=tf.int64)
    seed = tf.stack([self._seed[0] + number, self._seed[1]])
    drawn = tf.gather(places, memory_lib.sample(size, seed, self.sample_size))
    known = places.shape[0]
    return drawn[:tf.minimum(size, self.sample_size) if known is None
                 else min(known, self.sample_size)]


def dense(net: Any, gradients: Sequence[tf.Tensor | None]) -> list[tf.Tensor]:
  """Gradients as dense tensors; zeros where a variable has no part in the loss."""
  return [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g)
          for g, v in zip(gradients, net.variables)]


def projected(gradients: Sequence[tf.Tensor], reference: Sequence[tf.Tensor]) -> list[tf.Tensor]:
  """Gradients without their part against the reference, if they go against it at all."""
  product = dot(gradients, reference)
  # Where the product is not negative nothing is taken away; 0 / 0 is 0.
  share = tf.math.divide_no_nan(tf.minimum(product, 0.0), dot(reference, reference))
  return [g - share * r for g, r in zip(gradients, reference)]


def dot(first: Sequence[tf.Tensor], second: Sequence[tf.Tensor]) -> tf.Tensor:
  """The inner product over all parameters, []."""
  return tf.add_n([tf.reduce_sum(a * b) for a, b in zip(first, second)])


class Gem(Agem):
  """Projects gradients by a quadratic program; see the module.

  The memory keeps the rows of each bucket apart: `reservoir.GroupBalanced` by "bucket". Every
  row is looked at in each step, and G is held in memory.

  Args:
    margin: the least v, at least 0. chunk: examples whose gradient is made at once.
  """

  needs = frozenset({objective.MEMORY, objective.BUCKETS})

  def __init__(self, margin: float = 0.5, chunk: int = 64):
    super().__init__(None, chunk)
    if not margin >= 0:
      raise ValueError(f"Gem.margin is {margin}; it must be at least 0.")
    self.margin = margin

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    gradients = dense(net, net.gradients(net.cross_entropy(net.logits(both), both.labels)))
    if memory.places is not None:
      references = self._references(net, memory)
      products = tf.linalg.matvec(references, flat(gradients))
      gram = tf.matmul(references, references, transpose_b=True)

      def moved() -> list[tf.Tensor]:
        weights = products + tf.linalg.diag_part(gram) if net.is_counted else tf.ensure_shape(
            tf.numpy_function(lambda a, b: dual(a, b, self.margin), [gram, products], tf.float32),
            [None])  # The program in T numbers is not counted.
        return _moved(gradients, references, weights)

      gradients = moved() if net.is_counted else tf.cond(
          tf.reduce_any(products < 0.0), moved, lambda: gradients)
    net.follow(gradients)
    memory.store(rows)

  def _references(self, net: Any, memory: step_rows.StepMemory) -> tf.Tensor:
    """G, [T, P], a row for each group of the memory."""
    if memory.num_groups:  # As many gradients of a row as there are rows.
      return tf.stack([flat(net.mean_gradient(memory, memory.places, self.chunk))]
                      * memory.num_groups)
    groups, _ = tf.unique(memory.groups)

    def mean(group: tf.Tensor) -> tf.Tensor:
      return flat(net.mean_gradient(
          memory, tf.boolean_mask(memory.places, memory.groups == group), self.chunk))

    return tf.map_fn(mean, groups, fn_output_signature=tf.float32, parallel_iterations=1)


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


def _moved(gradients: Sequence[tf.Tensor], references: tf.Tensor, weights: tf.Tensor
           ) -> list[tf.Tensor]:
  """Gradients plus G' weights, in their shapes."""
  moves = tf.linalg.matvec(references, weights, transpose_a=True)
  parts = tf.split(moves, [g.shape.num_elements() for g in gradients])
  return [g + tf.reshape(p, g.shape) for g, p in zip(gradients, parts)]
