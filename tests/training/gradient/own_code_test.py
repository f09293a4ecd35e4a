# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Code of users in the compiled loop may branch on tensors; the suite's own is not converted."""

from __future__ import annotations

import numpy as np
import pytest
from small_loops import OBJECTIVES
from small_loops import C
from small_loops import D
from small_loops import data
from small_loops import make
from small_loops import part
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.contracts import tasks
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import gradient_loop
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.objectives import objective as objective_lib

STEPS, RATES = [[0, 1, 2, 3], [4, 5, 6, 7]], np.array([0.5, 0.25], np.float32)


class Branching(objective_lib.Objective):
  """Cross-entropy, doubled by a loop while it is large."""

  def step(self, rows, net, memory):
    loss = net.cross_entropy(net.logits(rows), rows.labels)
    if loss > 0.5:
      for _ in tf.range(2):
        loss = loss + loss / 2.0
    net.update(loss)


def branching_loss(labels, logits):
  each = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
  if tf.reduce_mean(each) > 0.5:
    each = each * 2.25
  return each


class BranchingLayer(tf.keras.layers.Layer):
  def call(self, inputs):
    if tf.reduce_max(inputs) > 100.0:
      return inputs - 100.0
    return inputs


class BranchingSgd(tf.keras.optimizers.SGD):
  def apply_gradients(self, grads_and_vars, *arguments, **named):
    grads_and_vars = list(grads_and_vars)
    if tf.reduce_max(tf.abs(grads_and_vars[0][0])) > 1e6:
      tf.print("large")
    return super().apply_gradients(grads_and_vars, *arguments, **named)


def loop_of(model=None, objective=None, optimizer=None):
  model = model or class_heads.linear(C, D)
  model.set_weights([np.zeros([D, C]), np.zeros([C])])
  objective = objective or objective_lib.Objective()
  step = train_step.TrainStep(model, objective=objective, optimizer=(
      optimizers.Sgd(model.trainable_variables, momentum=0.0) if optimizer is None
      else optimizers.KerasUpdates(optimizer, model.trainable_variables)))
  objective.build(model)
  return array_loop.ArrayLoop(step)


def trained(loop):
  loss = loop.train(data(), part(STEPS), RATES)
  return loss, loop.step.model.get_weights()


def own_model(num_classes=C, num_features=D):
  inputs = tf.keras.Input([num_features])
  return tf.keras.Model(inputs, tf.keras.layers.Dense(num_classes)(BranchingLayer()(inputs)))


OWN = {
    "objective": (lambda: {"objective": Branching()}, 2.25),
    "loss": (lambda: {"objective": objective_lib.OwnLoss(branching_loss)}, 2.25),
    "layer": (lambda: {"model": own_model()}, 1.0),
    "optimizer": (lambda: {"optimizer": BranchingSgd(0.5, jit_compile=False)}, 1.0),
}


@pytest.fixture(name="by_hand", scope="module")
def _by_hand():
  """A function: a factor of the rates to the loss and weights of plain steps, in one graph."""
  loop = loop_of()

  def by_hand(factor):
    loop.step.model.set_weights([np.zeros([D, C]), np.zeros([C])])
    return loop.train(data(), part(STEPS), RATES * factor), loop.step.model.get_weights()

  return by_hand


@pytest.mark.parametrize("name", OWN)
def test_code_of_users_is_converted(name, by_hand):
  parts, factor = OWN[name]
  loop = loop_of(**parts())
  loss, weights = trained(loop)
  expected, wanted = by_hand(factor)
  # The first step's loss is log 2 for each row; the second one's is above 0.5, too.
  assert loss == pytest.approx(expected * factor, rel=1e-5)
  for a, b in zip(weights, wanted):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_objectives_of_the_suite_are_traced_as_they_are(name):
  assert not make(OBJECTIVES[name]()).step.reaches_user_code()


def test_code_of_users_is_seen_wherever_it_is():
  assert all(loop_of(**parts()).step.reaches_user_code() for parts, _ in OWN.values())
  assert not loop_of(optimizer=tf.keras.optimizers.SGD(0.5)).step.reaches_user_code()


def loop_of_batches(distribution, make_model, loss=None):
  with distribution.scope():
    model = make_model(C, D)
  return gradient_loop.GradientLoop(
      model, tasks.SINGLE_LABEL, momentum=0.0, weight_decay=0.0, distribution=distribution,
      loss=loss)


@pytest.mark.parametrize("name", ["layer", "loss"])
def test_code_of_users_is_converted_in_loops_over_batches(name):
  distribution = distribution_lib.build()
  loop = loop_of_batches(distribution, class_heads.linear if name == "loss" else own_model,
                         branching_loss if name == "loss" else None)
  loop.model.set_weights([np.zeros([D, C]), np.zeros([C])])
  loop.configure(peak_rate=0.1, warmup_steps=0, total_steps=1, label_smoothing=0.0)
  batches = distribution.dataset(lambda **shard: tf.data.Dataset.from_tensors({
      "image": tf.ones([4, D]), "label": tf.zeros([4], tf.int64), "mask": tf.fill([4], True)}))
  expected = np.log(C) * (2.25 if name == "loss" else 1.0)
  assert loop.run(iter(batches), 1) == pytest.approx(expected, rel=1e-5)


def test_models_of_the_suite_are_traced_as_they_are_in_loops_over_batches():
  assert not loop_of_batches(distribution_lib.build(), class_heads.linear)._converts
