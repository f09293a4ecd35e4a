# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Max pooling by a mask of winners: to the bit TensorFlow's own, with both derivatives."""

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.models.episodic import kinks


def _once(x):
  return kinks.max_pool(x, twice=False)


def _plain(x):
  return tf.nn.max_pool2d(x, 2, 2, "VALID")


def _derivatives(pool, x, w, v):
  """y, the first derivative of sum(sin(y)) after a product, and the second ones."""
  with tf.GradientTape() as outer:
    outer.watch([x, w])
    with tf.GradientTape() as inner:
      inner.watch(x)
      y = pool(x * w)
      loss = tf.reduce_sum(tf.sin(y))
    first = inner.gradient(loss, x)
    product = tf.reduce_sum(first * v)
  return [y, first, *outer.gradient(product, [x, w])]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("ties", [False, True])
def test_values_and_derivatives(compiled, dtype, ties):
  rng = np.random.default_rng(0)
  x, w, v = (tf.constant(rng.normal(size=[3, 5, 6, 2]), dtype) for _ in range(3))
  if ties:
    x, w = tf.round(x), tf.ones_like(w)
  results = []
  for pool in (kinks.max_pool, _once, _plain):
    make = lambda *values, pool=pool: _derivatives(pool, *values)
    results.append((tf.function(make, autograph=False) if compiled else make)(x, w, v))
  for a, b, c in zip(*results):
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(b, c)


def test_a_forward_pass_is_not_charged_for_the_mask():
  spec = tf.TensorSpec([2, 6, 6, 5])
  cost, plain = (flops.count(tf.function(lambda x, p=pool: p(x), autograph=False)
                             .get_concrete_function(spec)) for pool in (kinks.max_pool, _plain))
  assert cost == plain
