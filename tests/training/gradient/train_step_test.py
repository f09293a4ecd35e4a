# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One update: the order of calls, what changes, and losses by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import train_step
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


def test_a_step_returns_the_loss_before_it_and_follows_the_gradient():
  model = linear()
  before = model.get_weights()[0]
  losses, kernel, bias = by_hand(before, X, Y)
  assert float(make(model)(X, Y, tf.constant(0.3))) == pytest.approx(losses.mean(), rel=1e-6)
  np.testing.assert_allclose(model.get_weights()[0], before - 0.3 * kernel, rtol=1e-5)
  np.testing.assert_allclose(model.get_weights()[1], -0.3 * bias, rtol=1e-5, atol=1e-7)


class SquaredFeatures(objective_lib.Objective):
  """The sum of squared features, and nothing else."""

  reads_features = True

  def loss(self, batch):
    return tf.reduce_sum(tf.square(batch.features))


def test_an_objective_reads_the_features_that_the_logits_are_made_of():
  lower, top = linear(), linear(((1.0, 1.0), (1.0, 1.0)))
  model = tf.keras.Sequential([tf.keras.Input([2]), lower, top])
  step = make(model, SquaredFeatures(), parts=(lower, top))
  # Features (1, 4) and (3, 0): 17 + 9; d/dW = 2 X^T F.
  assert float(step(X, Y, tf.constant(0.1))) == pytest.approx(26.0)
  np.testing.assert_allclose(lower.get_weights()[0], [[1 - 2.0, -0.8], [-0.4, 2 - 1.6]], atol=1e-6)
  np.testing.assert_array_equal(top.get_weights()[0], np.ones([2, 2]))
  assert float(make(top, SquaredFeatures(), parts=(None, top))(X, Y, tf.constant(0.0))) == 14.0
  with pytest.raises(ValueError, match="SquaredFeatures reads features, but the step has one"):
    make(model, SquaredFeatures())


def test_rows_of_a_batch_keep_their_features():
  batch = objective_lib.Batch(X, X, Y, 1, features=tf.constant([[5.0], [7.0]]))
  assert batch.incoming().features.numpy() == 5.0 and batch.replayed().features.numpy() == 7.0
  assert batch._replace(features=None).incoming().features is None


def test_gradients_change_nothing_and_are_of_the_mean_loss():
  model = linear()
  step, before = make(model), model.get_weights()
  _, kernel, bias = by_hand(before[0], X, Y)
  found = step.gradients(X, Y)
  np.testing.assert_allclose(found[0], kernel, rtol=1e-5)
  np.testing.assert_allclose(found[1], bias, rtol=1e-5, atol=1e-7)
  for a, b in zip(model.get_weights(), before):
    np.testing.assert_array_equal(a, b)
  only = step.gradients(X[:1], Y[:1], tf.constant([True, False]))
  np.testing.assert_array_equal(only[0], np.zeros([2, 2]))  # One class: nothing to learn.


def test_losses_of_each_row_among_known_classes():
  step = make(linear())
  losses, _, _ = by_hand(np.array([[1.0, 0.0], [0.0, 2.0]]), X, Y)
  np.testing.assert_allclose(step.losses_of(X, Y), losses, rtol=1e-6)
  np.testing.assert_allclose(step.losses_at_rest(X, Y), losses, rtol=1e-6)
  found = step.losses_of(X, Y, tf.constant([True, False]))
  assert found[0].numpy() == 0.0 and found[1].numpy() > 1e8


def test_several_labels_have_the_mean_over_classes():
  step, labels = make(linear(), kind=tasks.MULTI_LABEL), np.array([[1, 0], [1, 1]], np.float32)
  logits = X @ np.array([[1.0, 0.0], [0.0, 2.0]])
  p = 1 / (1 + np.exp(-logits))
  expected = -(labels * np.log(p) + (1 - labels) * np.log(1 - p)).mean(1)
  np.testing.assert_allclose(step.losses_of(X, labels), expected, rtol=1e-5)
  assert float(step(X, labels, tf.constant(0.1))) == pytest.approx(expected.mean(), rel=1e-5)


def test_norms_follow_the_batch_in_training_and_their_statistics_at_rest():
  model = normed()
  step = make(model)
  np.testing.assert_allclose(step.losses_at_rest(X, Y), [np.log(2)] * 2, rtol=1e-6)
  assert not model.layers[0].moving_mean.numpy().any()
  model.layers[1].kernel.assign([[1.0, 0.0], [0.0, 0.0]])
  # The first feature is 1 and 3: -1 and 1 in the batch, 1 and 3 by the first statistics.
  in_batch = np.log(1 + np.exp([1.0, 1.0]))
  np.testing.assert_allclose(step.losses_of(X, Y), in_batch, rtol=1e-5)
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
  step(X, Y, tf.constant(0.5))
  after = model.get_weights()
  for a, b in zip(before[:4], after[:4]):
    np.testing.assert_array_equal(a, b)  # Scale, offset and both statistics.
  assert (before[4] != after[4]).any()
  assert step.train_only(model.trainable_variables) and step.training


class Said(objective_lib.Objective):
  """Notes what is called, and with what weights."""

  def __init__(self, model):
    super().__init__()
    self.model, self.said = model, []

  def note(self, name):
    self.said.append((name, float(self.model.get_weights()[0].sum())))

  def loss(self, batch):
    self.note("loss")
    self.batch = batch
    return super().loss(batch)

  def gradients(self, gradients, data):
    self.note(f"gradients {data}")
    return [tf.ones_like(g) for g in gradients]

  def before_update(self):
    self.note("before_update")

  def after_update(self, gradients):
    self.note(f"after_update {float(gradients[0][0, 0])}")


def test_an_objective_is_called_in_this_order():
  model = linear()
  objective = Said(model)
  make(model, objective)(X, Y, tf.constant(0.25), data="rows", num_replayed=1, stored=X[:1])
  # Four weights, the sum of which was 3, each less by 0.25 along the gradients that it gave.
  assert objective.said == [("loss", 3.0), ("gradients rows", 3.0), ("before_update", 3.0),
                            ("after_update 1.0", 2.0)]
  batch = objective.batch
  assert (batch.num_replayed, batch.kind) == (1, tasks.SINGLE_LABEL)
  np.testing.assert_array_equal(batch.stored, X[:1])


def test_padding_and_a_divisor_reach_the_loss():
  losses, _, _ = by_hand(np.array([[1.0, 0.0], [0.0, 2.0]]), X, Y)
  found = make(linear())(X, Y, tf.constant(0.1), mask=tf.constant([True, False]), divisor=8)
  assert float(found) == pytest.approx(losses[0] / 8, rel=1e-6)


def test_without_a_rate_it_is_that_of_the_optimizer():
  ends = []
  for optimizer, rate in ((tf.keras.optimizers.SGD(0.25), None),
                          (tf.keras.optimizers.SGD(9.0), tf.constant(0.25)),
                          (optimizers.sgd_nesterov(schedules.Constant(0.25), 0.0), None)):
    model = linear()
    updates = optimizers.KerasUpdates(optimizer, model.trainable_variables)
    make(model, optimizer=updates)(X, Y, rate)
    ends.append(model.get_weights()[0])
  np.testing.assert_array_equal(ends[0], ends[1])
  np.testing.assert_array_equal(ends[0], ends[2])
  assert (ends[0] != linear().get_weights()[0]).any()
