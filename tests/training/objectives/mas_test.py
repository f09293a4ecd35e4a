# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAS on a linear model, whose gradients can be worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import example_gradients
from suite.training.objectives import mas

# Logits are W^T x; |W^T x|^2 has the gradient 2 x (W^T x)^T.
X = np.array([[1, 0], [0, 2], [1, -1]], np.float32)
W = np.array([[1, -3], [2, 0]], np.float32)
# A batch whose cross-entropy is 0: what is left of the loss is the distance.
SURE = steps.batch(np.array([[200, 0]], np.float32), [0])


def by_hand(rows, weights=W):
  """The mean of |2 x (W^T x)^T| over rows of X."""
  return np.mean([np.abs(2 * np.outer(X[i], weights.T @ X[i])) for i in rows], axis=0)


def make(importance="paper", **options):
  layer = tf.keras.layers.Dense(2, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  layer.kernel.assign(W)
  objective = mas.Mas(importance=importance, **options)
  objective.build(model)
  return objective, layer.kernel


def observe(objective, batches, graph=False):
  def nobody_asks(*arguments):
    raise AssertionError("MAS needs no loss.")

  call = tf.function(lambda x, y: objective.observe(nobody_asks, x, y)) if graph else (
      lambda x, y: objective.observe(nobody_asks, x, y))
  for rows in batches:
    call(tf.constant(X[rows]), tf.zeros([len(rows)], tf.int64))
  objective.end_phase()


def test_the_formula_of_this_file_by_hand():
  # x = (1, -1): W^T x = (-1, -3); 2 x (W^T x)^T = ((-2, -6), (2, 6)).
  np.testing.assert_array_equal(by_hand([2]), [[2, 6], [2, 6]])
  # x = (1, 0): (1, -3), ((2, -6), (0, 0)); x = (0, 2): (4, 0), ((0, 0), (16, 0)).
  np.testing.assert_array_equal(by_hand([0, 1]), [[1, 3], [8, 0]])


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("limit", [0, 2**20])
def test_importance_is_the_mean_absolute_gradient_of_an_example(graph, limit, monkeypatch):
  monkeypatch.setattr(example_gradients, "_MAX_BYTES", limit)
  objective, _ = make()
  observe(objective, [[0, 1], [2]], graph)
  np.testing.assert_allclose(objective.importance[0], by_hand([0, 1, 2]), rtol=1e-6)


def test_padding_does_not_count():
  objective, _ = make()
  objective.observe(None, tf.constant(X), tf.zeros([3], tf.int64), tf.constant([True, False, True]))
  objective.observe(None, tf.constant(X), tf.zeros([3], tf.int64), tf.zeros([3], tf.bool))
  objective.end_phase()
  np.testing.assert_allclose(objective.importance[0], by_hand([0, 2]), rtol=1e-6)


def test_loss_by_hand():
  objective, kernel = make(strength=0.5)
  observe(objective, [[2]])
  assert float(steps.loss_of(objective, SURE)) == 0
  kernel.assign(W + np.array([[1, 0], [0, 2]], np.float32))
  with tf.GradientTape() as tape:
    loss = steps.loss_of(objective, SURE)
  assert float(loss) == pytest.approx(0.5 * (2 * 1 + 6 * 4))
  np.testing.assert_allclose(tape.gradient(loss, kernel), [[2 * 0.5 * 2, 0], [0, 2 * 0.5 * 6 * 2]])
  even = steps.batch(np.zeros([1, 3], np.float32), [0])
  assert float(steps.loss_of(objective, even)) == pytest.approx(13 + np.log(3))


def test_phases_are_summed_around_the_last_weights():
  objective, kernel = make()
  observe(objective, [[0, 1]])
  later = np.array([[2, 1], [0, 1]], np.float32)
  kernel.assign(later)
  observe(objective, [[2]])
  np.testing.assert_allclose(
      objective.importance[0], by_hand([0, 1]) + by_hand([2], later), rtol=1e-6)
  np.testing.assert_array_equal(objective.anchors[0], later)


@pytest.mark.parametrize("graph", [False, True])
def test_the_authors_look_at_means_of_batches(graph):
  objective, kernel = make("authors")
  observe(objective, [[0, 1], [2]], graph)
  # |mean of ((2, -6), (0, 0)) and ((0, 0), (16, 0))| counts twice, ((-2, -6), (2, 6)) once.
  first = (2 * np.array([[1, 3], [8, 0]]) + np.array([[2, 6], [2, 6]])) / 3
  np.testing.assert_allclose(objective.importance[0], first, rtol=1e-6)
  kernel.assign(W)
  observe(objective, [[2]], graph)
  np.testing.assert_allclose(objective.importance[0], first + [[2, 6], [2, 6]], rtol=1e-6)


def test_facil_has_lengths_that_are_not_squared_and_a_mean_over_phases():
  """Their loss has half the strength, and their first importance half the gradient."""
  objective, _ = make("facil", strength=3.0)
  theirs = np.zeros([2, 2])
  for rows in ([0, 1], [2]):
    gradients = [np.outer(X[i], W.T @ X[i]) / np.linalg.norm(W.T @ X[i]) for i in rows]
    theirs = 0.5 * theirs + 0.5 * np.abs(np.mean(gradients, 0))
    observe(objective, [rows])
    np.testing.assert_allclose(objective.importance[0], theirs / 2, rtol=1e-6)


def test_logits_of_zero_have_no_importance():
  objective, kernel = make("facil")
  kernel.assign(np.zeros([2, 2]))
  observe(objective, [[0, 1]])
  np.testing.assert_array_equal(objective.importance[0], np.zeros([2, 2]))


def test_it_goes_on_from_a_checkpoint_inside_a_phase(tmp_path):
  whole, kernel = make()
  observe(whole, [[0]])
  whole.observe(None, tf.constant(X[1:2]), tf.zeros([1], tf.int64))
  path = tf.train.Checkpoint(objective=whole, kernel=kernel).save(str(tmp_path / "c"))
  again, weights = make()
  tf.train.Checkpoint(objective=again, kernel=weights).restore(path).assert_consumed()
  for objective in (whole, again):
    observe(objective, [[2]])
  np.testing.assert_array_equal(again.importance[0], whole.importance[0])
  np.testing.assert_allclose(whole.importance[0], by_hand([0]) + by_hand([1, 2]), rtol=1e-6)


def test_nothing_observed_is_said():
  with pytest.raises(ValueError, match="Mas observed no example of the phase. Call observe"):
    make()[0].end_phase()


def test_an_unknown_importance_is_named():
  with pytest.raises(ValueError, match="importance is 'mean'; allowed are paper, authors, facil"):
    mas.Mas(importance="mean")
