# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means and one covariance for all classes, sample by sample (Hayes & Kanan, 2020).

A sample z with label y, after t samples of which n_y have its class, changes

    scatter   S <- S + w d d^T     d = z - m_y, m_y being 0 at first
              w = t / (t + 1) ("steps"), or n_y / (n_y + 1) ("class")
    mean      m_y <- (n_y m_y + z) / (n_y + 1)

    P = ((1 - e) S / t + e I)^-1          logit of class c    z^T P m_c - m_c^T P m_c / 2

The published recursion of the covariance is "steps", multiplied by t. It counts the first sample of
a class as spread within the class. With "class", S is exactly the scatter about the final means.
The means move with every sample, P only when `solve` is called. Under one P, an answer after some
samples is a function of the products z_j^T P z_t, so a block needs no loop (compare
`running_centroids.py`, whose P is I).

Letters: B samples, C classes, D features, U classes in the block.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import user_code

WEIGHTS = ("steps", "class")


def check(shrinkage: float, weights: str) -> None:
  """Raises an error unless 0 < shrinkage <= 1 and weights is one of `WEIGHTS`."""
  if not 0.0 < shrinkage <= 1.0:
    raise ValueError(f"shrinkage is {shrinkage}; it must be above 0 and at most 1: without it "
                     "the covariance of few samples has no inverse.")
  if weights not in WEIGHTS:
    raise ValueError(f"weights is {weights!r}; allowed are {', '.join(WEIGHTS)}.")


class RunningDiscriminant(tf.Module):
  """Means [C, D], scatter [D, D] and its shrunk inverse P, I at first.

  Args:
    num_classes: C.
    num_features: D.
    shrinkage: e.
    weights: w, see the module.
  """

  def __init__(self, num_classes: int, num_features: int, *, shrinkage: float = 1e-4,
               weights: str = "steps"):
    super().__init__()
    check(shrinkage, weights)
    self._shrinkage, self._weights = shrinkage, weights
    shape = [num_classes, num_features]
    self.sums = _variable(tf.zeros(shape), "sums")
    self.counts = _variable(tf.zeros([num_classes]), "counts")
    self.scatter = _variable(tf.zeros([num_features, num_features]), "scatter")
    self.precision = _variable(tf.eye(num_features), "precision")
    self.solved = _variable(tf.zeros(shape), "solved")  # Sums times P.
    self.squares = _variable(tf.zeros([num_classes]), "squares")  # S_c^T P S_c.
    self.add_chunk = user_code.compiled(self.add, input_signature=[
        tf.TensorSpec([None, num_features]), tf.TensorSpec([None], tf.int64)])
    self.solve_compiled = user_code.compiled(self.solve, input_signature=[])
    self._solve_cost: flops.Cost | None = None

  @property
  def num_nonempty(self) -> int:
    """The number of classes with a sample."""
    return int(np.count_nonzero(self.counts.numpy()))

  @property
  def answer_macs(self) -> int:
    """Multiply-adds of the answer to a sample: D a class."""
    return int(self.sums.shape.num_elements())

  def answer(self, features: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D]; -inf for classes without a sample.

    D multiply-adds a class.
    """
    products = tf.matmul(self.solved.read_value(), features, transpose_b=True)
    return tf.transpose(_logits(products, self.counts[:, None], self.squares[:, None]))

  def add(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds samples [B, D] with labels int64 [B], in their order: 2 D^2 multiply-adds each."""
    deltas, weights = self._move_means(features, labels)
    self.scatter.assign_add(tf.matmul(deltas * weights[:, None], deltas, transpose_a=True))
    self.solved.scatter_add(tf.IndexedSlices(tf.matmul(features, self.precision), labels))
    rows = tf.gather(self.sums, labels) * tf.gather(self.solved, labels)
    self.squares.scatter_update(tf.IndexedSlices(tf.reduce_sum(rows, axis=1), labels))

  def _move_means(self, features: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Adds to sums and counts; returns d [B, D] and w [B]."""
    num = tf.size(labels)

    def body(i: tf.Tensor, deltas: tf.TensorArray, weights: tf.TensorArray
             ) -> tuple[tf.Tensor, tf.TensorArray, tf.TensorArray]:
      label = labels[i]
      count = self.counts[label]
      before = tf.reduce_sum(self.counts) if self._weights == "steps" else count
      deltas = deltas.write(i, features[i] - self.sums[label] / tf.maximum(count, 1.0))
      weights = weights.write(i, before / (before + 1.0))
      self.sums.scatter_add(tf.IndexedSlices(features[i][None], label[None]))
      self.counts.scatter_add(tf.IndexedSlices(tf.ones([1]), label[None]))
      return i + 1, deltas, weights

    _, deltas, weights = tf.while_loop(lambda i, *_: i < num, body, [
        0, tf.TensorArray(tf.float32, num, element_shape=features.shape[1:]),
        tf.TensorArray(tf.float32, num, element_shape=[])])
    return deltas.stack(), weights.stack()

  def solve(self) -> None:
    """Computes P from the samples so far, in float64: about D^3 + D^2 C multiply-adds."""
    total = tf.cast(tf.maximum(tf.reduce_sum(self.counts), 1.0), tf.float64)
    eye = tf.eye(self.scatter.shape[0], dtype=tf.float64)
    scatter = tf.cast(self.scatter, tf.float64)
    scatter = (scatter + tf.transpose(scatter)) / 2.0
    shrunk = (1.0 - self._shrinkage) * scatter / total + self._shrinkage * eye
    precision = tf.linalg.cholesky_solve(tf.linalg.cholesky(shrunk), eye)
    sums = tf.cast(self.sums, tf.float64)
    solved = tf.matmul(sums, precision)
    self.precision.assign(tf.cast(precision, tf.float32))
    self.solved.assign(tf.cast(solved, tf.float32))
    self.squares.assign(tf.cast(tf.reduce_sum(sums * solved, axis=1), tf.float32))

  def solve_cost(self) -> flops.Cost:
    """Returns the cost of `solve`."""
    if self._solve_cost is None:
      self._solve_cost = flops.count(self.solve_compiled.get_concrete_function())
    return self._solve_cost

  def answer_in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C], each as if the samples before it had been added; adds nothing."""
    products = tf.matmul(self.solved.read_value(), features, transpose_b=True)  # [C, B]
    counts, squares = self.counts.read_value()[:, None], self.squares.read_value()[:, None]
    found = _logits(products, counts, squares)
    # Again for the classes of the block, with the samples that it has added by each step.
    classes, places = tf.unique(labels)
    member = tf.one_hot(places, tf.size(classes), axis=0)  # [U, B]
    steps = tf.range(tf.size(labels))
    later = tf.cast(steps[:, None] < steps, tf.float32)
    gram = tf.matmul(tf.matmul(features, self.precision), features, transpose_b=True)
    products = tf.gather(products, classes) + tf.matmul(member, gram * later)
    # (S + z)^T P (S + z) = S^T P S + 2 z^T P S + z^T P z.
    own = 2.0 * tf.reduce_sum(products * member, axis=0) + tf.linalg.diag_part(gram)
    added = tf.matmul(tf.concat([member, member * own], 0), later)
    num_added, squares_added = tf.split(added, 2)
    within = _logits(products, tf.gather(counts, classes) + num_added,
                     tf.gather(squares, classes) + squares_added)
    return tf.transpose(tf.tensor_scatter_nd_update(found, classes[:, None], within))


def _logits(products: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor) -> tf.Tensor:
  """Returns [C, B] of z^T P S_c; n_c and S_c^T P S_c, both [C, B] or [C, 1]."""
  some = tf.maximum(counts, 1.0)
  offset = tf.where(counts > 0.0, 0.5 * squares / tf.square(some), float("inf"))
  return products / some - offset


def _variable(value: tf.Tensor, name: str) -> tf.Variable:
  return tf.Variable(value, trainable=False, name=name)
