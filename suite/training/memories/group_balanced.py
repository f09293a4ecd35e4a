# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A reservoir in equal parts: as many examples of each class, or of each bucket.

Within a group it is a uniform reservoir: every example draws a key, and the largest stay; or a ring
buffer, in which the newest stay. What a small group leaves over goes to the others, so that the
memory is full whenever it can be.

"class" is what GDumb stood for in CLEAR's experiments, "bucket" what ER (experience replay) was.
"""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from suite.training.memories import draws
from suite.training.memories import reservoir

GROUPS = ("class", "bucket")
KEEP = ("random", "newest")
_KEYS = 3  # The purpose of its draws.


class GroupBalanced(tf.Module):
  """A `memory.Rule`.

  Args:
    by: "class", or "bucket": what is added in one call is a bucket.
    keep: which examples of a group stay: "random" ones, or the "newest" (a ring buffer a group).
  """

  has_groups = True

  def __init__(self, by: str = "class", keep: str = "random"):
    super().__init__()
    if keep not in KEEP:
      raise ValueError(f"GroupBalanced.keep is {keep!r}; allowed are {', '.join(KEEP)}.")
    self.keep = keep
    if by not in GROUPS:
      raise ValueError(f"GroupBalanced.by is {by!r}; allowed are {', '.join(GROUPS)}.")
    self.by = by

  def build(self, capacity: int, *, seed: Tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed, self._capacity = seed, capacity
    self.keys = tf.Variable(tf.zeros([capacity], tf.int64), trainable=False, name="group_keys")
    self.groups = tf.Variable(tf.zeros([capacity], tf.int64), trainable=False, name="groups")
    self.calls = tf.Variable(tf.constant(0, tf.int64), trainable=False, name="group_calls")

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> Tuple[tf.Tensor, tf.Tensor]:
    del held
    num = tf.size(labels)
    keys = (draws.integers(self._seed, _KEYS, seen, num) if self.keep == "random"
            else tf.cast(seen, tf.int64) + tf.range(tf.cast(num, tf.int64)))
    groups = labels if self.by == "class" else tf.zeros_like(labels) + self.calls.read_value()
    ranks = ranks_within(
        tf.concat([self.groups.read_value()[:size], groups], 0),
        tf.concat([self.keys.read_value()[:size], keys], 0))
    # The k best stay: every group's best first, then every group's second best, ... Free slots are
    # worse than any example, and the sooner taken the lower they are.
    free = tf.range(size - self._capacity, 0) - tf.size(ranks, out_type=tf.int64)
    chosen, slots = reservoir.largest(
        tf.concat([-ranks[:size], free], 0), -ranks[size:])
    self.keys.scatter_update(tf.IndexedSlices(tf.gather(keys, chosen), slots))
    self.groups.scatter_update(tf.IndexedSlices(tf.gather(groups, chosen), slots))
    self.calls.assign_add(1)
    return chosen, slots


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
