# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.memories import class_balanced
from suite.training.memories import memory as memory_lib


def make(capacity, num_classes=3, seed=(0, 0)):
  memory = memory_lib.Memory(capacity, class_balanced.ClassBalanced())
  memory.build([], tf.int64, seed=seed, num_classes=num_classes)
  return memory


def test_greedy_by_hand():
  # k = 4. A A A: all of class 0 is stored. B: new, stored; full. B: 1 < 4/2, so one A goes. B:
  # 2 < 2 is false. C: new, and the largest class (0, the first of two) gives one.
  memory = make(4)
  memory.add(np.arange(5), [0, 0, 0, 1, 1])
  images, labels = memory.arrays()
  assert sorted(labels.numpy()) == [0, 0, 1, 1] and {3, 4} <= set(images.numpy())
  memory.add(np.array([5]), [1])
  assert 5 not in memory.arrays()[0].numpy()
  memory.add(np.array([6]), [2])
  assert sorted(memory.arrays()[1].numpy()) == [0, 1, 1, 2] and 6 in memory.arrays()[0].numpy()


def test_a_class_alone_takes_the_whole_memory_and_then_shares_it():
  memory = make(6)
  memory.add(np.arange(9), np.zeros(9))
  np.testing.assert_array_equal(memory.arrays()[0], np.arange(6))
  memory.add(np.arange(9, 20), np.ones(11))
  np.testing.assert_array_equal(np.bincount(memory.arrays()[1]), [3, 3])
  memory.add(np.arange(20, 30), np.full(10, 2))
  np.testing.assert_array_equal(np.bincount(memory.arrays()[1]), [2, 2, 2])


def test_who_makes_room_is_random():
  gone = set()
  for seed in range(12):
    memory = make(3, seed=(1, seed))
    memory.add(np.arange(4), [0, 0, 0, 1])
    gone |= {0, 1, 2} - set(memory.arrays()[0].numpy())
  assert gone == {0, 1, 2}


def test_a_label_beyond_the_classes_is_refused():
  with pytest.raises(tf.errors.InvalidArgumentError, match="A label is above 2, the last class"):
    make(3).add(np.arange(1), [3])
