# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import sampling
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir


def make(capacity, *args):
  memory = memory_lib.Memory(capacity, reservoir.BiasedReservoir(*args))
  memory.build([], tf.int64, seed=(7, 0), num_classes=1)
  return memory


def offer(memory, first, num):
  memory.add(np.arange(first, first + num), np.zeros(num))
  return memory.held().codes.numpy()


def fill(memory, buckets, size):
  for b in range(buckets):
    ids = offer(memory, b * size, size)
  return ids


@pytest.fixture(name="run")
def _run(monkeypatch):
  """A variable that every draw depends on, too: many runs in one graph."""
  run, root_seed = tf.Variable(0, dtype=tf.int64), sampling.root_seed
  monkeypatch.setattr(sampling, "root_seed", lambda *args: sampling.derive(root_seed(*args), run))
  return run


def forget(memory, run):
  """Begins the next run with an empty memory."""
  run.assign_add(1)
  memory.size.assign(0)
  memory.seen.assign(0)


@pytest.mark.parametrize("alpha, schedule, enter", [
  (0.5, "fixed", [1, 1 / 4, 1 / 6, 1 / 8]),
  (2.0, "fixed", [1, 1, 2 / 3, 1 / 2]),
  (0.25, "dynamic", [1, 1 / 4, 1 / 4, 1 / 4]),
])
def test_inclusion_frequencies_of_buckets_match_theory(run, alpha, schedule, enter):
  # A bucket of k examples enters with p_i; of those held before, a share of p_i goes. So bucket j
  # is held with p_j * product over i > j of (1 - p_i).
  k, runs = 50, 40
  expected = [p * np.prod([1 - q for q in enter[j + 1:]]) for j, p in enumerate(enter)]
  memory = make(k, alpha, schedule)

  def offer_bucket(bucket):
    memory.add(bucket * k + tf.range(k, dtype=tf.int64), tf.zeros([k]))
    return bucket + 1

  @tf.function(autograph=False)
  def ids():
    forget(memory, run)
    tf.while_loop(lambda bucket: bucket < 4, offer_bucket, [tf.constant(0, tf.int64)])
    return memory.codes[:memory.size]

  counts = np.bincount(np.concatenate([ids() for _ in range(runs)]) // k, minlength=4)
  for count, p in zip(counts, expected):
    # Members of one bucket exclude each other a little: the binomial law is an upper bound here.
    assert abs(count - runs * k * p) <= 4.5 * np.sqrt(runs * k * p * (1 - p)) + 1e-9


def test_one_example_a_call_with_alpha_one_is_the_uniform_reservoir(run):
  k, num, runs = 4, 8, 400
  memory = make(k, 1.0)

  def offer_one(j):
    memory.add(j[None], tf.zeros([1]))
    return j + 1

  @tf.function(autograph=False)
  def ids():
    forget(memory, run)
    tf.while_loop(lambda j: j < num, offer_one, [tf.constant(0, tf.int64)])
    return memory.codes.read_value()

  counts = np.bincount(np.concatenate([ids() for _ in range(runs)]), minlength=num)
  assert abs(counts - runs * k / num).max() < 4.5 * np.sqrt(runs * k / num * (1 - k / num))


def test_the_first_bucket_fills_the_memory():
  for alpha, schedule in [(0.1, "fixed"), (0.1, "dynamic")]:
    np.testing.assert_array_equal(offer(make(6, alpha, schedule), 0, 6), np.arange(6))
    np.testing.assert_array_equal(offer(make(6, alpha, schedule), 0, 4), np.arange(4))


def test_dynamic_one_is_first_in_first_out():
  np.testing.assert_array_equal(sorted(fill(make(6, 1.0, "dynamic"), 3, 6)), np.arange(12, 18))


def test_a_bucket_larger_than_the_memory_leaves_its_last_k():
  np.testing.assert_array_equal(sorted(offer(make(4, 1.0, "dynamic"), 0, 11)), [7, 8, 9, 10])


def test_tail_eviction_lets_the_newest_go():
  memory = make(20, 0.5, "dynamic", "tail")
  oldest = list(offer(memory, 0, 20))
  for bucket in range(1, 4):
    before = sorted(memory.held().codes.numpy())
    ids = sorted(offer(memory, 20 * bucket, 20))
    entered = [i for i in ids if i >= 20 * bucket]
    assert 0 < len(entered) < 20
    assert ids == before[:20 - len(entered)] + entered
  assert ids[0] == oldest[0]


def test_random_eviction_spares_no_age():
  memory = make(200, 0.5, "dynamic", "random")
  offer(memory, 0, 200)
  ids = offer(memory, 200, 200)
  low, high = (np.sum((ids >= a) & (ids < a + 100)) for a in (0, 100))
  assert abs(low - high) < 4.5 * np.sqrt(200 * 0.25) and low + high < 150


@pytest.mark.parametrize("arguments, message", [
  ((1.0, "linear"), "schedule is 'linear'; allowed are fixed, dynamic"),
  ((1.0, "fixed", "oldest"), "eviction is 'oldest'; allowed are random, tail"),
  ((0.0,), "alpha is 0.0; with the fixed schedule it must be above 0."),
  ((1.5, "dynamic"), "alpha is 1.5; with the dynamic schedule it must be above 0 and at most 1"),
])
def test_bad_input_says_what_is_allowed(arguments, message):
  with pytest.raises(ValueError, match=message):
    reservoir.BiasedReservoir(*arguments)
