# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A memory of places: which samples of a sequence are held, and the logits they had on entry.

The sequence is stored anyhow (FLUID sets no limit), so a slot holds the number of its sample, not
the image; what has no slot is never replayed.
"""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from suite.training.memories import memory as memory_lib


class Replay(tf.Module):
  """k slots, C classes.

  Args:
    memory: capacity and rule; not built.
    with_logits: whether logits are held, too.
  """

  def __init__(self, memory: memory_lib.Memory, *, with_logits: bool):
    super().__init__()
    self.memory, self._with_logits = memory, with_logits

  def build(self, num_classes: int, *, seed: Tuple[int, int]) -> None:
    """Makes the slots, all free."""
    self.memory.build([], tf.int64, seed=seed, num_classes=num_classes)
    width = num_classes if self._with_logits else 0
    self.logits = tf.Variable(
        tf.zeros([self.memory.capacity, width]), trainable=False, name="stored_logits")

  @property
  def size(self) -> int:
    """Slots taken."""
    return int(self.memory.size)

  def add(self, first: int, labels: tf.Tensor, logits: tf.Tensor) -> None:
    """Offers samples first, first + 1, ..., which are later than all before.

    Args:
      first: the number of the first one.
      labels: int64 [n]. logits: [n, C], or [n, 0] where none are held.
    """
    num = tf.size(labels, out_type=tf.int64)
    self.memory.add(first + tf.range(num), labels)
    held = self.memory.images[:self.memory.size]
    new = tf.where(held >= first)[:, 0]
    rows = tf.gather(logits, tf.gather(held, new) - first)
    self.logits.scatter_update(tf.IndexedSlices(rows, new))

  def take(self, slots: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    """Of slots [R]: the numbers of their samples, int64 [R], and logits [R, C]."""
    return tf.gather(self.memory.images, slots), tf.gather(self.logits, slots)
