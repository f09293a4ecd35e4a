# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Against Keras's Adam and AdamW, step by step."""

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.training.episodic import meta_schedules

PAIRS = [(meta_schedules.FusedAdam, tf.keras.optimizers.Adam),
         (meta_schedules.FusedAdamW, tf.keras.optimizers.AdamW)]
RATE = tf.keras.optimizers.schedules.PolynomialDecay(0.1, 5, 0.01)


def _variables():
  return [tf.Variable([[1.0, -2.0], [0.5, 3.0]]), tf.Variable(-0.7)]


def _trained(optimizer, steps=6):
  """The variables, and the optimizer's, after steps by gradients of very different sizes."""
  variables = _variables()
  optimizer.build(variables)
  rng = np.random.default_rng(0)

  @tf.function(autograph=False)
  def step(*gradients):
    optimizer.apply_gradients(zip(gradients, variables))

  for scale in 10.0 ** np.arange(-3, steps - 3):
    step(*(tf.constant(scale * rng.normal(size=v.shape), tf.float32) for v in variables))
  return [v.numpy() for v in (*variables, *optimizer.variables)]


@pytest.mark.parametrize("fused, keras", PAIRS)
@pytest.mark.parametrize("settings", [
    {}, dict(learning_rate=RATE), dict(clipvalue=0.5), dict(epsilon=1e-8, beta_1=0.5, beta_2=0.9),
    dict(amsgrad=True)])
def test_it_is_keras_s(fused, keras, settings):
  settings = {"learning_rate": 0.05, "jit_compile": False, **settings}
  got, expected = _trained(fused(**settings)), _trained(keras(**settings))
  assert len(got) == len(expected)
  for one, other in zip(got, expected):
    np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-7)


def test_a_step_by_hand():
  """The first step is the rate times the gradient's sign, whatever its size."""
  variable, optimizer = tf.Variable([1.0, 1.0]), meta_schedules.FusedAdam(0.1, jit_compile=False)
  optimizer.build([variable])
  optimizer.apply_gradients([(tf.constant([1000.0, -1000.0]), variable)])
  np.testing.assert_allclose(variable, [0.9, 1.1], rtol=1e-6)


def test_sparse_gradients_are_keras_s():
  def trained(optimizer):
    variable = tf.Variable([[1.0], [2.0], [3.0]])
    optimizer.build([variable])
    for row in (0, 2, 0):
      optimizer.apply_gradients([(tf.IndexedSlices([[0.5]], [row], [3, 1]), variable)])
    return variable.numpy()

  for fused, keras in PAIRS:
    np.testing.assert_array_equal(*(trained(each(0.1, jit_compile=False))
                                    for each in (fused, keras)))


def test_its_flops_are_counted():
  variable, optimizer = tf.Variable(tf.zeros([7])), meta_schedules.FusedAdam(0.1, jit_compile=False)
  optimizer.build([variable])
  step = tf.function(lambda g: optimizer.apply_gradients([(g, variable)]))
  cost = flops.count(step.get_concrete_function(tf.TensorSpec([7])))
  assert cost.flops is not None and cost.flops >= 7 * 12
