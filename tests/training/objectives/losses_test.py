# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import math

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.training.objectives import losses

# Probabilities 1/4, 3/4 and 1/2, 1/2.
LOGITS = np.array([[0.0, math.log(3.0)], [0.0, 0.0]], np.float32)


def test_softmax_without_smoothing_is_minus_log_probability():
  got = losses.softmax_cross_entropy(np.array([0, 1]), LOGITS)
  np.testing.assert_allclose(got, [math.log(4.0), math.log(2.0)], rtol=1e-6)


def test_softmax_smoothing_spreads_over_all_classes():
  # e = 0.2, two classes: target 0.9 on the label and 0.1 on the other.
  got = losses.softmax_cross_entropy(np.array([0, 1]), LOGITS, 0.2)
  first = 0.9 * math.log(4.0) + 0.1 * math.log(4.0 / 3.0)
  np.testing.assert_allclose(got, [first, math.log(2.0)], rtol=1e-6)


def test_softmax_agrees_with_keras_on_many_classes():
  rng = np.random.default_rng(0)
  logits, labels = rng.normal(size=[6, 5]).astype(np.float32), rng.integers(0, 5, 6)
  expected = tf.keras.losses.categorical_crossentropy(
      np.eye(5, dtype=np.float32)[labels], logits, from_logits=True, label_smoothing=0.3)
  np.testing.assert_allclose(losses.softmax_cross_entropy(labels, logits, 0.3), expected, rtol=1e-5)


def test_softmax_of_large_logits_is_finite():
  got = losses.softmax_cross_entropy(np.array([0]), np.array([[0.0, 1e4]], np.float32), 0.1)
  np.testing.assert_allclose(got, [0.95e4], rtol=1e-6)


def test_sigmoid_is_the_mean_over_classes():
  # Logit 0 costs log 2 whatever the label; probability 3/4 costs log(4/3) if present, log 4 if not.
  got = losses.sigmoid_cross_entropy(np.array([[1, 1], [0, 0]], np.uint8),
                                     np.array([[0.0, math.log(3.0)]] * 2, np.float32))
  expected = [(math.log(2.0) + math.log(4.0 / 3.0)) / 2, (math.log(2.0) + math.log(4.0)) / 2]
  np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_sigmoid_smoothing_moves_targets_towards_one_half():
  # e = 0.2: targets 0.9 and 0.1 at probability 3/4.
  logits = np.full([2, 1], math.log(3.0), np.float32)
  got = losses.sigmoid_cross_entropy(np.array([[1], [0]]), logits, 0.2)
  present, absent = math.log(4.0 / 3.0), math.log(4.0)
  expected = [0.9 * present + 0.1 * absent, 0.1 * present + 0.9 * absent]
  np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_gradient_of_sigmoid_is_probability_less_target(compiled):
  logits = tf.constant([[math.log(3.0), -math.log(3.0), 0.0], [-200.0, 200.0, 50.0]])
  labels = np.array([[1, 1, 0], [1, 0, 1]])

  def gradient():
    with tf.GradientTape() as tape:
      tape.watch(logits)
      loss = losses.sigmoid_cross_entropy(labels, logits, 0.2)
    return tape.gradient(loss, logits)

  got = (tf.function(gradient, autograph=False) if compiled else gradient)()
  # Targets 0.9 and 0.1; the mean is over three classes.
  expected = np.array([[0.75 - 0.9, 0.25 - 0.9, 0.5 - 0.1], [0 - 0.9, 1 - 0.1, 1 - 0.9]]) / 3
  np.testing.assert_allclose(got, expected, atol=1e-7)


@pytest.mark.parametrize("kind, labels", [
    (tasks.SINGLE_LABEL, np.array([0, 1])),
    (tasks.MULTI_LABEL, np.array([[1, 0], [1, 1]], np.uint8))])
def test_smoothing_changes_without_a_new_graph(kind, labels):
  smoothing, traces = tf.Variable(0.0), []

  @tf.function(autograph=False)
  def loss():
    traces.append(1)
    return losses.per_example(kind, labels, LOGITS, smoothing)

  plain = loss().numpy()
  smoothing.assign(0.2)
  smooth = loss().numpy()
  assert len(traces) == 1 and plain.shape == (2,)
  np.testing.assert_allclose(plain, losses.per_example(kind, labels, LOGITS), rtol=1e-6)
  np.testing.assert_allclose(smooth, losses.per_example(kind, labels, LOGITS, 0.2), rtol=1e-6)


def test_half_precision_logits_give_float32_losses():
  logits = tf.zeros([1, 2], tf.bfloat16)
  assert losses.softmax_cross_entropy(np.array([0]), logits).dtype == tf.float32


def test_unknown_kind_names_the_known_ones():
  with pytest.raises(ValueError, match="task 'boxes'; allowed are single_label, multi_label"):
    losses.per_example("boxes", np.array([0]), LOGITS[:1])


def test_padding_counts_neither_in_the_loss_nor_in_the_gradient():
  values = tf.constant([1.0, 2.0, 9.0])
  with tf.GradientTape() as tape:
    tape.watch(values)
    total = losses.scaled_sum(values, 4, mask=tf.constant([True, True, False]))
  assert total.numpy() == 0.75
  np.testing.assert_array_equal(tape.gradient(total, values), [0.25, 0.25, 0.0])


def test_two_replicas_add_up_to_the_mean_of_the_global_batch():
  halves = [tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0])]
  assert sum(losses.scaled_sum(half, 4).numpy() for half in halves) == 3.0


def test_hard_cross_entropy_is_that_without_smoothing():
  got = losses.hard_cross_entropy(np.array([0, 1]), LOGITS)
  np.testing.assert_allclose(got, [math.log(4.0), math.log(2.0)], rtol=1e-6)
  assert losses.hard_cross_entropy(np.array([0]), tf.zeros([1, 2], tf.bfloat16)).dtype == tf.float32


def test_classes_that_take_no_part_are_low():
  logits = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.bfloat16)
  np.testing.assert_array_equal(
      losses.among(tf.constant([True, False]), logits), [[1, losses.LOW], [3, losses.LOW]])
  np.testing.assert_array_equal(
      losses.among(tf.constant([[True, False], [False, True]]), logits),
      [[1, losses.LOW], [losses.LOW, 4]])
  # The softmax of the others is theirs alone, and no gradient reaches a class that is left out.
  values = tf.constant([[0.0, math.log(3.0), 50.0]])
  with tf.GradientTape() as tape:
    tape.watch(values)
    loss = losses.hard_cross_entropy(
        np.array([0]), losses.among(tf.constant([True, True, False]), values))
  np.testing.assert_allclose(loss, [math.log(4.0)], rtol=1e-6)
  np.testing.assert_allclose(tape.gradient(loss, values), [[-0.75, 0.75, 0.0]], rtol=1e-6)
