# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which samples a memory of places holds, and with which logits."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.training.memories import memory
from suite.training.memories import replay
from suite.training.memories import reservoir


def make(capacity, with_logits=True):
  made = replay.Replay(memory.Memory(capacity, reservoir.Reservoir()), with_logits=with_logits)
  made.build(2, seed=(1, 2))
  return made


def offer(held, first, num):
  """Sample p has the logits (p, -p)."""
  numbers = np.arange(first, first + num, dtype=np.float32)
  held.add(first, tf.zeros([num], tf.int64), tf.constant(np.stack([numbers, -numbers], 1)))


def test_every_slot_has_the_logits_of_its_sample():
  held = make(10)
  for first, num in ((0, 4), (4, 1), (5, 30), (35, 7)):
    offer(held, first, num)
    places, logits = held.take(tf.range(held.size))
    assert len(set(places.numpy())) == held.size == min(10, first + num)
    np.testing.assert_array_equal(logits, np.stack([places, -places], 1))
  assert (places.numpy() < 42).all() and (places.numpy() >= 5).any()


def test_all_are_held_in_order_while_there_is_room():
  held = make(8)
  offer(held, 0, 3)
  offer(held, 3, 5)
  np.testing.assert_array_equal(held.take(tf.range(8))[0], range(8))


def test_without_logits_none_are_kept():
  held = make(3, with_logits=False)
  held.add(0, tf.zeros([5], tf.int64), tf.zeros([5, 0]))
  assert held.size == 3 and held.logits.shape == [3, 0]
