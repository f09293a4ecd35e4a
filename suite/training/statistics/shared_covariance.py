# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means and one covariance for all classes: streaming LDA (SLDA; Hayes & Kanan, 2020).

A sample z with label y, after t samples of which n_y have its class, changes

    scatter   S <- S + w d d^T     d = z - m_y, m_y being 0 at first
              w = t / (t + 1) ("steps"), or n_y / (n_y + 1) ("class")
    mean      m_y <- (n_y m_y + z) / (n_y + 1)

    P = ((1 - e) S / t + e I)^-1          logit of class c    z^T P m_c - m_c^T P m_c / 2

The published recursion of the covariance is "steps", multiplied by t. It counts the first sample of
a class as spread within the class, and depends on the order of all samples. With "class", S is
exactly the scatter about the final means.

The shrinkage may be that of the oracle approximating shrinkage (OAS; Chen et al., 2010), toward
the mean variance m of the D features instead of 1, as in RanDumb (Prabhu et al., 2024), which has
weights "class": with S for S / t, and q the mean square of its D^2 numbers,

    e = min(1, (q + m^2) / ((t + 1) (q - m^2 / D)))     P = ((1 - e) S + e m I)^-1

Samples are added in closed form: the samples of a class that come before sample i are a masked sum
over the set. In a sequence the means move with every sample, P only when it is solved; I at first.
Under one P, an answer after some samples is a function of the products z_j^T P z_t, so a block
needs no loop (compare `class_means`, whose P is I).

Letters: B samples, C classes, D features, U classes in the block.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf

from suite.training.statistics import statistic

WEIGHTS = ("steps", "class")
_MOST_BYTES = 8 * 2**30


class Scatter(NamedTuple):
  """sums [C, D] and counts [C] of the samples of each class; scatter [D, D]."""

  sums: tf.Tensor
  counts: tf.Tensor
  scatter: tf.Tensor


class Inverse(NamedTuple):
  """precision P [D, D]; solved [C, D], the sums times P; squares [C], S_c^T P S_c of the sums;
  scales [D], see `Statistic.solve`."""

  precision: tf.Tensor
  solved: tf.Tensor
  squares: tf.Tensor
  scales: Any = ()


@dataclasses.dataclass(frozen=True)
class SharedCovariance(statistic.Statistic):
  """SLDA. The state has D^2 numbers; a label costs 2 D^2 multiply-adds, `solve` about D^3.

  Attributes:
    shrinkage: e, the share of the identity in the covariance that is inverted; the paper's 1e-4 for
      a long sequence. Few samples, as in episodes, need more, such as 0.1.
    weights: w, "steps" as published, or "class"; see the module.
    oas: whether the shrinkage is that of OAS, a function of the sums, in place of `shrinkage`.
  """

  shrinkage: float = 1e-4
  weights: str = "steps"
  oas: bool = False

  has_turns = has_fallback = True

  def __post_init__(self):
    if not 0.0 < self.shrinkage <= 1.0:
      raise ValueError(f"shrinkage is {self.shrinkage}; it must be above 0 and at most 1: without "
                       "it the covariance of few samples has no inverse.")
    if self.weights not in WEIGHTS:
      raise ValueError(f"weights is {self.weights!r}; allowed are {', '.join(WEIGHTS)}.")

  def zero(self, num_classes: int, num_features: int) -> Scatter:
    needed = 8 * num_features ** 2
    if needed > _MOST_BYTES:
      raise ValueError(
          f"{num_features} features need {needed / 2**30:.1f} GiB for a covariance and its "
          f"inverse; {_MOST_BYTES // 2**30} GiB are allowed. Take fewer features.")
    return Scatter(tf.zeros([num_classes, num_features]), tf.zeros([num_classes]),
                   tf.zeros([num_features, num_features]))

  def add(self, state: Scatter, codes: tf.Tensor, labels: tf.Tensor) -> Scatter:
    is_class = tf.one_hot(labels, state.counts.shape[0])  # [B, C]
    deltas, weights = self._deltas(
        codes, tf.matmul(is_class, state.sums), tf.linalg.matvec(is_class, state.counts),
        tf.matmul(is_class, is_class, transpose_b=True), state.counts)
    return Scatter(state.sums + tf.matmul(is_class, codes, transpose_a=True),
                   state.counts + tf.reduce_sum(is_class, axis=0),
                   state.scatter + tf.matmul(deltas * weights[:, None], deltas, transpose_a=True))

  def _deltas(self, codes: tf.Tensor, sums: tf.Tensor, counts: tf.Tensor,
              same: tf.Tensor | None, all_counts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns d [B, D] and w [B] of samples that are added in their order.

    Args:
      codes: [B, D].
      sums: [B, D], of the class of each sample before the set.
      counts: [B], of these classes.
      same: float32 [B, B], 1 where two samples have one class; None: there is one sample.
      all_counts: [C], of all classes before the set.
    """
    total = tf.reduce_sum(all_counts) if self.weights == "steps" else None
    if same is not None:
      steps = tf.range(tf.shape(codes)[0])
      same *= tf.cast(steps[:, None] > steps, tf.float32)  # 1 at [i, j] for j before i.
      counts += tf.reduce_sum(same, axis=1)
      sums += tf.matmul(same, codes)
      total = None if total is None else total + tf.cast(steps, tf.float32)
    before = counts if total is None else tf.reshape(total, [-1])
    return codes - sums / tf.maximum(counts, 1.0)[:, None], before / (before + 1.0)

  def merge(self, a: Scatter, b: Scatter) -> Scatter:
    """Returns the state of both; with "steps" the order of samples is lost, so that is refused."""
    if self.weights == "steps":
      raise ValueError("States with weights='steps' depend on the order of all samples and cannot "
                       "be merged. Take weights='class'.")
    # The scatters of two groups and that of their means, n n' / (n + n') d d^T.
    means = [part.sums / tf.maximum(part.counts, 1.0)[:, None] for part in (a, b)]
    apart, counts = means[1] - means[0], a.counts + b.counts
    weights = a.counts * b.counts / tf.maximum(counts, 1.0)
    return Scatter(a.sums + b.sums, counts, a.scatter + b.scatter + tf.matmul(
        apart * weights[:, None], apart, transpose_a=True))

  def _shrunk(self, scatter: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    """Returns (1 - e) S / t + e I, or with e m I, float64 [D, D]."""
    total = tf.maximum(tf.reduce_sum(counts), 1.0)
    covariance = (scatter + tf.transpose(scatter)) / (2.0 * total)
    eye = tf.eye(scatter.shape[0], dtype=tf.float64)
    if not self.oas:
      return (1.0 - self.shrinkage) * covariance + self.shrinkage * eye
    mean = tf.linalg.trace(covariance) / scatter.shape[0]
    square = tf.reduce_mean(tf.square(covariance))
    spread = (total + 1.0) * (square - tf.square(mean) / scatter.shape[0])
    share = tf.where(spread > 0.0, tf.minimum(
        tf.math.divide_no_nan(square + tf.square(mean), spread), 1.0), 1.0)
    # Without any spread within classes, the identity.
    return (1.0 - share) * covariance + tf.where(mean > 0.0, share * mean, 1.0) * eye

  def answers(self, state: Scatter, codes: tf.Tensor, solution: Inverse | None = None) -> tf.Tensor:
    """Returns logits [B, C]; see `Statistic`. Without a solution, about D^3 / 3 multiply-adds."""
    if solution is not None:
      products = tf.matmul(solution.solved, codes, transpose_b=True)
      return tf.transpose(
          _logits(products, state.counts[:, None], solution.squares[:, None]))
    sums, counts, scatter = (tf.cast(part, tf.float64) for part in state)
    means = sums / tf.maximum(counts, 1.0)[:, None]  # [C, D]
    solved = tf.linalg.cholesky_solve(
        tf.linalg.cholesky(self._shrunk(scatter, counts)), tf.transpose(means))  # P m, [D, C].
    offsets = 0.5 * tf.reduce_sum(means * tf.transpose(solved), axis=1)
    found = tf.matmul(codes, tf.cast(solved, tf.float32)) - tf.cast(offsets, tf.float32)
    return tf.where(state.counts > 0.0, found, statistic.NOT_SHOWN)

  def solve(self, state: Scatter, added: float = 0.0) -> Inverse:
    sums, counts, scatter = (tf.cast(part, tf.float64) for part in state)
    eye = tf.eye(state.scatter.shape[0], dtype=tf.float64)
    factor = statistic.factor(self._shrunk(scatter, counts), added)
    precision = tf.linalg.cholesky_solve(factor, eye)
    solved = tf.matmul(sums, precision)
    return Inverse(precision, solved, tf.reduce_sum(sums * solved, axis=1),
                   tf.linalg.diag_part(factor))

  def unsolved(self, num_classes: int, num_features: int) -> Inverse:
    return Inverse(tf.eye(num_features), tf.zeros([num_classes, num_features]),
                   tf.zeros([num_classes]))

  def update(self, state: Scatter, solution: Inverse, codes: tf.Tensor, labels: tf.Tensor) -> None:
    same = None
    if codes.shape[0] != 1:
      same = tf.cast(labels[:, None] == labels, tf.float32)
    deltas, weights = self._deltas(codes, tf.gather(state.sums, labels),
                                   tf.gather(state.counts, labels), same, state.counts)
    state.sums.scatter_add(tf.IndexedSlices(codes, labels))
    state.counts.scatter_add(tf.IndexedSlices(tf.ones_like(codes[:, 0]), labels))
    state.scatter.assign_add(tf.matmul(deltas * weights[:, None], deltas, transpose_a=True))
    solution.solved.scatter_add(tf.IndexedSlices(tf.matmul(codes, solution.precision), labels))
    rows = tf.gather(state.sums, labels) * tf.gather(solution.solved, labels)
    solution.squares.scatter_update(tf.IndexedSlices(tf.reduce_sum(rows, axis=1), labels))

  def answers_in_turn(self, state: Scatter, solution: Inverse, codes: tf.Tensor, labels: tf.Tensor
                      ) -> tf.Tensor:
    products = tf.matmul(solution.solved, codes, transpose_b=True)  # [C, B]
    counts, squares = state.counts[:, None], solution.squares[:, None]
    found = _logits(products, counts, squares)
    # Again for the classes of the block, with the samples that it has added by each step.
    block = statistic.Block(labels)
    gram = tf.matmul(tf.matmul(codes, solution.precision), codes, transpose_b=True)
    products = block.moved(products, gram)
    # (S + z)^T P (S + z) = S^T P S + 2 z^T P S + z^T P z.
    own = 2.0 * block.own(products) + tf.linalg.diag_part(gram)
    within = _logits(products, block.moved(counts), block.moved(squares, own[:, None]))
    return block.put(found, within)


def _logits(products: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor) -> tf.Tensor:
  """Returns [C, B] of z^T P S_c; n_c and S_c^T P S_c, both [C, B] or [C, 1]."""
  some = tf.maximum(counts, 1.0)
  offset = tf.where(counts > 0.0, 0.5 * squares / tf.square(some), float("inf"))
  return products / some - offset
