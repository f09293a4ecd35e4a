# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Least squares of one-hot labels on the leading directions of the features (LoRanPAC).

Peng et al. (2025) lift features to many more than there are samples, so that X^T X has eigenvalues
next to 0, whose inverses ruin the solution. They keep the leading singular values s_i and right
vectors u_i of X alone, set by set,

    [diag(s) U^T; X of the set] = its singular value decomposition, cut to the k largest
    k = min(round((1 - t) N), round((1 - t) D), rank)        N samples so far
    V = U diag(s)^-2 U^T X^T Y                               X^T Y is a sum, and exact

where t, the share that is cut, acts like a ridge. No row of X is kept. Here the decomposition is
that of the Gram matrix of the rows above, in float64, an eigenproblem of as many equations as there
are rows, k and the new ones; the rows s_i u_i are the state. What is cut depends on the order of
the sets, so states are not merged, and single samples are added in offline phases, as a set.

Letters: N samples so far, B samples of a set, C classes, D features, R rows.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from suite.training.statistics import ridge_sums
from suite.training.statistics import statistic

_MOST_BYTES = 8 * 2**30


class Factors(NamedTuple):
  """basis float32 [R, D], rows s_i u_i^T from the largest s on, then 0; cross float64 [D, C], the
  sum X^T Y; counts [C]."""

  basis: tf.Tensor
  cross: tf.Tensor
  counts: tf.Tensor


@dataclasses.dataclass(frozen=True)
class TruncatedFactors(statistic.Statistic):
  """LoRanPAC's least squares; about 1 for the class of a sample.

  Attributes:
    rank: the most directions that are kept; the authors' 10,000.
    share: t, of the singular values that are cut; the authors' 0.25. 0: only what exceeds the rank.
  """

  rank: int = 10000
  share: float = 0.25

  sets_only = True

  def __post_init__(self):
    if self.rank < 1 or not 0.0 <= self.share < 1.0:
      raise ValueError(f"rank is {self.rank} and share {self.share}; rank must be at least 1, and "
                       "share at least 0 and below 1.")

  def of_sets(self) -> TruncatedFactors:
    return self

  def zero(self, num_classes: int, num_features: int) -> Factors:
    return self._zero(0, num_classes, num_features)

  def episode_zero(self, num_classes: int, num_features: int) -> Factors:
    """Returns the state of no sample, with all rows: within a graph their number stays."""
    return self._zero(self._most(num_features), num_classes, num_features)

  def _zero(self, rows: int, num_classes: int, num_features: int) -> Factors:
    needed = 4 * self._most(num_features) * num_features
    if needed > _MOST_BYTES:
      raise ValueError(
          f"{self._most(num_features)} directions of {num_features} features need "
          f"{needed / 2**30:.1f} GiB; {_MOST_BYTES // 2**30} GiB are allowed. Take a smaller rank, "
          "or fewer features.")
    return Factors(tf.zeros([rows, num_features]),
                   tf.zeros([num_features, num_classes], tf.float64), tf.zeros([num_classes]))

  def _most(self, num_features: int) -> int:
    return max(1, min(self.rank, round((1.0 - self.share) * num_features)))

  def unsolved(self, num_classes: int, num_features: int) -> ridge_sums.Weights:
    return ridge_sums.Weights(tf.zeros([num_features, num_classes]))

  def add(self, state: Factors, codes: tf.Tensor, labels: tf.Tensor) -> Factors:
    one_hot = tf.one_hot(labels, state.counts.shape[0])
    counts = state.counts + tf.reduce_sum(one_hot, axis=0)
    rows = tf.concat([state.basis, codes], axis=0)
    num, width = rows.shape
    exact = tf.cast(rows, tf.float64)
    values, vectors = tf.linalg.eigh(tf.matmul(exact, exact, transpose_b=True))  # Ascending.
    most = self._most(width)
    leading = tf.reverse(vectors[:, -min(most, num):], axis=[1])
    squares = tf.reverse(values[-min(most, num):], axis=[0])
    places = tf.range(min(most, num), dtype=tf.float32)
    is_kept = (places < self._kept(counts)) & _counts(squares, values)
    basis = tf.where(is_kept[:, None], tf.matmul(leading, exact, transpose_a=True), 0.0)
    cross = tf.matmul(tf.cast(codes, tf.float64), tf.cast(one_hot, tf.float64), transpose_a=True)
    return Factors(tf.cast(basis, tf.float32), state.cross + cross, counts)

  def _kept(self, counts: tf.Tensor) -> tf.Tensor:
    return tf.round((1.0 - self.share) * tf.reduce_sum(counts))

  def trimmed(self, state: Factors) -> Factors:
    # By the number of samples, whatever they are, so that a rehearsal has the same rows.
    return state._replace(basis=state.basis[:int(self._kept(state.counts))])

  def solve(self, state: Factors) -> ridge_sums.Weights:
    basis = tf.cast(state.basis, tf.float64)
    squares = tf.reduce_sum(tf.square(basis), axis=1)  # s_i^2
    products = tf.matmul(basis, state.cross)  # diag(s) U^T X^T Y
    scaled = tf.math.divide_no_nan(products, tf.square(squares)[:, None])
    return ridge_sums.Weights(tf.matmul(basis, scaled, transpose_a=True))

  def answers(self, state: Factors, codes: tf.Tensor,
              solution: ridge_sums.Weights | None = None) -> tf.Tensor:
    weights = self.solve(state).weights if solution is None else solution.weights
    return tf.where(state.counts > 0.0, tf.matmul(codes, tf.cast(weights, tf.float32)),
                    statistic.NOT_SHOWN if solution is None else -float("inf"))


def _counts(squares: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
  """Which squared singular values are more than rounding."""
  return squares > ridge_sums.FLOOR[tf.float64] * tf.reduce_sum(values)
