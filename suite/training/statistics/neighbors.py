# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""k nearest neighbors among the features that were shown: no sums, the samples themselves.

A sample z is answered by the k rows x_i of the memory with the largest cosines (Wu et al., 2018;
Caron et al., 2021):

    logit of class c    sum over these i with label c of exp((cos(z, x_i) - 1) / T)

so that k equal directions give k, and what is far away next to nothing. Rows as near as the k-th
have votes, too: copies of an image have the same say in any order.

What is kept grows with each sample, up to `size` rows; then the newest replaces the oldest. All
rows are there from the start, so that graphs have one shape and costs are those of what is
computed: an answer compares with all `size` rows, filled or not, in size times D multiply-adds,
and a label costs a row. A block needs no loop: at its step t, the t oldest rows are gone and the
first t of the block are there, which is a mask on the cosines with rows and block.

Letters: B samples, C classes, D features, N rows.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf

from suite.training.statistics import statistic

_MOST_BYTES = 8 * 2**30
_EMPTY = -1  # Label of a row that no sample has filled.
_FAR = -1e9  # Cosine of what does not take part.
_TIE = 1e-6  # A difference of cosines that may be rounding.
_GROUP = 20  # Cosines whose largest is compared first.
_SPARE = 12  # Rows beyond k that a block looks at for ties.


class Rows(NamedTuple):
  """The newest samples, in a ring.

  Attributes:
    directions: float32 [N, D], features divided by their lengths.
    labels: int64 [N]; -1 in rows that are not filled.
    counts: float32 [C], samples of each class, those that were replaced included.
    seen: int64 [1], samples so far; the next one takes row seen % N.
    k: int64 [1], where held-out samples choose it; else ().
  """

  directions: tf.Tensor
  labels: tf.Tensor
  counts: tf.Tensor
  seen: tf.Tensor
  k: Any = ()


@dataclasses.dataclass(frozen=True)
class Neighbors(statistic.Statistic):
  """The k nearest neighbors (kNN) by angle.

  Attributes:
    size: N, the most samples that are kept.
    k: the neighbors that vote; 20 in the papers of self-supervised nets (Caron et al., 2021). With
      `ks`, until the first choice.
    temperature: T; their 0.07.
    ks: numbers that held-out samples choose among, with each task, bucket or set of base classes:
      the first with the highest accuracy. (): none.
  """

  size: int = 10000
  k: int = 20
  temperature: float = 0.07
  ks: tuple[int, ...] = ()

  has_phases = False
  has_turns = True

  def __post_init__(self):
    for k in (self.k, *self.ks):
      if k < 1 or self.size < k:
        raise ValueError(f"size is {self.size} and k is {k}; k must be at least 1, and size at "
                         "least k.")
    if not self.temperature > 0.0:
      raise ValueError(f"temperature is {self.temperature}; it must be above 0.")

  @property
  def chooses(self) -> bool:
    """Whether held-out samples choose k."""
    return bool(self.ks)

  def zero(self, num_classes: int, num_features: int) -> Rows:
    needed = 4 * self.size * num_features
    if needed > _MOST_BYTES:
      raise ValueError(
          f"{self.size} rows of {num_features} features need {needed / 2**30:.1f} GiB; "
          f"{_MOST_BYTES // 2**30} GiB are allowed. Set a smaller size.")
    return Rows(tf.zeros([self.size, num_features]), tf.constant(_EMPTY, tf.int64, [self.size]),
                tf.zeros([num_classes]), tf.zeros([1], tf.int64),
                tf.constant([self.k], tf.int64) if self.chooses else ())

  def add(self, state: Rows, codes: tf.Tensor, labels: tf.Tensor) -> Rows:
    places, codes, of = self._placed(state, codes, labels)
    counts = tf.reduce_sum(tf.one_hot(labels, state.counts.shape[0]), axis=0)
    return Rows(
        tf.tensor_scatter_nd_update(state.directions, places[:, None], codes),
        tf.tensor_scatter_nd_update(state.labels, places[:, None], of), state.counts + counts,
        state.seen + tf.size(labels, tf.int64),
        tf.convert_to_tensor(state.k) if self.chooses else ())

  def merge(self, a: Rows, b: Rows) -> Rows:
    """Returns the rows of a and then those of b, of which the newest are kept."""
    turn = -(b.seen[0] % self.size)
    codes, labels = tf.roll(b.directions, turn, axis=0), tf.roll(b.labels, turn, axis=0)
    filled = labels != _EMPTY
    both = self.add(a, codes[filled], labels[filled])
    return both._replace(counts=a.counts + b.counts)

  def update(self, state: Rows, solution: tuple[()], codes: tf.Tensor, labels: tf.Tensor) -> None:
    places, codes, of = self._placed(state, codes, labels)
    state.directions.scatter_update(tf.IndexedSlices(codes, places))
    state.labels.scatter_update(tf.IndexedSlices(of, places))
    state.counts.scatter_add(tf.IndexedSlices(
        tf.ones_like(labels, tf.float32), tf.cast(labels, tf.int64)))
    state.seen.assign_add(tf.size(labels, tf.int64)[None])

  def _placed(self, state: Rows, codes: tf.Tensor, labels: tf.Tensor
              ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns rows int64 [b], directions [b, D] and labels int64 [b] of the newest b <= N of B."""
    places = (state.seen[0] + tf.range(tf.size(labels, tf.int64))) % self.size
    return (places[-self.size:], tf.math.l2_normalize(codes[-self.size:], axis=1),
            tf.cast(labels[-self.size:], tf.int64))

  def choose(self, state: Rows, codes: tf.Tensor, labels: tf.Tensor) -> Rows:
    found = tf.stack([statistic.accuracy(
        self.answers(state._replace(k=tf.constant([k], tf.int64)), codes), labels)
                      for k in self.ks])
    return state._replace(k=tf.gather(tf.constant(self.ks, tf.int64), [tf.argmax(found)]))

  def chosen(self, state: Rows) -> dict[str, int]:
    return {"k": int(state.k[0])} if self.chooses else {}

  def answers(self, state: Rows, codes: tf.Tensor, solution: tuple[()] | None = None) -> tf.Tensor:
    cosines = tf.matmul(tf.math.l2_normalize(codes, axis=1), state.directions, transpose_b=True)
    labels = tf.convert_to_tensor(state.labels)
    cosines = tf.where(labels != _EMPTY, cosines, _FAR)
    least = self._least(tf.math.top_k(cosines, self._most)[0], state)
    found = self._votes(cosines, labels, least, state.counts.shape[0])
    return tf.where(state.counts > 0.0, found,
                    statistic.NOT_SHOWN if solution is None else -float("inf"))

  def answers_in_turn(self, state: Rows, solution: tuple[()], codes: tf.Tensor, labels: tf.Tensor
                      ) -> tf.Tensor:
    codes, labels = tf.math.l2_normalize(codes, axis=1), tf.cast(labels, tf.int64)
    kept, steps = tf.convert_to_tensor(state.labels), tf.range(tf.size(labels, tf.int64))
    # Row p is replaced at the step (p - seen) mod N, so that the block replaces the first B of
    # these, and sample j of the block N steps after j.
    ages = tf.range(tf.minimum(tf.size(labels, tf.int64), self.size))
    going = (ages + state.seen[0]) % self.size
    all_cosines = tf.matmul(codes, state.directions, transpose_b=True)  # [B, N]
    stays = tf.tensor_scatter_nd_update(
        kept != _EMPTY, going[:, None], tf.zeros_like(going, tf.bool))
    is_kept = (tf.gather(kept, going) != _EMPTY) & (ages >= steps[:, None])
    is_new = (steps < steps[:, None]) & (steps + self.size >= steps[:, None])  # [B, B]
    changing = tf.concat([
        tf.where(is_kept, tf.gather(all_cosines, going, axis=1), _FAR),
        tf.where(is_new, tf.matmul(codes, codes, transpose_b=True), _FAR)], axis=1)
    one_hot = tf.one_hot(labels, state.counts.shape[0])
    shown = state.counts + tf.cumsum(one_hot, exclusive=True)

    # Those that may have votes: with the sum cosines stay, and what does not take part is far.
    most = min(self._most + _SPARE, self.size)
    near, places = _candidates(all_cosines + tf.where(stays, 0.0, _FAR), most)
    near, picked = tf.math.top_k(tf.concat([near, changing], axis=1), most)
    places = tf.concat([places, tf.broadcast_to(tf.concat(
        [going, self.size + steps], axis=0), tf.shape(changing, tf.int64))], axis=1)
    of_rows = tf.concat([kept, labels], axis=0)
    least = self._least(near, state)

    def of_nearest() -> tf.Tensor:
      # In the order of the rows, as in `_votes`.
      rows = tf.gather(places, picked, batch_dims=1)
      order = tf.argsort(rows, axis=1)
      own = tf.gather(of_rows, tf.gather(rows, order, batch_dims=1))
      num = state.counts.shape[0]
      # A label of -1 is left out.
      own = tf.where(own != _EMPTY, own + num * steps[:, None], _EMPTY)
      votes = tf.math.unsorted_segment_sum(
          self._vote(tf.gather(near, order, batch_dims=1), least), own, num * tf.size(labels))
      return tf.reshape(votes, [-1, num])

    def of_all() -> tf.Tensor:
      stay = stays | (kept != _EMPTY) & (
          (tf.range(self.size, dtype=tf.int64) - state.seen[0]) % self.size >= steps[:, None])
      return self._votes(tf.concat([
          tf.where(stay, all_cosines, _FAR), changing[:, tf.size(ages):]], axis=1), of_rows, least,
                         state.counts.shape[0])

    # All rows only where more than `_SPARE` are as near as the k-th.
    is_cut = tf.reduce_any((near[:, -1:] >= least) & (near[:, -1:] > _FAR / 2))
    found = tf.cond(is_cut, of_all, of_nearest)
    return tf.where(shown > 0.0, found, -float("inf"))

  @property
  def _most(self) -> int:
    """The most neighbors that may vote, but for ties."""
    return max(self.k, *self.ks) if self.ks else self.k

  def _least(self, nearest: tf.Tensor, state: Rows) -> tf.Tensor:
    """Returns the cosines [B, 1] from which on rows vote, of the nearest in order, [B, K]."""
    place = state.k[0] if self.chooses else self.k
    return nearest[:, place - 1, None] - _TIE

  def _vote(self, cosines: tf.Tensor, least: tf.Tensor) -> tf.Tensor:
    return tf.where(cosines >= least, tf.exp((cosines - 1.0) / self.temperature), 0.0)

  def _votes(self, cosines: tf.Tensor, labels: tf.Tensor, least: tf.Tensor, num_classes: int
             ) -> tf.Tensor:
    """Returns votes [B, C] of rows with cosines [B, M] and labels [M]."""
    # A label of -1 is left out.
    found = tf.math.unsorted_segment_sum(
        tf.transpose(self._vote(cosines, least)), labels, num_classes)
    return tf.transpose(found)


def _candidates(values: tf.Tensor, num: int) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns values that the `num` largest of [B, N] are among, and their places int64, [B, M] each.

  They are in the `num` of N / 20 groups that have the largest maxima, or left over. A group is a
  column of values [B, 20, N / 20]. `top_k` alone takes half of the time of a product.
  """
  size = values.shape[1]
  groups = size // _GROUP
  if groups < 4 * num:
    return values, tf.broadcast_to(tf.range(size, dtype=tf.int64), tf.shape(values, tf.int64))
  maxima = tf.reduce_max(tf.reshape(values[:, :groups * _GROUP], [-1, _GROUP, groups]), axis=1)
  columns = tf.math.top_k(maxima, num, sorted=False)[1]
  places = tf.reshape(columns[:, None] + groups * tf.range(_GROUP)[:, None], [-1, _GROUP * num])
  rest = tf.range(groups * _GROUP, size)
  places = tf.concat([places, tf.broadcast_to(rest, [tf.shape(values)[0], rest.shape[0]])], axis=1)
  return tf.gather(values, places, batch_dims=1), tf.cast(places, tf.int64)
