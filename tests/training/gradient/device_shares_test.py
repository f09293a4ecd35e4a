# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps that devices share are those of one device; here both shares are worked on by the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from small_loops import OBJECTIVES
from small_loops import K
from small_loops import data
from small_loops import make
from small_loops import part
from small_loops import random_weights
import tensorflow as tf

from suite.training.gradient import array_loop
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import objective as objective_lib

TWO = ("/CPU:0", "/CPU:0")
RATES = np.float32([0.3, 0.2])


def _two_phases(name, devices):
  """A loop after a phase of a single step, and one that replays, if the objective does."""
  objective = OBJECTIVES[name]()
  loop = make(objective, momentum=0.9, replay_batch=2, weights=random_weights(), devices=devices)
  given = data(K, stored=name.startswith("der"))
  objective.begin_phase()
  loop.step.take(step_rows.Rows(given.codes[:4], given.labels[:4]), rate=tf.constant(0.3))
  if objective.observes:
    loop.observe(given.codes, given.labels, 4, lambda cost: None)
  objective.end_phase()
  objective.begin_phase()
  slots = [[0, 5, 1, 3, 2, 4][:sum(loop.blank(1, given).drawn)]] * 2
  loss = loop.train(given, part([[0, 1, 2, 7], [4, 5, 6, 3]], slots), RATES)
  return loss, [v.numpy() for v in [*loop.step.model.variables, *objective.variables]]


# Losses of rows, of rows and stored logits, of a teacher; gradients that are changed; a choice.
@pytest.mark.parametrize("name", ["ewc", "si", "lwf", "agem", "er_ace", "der", "mir"])
def test_two_shares_are_one_step(name):
  loss, values = _two_phases(name, TWO)
  wanted_loss, wanted = _two_phases(name, ())
  np.testing.assert_allclose(loss, wanted_loss, rtol=1e-5)
  for a, b in zip(values, wanted):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_a_plan_costs_the_same_on_any_number_of_devices():
  plan = array_loop.PhaseRows(8, 1, 4, (0, 0), held=K, replay_batch=4)  # Two draws.
  costs = [make(OBJECTIVES["der"](), replay_batch=2, devices=devices).cost(
      data(K, stored=True), plan) for devices in ((), TWO)]
  assert costs[0] == costs[1] and costs[0].flops


def test_what_is_left_of_an_epoch_is_shared_if_it_can_be():
  found = []
  for devices in ((), TWO):
    loop = make(weights=random_weights(), devices=devices)
    loop.train(data(), part([[0, 1, 2, 3], [4, 5, 6]], is_rest=True), RATES)
    found.append(loop.step.model.get_weights())
  for a, b in zip(*found):
    np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("name", ["plain", "der"])
def test_replayed_rows_are_shared_beside_what_is_left_of_an_epoch(name):
  found = []
  for devices in ((), TWO):
    loop = make(OBJECTIVES[name](), weights=random_weights(), devices=devices, replay_batch=2)
    given = data(K, stored=True)
    slots = [[0, 5, 1, 3][:sum(loop.blank(1, given).drawn)]] * 2
    loop.train(given, part([[0, 1, 2, 3], [4, 5, 6]], slots, is_rest=True), RATES)
    found.append(loop.step.model.get_weights())
  for a, b in zip(*found):
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_the_running_statistics_are_the_mean_of_those_of_the_shares():
  model = tf.keras.Sequential([
      tf.keras.layers.BatchNormalization(momentum=0.5, input_shape=[2]),
      tf.keras.layers.Dense(2)])
  step = train_step.TrainStep(model, objective=objective_lib.Objective(),
                              optimizer=optimizers.Sgd(model.trainable_variables))
  loop = array_loop.ArrayLoop(step, devices=TWO)
  images = np.float32([[1, 2], [3, 4], [10, 0], [20, 4]])
  given = objective_lib.Data(tf.constant(images), tf.constant([0, 1, 0, 1], tf.int64),
                             tf.zeros([0], tf.int64), tf.zeros([0, 0]))
  loop.train(given, part([[0, 1, 2, 3]]), np.float32([0.1]))
  shares = images[:2], images[2:]
  mean = np.mean([0.5 * share.mean(0) for share in shares], axis=0)
  variance = np.mean([0.5 + 0.5 * share.var(0) for share in shares], axis=0)
  np.testing.assert_allclose(model.layers[0].moving_mean, mean, rtol=1e-6)
  np.testing.assert_allclose(model.layers[0].moving_variance, variance, rtol=1e-6)


def test_what_layers_add_is_the_mean_of_that_of_the_shares():
  found = []
  for devices in ((), TWO):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(
        2, activity_regularizer="l2", kernel_regularizer="l1")])
    step = train_step.TrainStep(model, objective=objective_lib.Objective(),
                                optimizer=optimizers.Sgd(model.trainable_variables))
    net = step.take(step_rows.Rows(tf.constant([[1.0, 2], [3, 4], [9, 0], [2, 4]]),
                                   tf.constant([0, 1, 0, 1]), sizes=(4,)),
                    rate=tf.constant(0.1), devices=devices)
    found.append([net.loss, *model.get_weights()])
  for a, b in zip(*found):
    np.testing.assert_allclose(a, b, rtol=1e-5)
