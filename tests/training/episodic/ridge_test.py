# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression of one-hot labels: by hand, both forms, sets one by one, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import linear_model
import tensorflow as tf

from suite.compute import flops
from suite.training.episodic import ridge


def after(form, size, width, classes, *sets):
  state = ridge.zeros(form, size, width, classes)
  for features, labels in sets:
    state = ridge.add(state, tf.constant(features, tf.float32), tf.constant(labels, tf.int64))
  return state


@pytest.mark.parametrize("form", [ridge.PRIMAL, ridge.DUAL])
def test_by_hand(form):
  # X = [[1, 0], [1, 1]], Y = I and l = 1: X^T X + I = [[3, 1], [1, 2]], whose inverse is
  # [[2, -1], [-1, 3]] / 5, and X^T Y = [[1, 1], [0, 1]]; V = [[2, 1], [-1, 2]] / 5.
  state = after(form, 2, 2, 3, ([[1, 0], [1, 1]], [0, 1]))
  np.testing.assert_allclose(ridge.weights(state, 1.0)[:, :2], [[0.4, 0.2], [-0.2, 0.4]],
                             atol=1e-12)
  found = ridge.logits(state, tf.constant([[5.0, 0.0], [0.0, 10.0]]), 1.0)
  np.testing.assert_allclose(found, [[2, 1, -1e9], [-2, 4, -1e9]], rtol=1e-6)


@pytest.mark.parametrize("form", [ridge.PRIMAL, ridge.DUAL])
@pytest.mark.parametrize("num_images, width", [(4, 9), (12, 5)])
def test_sets_one_by_one_give_what_one_solution_for_all_gives(form, num_images, width):
  rng = np.random.default_rng(0)
  features = rng.normal(size=[num_images, width]).astype(np.float32)
  labels = np.arange(num_images) % 3
  parts = (slice(0, 1), slice(1, 3), slice(3, num_images))
  state = after(form, num_images, width, 3, *((features[p], labels[p]) for p in parts))
  model = linear_model.Ridge(alpha=0.7, fit_intercept=False, solver="cholesky")
  model.fit(features.astype(np.float64), np.eye(3)[labels])
  np.testing.assert_allclose(ridge.weights(state, 0.7), model.coef_.T, rtol=1e-5, atol=1e-6)
  np.testing.assert_array_equal(state.counts, np.bincount(labels))


def test_rows_that_are_not_filled_change_nothing():
  one = ([[1.0, 2.0, 0.5]], [1])
  np.testing.assert_allclose(ridge.weights(after(ridge.DUAL, 4, 3, 2, one), 0.5),
                             ridge.weights(after(ridge.DUAL, 1, 3, 2, one), 0.5), rtol=1e-12)


@pytest.mark.parametrize("num_images, width", [(4, 8), (8, 8), (12, 8)])
def test_the_form_that_is_chosen_costs_less(num_images, width):
  def cost(form):
    def answer(features, labels, queries):
      state = ridge.add(ridge.zeros(form, num_images, width, 4), features, labels)
      return ridge.logits(state, queries, 1.0)
    return flops.count(tf.function(answer, autograph=False).get_concrete_function(
        tf.TensorSpec([num_images, width]), tf.TensorSpec([num_images], tf.int64),
        tf.TensorSpec([5, width]))).flops

  assert cost(ridge.PRIMAL) > 0 and cost(ridge.DUAL) > 0
  chosen = ridge.cheaper(num_images, width)
  if num_images != width:
    assert cost(chosen) == min(cost(form) for form in (ridge.PRIMAL, ridge.DUAL))
  assert chosen == (ridge.DUAL if num_images < width else ridge.PRIMAL)


def test_more_images_than_rows_are_refused():
  with pytest.raises(tf.errors.InvalidArgumentError, match="more than the 2 support images"):
    after(ridge.DUAL, 2, 2, 3, ([[1, 0], [1, 1]], [0, 1]), ([[0, 1]], [2]))
  with pytest.raises(ValueError, match="more than the 1 support images .* take the primal form"):
    after(ridge.DUAL, 1, 2, 3, ([[1, 0], [1, 1]], [0, 1]))
