# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GEM's projection by hand, and against a search over all sets of active constraints."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf

from suite.training.objectives import gem
from suite.training.objectives import objective as objective_lib


def brute_force(gram, products, margin):
  """The dual's solution in float64: the best feasible one of all 2^T sets of free entries."""
  best, least = None, np.inf
  for free in itertools.product([False, True], repeat=len(products)):
    at, v = np.flatnonzero(free), np.full(len(products), float(margin))
    rest = products + gram @ np.where(free, 0.0, v)
    v[at] = np.linalg.lstsq(gram[np.ix_(at, at)], -rest[at], rcond=None)[0]
    value = 0.5 * v @ gram @ v + products @ v
    if (v >= margin - 1e-9).all() and value < least:
      best, least = v, value
  return best


def make(margin):
  """Two parameters w; an example x costs w . x, so that its gradient is x."""
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1, use_bias=False)])
  objective = gem.Gem(margin)
  objective.build(model, losses_of=lambda images, labels, known: model(images)[:, 0])
  return objective


def holding(rows, groups):
  """Rows of two numbers behind one of the bucket at hand, which nobody may follow."""
  rows = np.reshape(np.array(rows, np.float32), [-1, 2])
  return objective_lib.Data(
      tf.constant(np.concatenate([[[1e3, 1e3]], rows]), tf.float32),
      tf.zeros([len(rows) + 1], tf.int64), tf.range(1, len(rows) + 1, dtype=tf.int64),
      tf.zeros([len(rows), 0]), None, tf.constant(groups, tf.int64))


@functools.cache
def compiled(objective):
  return tf.function(lambda g, *d: objective.gradients([g], objective_lib.Data(*d))[0],
                     autograph=False)


def gradient(objective, values, data):
  return compiled(objective)(tf.constant(values, tf.float32)[:, None], *data)[:, 0].numpy()


def test_the_nearest_gradient_by_hand():
  # Bucket 4: the mean of (2, 0) and (0, 0); bucket 7: (0, 1).
  data = holding([[2, 0], [0, 1], [0, 0]], [4, 7, 4])
  objective = make(0.0)
  np.testing.assert_allclose(objective.references(data), [[1, 0], [0, 1]])
  for given, nearest in (([-1, -3], [0, 0]), ([-1, 3], [0, 3]), ([1, -3], [1, 0])):
    np.testing.assert_allclose(gradient(objective, given, data), nearest, atol=1e-5)
  np.testing.assert_array_equal(gradient(objective, [1, 3], data), [1, 3])
  np.testing.assert_array_equal(gradient(objective, [-1, -3], holding([], [])), [-1, -3])


def test_the_margin_by_hand():
  # Only the first bucket is violated: v = (1, 0.5), since v = 0 would do for the second.
  data = holding([[1, 0], [0, 1]], [0, 1])
  np.testing.assert_allclose(gradient(make(0.5), [-1, 3], data), [0, 3.5], atol=1e-5)


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_the_dual_is_that_of_a_search_over_all_sets(margin):
  rng = np.random.default_rng(0)
  for _ in range(60):
    num = rng.integers(1, 6)
    rows, g = rng.normal(size=[num, 8]), rng.normal(size=8) * 3
    found = gem.dual(rows @ rows.T, rows @ g, margin)
    np.testing.assert_allclose(
        found, brute_force(rows @ rows.T, rows @ g, margin), rtol=1e-3, atol=1e-3)
    if not margin:
      assert (rows @ (g + rows.T @ found)).min() > -1e-3


def test_equal_buckets_and_empty_gradients_have_a_solution():
  np.testing.assert_allclose(gem.dual(np.full([2, 2], 4.0), np.full([2], -2.0), 0.0).sum(), 0.5,
                             rtol=1e-4)
  assert gem.dual(np.zeros([2, 2]), np.zeros([2]), 0.5).tolist() == [0, 0]
  assert gem.dual(np.full([2, 2], np.nan), np.zeros([2]), 0.5).tolist() == [0, 0]


def test_a_negative_margin_is_refused():
  with pytest.raises(ValueError, match="Gem.margin is -1; it must be at least 0"):
    gem.Gem(-1)
