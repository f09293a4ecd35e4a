# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means: sums of features by class, answered by distance, angle or product.

In a sequence the label of a sample is added before the next sample is answered. A block of B
samples needs no loop: every answer is a function of the sums S and counts n before the block and
of the earlier samples of the block. With queries q_t, keys k_t = a_t q_t (the vector that is added:
the query itself or its direction) and labels y_t, at step t

    q_t . S_c(t)  = q_t . S_c + sum_{j < t, y_j = c} q_t . k_j
    n_c(t)        = n_c       + sum_{j < t, y_j = c} 1
    |S_c(t)|^2    = |S_c|^2   + sum_{j < t, y_j = c} (2 a_j q_j . S_c(j) + |k_j|^2)

The first terms are one product of all queries with all classes. The sums are triangular (`Block`).
The result equals that of the loop up to rounding: about 1e-6 of the squared lengths of queries and
centroids in float32. Features must be finite: one NaN in a block spreads to the answers to the
other samples of the block.

Letters: B samples, C classes, D features, U classes in the block.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.contracts import tasks
from suite.training.statistics import statistic

SIMILARITIES = ("euclidean", "cosine", "dot")
_PARTS = 4  # Parts of a block: more parts make smaller Gram matrices, but more copies of the sums.
_LEAST = 1e-12  # Smaller than any length that matters.


class Sums(NamedTuple):
  """sums [C, D] and counts [C] of the samples of each class."""

  sums: tf.Tensor
  counts: tf.Tensor


class Squares(NamedTuple):
  """squares [C], the squared lengths of the sums."""

  squares: tf.Tensor


@dataclasses.dataclass(frozen=True)
class ClassMeans(statistic.Statistic):
  """Nearest class mean (NCM).

  A sample with several labels is added to each of its classes.

  Attributes:
    similarity: "euclidean" (logits are minus squared distances to the means), "cosine" (cosines of
      the angles to them) or "dot" (products with them).
    normalize: whether features are divided by their lengths before they are added.
    last_set_only: whether, in `add`, the means of a set replace those of earlier sets.
  """

  similarity: str = "euclidean"
  normalize: bool = False
  last_set_only: bool = False

  kinds = tasks.KINDS
  has_phases = False
  has_turns = True

  def __post_init__(self):
    if self.similarity not in SIMILARITIES:
      raise ValueError(
          f"Unknown similarity {self.similarity!r}; allowed are {', '.join(SIMILARITIES)}.")

  def zero(self, num_classes: int, num_features: int, dtype: tf.DType = tf.float32) -> Sums:
    return Sums(tf.zeros([num_classes, num_features], dtype), tf.zeros([num_classes], dtype))

  def add(self, state: Sums, codes: tf.Tensor, labels: tf.Tensor) -> Sums:
    keys = self._keys(codes)
    is_class = tf.one_hot(labels, state.counts.shape[0], dtype=keys.dtype)  # [B, C]
    sums, shown = tf.matmul(is_class, keys, transpose_a=True), tf.reduce_sum(is_class, axis=0)
    if self.last_set_only:
      mean = sums / tf.maximum(shown, 1.0)[:, None]
      return Sums(tf.where(shown[:, None] > 0.0, mean, state.sums), state.counts + shown)
    return self.merge(state, Sums(sums, shown))

  def merge(self, a: Sums, b: Sums) -> Sums:
    return Sums(a.sums + b.sums, a.counts + b.counts)

  def solve(self, state: Sums, added: float = 0.0) -> Squares:
    del added  # Nothing is factorized.
    return Squares(_squares(tf.cast(state.sums, tf.float64)))

  def unsolved(self, num_classes: int, num_features: int) -> Squares:
    del num_features
    return Squares(tf.zeros([num_classes]))

  def answers(self, state: Sums, codes: tf.Tensor, solution: Squares | None = None,
              scale: tf.Tensor | None = None) -> tf.Tensor:
    """Returns logits [B, C]; see `Statistic`.

    Args:
      state: the sums.
      codes: [B, D].
      solution: the squares; they spare a division and a square for each feature of each class.
      scale: without a solution, multiplies the similarities; None: 1.
    """
    if solution is not None:
      queries = self._queries(codes)
      products = tf.matmul(state.sums, queries, transpose_b=True)
      return tf.transpose(self._logits(
          products, state.counts[:, None], solution.squares[:, None], _squares(queries)))
    if self.similarity == "cosine":  # A mean and its sum have the same direction.
      found = tf.matmul(tf.math.l2_normalize(codes, axis=1),
                        tf.math.l2_normalize(state.sums, axis=1), transpose_b=True)
    else:
      weights = means(state)  # [C, D]
      found = tf.matmul(codes, weights, transpose_b=True)
      if self.similarity == "euclidean":
        squares = [tf.reduce_sum(x ** 2, axis=1) for x in (codes, weights)]  # [B], [C]
        found = 2.0 * found - squares[0][:, None] - squares[1]
    return tf.where(state.counts > 0.0, found if scale is None else scale * found,
                    statistic.NOT_SHOWN)

  def update(self, state: Sums, solution: Squares, codes: tf.Tensor, labels: tf.Tensor) -> None:
    keys = self._keys(codes)
    state.sums.scatter_add(tf.IndexedSlices(keys, labels))
    state.counts.scatter_add(tf.IndexedSlices(tf.ones_like(keys[:, 0]), labels))
    solution.squares.scatter_update(
        tf.IndexedSlices(_squares(tf.gather(state.sums, labels)), labels))

  def set_sums(self, codes: np.ndarray, labels: np.ndarray, num_classes: int) -> statistic.SetSums:
    """Returns the sums of a set; multi-hot labels [N, C] add a sample to each of its classes."""
    keys = self._keys(tf.constant(codes)).numpy() if self.normalize else codes
    sums, counts = np.zeros([num_classes, keys.shape[1]]), np.zeros(num_classes)
    for c in range(num_classes):
      members = labels[:, c] > 0 if labels.ndim == 2 else labels == c
      counts[c] = np.count_nonzero(members)
      sums[c] = np.sum(keys[members], axis=0, dtype=np.float64)
    # An addition for each feature of each label; a square, a division and an addition where they
    # are normalized; three operations for each feature of each class.
    each = int(counts.sum()) + 3 * num_classes + 3 * self.normalize * len(labels)
    return statistic.SetSums(
        Sums(tf.constant(sums), tf.constant(counts)), each * keys.shape[1])

  def answers_in_turn(self, state: Sums, solution: Squares, codes: tf.Tensor, labels: tf.Tensor,
                      moved_by: tf.Tensor | None = None) -> tf.Tensor:
    """Returns logits [B, C] in turn; see `Statistic`.

    Each part of the block starts from the sums after the part before it. These sums are cheap, so
    the parts are then computed in parallel.

    Args:
      state: sums before the block.
      solution: their squares.
      codes: [B, D].
      labels: int64 [B].
      moved_by: [C, D], added to all means.
    """
    parts = [(codes[part], labels[part]) for part in statistic.parts(tf.size(labels), _PARTS)]
    states = [(*(tf.convert_to_tensor(part) for part in (*state, *solution)),)]
    for added, added_labels in parts[:-1]:  # Sums, counts and squares after each part.
      (sums, counts, squares), keys = states[-1], self._keys(added)
      places = added_labels[:, None]
      sums = tf.tensor_scatter_nd_add(sums, places, keys)
      states.append((
          sums, tf.tensor_scatter_nd_add(counts, places, tf.ones_like(keys[:, 0])),
          tf.tensor_scatter_nd_update(squares, places, _squares(tf.gather(sums, added_labels)))))
    # Without this, a core that has made a state computes its answers before the next state.
    with tf.control_dependencies(states[-1]):
      states[1:] = [tuple(map(tf.identity, one)) for one in states[1:]]
    answers = _traced(self, moved_by is not None)
    moves = () if moved_by is None else (moved_by,)
    found = [answers(*one, *samples, *moves) for one, samples in zip(states, parts)]
    return tf.concat(found, axis=0)

  def _in_turn(self, sums: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor, codes: tf.Tensor,
               labels: tf.Tensor) -> tf.Tensor:
    queries, keys = self._queries(codes), self._keys(codes)
    query_squares, key_squares = _squares(queries), _squares(keys)
    products = tf.matmul(sums, queries, transpose_b=True)  # [C, B]
    counts, squares = counts[:, None], squares[:, None]
    found = self._logits(products, counts, squares, query_squares)
    # Again for the classes of the block, with the samples that the block has added by each step.
    block = statistic.Block(labels)
    products = block.moved(products, tf.matmul(keys, queries, transpose_b=True))
    # |S_c + k|^2 = |S_c|^2 + 2 k . S_c + |k|^2, where k . S_c = (q . S_c) |k| / |q|.
    own = block.own(products) * tf.sqrt(tf.math.divide_no_nan(key_squares, query_squares))
    within = self._logits(products, block.moved(counts),
                          block.moved(squares, (2.0 * own + key_squares)[:, None]), query_squares)
    return block.put(found, within)

  def _moved_in_turn(self, sums: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor,
                     codes: tf.Tensor, labels: tf.Tensor, moved_by: tf.Tensor) -> tf.Tensor:
    """Returns logits by w_c = m_c + r_c: one product over all classes, one over the block's."""
    queries, keys = self._queries(codes), self._keys(codes)
    query_squares = _squares(queries)
    weights = means(Sums(sums, counts)) + moved_by
    products = tf.matmul(weights, queries, transpose_b=True)  # [C, B]
    found = _similar(self.similarity, products, _squares(weights)[:, None], query_squares)
    found += _unless_empty(counts)[:, None]
    block = statistic.Block(labels)
    now = block.moved(counts[:, None])
    some = tf.maximum(now, 1.0)
    moves = tf.gather(moved_by, block.classes)
    of_moves = tf.matmul(moves, queries, transpose_b=True)
    # q . S_c is q . m_c = q . (m_c + r_c) - q . r_c, times the number of samples of the mean.
    old = tf.gather(counts, block.classes)[:, None]
    on_sums = (tf.gather(products, block.classes) - of_moves) * old + block.sums(
        tf.matmul(keys, queries, transpose_b=True) * block.later)
    lengths = tf.zeros_like(on_sums)
    if self.similarity != "dot":
      # |m + r|^2 = |S|^2 / n^2 + 2 S . r / n + |r|^2, and S as in `_in_turn`.
      key_squares = _squares(keys)
      own = block.own(on_sums) * tf.sqrt(tf.math.divide_no_nan(key_squares, query_squares))
      sum_squares = block.moved(squares[:, None], (2.0 * own + key_squares)[:, None])
      on_moves = tf.reduce_sum(tf.gather(sums, block.classes) * moves, axis=1)[:, None]
      on_moves += block.sums(tf.reduce_sum(keys * tf.gather(moved_by, labels), axis=1)[:, None]
                             * block.later)
      lengths = (sum_squares / some + 2.0 * on_moves) / some + _squares(moves)[:, None]
    within = _similar(self.similarity, on_sums / some + of_moves, lengths, query_squares)
    return block.put(found, within + _unless_empty(now))

  def _queries(self, codes: tf.Tensor) -> tf.Tensor:
    return _directions(codes) if self.similarity == "cosine" else codes

  def _keys(self, codes: tf.Tensor) -> tf.Tensor:
    return _directions(codes) if self.normalize else codes

  def _logits(self, products: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor,
              query_squares: tf.Tensor) -> tf.Tensor:
    """Returns [C, B] of q . S; n and |S|^2, both [C, B] or [C, 1]; and |q|^2, [B]."""
    some = tf.maximum(counts, 1.0)
    offset = -_unless_empty(counts)
    if self.similarity == "cosine":
      return products * tf.math.rsqrt(tf.maximum(squares, _LEAST)) - offset
    if self.similarity == "dot":
      return products * (1.0 / some) - offset
    offset += squares / tf.square(some)
    return tf.minimum(products * (2.0 / some) - offset - query_squares, 0.0)


@functools.cache
def _traced(statistic_of: ClassMeans, moved: bool) -> Any:
  """The answers to a part, traced once: a graph that is made of several parts calls the trace."""
  return tf.function(statistic_of._moved_in_turn if moved else statistic_of._in_turn,
                     autograph=False, reduce_retracing=True)


def means(state: Sums) -> tf.Tensor:
  """Returns class means [C, D]; zeros for classes without a sample."""
  return state.sums / tf.maximum(state.counts, 1.0)[:, None]


def similarity_of(similarity: str, features: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
  """Returns the similarities [B, C] of features [B, D] and vectors [C, D]."""
  queries = _directions(features) if similarity == "cosine" else features
  products = tf.matmul(queries, weights, transpose_b=True)
  if similarity == "dot":
    return products
  return tf.transpose(_similar(similarity, tf.transpose(products), _squares(weights)[:, None],
                               _squares(queries)))


def _similar(similarity: str, products: tf.Tensor, squares: tf.Tensor, query_squares: tf.Tensor
             ) -> tf.Tensor:
  """Returns the similarities of queries q and vectors w: [C, B].

  Args:
    similarity: one of `SIMILARITIES`.
    products: q . w, [C, B]; q is a direction where the similarity is "cosine".
    squares: |w|^2, [C, B] or [C, 1].
    query_squares: |q|^2, [B].
  """
  if similarity == "dot":
    return products
  if similarity == "cosine":
    return products * tf.math.rsqrt(tf.maximum(squares, _LEAST))
  return tf.minimum(2.0 * products - squares - query_squares, 0.0)


def _unless_empty(counts: tf.Tensor) -> tf.Tensor:
  """Returns 0 for classes with a sample and -inf for others, in the shape of counts."""
  return tf.where(counts > 0.0, 0.0, -float("inf"))


def _squares(vectors: tf.Tensor) -> tf.Tensor:
  """Returns squared lengths [B] of vectors [B, D]."""
  return tf.reduce_sum(tf.square(vectors), axis=1)


def _directions(features: tf.Tensor) -> tf.Tensor:
  """Returns features [B, D] divided by their lengths; zeros stay zeros."""
  return features * tf.math.rsqrt(tf.maximum(_squares(features), _LEAST))[:, None]
