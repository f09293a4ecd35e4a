# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""iCaRL, and the corrections of WA and BiC, against numbers worked by hand."""

import math

import numpy as np
import pytest
from scipy import optimize
import steps
import tensorflow as tf

from suite.training.gradient import class_heads
from suite.training.gradient import phase
from suite.training.objectives import icarl
from suite.training.objectives import objective as objective_lib
from suite.training.statistics import statistic

LOG3, UNKNOWN = math.log(3.0), statistic.NOT_SHOWN


def test_new_classes_have_labels_and_old_ones_the_earlier_sigmoids():
  layer = tf.keras.layers.Dense(3, use_bias=False, kernel_initializer="zeros")
  model = tf.keras.Sequential([tf.keras.Input([1]), layer])
  objective = icarl.Icarl()
  objective.build(model)

  def loss_and_gradient(labels, **fields):
    ones = tf.ones([len(labels), 1])
    with tf.GradientTape() as tape:
      loss = steps.loss_of(objective, steps.batch(model(ones), labels, images=ones, **fields))
    return loss, tape.gradient(loss, layer.kernel)[0]

  objective.begin_phase(tf.constant([True, True, False]))
  layer.kernel.assign([[LOG3, 0.0, 0.0]])  # Sigmoids 3/4, 1/2, 1/2.
  loss, gradient = loss_and_gradient([1])
  np.testing.assert_allclose(loss, -math.log(1 / 4) - 2 * math.log(1 / 2), rtol=1e-6)
  np.testing.assert_allclose(gradient, [3 / 4, -1 / 2, 1 / 2], rtol=1e-6)
  objective.end_phase()
  # Class 2 comes; an exemplar of class 0 has the earlier sigmoids, not its label, for old classes.
  objective.begin_phase(tf.constant([False, False, True]))
  layer.kernel.assign([[0.0, 0.0, 0.0]])
  for labels, of_new in (([2], -1 / 2), ([0], 1 / 2), ([2, 0], 0.0)):
    loss, gradient = loss_and_gradient(labels)
    np.testing.assert_allclose(loss, 3 * math.log(2.0), rtol=1e-6)
    np.testing.assert_allclose(gradient, [1 / 2 - 3 / 4, 0.0, of_new], atol=1e-6)
  # Padding and classes that are not known count nothing.
  known = objective_lib.Classes(*[tf.constant([False, False, True])] * 3)
  loss, gradient = loss_and_gradient(
      [2, 0], classes=known, mask=tf.constant([True, False]), divisor=4)
  np.testing.assert_allclose(loss, math.log(2.0) / 4, rtol=1e-6)
  np.testing.assert_allclose(gradient, [0.0, 0.0, -1 / 8], atol=1e-6)


def attached(head, num_classes=3):
  model = head.make(2, num_classes, is_input=True)
  head.attach(model, num_classes)
  return head


def test_answers_are_by_the_nearest_mean_of_directions():
  head = attached(class_heads.NearestExemplars())
  # Of class 0 the directions (1, 0) and (0, 1), whatever their lengths; of class 1 (-1, 0).
  head.set_exemplars(tf.constant([[9.0, 0.0], [0.0, 0.1], [-2.0, 0.0]]),
                     tf.constant([0, 0, 1], tf.int64))
  found = head.answers_to(tf.constant([[3.0, 3.0], [-1.0, 1.0]]))
  half = math.sqrt(0.5)
  np.testing.assert_allclose(found, [[1.0, -half, UNKNOWN], [0.0, half, UNKNOWN]], atol=1e-6)
  # After the next phase the means are of the net as it is then.
  head.set_exemplars(tf.constant([[0.0, 2.0], [5.0, 0.0]]), tf.constant([0, 1], tf.int64))
  np.testing.assert_allclose(
      head.answers_to(tf.constant([[0.0, 7.0]])), [[1.0, 0.0, UNKNOWN]], atol=1e-6)


def test_weights_of_new_classes_get_the_mean_norm_of_old_ones():
  """WA: old norms 5 and 1, a new one of 6: it is halved; an old class that comes again is new."""
  head = attached(class_heads.Aligned())
  head.kernel.assign([[3.0, 1.0, 0.0], [4.0, 0.0, 6.0]])
  head.bias.assign([1.0, 2.0, 3.0])
  head.note_classes(tf.constant([True, True, False]))
  head.after_phase(np.array([4, 4, 0]))
  np.testing.assert_array_equal(head.kernel, [[3, 1, 0], [4, 0, 6]])  # Nothing is old.
  head.note_classes(tf.constant([False, False, True]))
  head.after_phase(np.array([1, 1, 4]))
  np.testing.assert_allclose(head.kernel, [[3, 1, 0], [4, 0, 3]], rtol=1e-6)
  np.testing.assert_array_equal(head.bias, [1, 2, 3])
  head.note_classes(tf.constant([True, True, True]))
  head.after_phase(np.array([4, 4, 4]))
  np.testing.assert_allclose(head.kernel, [[3, 1, 0], [4, 0, 3]], rtol=1e-6)


def test_the_bias_is_the_minimum_of_the_cross_entropy_of_held_out_rows():
  """BiC against another minimizer of the same function; the layer then has that function."""
  rng = np.random.default_rng(0)
  features = tf.constant(rng.normal(size=[40, 2]), tf.float32)
  labels = rng.integers(0, 3, size=40)
  head = attached(class_heads.BiasCorrected(prior=0.05), 4)  # The fourth class has not come.
  head.kernel.assign(rng.normal(size=[2, 4]))
  head.bias.assign([0.0, 0.5, 3.0, 9.0])
  before = (tf.matmul(features, head.kernel) + head.bias).numpy()
  head.note_classes(tf.constant([True, True, False, False]))
  head.after_phase(np.array([4, 4, 0, 0]))
  head.note_classes(tf.constant([False, False, True, False]))

  def loss(numbers):
    logits = before[:, :3].astype(np.float64)
    logits[:, 2] = numbers[0] * logits[:, 2] + numbers[1]
    each = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(40), labels]
    return each.mean() + 0.05 / 2 * ((numbers[0] - 1) ** 2 + numbers[1] ** 2)

  best = optimize.minimize(loss, [1.0, 0.0], tol=1e-12).x
  assert head.correct(tf.constant(before), tf.constant(labels)) == 14 * 20 * 40 * 3
  expected = before.copy()
  expected[:, 2] = best[0] * before[:, 2] + best[1]
  np.testing.assert_allclose(
      tf.matmul(features, head.kernel) + head.bias, expected, rtol=1e-4, atol=1e-4)


def test_rows_that_can_be_told_apart_have_a_bias_too():
  (alpha, beta), _ = class_heads.bias_of(
      np.array([[0.0, 50.0], [0.0, -50.0]]), np.array([False, True]), np.array([1, 0]), 0.01)
  assert np.isfinite([alpha, beta]).all() and alpha > 0


def test_as_many_rows_of_each_class_are_held_out():
  # Six new rows of class 2; exemplars: ten of class 0, twenty-five of class 1.
  labels = np.array([2] * 6 + [0] * 10 + [1] * 25)
  old = np.array([True, True, False])
  for share, each in ((0.2, 2), (0.1, 1), (0.01, 1)):
    apart = phase.held_out_rows(labels, 6, old, share, 7)
    np.testing.assert_array_equal(np.bincount(labels[apart]), [each] * 3)
    np.testing.assert_array_equal(apart, phase.held_out_rows(labels, 6, old, share, 7))
  assert not phase.held_out_rows(labels, 6, ~old, 0.2, 7).any()  # No class is old.


@pytest.mark.parametrize("name", ["held_out_share", "prior"])
def test_a_share_or_prior_of_0_is_refused(name):
  with pytest.raises(ValueError, match=f"BiasCorrected.{name} is 0; it must be above 0 and below"):
    class_heads.BiasCorrected(**{name: 0})
