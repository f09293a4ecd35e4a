# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The uniform reservoir: after n examples, each of them is held with probability k / n.

Every example draws a random key, and the k largest keys stay. The set that is held is a function
of the seed and the examples alone, however they were cut into calls.

The biased reservoir of CLEAR (Lin et al., 2021): newer examples are likelier to be held.

The first k examples fill the memory. After them, an example enters with probability alpha * k / n,
where n is the number of examples offered up to the end of its call, and one that was held before
the call goes for each that enters. So with one bucket of k examples a call (as in the paper's
experiments), bucket i enters with probability alpha / i; with one example a call it is the
algorithm for a series of examples.

  schedule "fixed"     alpha is constant; 1 is the uniform reservoir in expectation
  schedule "dynamic"   alpha = alpha_d * n / k: the probability is alpha_d for ever; 1 is "first in,
                       first out" by buckets

A reservoir in equal parts: as many examples of each class, or of each bucket.

Within a group it is a uniform reservoir: every example draws a key, and the largest stay; or a ring
buffer, in which the newest stay. What a small group leaves over goes to the others, so that the
memory is full whenever it can be.

Or those stay that iCaRL's herding picks first (Rebuffi et al., 2017, algorithm 4; Welling, 2009):
with the directions f of a group's new features and their mean m, pick k is the example for which
the mean of the first k picks is nearest to m,

  p_k = argmin over f not picked yet of |m - (f + sum of p_1 ... p_(k-1)) / k|
      = argmax of f . (k m - sum of p_1 ... p_(k-1))          since all f are of length 1

so that to keep fewer of a group is to keep its first picks (algorithm 5). As in the authors' code m
is not made a direction itself. The picks of a later call, of a group that comes again, count as
much as those of the same place in an earlier one.

The latest examples, a ring buffer: the only rule that support sets of an episode have.

"class" is what GDumb stood for in CLEAR's experiments, "bucket" what ER (experience replay) was.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.contracts import rehearsal
from suite.training.memories import memory

_KEYS = 0  # The purpose of its draws.
SCHEDULES = ("fixed", "dynamic")
EVICTIONS = ("random", "tail")
_ENTER, _EVICT = 1, 2  # The purposes of its draws.
GROUPS = ("class", "bucket")
KEEP = RANDOM, NEWEST, HERDING = ("random", "newest", "herding")
_GROUP_KEYS = 3  # The purpose of its draws.


class Reservoir(memory.Rule):
  """A `memory.Rule`.

  Attributes:
    keys: int64 [k] of the held examples; negative, rising with the slot, in free slots.
  """

  def build(self, capacity: int, *, seed: tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed = seed
    # The lowest key is the next to go: free slots are taken before any other, and in order.
    self.keys = tf.Variable(
        tf.range(-capacity, 0, dtype=tf.int64), trainable=False, name="reservoir_keys")

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> tuple[tf.Tensor, tf.Tensor]:
    del held, size
    keys = memory.integers(self._seed, _KEYS, seen, tf.size(labels))
    chosen, slots = largest(self.keys.read_value(), keys)
    self.keys.scatter_update(tf.IndexedSlices(tf.gather(keys, chosen), slots))
    return chosen, slots

  @override
  def place_each(self, labels: np.ndarray, starts: np.ndarray, held: np.ndarray, size: int,
                 seen: int) -> np.ndarray:
    """As `place`, step by step, without a graph: few steps keep a row of a long phase."""
    new = memory.integers(self._seed, _KEYS, seen, len(labels)).numpy()
    old, found = self.keys.numpy(), np.full([len(labels)], len(held), np.int64)
    lowest, most = old.min(), np.maximum.reduceat(new, starts[:-1])
    for step in np.flatnonzero(most > lowest):
      if most[step] <= lowest:
        continue
      rows = slice(starts[step], starts[step + 1])
      both = np.concatenate([old, new[rows]])
      goes = np.argpartition(both, rows.stop - rows.start - 1)[:rows.stop - rows.start]
      slots, stays = np.sort(goes[goes < len(old)]), np.ones([len(both) - len(old)], bool)
      stays[goes[goes >= len(old)] - len(old)] = False
      chosen = rows.start + np.flatnonzero(stays)
      old[slots], found[chosen] = new[chosen], slots
      lowest = old.min()
    self.keys.assign(old)
    return found


class Latest(memory.Rule):
  """A `memory.Rule`: the last k examples; each new one takes the slot of the oldest."""

  def build(self, capacity: int, *, seed: tuple[int, int], num_classes: int) -> None:
    del seed, num_classes
    self._capacity = capacity

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> tuple[tf.Tensor, tf.Tensor]:
    del held, size
    num = tf.size(labels, out_type=tf.int64)
    chosen = tf.range(tf.maximum(num - self._capacity, 0), num)
    return chosen, (seen + chosen) % self._capacity


def largest(old: tf.Tensor, new: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Keeps the k largest of old keys [k] and new ones [n], in k slots.

  Returns:
    The new ones that stay, int64 [m], and the slots of the old ones that go, int64 [m], both in
    order.
  """
  k = tf.size(old)
  _, best = tf.math.top_k(tf.concat([old, new], 0), k, sorted=False)
  stays = tf.scatter_nd(best[:, None], tf.ones_like(best), [k + tf.size(new)]) > 0
  return tf.where(stays[k:])[:, 0], tf.where(~stays[:k])[:, 0]


class BiasedReservoir(memory.Rule):
  """A `memory.Rule`.

  Args:
    alpha: of the schedule; alpha_d where it is "dynamic".
    schedule: one of `SCHEDULES`.
    eviction: "random", as in the paper; or "tail", the newest of those held go first, as the
      authors' later code did.
  """

  def __init__(self, alpha: float = 1.0, schedule: str = "fixed", eviction: str = "random"):
    super().__init__()
    if schedule not in SCHEDULES:
      raise ValueError(f"BiasedReservoir.schedule is {schedule!r}; allowed are "
                       f"{', '.join(SCHEDULES)}.")
    if eviction not in EVICTIONS:
      raise ValueError(f"BiasedReservoir.eviction is {eviction!r}; allowed are "
                       f"{', '.join(EVICTIONS)}.")
    if not alpha > 0 or (schedule == "dynamic" and alpha > 1):
      limits = "above 0" + (" and at most 1, being a probability" if schedule == "dynamic" else "")
      raise ValueError(f"BiasedReservoir.alpha is {alpha}; with the {schedule} schedule it must be "
                       f"{limits}.")
    self.alpha, self.schedule, self.eviction = float(alpha), schedule, eviction

  def build(self, capacity: int, *, seed: tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed, self._capacity = seed, capacity
    # What number each held example was of those offered.
    self.arrivals = tf.Variable(
        tf.zeros([capacity], tf.int64), trainable=False, name="reservoir_arrivals")

  def probability(self, offered: tf.Tensor) -> tf.Tensor:
    """The probability to enter a full memory; `offered` counts all to the end of its call."""
    if self.schedule == "dynamic":
      return tf.constant(self.alpha, tf.float64)
    return tf.minimum(
        tf.constant(1.0, tf.float64), self.alpha * self._capacity / tf.cast(offered, tf.float64))

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> tuple[tf.Tensor, tf.Tensor]:
    del held
    num = tf.size(labels, out_type=tf.int64)
    filling = tf.minimum(self._capacity - size, num)
    new = tf.range(num)
    lucky = memory.uniforms(self._seed, _ENTER, seen, num) < self.probability(seen + num)
    # Of more than k that enter, the last k.
    entering = new[filling:][lucky[filling:]][-self._capacity:]
    # The slots as they are once filled: which new example is in each (-1: an old one) and since
    # when. Those that fill can be evicted by those that enter, as if they had come earlier.
    filled = (size + new[:filling])[:, None]
    source = tf.tensor_scatter_nd_update(
        tf.fill([self._capacity], tf.constant(-1, tf.int64)), filled, new[:filling])
    arrivals = tf.tensor_scatter_nd_update(
        self.arrivals.read_value(), filled, seen + new[:filling])
    order = arrivals if self.eviction == "tail" else memory.at(
        self._seed, _EVICT, seen, self._capacity)
    _, leaving = tf.math.top_k(order, tf.size(entering))
    source = tf.tensor_scatter_nd_update(source, leaving[:, None], entering)
    self.arrivals.assign(
        tf.tensor_scatter_nd_update(arrivals, leaving[:, None], seen + entering))
    slots = tf.where(source >= 0)[:, 0]
    return tf.gather(source, slots), slots


class GroupBalanced(memory.Rule):
  """A `memory.Rule`.

  Args:
    by: "class", or "bucket": what is added in one call is a bucket.
    keep: which examples of a group stay: "random" ones, the "newest" (a ring buffer a group), or
      iCaRL's exemplars by "herding".
  """

  has_groups = True

  def __init__(self, by: str = "class", keep: str = "random"):
    super().__init__()
    if keep not in KEEP:
      raise ValueError(f"GroupBalanced.keep is {keep!r}; allowed are {', '.join(KEEP)}.")
    self.keep = keep
    if by not in GROUPS:
      raise ValueError(f"GroupBalanced.by is {by!r}; allowed are {', '.join(GROUPS)}.")
    self.reads_features = keep == HERDING
    self.by, self.by_call = by, by == "bucket" or self.reads_features

  def build(self, capacity: int, *, seed: tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed, self._capacity = seed, capacity
    self.keys = tf.Variable(tf.zeros([capacity], tf.int64), trainable=False, name="group_keys")
    self.groups = tf.Variable(tf.zeros([capacity], tf.int64), trainable=False, name="groups")
    self.calls = tf.Variable(tf.constant(0, tf.int64), trainable=False, name="group_calls")

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> tuple[tf.Tensor, tf.Tensor]:
    del held
    num = tf.size(labels)
    keys = (memory.integers(self._seed, _GROUP_KEYS, seen, num) if self.keep == RANDOM
            else tf.cast(seen, tf.int64) + tf.range(tf.cast(num, tf.int64)))
    return self._place(keys, self._groups_of(labels), size)

  def place_by_features(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor,
                        seen: tf.Tensor, features: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    del held, seen
    groups = self._groups_of(labels)
    picks = herded(np.asarray(features), groups.numpy(), self._most(groups.numpy(), int(size)))
    return self._place(-tf.constant(picks), groups, size)

  def num_products(self, labels: tf.Tensor, size: int) -> int:
    groups = self._groups_of(labels).numpy()
    counts = np.unique(groups, return_counts=True)[1]
    return int(np.sum(counts * np.minimum(counts, self._most(groups, size))))

  def _groups_of(self, labels: tf.Tensor) -> tf.Tensor:
    """The groups of new examples, int64 [n]."""
    labels = tf.cast(labels, tf.int64)
    return labels if self.by == "class" else tf.zeros_like(labels) + self.calls.read_value()

  def _most(self, groups: np.ndarray, size: int) -> int:
    """Examples that any group keeps at most, of those held and of new ones int64 [n]."""
    every = np.concatenate([self.groups.numpy()[:size], groups])
    left, counts = self._capacity, np.sort(np.unique(every, return_counts=True)[1])
    for place, count in enumerate(counts):
      part = -(-left // (len(counts) - place))
      if part < count:
        return part
      left -= count
    return int(counts[-1])

  def _place(self, keys: tf.Tensor, groups: tf.Tensor, size: tf.Tensor
             ) -> tuple[tf.Tensor, tf.Tensor]:
    """As `place`, the examples of a group with the largest keys int64 [n] being kept."""
    ranks = ranks_within(
        tf.concat([self.groups.read_value()[:size], groups], 0),
        tf.concat([self.keys.read_value()[:size], keys], 0))
    # The k best stay: every group's best first, then every group's second best, ... Free slots are
    # worse than any example, and the sooner taken the lower they are.
    free = tf.range(size - self._capacity, 0) - tf.size(ranks, out_type=tf.int64)
    chosen, slots = largest(
        tf.concat([-ranks[:size], free], 0), -ranks[size:])
    self.keys.scatter_update(tf.IndexedSlices(tf.gather(keys, chosen), slots))
    self.groups.scatter_update(tf.IndexedSlices(tf.gather(groups, chosen), slots))
    self.calls.assign_add(1)
    return chosen, slots

  def held_groups(self, size: tf.Tensor) -> tf.Tensor:
    return self.groups[:size]


def herded(features: np.ndarray, groups: np.ndarray, most: int) -> np.ndarray:
  """The place of each example in the order of its group's picks, int64 [n], the first being 0.

  Args:
    features: [n, D]. groups: int64 [n].
    most: picks of a group; those that are not picked come behind, as they are.
  """
  found = np.zeros([len(groups)], np.int64)
  for group in np.unique(groups):
    members = np.flatnonzero(groups == group)
    found[members] = np.arange(len(members)) + most
    if rehearsal.current() is not None:  # Features mean nothing there.
      continue
    directions = features[members].astype(np.float64)
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-12)
    mean = directions.mean(axis=0)
    wanted, is_left = mean.copy(), np.ones([len(members)], bool)
    for pick in range(min(most, len(members))):
      best = int(np.argmax(np.where(is_left, directions @ wanted, -np.inf)))
      found[members[best]], is_left[best] = pick, False
      wanted += mean - directions[best]
  return found


def ranks_within(groups: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
  """Returns the order of preference: int64 [n] groups and keys -> int64 [n] ranks, 0 the best.

  Each group is sorted by falling key; first come all groups' firsts, then their seconds, ...
  """
  by_key = tf.argsort(keys, direction="DESCENDING", stable=True)
  by_group = tf.gather(by_key, tf.argsort(tf.gather(groups, by_key), stable=True))
  # The place within the group: how far from where the sorted group begins.
  in_order = tf.gather(groups, by_group)
  place = tf.range(tf.size(groups)) - tf.searchsorted(in_order, in_order)
  within = tf.scatter_nd(by_group[:, None], place, tf.shape(groups))
  best_first = tf.gather(by_key, tf.argsort(tf.gather(within, by_key), stable=True))
  num = tf.size(groups, out_type=tf.int64)
  return tf.scatter_nd(tf.cast(best_first, tf.int64)[:, None], tf.range(num), [num])
