# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import optimizers


def test_two_steps_by_hand_with_a_rate_that_falls_and_decay():
  w, other = tf.Variable([1.0, 2.0]), tf.Variable([5.0])
  optimizer = optimizers.Sgd([other, w], momentum=0.5, weight_decay=0.1)
  optimizer.apply([tf.constant([1.0, 0.0])], [w], 1.0)
  # v = g + 0.1 w = [1.1, 0.2]; w = w - v
  np.testing.assert_allclose(w.numpy(), [-0.1, 1.8], rtol=1e-6)
  optimizer.apply([tf.constant([0.0, 0.0])], [w], 0.1)
  # v = 0.5 v + 0.1 w = [0.54, 0.28]; the new rate takes a tenth of all of it.
  np.testing.assert_allclose(w.numpy(), [-0.154, 1.772], rtol=1e-6)
  assert other.numpy() == 5.0
  optimizer.reset()
  assert not any(np.any(v) for v in optimizer.velocities)


def test_a_factor_is_of_the_rate_and_leaves_velocities_alone():
  slow, fast = tf.Variable([1.0]), tf.Variable([1.0])
  optimizer = optimizers.Momentum(0.5, 0.1, factor_of=lambda v: 0.1 if v is slow else 1.0).build(
      [slow, fast])
  for _ in range(2):
    optimizer.apply([tf.constant([1.0])] * 2, [slow, fast], 0.2)
  # fast: v = 1.1, w = .78; v = .55 + 1.078 = 1.628, w = .4544
  # slow: v = 1.1, w = .978; v = .55 + 1.0978 = 1.6478, w = .978 - .02 * 1.6478
  np.testing.assert_allclose(fast.numpy(), [0.4544], rtol=1e-6)
  np.testing.assert_allclose(slow.numpy(), [0.945044], rtol=1e-6)


def test_a_variable_without_a_gradient_stays():
  w = tf.Variable([1.0])
  optimizers.Sgd([w], weight_decay=0.1).apply([None], [w], 1.0)
  assert w.numpy() == 1.0


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_at_a_constant_rate_it_is_keras(momentum):
  ours, theirs = tf.Variable([1.0, -2.0]), tf.Variable([1.0, -2.0])
  optimizer, keras = (
    optimizers.Sgd([ours], momentum=momentum),
    tf.keras.optimizers.SGD(0.1, momentum),
  )
  for _ in range(5):
    optimizer.apply([2.0 * ours], [ours], 0.1)
    keras.apply_gradients([(2.0 * theirs, theirs)])
  np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


def test_a_spec_makes_it_for_any_variables():
  spec, w = optimizers.Momentum(0.5, 0.1, keep=True), tf.Variable([1.0, 2.0])
  one = spec.build([w])
  assert (one.momentum, one.weight_decay, len(one.velocities), spec.keep) == (0.5, 0.1, 1, True)
  assert spec.build([w]) is not one and not optimizers.Momentum().keep
