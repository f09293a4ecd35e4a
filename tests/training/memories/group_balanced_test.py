# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import sampling
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir


def make(capacity, by, seed=(0, 0), keep="random"):
  memory = memory_lib.Memory(capacity, reservoir.GroupBalanced(by, keep))
  memory.build([], tf.int64, seed=seed, num_classes=3)
  return memory


def test_ranks_by_hand():
  # Group 4 by falling key: 30, 20, 10; group 2: 25. Firsts: 30, 25; then 20; then 10.
  ranks = reservoir.ranks_within(
      tf.constant([4, 2, 4, 4], tf.int64), tf.constant([10, 25, 30, 20], tf.int64))
  np.testing.assert_array_equal(ranks, [3, 1, 0, 2])


def test_classes_get_equal_parts_and_what_small_ones_leave_over():
  memory = make(9, "class")
  memory.add(np.arange(40), [0] * 20 + [1] * 18 + [2] * 2)
  assert sorted(np.bincount(memory.held().labels)) == [2, 3, 4]
  memory.add(np.arange(40, 50), [2] * 10)
  np.testing.assert_array_equal(np.bincount(memory.held().labels), [3, 3, 3])


def test_buckets_get_equal_parts():
  memory = make(12, "bucket")
  for bucket, share in enumerate([12, 6, 4, 3]):
    memory.add(np.arange(20) + 20 * bucket, np.zeros(20))
    np.testing.assert_array_equal(np.bincount(memory.held().codes // 20), [share] * (bucket + 1))


@pytest.mark.parametrize("cuts", [[0, 24], [0, 1, 5, 6, 17, 24]])
def test_the_newest_of_each_class_stay(cuts):
  """A ring buffer a class, however the samples were cut into calls."""
  labels = np.array([0, 0, 1, 0, 2, 1, 1, 0, 0, 2, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0])
  memory = make(6, "class", keep="newest")
  for first, last in zip(cuts, cuts[1:]):
    memory.add(np.arange(first, last), labels[first:last])
    newest = sorted(i for c in range(3) for i in np.flatnonzero(labels[:last] == c)[-2:])
    if last > 17:
      assert sorted(memory.held().codes.numpy()) == newest
  assert sorted(memory.held().codes.numpy()) == [4, 9, 20, 21, 22, 23]


def test_the_newest_of_each_bucket_stay():
  memory = make(6, "bucket", keep="newest")
  for bucket in range(3):
    memory.add(np.arange(10) + 10 * bucket, np.zeros(10))
  assert sorted(memory.held().codes.numpy()) == [8, 9, 18, 19, 28, 29]


def test_herding_keeps_what_the_papers_algorithm_picks_first():
  """Algorithm 4 of iCaRL as it is printed; then fewer of each class, by leaving out last picks."""
  rng = np.random.default_rng(3)
  features, labels = rng.normal(size=[30, 4]), np.repeat([0, 1, 2], 10)
  picked = []
  for c in range(3):
    own = features[labels == c] / np.linalg.norm(features[labels == c], axis=1, keepdims=True)
    chosen = []
    for k in range(1, 10):
      distances = [np.linalg.norm(own.mean(axis=0) - (own[i] + own[chosen].sum(axis=0)) / k)
                   if i not in chosen else np.inf for i in range(10)]
      chosen.append(int(np.argmin(distances)))
    picked.append([10 * c + i for i in chosen])
  memory = make(9, "class", keep="herding")
  for rows, parts in ((slice(0, 20), (5, 4)), (slice(20, 30), (3, 3, 3))):
    rule, held = memory.rule, int(memory.size)
    # Each of 10 rows is compared with the mean in each pick that the memory has room for.
    assert rule.num_products(tf.constant(labels[rows]), held) == sum(
        10 * max(parts) for _ in np.unique(labels[rows]))
    memory.add(np.arange(30)[rows], labels[rows], features=features[rows])
    found = [set(p[:n]) for p, n in zip(picked, parts)]
    assert set(memory.held().codes.numpy()) == set().union(*found)


def test_herding_asks_for_features():
  with pytest.raises(ValueError, match="GroupBalanced chooses by features; give them"):
    make(9, "class", keep="herding").add(np.arange(3), [0, 1, 2])


@pytest.fixture(name="run")
def _run(monkeypatch):
  """A variable that every draw depends on, too: many runs in one graph."""
  run, root_seed = tf.Variable(0, dtype=tf.int64), sampling.root_seed
  monkeypatch.setattr(sampling, "root_seed", lambda *args: sampling.derive(root_seed(*args), run))
  return run


def test_within_a_class_all_buckets_are_held_equally_often(run):
  # 3 of 12 examples of class 0, which came in three buckets; so each with probability 1/4.
  runs, memory = 300, make(6, "class")

  def offer_bucket(bucket):
    memory.add(tf.range(4, dtype=tf.int64) + 4 * bucket, tf.zeros([4]))
    memory.add(tf.range(4, dtype=tf.int64) + 12, tf.ones([4]))
    return bucket + 1

  @tf.function(autograph=False)
  def ids():
    run.assign_add(1)
    memory.size.assign(0)
    memory.seen.assign(0)
    tf.while_loop(lambda bucket: bucket < 3, offer_bucket, [tf.constant(0, tf.int64)])
    return memory.codes.read_value()

  counts = np.bincount(np.concatenate([ids() for _ in range(runs)]))[:12]
  assert abs(counts - runs / 4).max() < 4.5 * np.sqrt(runs * 0.25 * 0.75)


def test_an_unknown_group_names_the_known_ones():
  with pytest.raises(ValueError, match="by is 'year'; allowed are class, bucket"):
    reservoir.GroupBalanced("year")
  with pytest.raises(ValueError, match="keep is 'best'; allowed are random, newest"):
    reservoir.GroupBalanced(keep="best")
