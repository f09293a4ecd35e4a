# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Contrastive losses, queue and momentum, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.training.pretraining import pretexts

STRATEGY = distribution.build().strategy
X, Y, MINUS_X = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


def test_info_nce_by_hand():
  queries = tf.constant([X, Y])
  keys = tf.constant([X, X])
  queue = tf.constant([Y, MINUS_X])
  # Row 0: positive 1, negatives 0 and -1. Row 1: positive 0, negatives 1 and 0. Temperature 0.5.
  want = [math.log(math.exp(2) + 1 + math.exp(-2)) - 2, math.log(1 + math.exp(2) + 1)]
  got = pretexts.info_nce(queries, keys, queue, 0.5).numpy()
  assert got == pytest.approx(want, rel=1e-6)


def test_nt_xent_by_hand():
  first, second = tf.constant([X, Y]), tf.constant([X, MINUS_X])
  # Views: a0 = x, b0 = y, a1 = x, b1 = -x. a0: positive 1, negatives y 0, -x -1.
  a = math.log(math.e + 1 + math.exp(-1)) - 1
  b0 = math.log(1 + 1 + 1)  # y is at right angles to all of x, x, -x.
  b1 = math.log(1 + math.exp(-1) + math.exp(-1))  # -x: positive y 0, negatives x -1 twice.
  got = pretexts.nt_xent(first, second, 1.0, all_first=first, all_second=second).numpy()
  assert got == pytest.approx([a, (b0 + b1) / 2], rel=1e-6)


def test_nt_xent_of_a_replica_is_its_part_of_the_whole():
  rng = np.random.default_rng(0)
  first, second = (
      pretexts.normalized(tf.constant(rng.normal(size=[6, 4]), tf.float32)) for _ in range(2))
  whole = pretexts.nt_xent(first, second, 0.3, all_first=first, all_second=second)
  parts = [pretexts.nt_xent(first[i:i + 3], second[i:i + 3], 0.3, all_first=first,
                               all_second=second, offset=i) for i in (0, 3)]
  np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-6)


def test_the_queue_is_first_in_first_out():
  queue = pretexts.Queue(6, 2, seed=(1, 2))
  at_first = queue.keys.numpy()
  np.testing.assert_allclose(np.linalg.norm(at_first, axis=1), 1.0, rtol=1e-6)
  push = tf.function(lambda keys: queue.push(keys, STRATEGY))
  for number in (1.0, 2.0):
    push(tf.fill([2, 2], number))
  np.testing.assert_array_equal(queue.keys[:4, 0], [1, 1, 2, 2])
  np.testing.assert_array_equal(queue.keys[4:], at_first[4:])
  for number in (3.0, 4.0):
    push(tf.fill([2, 2], number))
  np.testing.assert_array_equal(queue.keys[:, 0], [4, 4, 2, 2, 3, 3])
  assert int(queue.place) == 2
  with pytest.raises(ValueError, match="A queue of 6 keys is no multiple of the batch size 4"):
    queue.check_batch(4)


def test_the_key_encoder_follows_slowly():
  follower, leader = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 0.0])
  follow = tf.function(lambda: pretexts.follow([follower], [leader], 0.75, STRATEGY))
  follow()
  np.testing.assert_allclose(follower, [1.5, 1.5])
  follow()
  np.testing.assert_allclose(follower, [1.875, 1.125])
  np.testing.assert_allclose(leader, [3.0, 0.0])


def test_the_order_of_the_keys_is_a_permutation_of_its_own_step():
  orders = [pretexts.order_of(tf.constant(step, tf.int64), 16, (1, 2)).numpy()
            for step in (0, 1, 0)]
  assert all(sorted(order) == list(range(16)) for order in orders)
  assert (orders[0] == orders[2]).all() and (orders[0] != orders[1]).any()
