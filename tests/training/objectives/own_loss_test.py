# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A loss of the user: by row or as a mean, with padding and replicas, by hand."""

from __future__ import annotations

import pytest
import steps
import tensorflow as tf

from suite.training.objectives import objective

LOGITS, LABELS = tf.constant([[1.0, 4.0], [2.0, 0.0], [5.0, 5.0]]), tf.constant([0, 1, 0])


def _rows(labels, logits):
  """The other class's logit: 4, 2, 5."""
  return tf.gather(logits, 1 - labels, batch_dims=1)


def _loss(loss, **more):
  method = loss if isinstance(loss, objective.Objective) else objective.OwnLoss(loss)
  return steps.loss_of(method, steps.batch(LOGITS, LABELS, **more))


def test_values_by_hand():
  assert float(_loss(_rows)) == pytest.approx(11 / 3)
  masked = dict(mask=tf.constant([True, True, False]), divisor=6)
  assert float(_loss(_rows, **masked)) == pytest.approx(6 / 6)

  def mean(labels, logits):
    return tf.reduce_mean(_rows(labels, logits))

  assert float(_loss(mean)) == pytest.approx(11 / 3)
  assert float(_loss(mean, divisor=6)) == pytest.approx(11 / 6)  # Half of a global batch.
  keras = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
  wanted = _loss(objective.Objective())
  assert float(_loss(keras)) == pytest.approx(float(wanted), rel=1e-6)


def test_classes_that_are_not_known_have_low_logits():
  known = tf.constant([True, False])
  found = _loss(_rows, classes=objective.Classes(known, known, known))
  assert float(found) < -1e8  # Rows 0 and 2 have the unknown class as the other one.


@pytest.mark.parametrize("loss, message", [
    ("focal", "The loss is 'focal'; give a function"),
    (tf.keras.losses.SparseCategoricalCrossentropy(), "takes probabilities, and is given logits"),
])
def test_no_loss_of_logits_is_refused(loss, message):
  with pytest.raises(ValueError, match=message):
    objective.OwnLoss(loss)


def test_another_shape_is_refused():
  with pytest.raises(ValueError, match=r"returned shape \(3, 2\) for 3 rows; it must return \[B\]"):
    _loss(lambda labels, logits: logits)
