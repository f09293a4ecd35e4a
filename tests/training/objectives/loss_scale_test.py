# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Loss scaling: when steps are made, what the scale becomes, and Keras's own beside it."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import precision
from suite.training.objectives import loss_scale


@pytest.fixture(name="scaling")
def _scaling():
  with precision.used("mixed_float16"):
    return loss_scale.of_precision()


def of_mean(x, scaling):
  """Gradient for x of the mean of x * 1e-8, taken through float16."""
  with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.cast(tf.cast(x, tf.float16), tf.float32)) * 1e-8
  found = tape.gradient(loss, [x], output_gradients=scaling.factor)
  return scaling.unscaled(found)[0].numpy()


def test_a_gradient_that_float16_rounds_to_0_is_saved_by_the_scale(scaling):
  x = tf.Variable(tf.ones([4]))
  assert of_mean(x, loss_scale.NoScale()).tolist() == [0.0] * 4
  np.testing.assert_allclose(of_mean(x, scaling), [2.5e-9] * 4, rtol=0.01)
  with scaling.left_out():
    assert of_mean(x, scaling).tolist() == [0.0] * 4


def test_the_scale_moves_and_steps_are_left_out_as_by_keras(scaling):
  x, y = tf.Variable(1.0), tf.Variable(1.0)
  keras = tf.keras.mixed_precision.LossScaleOptimizer(
      tf.keras.optimizers.SGD(1.0, jit_compile=False))
  keras.build([y])

  @tf.function(autograph=False)
  def step(gradient):
    def update():
      x.assign_sub(gradient)

    scaling.apply([gradient, None], update)
    unscaled = keras.get_unscaled_gradients([gradient * keras.loss_scale])
    keras.apply_gradients(zip(unscaled, [y]))

  @tf.function(autograph=False)
  def steps(gradient, number):
    tf.while_loop(lambda i: i < number, lambda i: (step(gradient), i + 1)[1:], [0])

  # Both scales double after 2,000 steps.
  for gradient, number in ((1.0, 1), (1.0, 1998), (1.0, 1), (np.inf, 1), (1.0, 1), (np.nan, 1),
                           (0.0, 1999), (0.0, 1)):
    steps(tf.constant(gradient), tf.constant(number))
    assert float(keras.loss_scale) == float(scaling.state[0])
    assert float(x) == float(y)
  assert float(x) == 1.0 - 2001 and float(scaling.state[0]) == 2.0 ** 15
  scaling.state[0].assign(4.0)
  scaling.reset()
  assert [v.numpy() for v in scaling.state] == [2.0 ** 15, 0]


def test_other_precisions_need_none():
  for name in precision.NAMES[:3]:
    with precision.used(name):
      assert not loss_scale.of_precision().scales
