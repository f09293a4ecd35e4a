# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One update: the order of calls, what changes, and losses by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.contracts import tasks
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import objective as objective_lib


def normed():
  """Two features, made alike in a batch, to two logits."""
  return tf.keras.Sequential([
      tf.keras.Input([2]), tf.keras.layers.BatchNormalization(momentum=0.5, epsilon=1e-12),
      tf.keras.layers.Dense(2, kernel_initializer="ones")])


def linear(weights=((1.0, 0.0), (0.0, 2.0))):
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2)])
  model.set_weights([np.array(weights), np.zeros([2])])
  return model


def make(model, objective=None, **settings):
  return train_step.TrainStep(
      model, objective=objective or objective_lib.Objective(),
      **{"optimizer": optimizers.Sgd(model.trainable_variables, momentum=0.0), **settings})


X, Y = np.array([[1, 2], [3, 0]], np.float32), np.array([0, 1])


def by_hand(kernel, x, y, columns=slice(None)):
  """Losses [B] and gradients of their mean, by kernel and bias, among the first columns."""
  logits = (x @ kernel)[:, columns]
  p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
  error = p - np.eye(2)[y][:, columns]
  return -np.log(p[np.arange(len(y)), y]), x.T @ error / len(y), error.mean(0)


def take(step, rate, images=X, labels=Y, **settings):
  """The loss before a step on the rows."""
  rows = step_rows.Rows(tf.constant(images), tf.constant(labels))
  return float(step.take(rows, rate=rate, **settings).loss)


def test_a_step_returns_the_loss_before_it_and_follows_the_gradient():
  model = linear()
  before = model.get_weights()[0]
  losses, kernel, bias = by_hand(before, X, Y)
  assert take(make(model), tf.constant(0.3)) == pytest.approx(losses.mean(), rel=1e-6)
  np.testing.assert_allclose(model.get_weights()[0], before - 0.3 * kernel, rtol=1e-5)
  np.testing.assert_allclose(model.get_weights()[1], -0.3 * bias, rtol=1e-5, atol=1e-7)


class Own(objective_lib.Objective):
  """Steps by a function of rows and net."""

  def __init__(self, function):
    super().__init__()
    self.step = lambda rows, net, memory: function(rows, net)


def test_a_step_has_the_features_that_the_logits_are_made_of():
  lower, top = linear(), linear(((1.0, 1.0), (1.0, 1.0)))
  model = tf.keras.Sequential([tf.keras.Input([2]), lower, top])
  squares = Own(lambda rows, net: net.update(tf.reduce_sum(tf.square(net.answers(rows)[0]))))
  # Features (1, 4) and (3, 0): 17 + 9; d/dW = 2 X^T F.
  assert take(make(model, squares, parts=(lower, top)), tf.constant(0.1)) == pytest.approx(26.0)
  np.testing.assert_allclose(lower.get_weights()[0], [[1 - 2.0, -0.8], [-0.4, 2 - 1.6]], atol=1e-6)
  np.testing.assert_array_equal(top.get_weights()[0], np.ones([2, 2]))


@pytest.mark.parametrize("function, message", [
    (lambda rows, net: net.logits(rows), "The step of Own changed no weights: call net.update"),
    (lambda rows, net: net.update(tf.constant(1.0)), "A loss of Own depends on no weight"),
    (lambda rows, net: [net.update(loss) for loss in [tf.reduce_sum(net.logits(rows))] * 2],
     "and after an update once more"),
])
def test_a_step_that_learns_nothing_is_refused(function, message):
  with pytest.raises(ValueError, match=message):
    take(make(linear(), Own(function)), tf.constant(0.1))


@pytest.mark.parametrize("convert", [np.asarray, lambda tensor: tensor.numpy()])
def test_a_compiled_step_that_calls_numpy_is_refused(convert):
  step = make(linear(), Own(lambda rows, net: convert(net.logits(rows))))
  with pytest.raises(ValueError, match="The step of Own turns a tensor into a NumPy array"):
    tf.function(lambda: take(step, tf.constant(0.1)), autograph=False)()


def test_names_that_nothing_calls_are_refused():
  with pytest.raises(TypeError, match="The objective Old has 'loss', which nothing calls; write "):
    type("Old", (objective_lib.Objective,), {"loss": lambda self, batch: 0.0})
  with pytest.raises(TypeError, match="'before_phase', which nothing calls; write 'begin_phase'"):
    type("Old", (objective_lib.Objective,), {"before_phase": lambda self: None})


def test_a_step_may_update_twice_with_a_pass_for_each():
  def twice(rows, net):
    for _ in range(2):
      net.update(net.cross_entropy(net.logits(rows), rows.labels))

  found, expected = linear(), linear()
  take(make(found, Own(twice)), tf.constant(0.3))
  for _ in range(2):
    take(make(expected), tf.constant(0.3))
  np.testing.assert_array_equal(found.get_weights()[0], expected.get_weights()[0])


class Adds(tf.keras.layers.Layer):
  """Adds the mean of its inputs to the loss, in training."""

  def call(self, inputs, training=None):
    if training:
      self.add_loss(tf.reduce_mean(inputs))
    return inputs


def test_what_layers_add_is_part_of_each_loss_once():
  """Twice the squares of the kernel, and the means 1.5 and 2.5 of two passes on other rows."""
  dense = tf.keras.layers.Dense(2, kernel_regularizer=tf.keras.regularizers.l2(2.0))
  model = tf.keras.Sequential([tf.keras.Input([2]), Adds(), dense])
  model.set_weights(linear().get_weights())
  before, seen = model.get_weights()[0], []

  def two_passes(rows, net):
    loss = net.cross_entropy(net.logits(rows), rows.labels)
    net.logits(step_rows.Rows(rows.images + 1.0, rows.labels))
    model(rows.images - 9.0, training=True)  # Not by the net.
    net.update(loss)
    seen.append((loss, net.loss))

  losses, kernel, _ = by_hand(before, X, Y)
  take(make(model, Own(two_passes)), tf.constant(0.1))
  np.testing.assert_allclose(model.get_weights()[0], before - 0.1 * (kernel + 4 * before),
                             rtol=1e-5, atol=1e-6)
  assert float(seen[0][0]) == pytest.approx(losses.mean(), rel=1e-6)
  assert float(seen[0][1]) == pytest.approx(losses.mean() + 2 * 5.0 + 1.5 + 2.5, rel=1e-6)


def test_what_layers_add_is_counted_and_nothing_else():
  def ops(regularizer):
    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(
        2, kernel_regularizer=regularizer)])
    step, rows = make(model), step_rows.Rows(tf.constant(X), tf.constant(Y))
    graph = tf.function(lambda: step.take(
        rows, rate=tf.constant(0.1), mode=train_step.COUNTS).loss,
                        autograph=False).get_concrete_function()
    return flops.count(graph), [op.type for op in graph.graph.get_operations()]

  (plain, without), (more, having) = ops(None), ops(tf.keras.regularizers.l2(2.0))
  assert more.flops > plain.flops and "L2Loss" in having and "AddN" not in without


@pytest.mark.parametrize("chunk", [1, 2, 64])
def test_the_gradient_of_a_memory_is_that_of_the_mean_among_known_classes(chunk):
  found, places = [], [1, 0, 1]

  def look(rows, net):
    memory = step_rows.StepMemory(rows, rows_at=lambda places: step_rows.Rows(
        tf.gather(rows.images, places), tf.gather(rows.labels, places)))
    found.append(net.mean_gradient(memory, tf.constant(places, tf.int64), chunk))
    net.follow(found[0])

  step = make(linear(), Own(look))
  rows = step_rows.Rows(tf.constant(X), tf.constant(Y))
  step.take(rows, rate=tf.constant(0.0))
  _, kernel, bias = by_hand(np.array([[1.0, 0.0], [0.0, 2.0]]), X[[1, 0, 1]], Y[[1, 0, 1]])
  np.testing.assert_allclose(found[0][0], kernel, rtol=1e-5)
  np.testing.assert_allclose(found[0][1], bias, rtol=1e-5, atol=1e-7)
  one = objective_lib.Classes(*[tf.constant([True, False])] * 3)
  found.clear()
  places = [0, 0, 0]
  step.take(rows, rate=tf.constant(0.0), classes=one)
  np.testing.assert_array_equal(found[0][0], np.zeros([2, 2]))  # One class: nothing to learn.


def test_losses_of_each_row_among_known_classes():
  step = make(linear())
  losses, _, _ = by_hand(np.array([[1.0, 0.0], [0.0, 2.0]]), X, Y)
  np.testing.assert_allclose(step.losses_at_rest(X, Y), losses, rtol=1e-6)
  found = step.losses_at_rest(X, Y, tf.constant([True, False]))
  assert found[0].numpy() == 0.0 and found[1].numpy() > 1e8


def test_several_labels_have_the_mean_over_classes():
  step, labels = make(linear(), kind=tasks.MULTI_LABEL), np.array([[1, 0], [1, 1]], np.float32)
  logits = X @ np.array([[1.0, 0.0], [0.0, 2.0]])
  p = 1 / (1 + np.exp(-logits))
  expected = -(labels * np.log(p) + (1 - labels) * np.log(1 - p)).mean(1)
  np.testing.assert_allclose(step.losses_at_rest(X, labels), expected, rtol=1e-5)
  assert take(step, tf.constant(0.1), labels=labels) == pytest.approx(expected.mean(), rel=1e-5)


def test_norms_follow_the_batch_in_training_and_their_statistics_at_rest():
  model = normed()
  step = make(model)
  np.testing.assert_allclose(step.losses_at_rest(X, Y), [np.log(2)] * 2, rtol=1e-6)
  assert not model.layers[0].moving_mean.numpy().any()
  model.layers[1].kernel.assign([[1.0, 0.0], [0.0, 0.0]])
  # The first feature is 1 and 3: -1 and 1 in the batch, 1 and 3 by the first statistics.
  in_batch = np.log(1 + np.exp([1.0, 1.0]))
  assert take(step, tf.constant(0.0)) == pytest.approx(np.mean(in_batch), rel=1e-5)
  np.testing.assert_allclose(model.layers[0].moving_mean, [1.0, 0.5])
  model.layers[0].moving_mean.assign([0.0, 0.0])
  model.layers[0].moving_variance.assign([1.0, 1.0])
  np.testing.assert_allclose(
      step.losses_at_rest(X, Y), np.log(1 + np.exp([-1.0, 3.0])), rtol=1e-5)


def test_if_not_all_is_trained_norms_run_as_in_evaluation():
  model = normed()
  step = make(model)
  assert not step.train_only(model.trainable_variables) and step.training
  dense = model.layers[1].trainable_variables
  assert step.train_only(dense) and not step.training
  assert not step.train_only(dense)
  before = model.get_weights()
  take(step, tf.constant(0.5))
  after = model.get_weights()
  for a, b in zip(before[:4], after[:4]):
    np.testing.assert_array_equal(a, b)  # Scale, offset and both statistics.
  assert (before[4] != after[4]).any()
  assert step.train_only(model.trainable_variables) and step.training


def test_what_is_noted_with_an_update_has_the_values_before_it():
  model, noted = linear(), []

  def step(rows, net):
    loss = net.cross_entropy(net.logits(rows), rows.labels)
    net.follow([tf.ones_like(g) for g in net.gradients(loss)],
               then=lambda before: noted.append((before[0].numpy(), model.get_weights()[0])))

  take(make(model, Own(step)), tf.constant(0.25))
  # Each weight is less by 0.25 along the gradients that it gave.
  (before, after), = noted
  np.testing.assert_array_equal(before, [[1, 0], [0, 2]])
  np.testing.assert_array_equal(after, before - 0.25)


def test_padding_and_a_divisor_reach_the_loss():
  losses, _, _ = by_hand(np.array([[1.0, 0.0], [0.0, 2.0]]), X, Y)
  found = take(make(linear()), tf.constant(0.1), mask=tf.constant([True, False]), divisor=8)
  assert found == pytest.approx(losses[0] / 8, rel=1e-6)


def test_without_a_rate_it_is_that_of_the_optimizer():
  ends = []
  for optimizer, rate in ((tf.keras.optimizers.SGD(0.25), None),
                          (tf.keras.optimizers.SGD(9.0), tf.constant(0.25)),
                          (optimizers.sgd_nesterov(schedules.Constant(0.25), 0.0), None)):
    model = linear()
    updates = optimizers.KerasUpdates(optimizer, model.trainable_variables)
    take(make(model, optimizer=updates), rate)
    ends.append(model.get_weights()[0])
  np.testing.assert_array_equal(ends[0], ends[1])
  np.testing.assert_array_equal(ends[0], ends[2])
  assert (ends[0] != linear().get_weights()[0]).any()
