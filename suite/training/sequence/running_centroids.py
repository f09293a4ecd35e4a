# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sums of features by class, and answers to a block of samples that equal one-by-one answers.

In a sequence the label of a sample is added before the next sample is answered. A block of B
samples needs no loop: every answer is a function of the sums S and counts n before the block and
of the earlier samples of the block. With queries q_t, keys k_t = a_t q_t (the vector that is added:
the query itself or its direction) and labels y_t, at step t

    q_t . S_c(t)  = q_t . S_c + sum_{j < t, y_j = c} q_t . k_j
    n_c(t)        = n_c       + sum_{j < t, y_j = c} 1
    |S_c(t)|^2    = |S_c|^2   + sum_{j < t, y_j = c} (2 a_j q_j . S_c(j) + |k_j|^2)

The first terms are one product of all queries with all classes. The sums are triangular: rows of
the block's masked Gram matrix, added up by class. They change only the classes that occur in the
block. The result equals that of the loop up to rounding: about 1e-6 of the squared lengths of
queries and centroids in float32. Features must be finite: one NaN in a block spreads to the answers
to the other samples of the block.

Letters: B samples, C classes, D features, U classes in the block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.training.statistics import statistic

SIMILARITIES = ("euclidean", "cosine", "dot")
_PARTS = 4  # Parts of a block: more parts make smaller Gram matrices, but more copies of the sums.
_LEAST = 1e-12  # Smaller than any length that matters.


def check(similarity: str) -> None:
  """Raises an error unless `similarity` is one of `SIMILARITIES`."""
  if similarity not in SIMILARITIES:
    raise ValueError(
        f"Unknown similarity {similarity!r}; allowed are {', '.join(SIMILARITIES)}.")


class _State(NamedTuple):
  """sums [C, D], counts [C], and |S|^2 [C]."""

  sums: tf.Tensor
  counts: tf.Tensor
  squares: tf.Tensor


class RunningCentroids(tf.Module):
  """Sums [C, D] and counts [C] of the samples that were added.

  Logits are minus squared distances to the means ("euclidean"), cosines ("cosine") or products with
  the means ("dot"), and -inf for classes without a sample.

  Args:
    num_classes: C.
    num_features: D.
    similarity: one of `SIMILARITIES`.
    normalize: whether features are divided by their lengths before they are added.
  """

  def __init__(self, num_classes: int, num_features: int, similarity: str = "euclidean",
               normalize: bool = False):
    super().__init__()
    check(similarity)
    self._similarity, self._normalize = similarity, normalize
    self.sums = tf.Variable(tf.zeros([num_classes, num_features]), trainable=False, name="sums")
    self.counts = tf.Variable(tf.zeros([num_classes]), trainable=False, name="counts")
    self.squares = tf.Variable(tf.zeros([num_classes]), trainable=False, name="squares")  # |S|^2.

  @property
  def num_nonempty(self) -> int:
    """The number of classes with a sample."""
    return int(np.count_nonzero(self.counts.numpy()))

  def means(self) -> tf.Tensor:
    """Returns the class means [C, D]; zeros for classes without a sample."""
    return _means(self.sums, self.counts)

  def add_set(self, features: np.ndarray, labels: np.ndarray) -> int:
    """Adds a whole data set, summed in float64, and returns the FLOPs.

    Args:
      features: [N, D].
      labels: [N], or multi-hot [N, C]: a sample with two labels is added to both classes.
    """
    if self._normalize:
      features = _directions(tf.constant(features)).numpy()
    sums, counts = _class_sums(features, labels, self.sums.shape[0])
    sums += self.sums.numpy()
    self.sums.assign(sums)
    self.counts.assign_add(counts)
    self.squares.assign(np.sum(np.square(sums), axis=1))
    # An addition for each feature of each label, and a square, a division and an addition where
    # features are normalized; then three operations for each feature of each class.
    num_flops = np.sum(counts) + 3 * len(counts) + 3 * self._normalize * len(features)
    return int(num_flops) * features.shape[1]

  def add(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds samples [B, D] with labels int64 [B], in their order."""
    keys = _directions(features) if self._normalize else features
    self.sums.scatter_add(tf.IndexedSlices(keys, labels))
    self.counts.scatter_add(tf.IndexedSlices(tf.ones_like(keys[:, 0]), labels))
    self.squares.scatter_update(
        tf.IndexedSlices(_squares(tf.gather(self.sums, labels)), labels))

  def answer(self, features: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D]; adds nothing."""
    queries = self._queries(features)
    products = tf.matmul(self.sums.read_value(), queries, transpose_b=True)
    counts, squares = self.counts.read_value(), self.squares.read_value()
    found = self._logits(products, counts[:, None], squares[:, None], _squares(queries))
    return tf.transpose(found)

  def answer_and_add(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D], each before its label int64 [B] is added."""
    found = self.answer_in_turn(features, labels)
    self.add(features, labels)
    return found

  def answer_in_turn(self, features: tf.Tensor, labels: tf.Tensor,
                     moved_by: tf.Tensor | None = None) -> tf.Tensor:
    """Returns the logits of `answer_and_add` without adding anything.

    Each part of the block starts from the sums after the part before it. These sums are cheap, so
    the parts are then computed in parallel.

    Args:
      features: [B, D].
      labels: int64 [B].
      moved_by: [C, D], added to all means.
    """
    parts = [(features[part], labels[part])
             for part in statistic.parts(tf.size(labels), _PARTS)]
    states = [_State(self.sums.read_value(), self.counts.read_value(), self.squares.read_value())]
    for samples in parts[:-1]:
      states.append(self._after(states[-1], *samples))
    # Without this, a core that has made a state computes its answers before the next state.
    with tf.control_dependencies(states[-1]):
      states[1:] = [_State(*map(tf.identity, state)) for state in states[1:]]
    found = [self._in_turn(state, *samples) if moved_by is None
             else self._moved_in_turn(state, *samples, moved_by)
             for state, samples in zip(states, parts)]
    return tf.concat(found, axis=0)

  def _after(self, state: _State, features: tf.Tensor, labels: tf.Tensor) -> _State:
    """Returns a state after `add`."""
    keys = _directions(features) if self._normalize else features
    places = labels[:, None]
    sums = tf.tensor_scatter_nd_add(state.sums, places, keys)
    return _State(
        sums, tf.tensor_scatter_nd_add(state.counts, places, tf.ones_like(keys[:, 0])),
        tf.tensor_scatter_nd_update(state.squares, places, _squares(tf.gather(sums, labels))))

  def _in_turn(self, state: _State, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    queries = self._queries(features)
    keys = _directions(features) if self._normalize else features
    query_squares, key_squares = _squares(queries), _squares(keys)
    products = tf.matmul(state.sums, queries, transpose_b=True)  # [C, B]
    counts, squares = state.counts[:, None], state.squares[:, None]
    found = self._logits(products, counts, squares, query_squares)
    # Again for the classes of the block, with the samples that the block has added by each step.
    block = _Block(labels)
    products = tf.gather(products, block.classes) + block.sums(
        tf.matmul(keys, queries, transpose_b=True) * block.later)
    # |S_c + k|^2 = |S_c|^2 + 2 k . S_c + |k|^2, where k . S_c = (q . S_c) |k| / |q|.
    own = block.own(products) * tf.sqrt(tf.math.divide_no_nan(key_squares, query_squares))
    squares_added = block.sums((2.0 * own + key_squares)[:, None] * block.later)
    within = self._logits(products, tf.gather(counts, block.classes) + block.sums(block.later),
                          tf.gather(squares, block.classes) + squares_added, query_squares)
    return tf.transpose(tf.tensor_scatter_nd_update(found, block.classes[:, None], within))

  def _moved_in_turn(self, state: _State, features: tf.Tensor, labels: tf.Tensor,
                     moved_by: tf.Tensor) -> tf.Tensor:
    """Returns logits by w_c = m_c + r_c: one product over all classes, one over the block's."""
    queries = self._queries(features)
    keys = _directions(features) if self._normalize else features
    query_squares, counts = _squares(queries), state.counts
    weights = _means(state.sums, counts) + moved_by
    products = tf.matmul(weights, queries, transpose_b=True)  # [C, B]
    found = _similar(self._similarity, products, _squares(weights)[:, None], query_squares)
    found += _unless_empty(counts)[:, None]
    block = _Block(labels)
    old = tf.gather(counts, block.classes)[:, None]
    now = old + block.sums(block.later)
    some = tf.maximum(now, 1.0)
    moves = tf.gather(moved_by, block.classes)
    of_moves = tf.matmul(moves, queries, transpose_b=True)
    # q . S_c is q . m_c = q . (m_c + r_c) - q . r_c, times the number of samples of the mean.
    sums = (tf.gather(products, block.classes) - of_moves) * old + block.sums(
        tf.matmul(keys, queries, transpose_b=True) * block.later)
    squares = tf.zeros_like(sums)
    if self._similarity != "dot":
      # |m + r|^2 = |S|^2 / n^2 + 2 S . r / n + |r|^2, and S as in `_in_turn`.
      key_squares = _squares(keys)
      own = block.own(sums) * tf.sqrt(tf.math.divide_no_nan(key_squares, query_squares))
      sum_squares = tf.gather(state.squares, block.classes)[:, None] + block.sums(
          (2.0 * own + key_squares)[:, None] * block.later)
      on_moves = tf.reduce_sum(tf.gather(state.sums, block.classes) * moves, axis=1)[:, None]
      on_moves += block.sums(tf.reduce_sum(keys * tf.gather(moved_by, labels), axis=1)[:, None]
                             * block.later)
      squares = (sum_squares / some + 2.0 * on_moves) / some + _squares(moves)[:, None]
    within = _similar(self._similarity, sums / some + of_moves, squares, query_squares)
    within += _unless_empty(now)
    return tf.transpose(tf.tensor_scatter_nd_update(found, block.classes[:, None], within))

  def _queries(self, features: tf.Tensor) -> tf.Tensor:
    return _directions(features) if self._similarity == "cosine" else features

  def _logits(self, products: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor,
              query_squares: tf.Tensor) -> tf.Tensor:
    """Returns [C, B] of q . S; n and |S|^2, both [C, B] or [C, 1]; and |q|^2, [B]."""
    some = tf.maximum(counts, 1.0)
    offset = -_unless_empty(counts)
    if self._similarity == "cosine":
      return products * tf.math.rsqrt(tf.maximum(squares, _LEAST)) - offset
    if self._similarity == "dot":
      return products * (1.0 / some) - offset
    offset += squares / tf.square(some)
    return tf.minimum(products * (2.0 / some) - offset - query_squares, 0.0)


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
    squares: |w|^2, [C, B] or [C, 1]. query_squares: |q|^2, [B].
  """
  if similarity == "dot":
    return products
  if similarity == "cosine":
    return products * tf.math.rsqrt(tf.maximum(squares, _LEAST))
  return tf.minimum(2.0 * products - squares - query_squares, 0.0)


def _means(sums: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
  """Returns means [C, D] of sums [C, D] and counts [C]; zeros for classes without a sample."""
  return sums / tf.maximum(counts, 1.0)[:, None]


def _unless_empty(counts: tf.Tensor) -> tf.Tensor:
  """Returns 0 for classes with a sample and -inf for others, in the shape of counts."""
  return tf.where(counts > 0.0, 0.0, -float("inf"))


def _squares(vectors: tf.Tensor) -> tf.Tensor:
  """Returns squared lengths [B] of vectors [B, D]."""
  return tf.reduce_sum(tf.square(vectors), axis=1)


def _directions(features: tf.Tensor) -> tf.Tensor:
  """Returns features [B, D] divided by their lengths; zeros stay zeros."""
  return features * tf.math.rsqrt(tf.maximum(_squares(features), _LEAST))[:, None]


def _class_sums(features: np.ndarray, labels: np.ndarray, num_classes: int
                ) -> tuple[np.ndarray, np.ndarray]:
  """Returns float64 sums [C, D] of features [N, D] by class, and the counts [C]."""
  sums, counts = np.zeros([num_classes, features.shape[1]]), np.zeros([num_classes])
  for c in range(num_classes):
    members = labels[:, c] > 0 if labels.ndim == 2 else labels == c
    counts[c] = np.count_nonzero(members)
    sums[c] = np.sum(features[members], axis=0, dtype=np.float64)
  return sums, counts


class _Block:
  """The classes of the labels int64 [B] of a block.

  Attributes:
    classes: int64 [U].
    later: float32 [B, B], 1 at [j, t] where step t comes after step j.
  """

  def __init__(self, labels: tf.Tensor):
    self.classes, self._places = tf.unique(labels)
    steps = tf.range(tf.size(labels))
    self._steps, self.later = steps, tf.cast(steps[:, None] < steps, tf.float32)

  def sums(self, rows: tf.Tensor) -> tf.Tensor:
    """Returns the sums [U, T] by class of rows [B, T], one row a sample."""
    return tf.math.unsorted_segment_sum(rows, self._places, tf.size(self.classes))

  def own(self, values: tf.Tensor) -> tf.Tensor:
    """Returns the values [B] of each sample at its own class, out of [U, B]."""
    return tf.gather_nd(values, tf.stack([self._places, self._steps], axis=1))
