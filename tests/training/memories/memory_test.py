# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir

RULES = {
    "reservoir": reservoir.Reservoir,
    "biased": lambda: reservoir.BiasedReservoir(2.0),
    "biased_tail": lambda: reservoir.BiasedReservoir(0.5, "dynamic", "tail"),
    "by_class_newest": lambda: reservoir.GroupBalanced(keep="newest"),
    "by_class": reservoir.GroupBalanced,
    "by_bucket": lambda: reservoir.GroupBalanced("bucket"),
}


def make(rule, capacity=7, seed=(1, 2), with_logits=False):
  memory = memory_lib.Memory(capacity, rule)
  memory.build([2], tf.float32, seed=seed, num_classes=3, with_logits=with_logits)
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
    images, labels, logits = memory.held()
    np.testing.assert_array_equal(images[:, 1], labels)
    assert logits.shape == [int(memory.size), 0]
    ids = images[:, 0].numpy()
    assert len(set(ids)) == len(ids) == memory.size == min(7, first + num)
    assert memory.seen == first + num


@pytest.mark.parametrize("name", RULES)
def test_a_graph_does_the_same_as_eager_calls(name):
  eager, graph = make(RULES[name]()), make(RULES[name]())
  add = tf.function(graph.add, input_signature=[
      tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.int64)], autograph=False)
  for first in (0, 10, 20):
    eager.add(*bucket(first, 10))
    add(*bucket(first, 10))
  np.testing.assert_array_equal(eager.codes, graph.codes)


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
  np.testing.assert_array_equal(whole.codes, again.codes)
  np.testing.assert_array_equal(whole.labels, again.labels)


def logits_of(first, num):
  """Logits that say whose they are: (i, -i, NaN)."""
  i = np.arange(first, first + num)
  return np.stack([i, -i, np.full(num, np.nan)], 1).astype(np.float32)


@pytest.mark.parametrize("name", RULES)
def test_logits_stay_with_their_images(name, tmp_path):
  memory = make(RULES[name](), with_logits=True)
  for first, num in [(0, 4), (4, 9), (13, 1), (14, 30)]:
    memory.add(*bucket(first, num), logits_of(first, num))
    images, _, logits = memory.held()
    np.testing.assert_array_equal(logits[:, 0], images[:, 0])
    np.testing.assert_array_equal(logits[:, 1], -images[:, 0])
    assert np.isnan(logits[:, 2]).all() and logits.shape == [int(memory.size), 3]
  path = tf.train.Checkpoint(memory=memory).save(str(tmp_path / "c"))
  again = make(RULES[name](), with_logits=True)
  tf.train.Checkpoint(memory=again).restore(path).assert_consumed()
  np.testing.assert_array_equal(again.logits, memory.logits)


@pytest.mark.parametrize("size", [7, 5000])
def test_a_sample_is_without_replacement_while_it_can_be(size):
  assert sorted(memory_lib.sample(size, (0, 1), size).numpy()) == list(range(size))
  part = memory_lib.sample(size, (0, 1), size // 2).numpy()
  assert len(set(part)) == size // 2 and part.min() >= 0 and part.max() < size
  twice = memory_lib.sample(size, (0, 1), 2 * size).numpy()
  assert sorted(twice) == sorted([*range(size)] * 2)
  some = memory_lib.sample(size, (0, 1), size + size // 2).numpy()
  assert set(np.bincount(some, minlength=size)) == {1, 2}


def test_of_one_slot_a_sample_is_that():
  for num in (1, 5):
    assert memory_lib.sample(1, (3, 4), num).numpy().tolist() == [0] * num


def test_a_sample_is_a_function_of_its_seed():
  first = memory_lib.sample(100, (3, 4), 20)
  np.testing.assert_array_equal(first, memory_lib.sample(100, (3, 4), 20))
  assert (first != memory_lib.sample(100, (3, 5), 20)).numpy().any()
  assert (first != memory_lib.sample(100, (4, 4), 20)).numpy().any()


@functools.cache
def samples(size, num, runs):
  """Samples of one seed each, in one graph: [runs, num]."""
  draw = tf.function(lambda: tf.map_fn(
      lambda i: memory_lib.sample(size, tf.stack([i, 5]), num), tf.range(runs),
      fn_output_signature=tf.int64), autograph=False)
  return draw().numpy()


@pytest.mark.parametrize("size", [10, 10_000])
def test_every_slot_is_sampled_equally_often(size):
  """Beyond 4,096, too, from where on TensorFlow's permutation has another block."""
  num, runs = size * 3 // 10, 2000 if size == 10 else 60
  found = samples(size, num, runs).ravel()
  counts = np.bincount(found * 10 // size, minlength=10)  # By tenths of the slots.
  assert abs(counts - runs * num / 10).max() < 4.5 * np.sqrt(runs * num * 0.1 * 0.9)


def test_all_places_of_a_sample_are_alike():
  for column in samples(10, 3, 2000).T:
    assert abs(np.bincount(column, minlength=10) - 200).max() < 4.5 * np.sqrt(2000 * 0.1 * 0.9)


@pytest.mark.parametrize("num", [1, 3, 7, 20])
def test_samples_of_steps_are_those_of_each_step_alone(num, monkeypatch):
  sizes = np.array([1, 2, 2, 5, 7, 7, 7, 7])
  found = memory_lib.samples(sizes, (3, 4), 10, num)
  for step, (size, own) in enumerate(zip(sizes, found)):
    whole, rest = divmod(num, size)
    counts = np.bincount(own, minlength=size)
    assert len(counts) == size and set(counts) <= {whole, whole + 1} and sum(counts > whole) == rest
    np.testing.assert_array_equal(memory_lib.samples(sizes[step:step + 1], (3, 4), 10 + step, num),
                                  [own])
  monkeypatch.setattr(memory_lib, "_TABLE", 14)  # Two steps at once.
  np.testing.assert_array_equal(memory_lib.samples(sizes, (3, 4), 10, num), found)
  if num > 1:
    assert (memory_lib.samples(sizes, (3, 5), 10, num) != found).any()
    assert (memory_lib.samples(sizes, (3, 4), 11, num) != found).any()


def test_every_slot_of_every_draw_of_a_step_is_as_likely():
  runs = 6000
  found = memory_lib.samples(np.full([runs], 6), (1, 2), 0, 3)
  orders = np.bincount(found @ [36, 6, 1], minlength=216)
  counts = orders[orders > 0]  # 6 * 5 * 4 ordered samples.
  assert len(counts) == 120 and abs(counts - runs / 120).max() < 4.5 * np.sqrt(runs / 120)


def test_a_pixel_memory_holds_bytes():
  memory = memory_lib.Memory(2, reservoir.Reservoir())
  memory.build([4, 4, 3], tf.uint8, seed=(0, 0), num_classes=2)
  memory.add(np.full([1, 4, 4, 3], 255, np.uint8), [1])
  assert memory.codes.dtype == tf.uint8 and memory.held().codes.shape == [1, 4, 4, 3]


def test_bad_input_says_what_is_wrong():
  with pytest.raises(ValueError, match="memory_size is 0; it must be at least 1"):
    memory_lib.Memory(0, reservoir.Reservoir())
  memory = make(reservoir.Reservoir())
  with pytest.raises(ValueError, match=r"shape \(2,\) and type float32, but was given \(3,\)"):
    memory.add(np.zeros([1, 3], np.float32), [0])
  with pytest.raises(ValueError, match="given .2,. of uint8"):
    memory.add(np.zeros([1, 2], np.uint8), [0])
  with pytest.raises(tf.errors.InvalidArgumentError, match="The memory is empty"):
    memory_lib.sample(memory.size, (0, 0), 1)
