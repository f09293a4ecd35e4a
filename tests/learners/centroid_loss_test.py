# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loss of OLTR by hand and against loops."""

from __future__ import annotations

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.learners import oltr


class Memory(tf.keras.layers.Layer):
  """A layer with centroids, as the objective looks for."""

  def __init__(self, centroids, present):
    super().__init__()
    self.centroids = tf.Variable(np.asarray(centroids, np.float32))
    self.present = tf.constant(present)

  def call(self, inputs):
    return inputs


def objective_of(layer, **settings):
  inputs = tf.keras.Input([2])
  objective = oltr.CentroidLoss(**settings)
  objective.build(tf.keras.Model(inputs, layer(inputs)))
  return objective


def loss_of(objective, features, labels):
  features = tf.convert_to_tensor(features, tf.float32)
  return steps.loss_of(objective, steps.batch(
      tf.zeros([len(labels), 4]), labels, features=features, images=features))


# Class 3 has no centroid.
KEYS, PRESENT = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [50.0, 50.0]], [True, True, True, False]
FEATURES, LABELS = [[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], [0, 0, 2]


def test_three_rows_by_hand():
  layer = Memory(KEYS, PRESENT)
  objective = objective_of(layer, weight=0.5, repel_weight=0.1, margin=4.0)
  features = tf.constant(FEATURES)
  with tf.GradientTape() as tape:
    tape.watch(features)
    loss = loss_of(objective, features, LABELS)
  of_features, of_keys = tape.gradient(loss, [features, layer.centroids])
  # To the own centroid 1, 4 and 1; attract is half their mean, 1.
  # To others: 1 and 1; 2 and 8; 9 and 5: 26 over 3 rows and 3 classes.
  repel = 4 - 26 / 9
  assert float(loss) == pytest.approx(np.log(4) + 0.5 * (1 + 0.1 * repel), rel=1e-6)
  # Attract: (f - m) / 3 for a row; (m - f) / (1 + n) / 3 for a centroid, n = 2, 0, 1.
  # Repel: -2 / 9 of the sum of f - m over other centroids; for a centroid 2 / 9 over other rows.
  expected = np.array(FEATURES) - np.array([[0, 0], [0, 0], [2, 0]])
  others = np.array([[0 - 1, 0 - 1], [-3, 2 + 1], [3 + 2, 0 - 1]])
  np.testing.assert_allclose(of_features, 0.5 * (expected / 3 - 0.1 * 2 / 9 * others), rtol=1e-5)
  pull = np.array([[-1 / 3, -2 / 3], [0, 0], [-1 / 2, 0], [0, 0]]) / 3
  push = np.array([[3, 0], [0 - 1 + 2, -1 + 1 - 1], [-1 - 2, 0 + 2], [0, 0]])
  np.testing.assert_allclose(
      tf.convert_to_tensor(of_keys), 0.5 * (pull + 0.1 * 2 / 9 * push), rtol=1e-5, atol=1e-7)


def test_the_mean_distance_is_that_of_all_pairs():
  rng = np.random.default_rng(1)
  features, keys = rng.normal(size=[9, 6]), 2 * rng.normal(size=[5, 6])
  labels, present = rng.integers(0, 4, 9), np.array([True, True, True, True, False])
  total = 0.0
  for f, label in zip(features, labels):
    for c in np.flatnonzero(present):
      total += 0.0 if c == label else np.sum((f - keys[c]) ** 2)
  found = oltr.mean_distance(
      tf.constant(features, tf.float32), tf.constant(labels),
      tf.Variable(keys.astype(np.float32)), tf.constant(present))
  assert float(found) == pytest.approx(total / (9 * 4), rel=1e-5)


def test_beyond_the_margin_only_attraction_is_left():
  layer = Memory(KEYS, PRESENT)
  near, far = (objective_of(layer, weight=1.0, repel_weight=1.0, margin=m) for m in (2.88, 0.0))
  assert float(loss_of(near, FEATURES, LABELS)) == pytest.approx(np.log(4) + 1)
  assert float(loss_of(far, FEATURES, LABELS)) == pytest.approx(np.log(4) + 1)
  none = objective_of(layer, weight=0.0)
  assert float(loss_of(none, FEATURES, LABELS)) == pytest.approx(np.log(4))


def test_a_head_without_centroids_is_refused():
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2)])
  with pytest.raises(ValueError, match="has none; give GradientLearner the head oltr.VisualMemory"):
    oltr.CentroidLoss().build(model)
