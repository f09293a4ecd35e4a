# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The uniform reservoir: after n examples, each of them is held with probability k / n.

Every example draws a random key, and the k largest keys stay. The set that is held is a function
of the seed and the examples alone, however they were cut into calls.
"""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from suite.training.memories import draws

_KEYS = 0  # The purpose of its draws.


class Reservoir(tf.Module):
  """A `memory.Rule`.

  Attributes:
    keys: int64 [k] of the held examples; negative, rising with the slot, in free slots.
  """

  def build(self, capacity: int, *, seed: Tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed = seed
    # The lowest key is the next to go: free slots are taken before any other, and in order.
    self.keys = tf.Variable(
        tf.range(-capacity, 0, dtype=tf.int64), trainable=False, name="reservoir_keys")

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> Tuple[tf.Tensor, tf.Tensor]:
    del held, size
    keys = draws.integers(self._seed, _KEYS, seen, tf.size(labels))
    chosen, slots = largest(self.keys.read_value(), keys)
    self.keys.scatter_update(tf.IndexedSlices(tf.gather(keys, chosen), slots))
    return chosen, slots


def largest(old: tf.Tensor, new: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
  """Keeps the k largest of old keys [k] and new ones [n], in k slots.

  Returns:
    The new ones that stay, int64 [m], and the slots of the old ones that go, int64 [m], both in
    order.
  """
  k = tf.size(old)
  _, best = tf.math.top_k(tf.concat([old, new], 0), k, sorted=False)
  stays = tf.scatter_nd(best[:, None], tf.ones_like(best), [k + tf.size(new)]) > 0
  return tf.where(stays[k:])[:, 0], tf.where(~stays[:k])[:, 0]
