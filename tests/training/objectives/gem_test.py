# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GEM's projection by hand, and against a search over all sets of active constraints."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import gem


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
  objective = gem.Gem(margin)
  objective.build(tf.keras.Sequential())
  return objective


def gradient(objective, values, held, groups):
  return steps.followed(objective, held, [values], groups).followed[0]


def test_the_nearest_gradient_by_hand():
  # Bucket 4: the mean of (2, 0) and (0, 0); bucket 7: (0, 1).
  data, objective = ([[2, 0], [0, 1], [0, 0]], [4, 7, 4]), make(0.0)
  for given, nearest in (([-1, -3], [0, 0]), ([-1, 3], [0, 3]), ([1, -3], [1, 0])):
    np.testing.assert_allclose(gradient(objective, given, *data), nearest, atol=1e-5)
  asked = steps.followed(objective, data[0], [[1, 3]], data[1]).asked
  assert [a.tolist() for a in asked] == [[[2, 0], [0, 0]], [[0, 1]]]
  np.testing.assert_array_equal(gradient(objective, [1, 3], *data), [1, 3])
  np.testing.assert_array_equal(gradient(objective, [-1, -3], [], []), [-1, -3])


def test_the_margin_by_hand():
  # Only the first bucket is violated: v = (1, 0.5), since v = 0 would do for the second.
  found = gradient(make(0.5), [-1, 3], [[1, 0], [0, 1]], [0, 1])
  np.testing.assert_allclose(found, [0, 3.5], atol=1e-5)


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
