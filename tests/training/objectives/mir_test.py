# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MIR against every candidate's rise of the loss, worked out in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import mir

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
                              optimizer=optimizers.Sgd(model.trainable_variables, momentum=0.0))
  return step, weights, rng.normal(size=[12, D]), rng.integers(0, C, 12)


def take(step, x, y, num_candidates, rate, num):
  rows, drawn = step_rows.split(tf.constant(x, tf.float32), tf.constant(y, tf.int64),
                                [len(y) - num_candidates, num_candidates])
  memory = step_rows.StepMemory(rows, num, False, [drawn])
  return step.take(rows, memory, rate=tf.constant(rate)).loss


def expected(weights, x, y, chosen, num_candidates, rate):
  """The weights after a step on the incoming rows and the chosen candidates."""
  new = len(y) - num_candidates
  rows = [*range(new), *(new + np.array(chosen))]
  return stepped_by_hand(*weights, x[rows], y[rows], rate)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_whose_loss_would_rise_most_are_replayed(seed, graph):
  step, weights, x, y = make(seed)
  rate = 0.8
  run = tf.function(lambda: take(step, x, y, 7, rate, 3), autograph=False) if graph else (
      lambda: take(step, x, y, 7, rate, 3))
  run()
  changed = stepped_by_hand(*weights, x[:5], y[:5], rate)
  rises = losses_by_hand(*changed, x[5:], y[5:]) - losses_by_hand(*weights, x[5:], y[5:])
  wanted = expected(weights, x, y, np.argsort(-rises)[:3], 7, rate)
  for found, one in zip(step.model.get_weights(), wanted):  # Nothing is left of the first step.
    np.testing.assert_allclose(found, one, rtol=1e-4, atol=1e-6)


def test_equal_rises_keep_the_order_of_drawing():
  step, weights, x, y = make(0)
  x = np.concatenate([x[1:3], np.repeat(x[:1], 6, axis=0)])
  y = np.concatenate([y[1:3], [0, 1, 2, 0, 1, 2]])
  step.model.set_weights([np.zeros([D, C]), np.zeros([C])])
  x[:2] = 0.0  # A step on rows of zeros changes offsets alone; labels 0 and 1 rise alike or not.
  y[:2] = [2, 2]
  take(step, x, y, 6, 0.5, 4)
  # Rows of the classes 0 and 1 rise alike: the first four of them in the order of drawing.
  wanted = expected([np.zeros([D, C]), np.zeros([C])], x, y, [0, 1, 3, 4], 6, 0.5)
  np.testing.assert_allclose(step.model.get_weights()[0], wanted[0], rtol=1e-5, atol=1e-7)


def test_no_candidates_are_refused():
  with pytest.raises(ValueError, match="Mir.candidates is 0; it must be at least 1"):
    mir.Mir(0)
