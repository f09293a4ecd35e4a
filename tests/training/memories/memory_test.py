# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.memories import biased_reservoir
from suite.training.memories import class_balanced
from suite.training.memories import group_balanced
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir

RULES = {
    "reservoir": reservoir.Reservoir,
    "biased": lambda: biased_reservoir.BiasedReservoir(2.0),
    "biased_tail": lambda: biased_reservoir.BiasedReservoir(0.5, "dynamic", "tail"),
    "class_balanced": class_balanced.ClassBalanced,
    "by_class": group_balanced.GroupBalanced,
    "by_bucket": lambda: group_balanced.GroupBalanced("bucket"),
}


def make(rule, capacity=7, seed=(1, 2)):
  memory = memory_lib.Memory(capacity, rule)
  memory.build([2], tf.float32, seed=seed, num_classes=3)
  return memory


def bucket(first, num):
  """Examples that say who they are: image (i, label), label i % 3."""
  i = np.arange(first, first + num)
  return np.stack([i, i % 3], 1).astype(np.float32), i % 3


@pytest.mark.parametrize("name", RULES)
def test_images_stay_with_their_labels_and_nobody_is_held_twice(name):
  memory = make(RULES[name]())
  for first, num in [(0, 4), (4, 9), (13, 1), (14, 30)]:
    memory.add(*bucket(first, num))
    images, labels = memory.arrays()
    np.testing.assert_array_equal(images[:, 1], labels)
    ids = images[:, 0].numpy()
    assert len(set(ids)) == len(ids) == memory.size == min(7, first + num)
    assert memory.seen == first + num


@pytest.mark.parametrize("name", RULES)
def test_a_graph_does_the_same_as_eager_calls(name):
  eager, graph = make(RULES[name]()), make(RULES[name]())
  add = tf.function(graph.add, input_signature=[
      tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.int64)])
  for first in (0, 10, 20):
    eager.add(*bucket(first, 10))
    add(*bucket(first, 10))
  np.testing.assert_array_equal(eager.images, graph.images)


@pytest.mark.parametrize("name", RULES)
def test_it_goes_on_from_a_checkpoint_as_if_nothing_had_happened(name, tmp_path):
  whole = make(RULES[name]())
  whole.add(*bucket(0, 12))
  path = tf.train.Checkpoint(memory=whole).save(str(tmp_path / "c"))
  again = make(RULES[name]())
  again.add(*bucket(90, 5))  # To be forgotten.
  tf.train.Checkpoint(memory=again).restore(path).assert_consumed()
  for memory in (whole, again):
    memory.add(*bucket(12, 20))
  np.testing.assert_array_equal(whole.images, again.images)
  np.testing.assert_array_equal(whole.labels, again.labels)
  np.testing.assert_array_equal(whole.sample((3, 4), 5)[1], again.sample((3, 4), 5)[1])


@pytest.mark.parametrize("capacity", [7, 5000])
def test_a_sample_is_without_replacement_while_it_can_be(capacity):
  memory = make(reservoir.Reservoir(), capacity)
  memory.add(*bucket(0, 7))
  assert sorted(memory.sample((0, 1), 7)[0][:, 0].numpy()) == list(range(7))
  twice = memory.sample((0, 1), 14)[0][:, 0].numpy()
  assert sorted(twice) == sorted([*range(7)] * 2)
  images, labels = memory.sample((0, 1), 10)
  np.testing.assert_array_equal(images[:, 1], labels)
  assert set(np.bincount(images[:, 0].numpy().astype(int))) == {1, 2}


@pytest.mark.parametrize("capacity", [10, 5000])
def test_every_example_is_sampled_equally_often(capacity):
  memory = make(reservoir.Reservoir(), capacity)
  memory.add(*bucket(0, 10))
  sample = tf.function(lambda i: memory.places(tf.stack([i, 5]), 3))
  counts = np.bincount(np.concatenate([sample(tf.constant(i)) for i in range(2000)]), minlength=10)
  assert abs(counts - 600).max() < 4.5 * np.sqrt(2000 * 0.3 * 0.7)


def test_a_pixel_memory_holds_bytes():
  memory = memory_lib.Memory(2, reservoir.Reservoir())
  memory.build([4, 4, 3], tf.uint8, seed=(0, 0), num_classes=2)
  memory.add(np.full([1, 4, 4, 3], 255, np.uint8), [1])
  assert memory.images.dtype == tf.uint8 and memory.arrays()[0].shape == [1, 4, 4, 3]


def test_bad_input_says_what_is_wrong():
  with pytest.raises(ValueError, match="capacity is 0; it must be at least 1"):
    memory_lib.Memory(0, reservoir.Reservoir())
  memory = make(reservoir.Reservoir())
  with pytest.raises(ValueError, match=r"shape \(2,\) and type float32, but was given \(3,\)"):
    memory.add(np.zeros([1, 3], np.float32), [0])
  with pytest.raises(ValueError, match="given .2,. of uint8"):
    memory.add(np.zeros([1, 2], np.uint8), [0])
  with pytest.raises(tf.errors.InvalidArgumentError, match="The memory is empty"):
    memory.sample((0, 0), 1)
