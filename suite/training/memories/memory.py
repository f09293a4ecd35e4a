# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A memory: a fixed number of slots for examples, and a rule that says who gets one.

  rule = reservoir.Reservoir()
  memory = memory.Memory(3300, rule)
  memory.build([2048], tf.float32, seed=seeds.pair("memory"), num_classes=11)
  memory.add(images, labels)
  images, labels = memory.sample(seed, 64)

Everything it holds is a `tf.Variable`, so one checkpoint holds it; all methods run eagerly or in a
graph. Slots fill in order: those below `size` are taken.
"""

from __future__ import annotations

from typing import Protocol, Sequence, Tuple

import tensorflow as tf

Places = Tuple[tf.Tensor, tf.Tensor]

# Above so many slots a permutation is not sorted for each sample, but found by a cipher.
_MAX_SORTED = 4096
_CIPHER_ROUNDS = 12


class Rule(Protocol):
  """Who gets a slot. It is a `tf.Module`; k slots, n new examples, m of them are kept."""

  def build(self, capacity: int, *, seed: Tuple[int, int], num_classes: int) -> None:
    """Makes its variables; those of an earlier memory are forgotten."""

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor) -> Places:
    """Which new examples to keep, and where.

    Args:
      labels: int64 [n] of the new examples.
      held: int64 [k], the labels in the slots; those from `size` on mean nothing.
      size: int64 [], slots taken. seen: int64 [], examples offered before these.

    Returns:
      chosen, int64 [m] indices of new examples, and slots, int64 [m], all different; free slots
      are taken in order.
    """


class Memory(tf.Module):
  """Keeps up to `capacity` examples, chosen by `rule`.

  Attributes:
    capacity: k.
    images [k, ...], labels int64 [k]: the slots. size, seen: int64 [], slots taken and examples
      offered so far.
  """

  def __init__(self, capacity: int, rule: Rule):
    super().__init__()
    if capacity < 1:
      raise ValueError(f"Memory.capacity is {capacity}; it must be at least 1. To keep nothing, "
                       "use a learner without a memory.")
    self.capacity, self.rule = int(capacity), rule

  def build(self, shape: Sequence[int], dtype: tf.DType, *, seed: Tuple[int, int],
            num_classes: int) -> None:
    """Makes the slots, all free, for examples of one shape (without batch) and type."""
    self._seed = seed
    self.images = _variable("images", [self.capacity, *shape], dtype)
    self.labels = _variable("labels", [self.capacity], tf.int64)
    self.size, self.seen = _variable("size", [], tf.int64), _variable("seen", [], tf.int64)
    self.rule.build(self.capacity, seed=seed, num_classes=num_classes)

  def add(self, images: tf.Tensor, labels: tf.Tensor) -> None:
    """Offers examples: images [n, ...] of the memory's shape and type, labels [n]."""
    images, labels = tf.convert_to_tensor(images), tf.cast(labels, tf.int64)
    if images.dtype != self.images.dtype or images.shape[1:] != self.images.shape[1:]:
      raise ValueError(
          f"The memory holds examples of shape {self.images.shape[1:]} and type "
          f"{self.images.dtype.name}, but was given {images.shape[1:]} of {images.dtype.name}. "
          "Build it for the latter, or convert them first.")
    # Read before anything is written: the rule must see the memory as it was.
    size, seen = self.size.read_value(), self.seen.read_value()
    chosen, slots = self.rule.place(labels, self.labels.read_value(), size, seen)
    self.images.scatter_update(tf.IndexedSlices(tf.gather(images, chosen), slots))
    self.labels.scatter_update(tf.IndexedSlices(tf.gather(labels, chosen), slots))
    self.size.assign_add(tf.math.count_nonzero(slots >= size))
    self.seen.assign_add(tf.size(labels, out_type=tf.int64))

  def sample(self, seed: tf.Tensor, num: int) -> Tuple[tf.Tensor, tf.Tensor]:
    """A uniform sample: images [num, ...] and labels int64 [num], a pure function of the seed [2].

    Without replacement as long as `num` examples are held; else all come equally often, give or
    take one.
    """
    return self.take(self.places(seed, num))

  def places(self, seed: tf.Tensor, num: int) -> tf.Tensor:
    """The slots that `sample` takes, int64 [num]."""
    size = self.size.read_value()
    some = tf.debugging.assert_positive(
        size, "The memory is empty. Add examples first, or ask for its `size` before.")
    with tf.control_dependencies([some] if some is not None else []):
      turns = tf.range(num, dtype=tf.int64) % size
    if self.capacity <= _MAX_SORTED:
      keys = tf.random.stateless_uniform([self.capacity], seed, maxval=2**62, dtype=tf.int64)
      keys = tf.where(tf.range(self.capacity, dtype=tf.int64) < size, keys, -1)
      order = tf.math.top_k(keys, min(num, self.capacity)).indices
      return tf.cast(tf.gather(order, turns), tf.int64)
    words = tf.random.stateless_uniform([3], seed, maxval=2**31 - 1, dtype=tf.int32)
    return tf.raw_ops.RandomIndexShuffle(
        index=turns, seed=words, max_index=size - 1, rounds=_CIPHER_ROUNDS)

  def take(self, slots: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    """What is in the given slots [m]: images [m, ...], labels int64 [m]."""
    return tf.gather(self.images, slots), tf.gather(self.labels, slots)

  def arrays(self) -> Tuple[tf.Tensor, tf.Tensor]:
    """All that is held: images [size, ...], labels int64 [size]."""
    return self.take(tf.range(self.size.read_value()))


def _variable(name: str, shape: Sequence[int], dtype: tf.DType) -> tf.Variable:
  return tf.Variable(tf.zeros(shape, dtype), trainable=False, name=name)
