# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import sampling
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir


def held(seed, cuts, capacity=5, num=20):
  """The ids held after 0..num - 1 were offered in calls that end at the cuts."""
  memory = memory_lib.Memory(capacity, reservoir.Reservoir())
  memory.build([], tf.int64, seed=(7, seed), num_classes=1)
  for ids in np.split(np.arange(num), cuts):
    memory.add(ids, np.zeros(len(ids)))
  return sorted(memory.held().codes.numpy())


def test_the_k_largest_keys_stay_however_the_examples_come():
  keys = memory_lib.integers((7, 0), 0, 0, 20).numpy()
  expected = sorted(np.argsort(keys)[-5:])
  for cuts in ([], [3, 4], [10], list(range(1, 20))):
    assert held(0, cuts) == expected


@pytest.fixture(name="run")
def _run(monkeypatch):
  """A variable that every draw depends on, too: many runs in one graph."""
  run, root_seed = tf.Variable(0, dtype=tf.int64), sampling.root_seed
  monkeypatch.setattr(sampling, "root_seed", lambda *args: sampling.derive(root_seed(*args), run))
  return run


def test_every_example_is_held_with_probability_k_over_n(run):
  runs, rule = 1000, reservoir.Reservoir()
  memory = memory_lib.Memory(5, rule)
  memory.build([], tf.int64, seed=(7, 0), num_classes=1)

  @tf.function(autograph=False)
  def ids():
    run.assign_add(1)
    memory.size.assign(0)
    memory.seen.assign(0)
    rule.keys.assign(tf.range(-5, 0, dtype=tf.int64))
    for part in ([0, 4], [4, 11], [11, 20]):
      memory.add(tf.range(*part, dtype=tf.int64), tf.zeros([part[1] - part[0]]))
    return memory.codes.read_value()

  counts = np.bincount(np.concatenate([ids() for _ in range(runs)]), minlength=20)
  # Binomial: 5 of 20. 4.5 standard deviations, twenty times over: one false alarm in 7,000.
  assert abs(counts - runs / 4).max() < 4.5 * np.sqrt(runs * 0.25 * 0.75)


def test_free_slots_are_taken_in_order():
  memory = memory_lib.Memory(5, reservoir.Reservoir())
  memory.build([], tf.int64, seed=(0, 0), num_classes=1)
  memory.add(np.arange(3), np.zeros(3))
  np.testing.assert_array_equal(memory.held().codes, [0, 1, 2])
  memory.add(np.arange(3, 5), np.zeros(2))
  np.testing.assert_array_equal(memory.held().codes, [0, 1, 2, 3, 4])


def test_largest_says_who_comes_and_who_goes():
  chosen, slots = reservoir.largest(tf.constant([5, 1, 9, 3]), tf.constant([4, 2, 8]))
  np.testing.assert_array_equal(chosen, [0, 2])
  np.testing.assert_array_equal(slots, [1, 3])


@pytest.mark.parametrize("first", [0, 1, 50])
def test_draws_are_a_function_of_the_position(first):
  whole = memory_lib.uniforms((1, 2), 3, 0, 100).numpy()
  np.testing.assert_array_equal(memory_lib.uniforms((1, 2), 3, first, 20), whole[first:first + 20])
  assert whole.min() >= 0 and whole.max() < 1 and abs(whole.mean() - 0.5) < 0.13
  assert set(whole).isdisjoint(memory_lib.uniforms((1, 2), 4, 0, 100).numpy())


@pytest.mark.parametrize("cuts", [[], [3, 4], [10], list(range(1, 12))])
def test_the_latest_examples_are_held(cuts):
  memory = memory_lib.Memory(5, reservoir.Latest())
  memory.build([], tf.int64, seed=(7, 0), num_classes=1)
  for ids in np.split(np.arange(12), cuts):
    memory.add(ids, np.zeros(len(ids)))
  assert sorted(memory.held().codes.numpy()) == [7, 8, 9, 10, 11]
