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
are rows, k and the new ones; the rows s_i u_i are the state, so that only products with new rows
are not known. What is cut depends on the order of the sets, so states are not merged, and single
samples are added in offline phases, as a set.

Letters: N samples so far, B samples of a set, C classes, D features, R rows.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import NamedTuple

import tensorflow as tf

from suite.training.statistics import ridge_sums
from suite.training.statistics import statistic

_MOST_BYTES = 8 * 2**30
_COLUMNS = 8192  # In float64 at once.


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
    width = codes.shape[1]
    most = min(self._most(width), state.basis.shape[0] + codes.shape[0])
    values, vectors = tf.linalg.eigh(_gram(state.basis, codes))  # Ascending.
    leading = tf.reverse(vectors[:, -most:], axis=[1])
    squares = tf.reverse(values[-most:], axis=[0])
    places = tf.range(most, dtype=tf.float32)
    is_more_than_rounding = squares > ridge_sums.FLOOR[tf.float64] * tf.reduce_sum(values)
    is_kept = (places < self._kept(counts)) & is_more_than_rounding
    leading = tf.where(is_kept, leading, 0.0)
    above, below = leading[:state.basis.shape[0]], leading[state.basis.shape[0]:]
    basis = _in_parts(width, lambda part: tf.cast(
        tf.matmul(above, _exact(state.basis[:, part]), transpose_a=True) +
        tf.matmul(below, _exact(codes[:, part]), transpose_a=True), tf.float32))
    cross = _in_parts(width, lambda part: tf.math.unsorted_segment_sum(
        _exact(codes[:, part]), labels, state.counts.shape[0]))
    return Factors(tf.concat(basis, axis=1),
                   state.cross + tf.transpose(tf.concat(cross, axis=1)), counts)

  def _kept(self, counts: tf.Tensor) -> tf.Tensor:
    return tf.round((1.0 - self.share) * tf.reduce_sum(counts))

  def trimmed(self, state: Factors) -> Factors:
    # By the number of samples, whatever they are, so that a rehearsal has the same rows.
    return state._replace(basis=state.basis[:int(self._kept(state.counts))])

  def solve(self, state: Factors, added: float = 0.0) -> ridge_sums.Weights:
    del added  # Nothing is factorized here, and the smallest singular values are cut.
    width = state.basis.shape[1]
    products = tf.add_n(_in_parts(width, lambda part: tf.matmul(
        _exact(state.basis[:, part]), state.cross[part])))  # diag(s) U^T X^T Y
    squares = _squares(state.basis)
    scaled = tf.math.divide_no_nan(products, tf.square(squares)[:, None])
    weights = _in_parts(width, lambda part: tf.matmul(
        _exact(state.basis[:, part]), scaled, transpose_a=True))
    return ridge_sums.Weights(tf.concat(weights, axis=0), tf.sqrt(squares))

  def answers(self, state: Factors, codes: tf.Tensor,
              solution: ridge_sums.Weights | None = None) -> tf.Tensor:
    weights = self.solve(state).weights if solution is None else solution.weights
    return tf.where(state.counts > 0.0, tf.matmul(codes, tf.cast(weights, tf.float32)),
                    statistic.NOT_SHOWN if solution is None else -float("inf"))


def _in_parts(width: int, function: Callable[[slice], tf.Tensor]) -> list[tf.Tensor]:
  """Returns a function of slices of D columns for all of them, one after the other.

  In float64 all columns of the rows would take three times the memory of the state.
  """
  found: list[tf.Tensor] = []
  for start in range(0, width, _COLUMNS):
    with tf.control_dependencies(found[-1:]):
      found.append(function(slice(start, start + _COLUMNS)))
  return found


def _exact(values: tf.Tensor) -> tf.Tensor:
  return tf.cast(values, tf.float64)


def _squares(basis: tf.Tensor) -> tf.Tensor:
  """Returns s_i^2, float64 [R]."""
  return tf.add_n(_in_parts(basis.shape[1], lambda part: tf.reduce_sum(
      tf.square(_exact(basis[:, part])), axis=1)))


def _gram(basis: tf.Tensor, codes: tf.Tensor) -> tf.Tensor:
  """Returns the products [R, R], float64, of all rows, those of a basis and then codes.

  Rows of a basis are orthogonal, as in `solve`: products of two of them are not computed.
  """
  def products(part: slice) -> tf.Tensor:
    own = _exact(codes[:, part])
    rows = tf.concat([_exact(basis[:, part]), own], axis=0) if basis.shape[0] else own
    return tf.matmul(rows, own, transpose_b=True)

  found = tf.add_n(_in_parts(codes.shape[1], products))  # [R, B].
  if not basis.shape[0]:
    return found
  first = tf.concat([tf.linalg.diag(_squares(basis)),
                     tf.transpose(found[:basis.shape[0]])], axis=0)
  return tf.concat([first, found], axis=1)
