# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GDumb's greedy class-balanced memory (Prabhu et al., 2020, algorithm 1).

An example is stored if its class is not held yet or holds less than k / (number of classes held).
If the memory is full, a random example of the largest class makes room. Once all classes have their
share nothing changes any more: for data that drift, see `group_balanced`.
"""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from suite.training.memories import draws

_EVICT = 4  # The purpose of its draws.


class ClassBalanced(tf.Module):
  """A `memory.Rule`: greedy, one example after the other."""

  def build(self, capacity: int, *, seed: Tuple[int, int], num_classes: int) -> None:
    self._seed, self._capacity, self._num_classes = seed, capacity, num_classes
    vector = tf.TensorSpec([None], tf.int64)
    # Compiled even where the caller is not: a loop over examples.
    self._loop = tf.function(self._place, input_signature=[vector, vector, tf.TensorSpec(
        [], tf.int64), tf.TensorSpec([], tf.int64)])

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> Tuple[tf.Tensor, tf.Tensor]:
    return self._loop(labels, held, size, seen)

  def _place(self, labels, held, size, seen):
    k, last = self._capacity, self._num_classes - 1
    num = tf.size(labels, out_type=tf.int64)
    randoms = draws.integers(self._seed, _EVICT, seen, num)
    checked = tf.debugging.assert_less_equal(
        labels, tf.constant(last, tf.int64), f"A label is above {last}, the last class.")
    # In a graph the check is an op like others: it has to come before what would fail otherwise.
    with tf.control_dependencies([] if checked is None else [checked]):
      labels = tf.identity(labels)
    counts = tf.math.bincount(
        tf.cast(held[:size], tf.int32), minlength=last + 1, maxlength=last + 1, dtype=tf.int64)
    source = tf.fill([k], tf.constant(-1, tf.int64))
    for i in tf.range(num):
      label = labels[i]
      classes = tf.math.count_nonzero(counts)
      if counts[label] == 0 or counts[label] * classes < k:
        slot = size
        if size < k:
          size += 1
        else:
          largest = tf.argmax(counts)
          members = tf.where(held == largest)[:, 0]
          slot = members[randoms[i] % tf.size(members, out_type=tf.int64)]
          counts = tf.tensor_scatter_nd_sub(counts, [[largest]], [1])
        counts = tf.tensor_scatter_nd_add(counts, [[label]], [1])
        held = tf.tensor_scatter_nd_update(held, [[slot]], [label])
        source = tf.tensor_scatter_nd_update(source, [[slot]], [i])
    slots = tf.where(source >= 0)[:, 0]
    return tf.gather(source, slots), slots
