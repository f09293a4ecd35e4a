# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ER-AML against its equation, row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import er_aml


def expected(features, labels, num_replayed, temperature):
  """The equation as it is printed; also the number of incoming rows that count."""
  unit = features / np.linalg.norm(features, axis=1, keepdims=True)
  num, found = len(labels) - num_replayed, []
  for i in range(num):
    positives = [j for j in range(len(labels)) if labels[j] == labels[i] and j != i]
    negatives = [j for j in range(len(labels)) if labels[j] != labels[i]
                 and labels[j] in labels[:num]]
    if positives and negatives:
      similar = np.exp(unit @ unit[i] / temperature)
      total = similar[positives].sum() + similar[negatives].sum()
      found.append(-np.mean(np.log(similar[positives] / total)))
  return np.mean(found) if found else 0.0, len(found)


@pytest.mark.parametrize("labels, num_replayed, count", [
    ([0, 1, 2, 0, 1, 3, 0, 3], 4, 3),  # Of class 2 there is one row alone.
    ([0, 0, 0, 1, 1], 2, 0),  # One class is incoming: nothing to push away.
    ([0, 1, 0, 1], 0, 4),
    ([0, 1, 2, 3], 2, 0)])
def test_the_metric_is_that_of_the_equation(labels, num_replayed, count):
  features = np.random.default_rng(1).normal(size=[len(labels), 3])
  value, counted = expected(features, np.array(labels), num_replayed, 0.3)
  assert counted == count
  found = er_aml.contrast(tf.constant(features, tf.float32), tf.constant(labels, tf.int64),
                          num_replayed, 0.3)
  assert float(found) == pytest.approx(value, rel=1e-5, abs=1e-7)


def test_rows_of_classes_that_are_not_incoming_have_no_gradient_of_the_metric():
  features = tf.Variable(np.random.default_rng(2).normal(size=[6, 3]), dtype=tf.float32)
  with tf.GradientTape() as tape:
    loss = er_aml.contrast(features, tf.constant([0, 1, 0, 2, 1, 3], tf.int64), 3, 0.15)
  gradient = tape.gradient(loss, features).numpy()
  assert np.abs(gradient[[0, 1, 2, 4]]).max(axis=1).min() > 0
  assert not gradient[[3, 5]].any()


def test_incoming_rows_have_their_cross_entropy_until_something_was_taught():
  objective = er_aml.ErAml()
  objective.build(tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(3)]))
  rows = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
  batch = steps.batch(tf.zeros([4, 3]), [0, 1, 0, 1], (2,), features=rows)
  objective.begin_phase(tf.constant([True, True, False]))
  assert float(steps.loss_of(objective, batch)) == pytest.approx(2 * math.log(3.0), rel=1e-6)
  objective.end_phase()
  # Each incoming row: one of its class at cosine 1, two of the other at 0; then the replayed ones.
  metric = 0.2 / 0.07 * math.log(1 + 2 * math.exp(-1 / 0.2))
  assert float(steps.loss_of(objective, batch)) == pytest.approx(metric + math.log(3.0), rel=1e-6)


def test_a_temperature_of_0_is_refused():
  with pytest.raises(ValueError, match="ErAml.temperature is 0; it must be above 0"):
    er_aml.ErAml(0)
