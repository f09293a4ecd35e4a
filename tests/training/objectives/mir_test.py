# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MIR against every candidate's rise of the loss, worked out in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.objectives import mir
from suite.training.objectives import objective

D, C = 4, 3


def losses_by_hand(kernel, bias, x, y):
  logits = x @ kernel + bias
  logits -= logits.max(1, keepdims=True)
  return np.log(np.exp(logits).sum(1)) - logits[np.arange(len(y)), y]


def stepped_by_hand(kernel, bias, x, y, rate):
  p = np.exp(x @ kernel + bias)
  d = (p / p.sum(1, keepdims=True) - np.eye(C)[y]) / len(y)
  return kernel - rate * x.T @ d, bias - rate * d.sum(0)


def make(seed):
  rng = np.random.default_rng(seed)
  model = tf.keras.Sequential([tf.keras.Input([D]), tf.keras.layers.Dense(C)])
  weights = [rng.normal(size=[D, C]), rng.normal(size=[C])]
  model.set_weights(weights)
  step = train_step.TrainStep(model, objective=mir.Mir(7),
                              optimizer=optimizers.Sgd(model.trainable_variables))
  x, y = rng.normal(size=[12, D]), rng.integers(0, C, 12)
  return model, step, weights, x, y


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_whose_loss_would_rise_most_are_chosen(seed, graph):
  model, step, weights, x, y = make(seed)
  rate = 0.8
  images, labels = tf.constant(x, tf.float32), tf.constant(y, tf.int64)

  def choose(images, labels, rate):
    return step.objective.choose(
        objective.Candidates(images[5:], labels[5:]), step.losses_at_rest,
        step.gradients(images[:5], labels[:5]), step.variables, rate, 3)

  before = model.get_weights()
  found = (tf.function(choose) if graph else choose)(images, labels, tf.constant(rate))
  for a, b in zip(model.get_weights(), before):
    np.testing.assert_array_equal(a, b)  # To the bit: nothing is left of the step.
  changed = stepped_by_hand(*weights, x[:5], y[:5], rate)
  rises = losses_by_hand(*changed, x[5:], y[5:]) - losses_by_hand(*weights, x[5:], y[5:])
  assert found.numpy().tolist() == np.argsort(-rises)[:3].tolist()


def test_equal_rises_keep_the_order_of_drawing():
  _, step, _, x, y = make(0)
  candidates = objective.Candidates(
      tf.repeat(tf.constant(x[:1], tf.float32), 6, axis=0), tf.repeat(tf.constant(y[:1]), 6))
  gradients = step.gradients(tf.constant(x[1:3], tf.float32), tf.constant(y[1:3]))
  found = step.objective.choose(candidates, step.losses_at_rest, gradients, step.variables,
                                tf.constant(0.5), 4)
  assert found.numpy().tolist() == [0, 1, 2, 3]


def test_variables_without_a_gradient_stay():
  _, step, _, x, y = make(0)
  candidates = objective.Candidates(tf.constant(x, tf.float32), tf.constant(y))
  found = step.objective.choose(candidates, step.losses_at_rest, [None, None], step.variables,
                                tf.constant(0.5), 2)
  assert found.numpy().tolist() == [0, 1]  # No loss rises.


def test_no_candidates_are_refused():
  with pytest.raises(ValueError, match="Mir.candidates is 0; it must be at least 1"):
    mir.Mir(0)
