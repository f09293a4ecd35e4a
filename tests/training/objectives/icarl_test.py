# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""iCaRL's loss and answers against numbers worked by hand."""

import math

import numpy as np
import tensorflow as tf

from suite.training.gradient import class_heads
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
      loss = objective.loss(objective_lib.Batch(
          ones, model(ones), tf.constant(labels, tf.int64), **fields))
    return loss, tape.gradient(loss, layer.kernel)[0]

  objective.note_classes(tf.constant([True, True, False]))
  layer.kernel.assign([[LOG3, 0.0, 0.0]])  # Sigmoids 3/4, 1/2, 1/2.
  loss, gradient = loss_and_gradient([1])
  np.testing.assert_allclose(loss, -math.log(1 / 4) - 2 * math.log(1 / 2), rtol=1e-6)
  np.testing.assert_allclose(gradient, [3 / 4, -1 / 2, 1 / 2], rtol=1e-6)
  objective.after_phase()
  # Class 2 comes; an exemplar of class 0 has the earlier sigmoids, not its label, for old classes.
  objective.note_classes(tf.constant([False, False, True]))
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
