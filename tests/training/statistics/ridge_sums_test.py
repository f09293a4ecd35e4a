# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression of one-hot labels: by hand, both forms, sets one by one, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import linear_model
import tensorflow as tf

from suite.compute import flops
from suite.training.statistics import ridge_sums
from suite.training.statistics import statistic


def make(strength, form=ridge_sums.PRIMAL, size=1):
  """Ridge regression of `size` support images."""
  return ridge_sums.RidgeSums(strength, form, way=size, shot=1, num_support_sets=1)


def after(ridge, width, classes, *sets):
  state = ridge.episode_zero(classes, width)
  for features, labels in sets:
    state = ridge.add(state, tf.constant(features, tf.float32), tf.constant(labels, tf.int64))
  return state


@pytest.mark.parametrize("form", [ridge_sums.PRIMAL, ridge_sums.DUAL])
def test_by_hand(form):
  # X = [[1, 0], [1, 1]], Y = I and l = 1: X^T X + I = [[3, 1], [1, 2]], whose inverse is
  # [[2, -1], [-1, 3]] / 5, and X^T Y = [[1, 1], [0, 1]]; V = [[2, 1], [-1, 2]] / 5.
  ridge = make(1.0, form, 2)
  state = after(ridge, 2, 3, ([[1, 0], [1, 1]], [0, 1]))
  np.testing.assert_allclose(ridge.weights(state)[:, :2], [[0.4, 0.2], [-0.2, 0.4]],
                             atol=1e-12)
  found = ridge.answers(state, tf.constant([[5.0, 0.0], [0.0, 10.0]]))
  np.testing.assert_allclose(found, [[2, 1, -1e9], [-2, 4, -1e9]], rtol=1e-6)


@pytest.mark.parametrize("form", [ridge_sums.PRIMAL, ridge_sums.DUAL])
@pytest.mark.parametrize("num_images, width", [(4, 9), (12, 5)])
def test_sets_one_by_one_give_what_one_solution_for_all_gives(form, num_images, width):
  rng = np.random.default_rng(0)
  features = rng.normal(size=[num_images, width]).astype(np.float32)
  labels = np.arange(num_images) % 3
  parts = (slice(0, 1), slice(1, 3), slice(3, num_images))
  ridge = make(0.7, form, num_images)
  state = after(ridge, width, 3, *((features[p], labels[p]) for p in parts))
  model = linear_model.Ridge(alpha=0.7, fit_intercept=False, solver="cholesky")
  model.fit(features.astype(np.float64), np.eye(3)[labels])
  np.testing.assert_allclose(ridge.weights(state), model.coef_.T, rtol=1e-5, atol=1e-6)
  np.testing.assert_array_equal(state.counts, np.bincount(labels))


def test_rows_that_are_not_filled_change_nothing():
  one = ([[1.0, 2.0, 0.5]], [1])
  four, exact = (make(0.5, ridge_sums.DUAL, size) for size in (4, 1))
  np.testing.assert_allclose(four.weights(after(four, 3, 2, one)),
                             exact.weights(after(exact, 3, 2, one)), rtol=1e-12)


@pytest.mark.parametrize("num_images, width", [(4, 8), (8, 8), (12, 8)])
def test_the_form_that_is_chosen_costs_less(num_images, width):
  def cost(form):
    ridge = make(1.0, form, num_images)

    def answer(features, labels, queries):
      return ridge.answers(ridge.add(ridge.episode_zero(4, width), features, labels), queries)

    return flops.count(tf.function(answer, autograph=False).get_concrete_function(
        tf.TensorSpec([num_images, width]), tf.TensorSpec([num_images], tf.int64),
        tf.TensorSpec([5, width]))).flops

  assert cost(ridge_sums.PRIMAL) > 0 and cost(ridge_sums.DUAL) > 0
  chosen = make(1.0, ridge_sums.CHEAPER, num_images).episode_form(width)
  if num_images != width:
    assert cost(chosen) == min(cost(form) for form in (ridge_sums.PRIMAL, ridge_sums.DUAL))
  assert chosen == (ridge_sums.DUAL if num_images < width else ridge_sums.PRIMAL)


def test_more_images_than_rows_are_refused():
  with pytest.raises(tf.errors.InvalidArgumentError, match="more than the 2 support images"):
    after(make(1.0, ridge_sums.DUAL, 2), 2, 3, ([[1, 0], [1, 1]], [0, 1]), ([[0, 1]], [2]))
  with pytest.raises(ValueError, match="more than the 1 support images .* take the primal form"):
    after(make(1.0, ridge_sums.DUAL), 2, 3, ([[1, 0], [1, 1]], [0, 1]))


def sequence(num=90, seed=0):
  """Features [num, 6] of classes 0 to 2 out of 4."""
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  return (rng.normal(size=[num, 6]) + labels[:, None]).astype(np.float32), labels


@pytest.mark.parametrize("size, num", [(1, 24), (7, 90), (90, 90)])
def test_a_sequence_is_the_regression_on_all_samples_before_each(size, num):
  codes, labels = sequence(num)
  ridge = ridge_sums.RidgeSums(0.5)
  model = statistic.Running(ridge, 4, 6)
  expected, found = np.full([num, 4], -np.inf), []
  for t in range(num):
    x = codes[:t].astype(np.float64)
    v = np.linalg.solve(x.T @ x + 0.5 * np.eye(6), x.T @ np.eye(4)[labels[:t]])
    known = np.unique(labels[:t])
    expected[t, known] = (codes[t] @ v)[known]
  for i in range(0, num, size):
    block = tf.constant(codes[i:i + size]), tf.constant(labels[i:i + size], tf.int64)
    found.append(model.answer_in_turn(*block).numpy())
    model.add(*block)
  np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-3, atol=1e-4)
  exact = statistic.Running(ridge, 4, 6)
  exact.add_set(codes, labels)
  exact.solve()
  for one, other in zip(model.variables, exact.variables):
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
  # One state, without a solution and with one.
  without = ridge.answers(model.state, tf.constant(codes))
  np.testing.assert_allclose(without[:, :3], model.answer(tf.constant(codes))[:, :3], atol=1e-4)


@pytest.mark.parametrize("tasks", [[(0, 1), (2, 3), (4,)], [(0, 1), (1, 2, 3), (0, 4)]])
def test_the_recursion_of_acil_over_tasks_is_the_joint_regression(tasks):
  """ACIL's classes are disjoint, GACL's come again (Zhuang et al., 2022 and 2024)."""
  rng = np.random.default_rng(1)
  labels = np.concatenate([rng.choice(task, 40) for task in tasks])
  codes = np.maximum(rng.normal(size=[len(labels), 6]) + labels[:, None] / 4, 0).astype(np.float32)
  # The papers' recursion, in float64, a task at a time: R is the inverse of X^T X + l I.
  r, weights = np.eye(6) / 0.5, np.zeros([6, 5])
  for i in range(0, len(labels), 40):
    x, y = codes[i:i + 40].astype(np.float64), np.eye(5)[labels[i:i + 40]]
    r = r - r @ x.T @ np.linalg.solve(np.eye(40) + x @ r @ x.T, x @ r)
    weights = weights - r @ x.T @ x @ weights + r @ x.T @ y
  x = codes.astype(np.float64)
  joint = np.linalg.solve(x.T @ x + 0.5 * np.eye(6), x.T @ np.eye(5)[labels])
  np.testing.assert_allclose(weights, joint, rtol=1e-10, atol=1e-12)
  # Ours by recursion, and from sums in float64 by one solution.
  recursion = statistic.Running(ridge_sums.RidgeSums(0.5), 5, 6)
  sums = statistic.Running(ridge_sums.RidgeSums(0.5, exact=True), 5, 6)
  for i in range(0, len(labels), 40):
    recursion.add(tf.constant(codes[i:i + 40]), tf.constant(labels[i:i + 40]))
    sums.add(tf.constant(codes[i:i + 40]), tf.constant(labels[i:i + 40]))
  np.testing.assert_allclose(recursion.weights, joint, atol=2e-5)
  np.testing.assert_allclose(sums.statistic.weights(sums.state), joint, rtol=1e-10, atol=1e-12)


def test_merged_sums_are_those_of_all_samples():
  codes, labels = sequence()
  ridge = ridge_sums.RidgeSums()
  zero = ridge.zero(4, 6)
  parts = [ridge.add(zero, codes[p], labels[p]) for p in (slice(0, 40), slice(40, 90))]
  for found, expected in zip(ridge.merge(*parts), ridge.add(zero, codes, labels)):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="strength is 0.0; it must be above 0"):
    ridge_sums.RidgeSums(0.0)
  with pytest.raises(ValueError, match="form is 'both'; allowed are primal, dual, cheaper"):
    ridge_sums.RidgeSums(form="both")
  with pytest.raises(ValueError, match="form is 'dual'.*Set way, shot and num_support_sets"):
    ridge_sums.RidgeSums(form="dual")


@pytest.mark.parametrize("exact", [False, True])
def test_held_out_samples_choose_the_strength(exact):
  """Of all strengths by brute force; the sums stay as they are, and what follows has the choice."""
  codes, labels = sequence(60)
  held, their_labels = sequence(30, seed=1)
  strengths = (1e-3, 1.0, 30.0, 1e3, 1e5)
  errors = []
  for strength in strengths:
    model = linear_model.Ridge(alpha=strength, fit_intercept=False, solver="cholesky")
    model.fit(codes.astype(np.float64), np.eye(4)[labels])
    errors.append(np.mean((model.predict(held) - np.eye(4)[their_labels]) ** 2))
  best = strengths[int(np.argmin(errors))]
  assert best not in (strengths[0], strengths[-1])
  model = statistic.Running(ridge_sums.RidgeSums(strengths=strengths, exact=exact), 4, 6)
  model.add_set(codes, labels)
  before = [v.numpy() for v in model.state[:3]]
  cost = model.choose(held, their_labels)
  assert cost.flops > len(strengths) * 6 ** 3 / 3
  assert model.state.strength.numpy().tolist() == [best] and model.chosen() == {"strength": best}
  for variable, value in zip(model.state, before):
    np.testing.assert_array_equal(variable, value)
  model.solve()
  x = codes.astype(np.float64)
  expected = np.linalg.solve(x.T @ x + best * np.eye(6), x.T @ np.eye(4)[labels])
  np.testing.assert_allclose(model.solution.weights, expected, rtol=1e-4, atol=1e-6)
  assert model.state.gram.dtype == (tf.float64 if exact else tf.float32)


def test_strengths_that_rounding_hides_count_as_the_least_that_does_not():
  codes = np.repeat(sequence(40)[0], 2, axis=1)  # Twins: X^T X has no inverse.
  model = statistic.Running(ridge_sums.RidgeSums(strengths=(1e-30, 1e-20), exact=True), 4, 12)
  model.add_set(codes, np.arange(40) % 4)
  model.choose(codes, np.arange(40) % 4)
  trace = float(tf.linalg.trace(model.state.gram))
  assert model.state.strength.numpy() == pytest.approx([1e-14 * trace])
  model.solve()
  assert np.isfinite(model.solution.weights.numpy()).all()


def test_bad_strengths_and_too_many_features_are_refused():
  with pytest.raises(ValueError, match="each must be above 0"):
    ridge_sums.RidgeSums(strengths=(1.0, 0.0))
  with pytest.raises(ValueError, match="GiB .* are allowed. Take fewer features"):
    ridge_sums.RidgeSums().zero(10, 100_000)


@pytest.mark.parametrize("width", [40, 12])
def test_rows_of_sets_give_what_sums_give_before_and_after_they_are_as_many(width):
  """Three sets of 9 samples: 40 features have the dual form throughout, 12 the sums from set 2."""
  rng = np.random.default_rng(3)
  codes = rng.normal(size=[27, width]).astype(np.float32)
  labels = rng.integers(0, 3, 27)
  held = rng.normal(size=[8, width]).astype(np.float32), rng.integers(0, 3, 8)
  settings = ridge_sums.RidgeSums(strengths=(1e-2, 1.0, 1e2, 1e4), exact=True)
  sums = statistic.Running(settings, 4, width)
  rows = statistic.Sets(settings.of_sets(), 4, width)
  for i in range(0, 27, 9):
    part, of = codes[i:i + 9], labels[i:i + 9]
    rows.add_set(part, of)
    rows.choose(*held)
    rows.solve_compiled()
    sums.add_set(part, of)
    sums.choose(*held)
    sums.solve()
    for name in ("counts", "strength", "weights"):
      np.testing.assert_allclose(getattr(rows, name), getattr(sums, name), rtol=1e-6, atol=1e-7)
    assert rows.chosen() == {"strength": rows.strength.numpy()[0]}
    assert len(rows.rows.numpy()) == (i + 9 if i + 9 < width else 0)
    # The right side of X X^T, of as many equations as there are samples; of X^T X with D.
    size = min(i + 9, width)
    assert size ** 3 / 3 < rows.solve_cost().flops < size ** 3 + 8 * size * width * 4 + 4 * (
        size ** 2 * width)
  one = rows.answer(tf.constant(codes[:5]))
  np.testing.assert_allclose(one, sums.answer(tf.constant(codes[:5])), rtol=1e-4, atol=1e-5)
  assert np.isneginf(one[:, 3]).all()


def test_sums_in_float32_are_kept_as_they_were():
  assert ridge_sums.RidgeSums().of_sets() is None
