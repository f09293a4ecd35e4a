# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.learners import exemplar_tuning

LABELS = np.array([1, 1, 2])
# Directions (.6, .8), (1, 0) and (0, 1).
FEATURES = np.array([[3, 4], [9, 0], [0, 2]], np.float32)


def made():
  """A head of two features and three classes, and its model."""
  head = exemplar_tuning.Exemplars()
  model = head.make(2, 3, is_input=True)
  head.attach(model, 3)
  return head, model


def test_logits_are_products_with_mean_directions_and_residuals():
  head, _ = made()
  x = np.array([[2.0, 10.0]], np.float32)
  assert np.isneginf(head.logits(x)).all()
  head.centroids.add(tf.constant(FEATURES), LABELS)
  np.testing.assert_allclose(head.logits(x), [[-np.inf, 2 * 0.8 + 10 * 0.4, 10]], rtol=1e-6)
  head.residuals.assign([[5.0, 5.0], [1.0, 0.0], [0.0, -0.5]])
  np.testing.assert_allclose(head.logits(x), [[-np.inf, 2 * 1.8 + 10 * 0.4, 5]], rtol=1e-6)


def test_other_similarities_are_worked_out_by_hand():
  # Exemplars: (0.8, 0.4) + (1.2, 0.6) = (2, 1), and (0, 1) + (0, 1) = (0, 2).
  x = np.array([[3.0, 4.0]], np.float32)
  for similarity, scale, expected in (
      ("euclidean", 1.0, [-(1 + 9), -(9 + 4)]), ("cosine", 10.0, [20 / 5 ** 0.5, 8])):
    head = exemplar_tuning.Exemplars(similarity, scale)
    model = head.make(2, 3, is_input=True)
    head.attach(model, 3)
    head.centroids.add(tf.constant(FEATURES), LABELS)
    head.residuals.assign([[5.0, 5.0], [1.2, 0.6], [0.0, 1.0]])
    np.testing.assert_allclose(head.logits(x), [[-np.inf, *expected]], rtol=1e-5)
    head.before_phase(np.array([0, 2, 1]), model.trainable_variables)
    np.testing.assert_allclose(model(x)[0, 1:], expected, rtol=1e-5)
  with pytest.raises(ValueError, match="a scale is of cosines"):
    exemplar_tuning.Exemplars("dot", 2.0)


def test_a_phase_trains_residuals_around_the_means_of_its_beginning():
  head, model = made()
  variables = model.trainable_variables
  assert [v is head.residuals for v in variables] == [True]
  head.centroids.add(tf.constant(FEATURES), LABELS)
  assert head.before_phase(np.array([0, 2, 1]), variables) == variables
  head.residuals.assign(tf.ones([3, 2]))
  x = tf.constant([[2.0, 10.0]])
  expected = [[12, 12 + 2 * 0.8 + 10 * 0.4, 12 + 10]]
  np.testing.assert_allclose(model(x), expected, rtol=1e-6)
  head.centroids.add(tf.constant([[7.0, 0.0]]), tf.constant([0], tf.int64))
  np.testing.assert_allclose(model(x), expected, rtol=1e-6)  # The phase does not see it.
  with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(x) * [[1.0, 10.0, 100.0]])
  np.testing.assert_allclose(tape.gradient(loss, variables)[0], np.outer([1, 10, 100], [2, 10]))
  head.before_phase(np.array([1, 2, 1]), variables)
  np.testing.assert_allclose(model(x), [[12 + 2, *expected[0][1:]]], rtol=1e-6)


def test_it_is_charged_as_a_layer_of_its_residuals():
  head, _ = made()
  layer, = head.layers()
  assert (layer.name, layer.macs) == ("exemplars", 6)


def test_means_and_residuals_are_in_a_checkpoint(tmp_path):
  head, model = made()
  head.centroids.add(tf.constant(FEATURES), LABELS)
  head.residuals.assign(tf.ones([3, 2]))
  path = tf.train.Checkpoint(head=head, model=model).write(str(tmp_path / "c"))
  again, other = made()
  tf.train.Checkpoint(head=again, model=other).read(path).assert_consumed()
  x = tf.constant([[2.0, 10.0]])
  np.testing.assert_array_equal(again.logits(x), head.logits(x))
