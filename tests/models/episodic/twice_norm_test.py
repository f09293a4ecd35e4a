# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Against the same norm written out in float64, which TensorFlow differentiates by itself."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models import norms
from suite.models.episodic import twice_norm

AXES = (0, 1, 2)


def _plain(x, scale, offset):
  mean = tf.reduce_mean(x, AXES)
  variance = tf.reduce_mean(tf.square(x - mean), AXES)
  return (x - mean) * tf.math.rsqrt(variance + norms.EPSILON) * scale + offset


def _values(dtype, shape=(3, 4, 5, 2)):
  rng = np.random.default_rng(0)
  draw = lambda *s: tf.constant(rng.normal(size=s), dtype)
  channels = shape[-1:]
  return dict(x=3.0 * draw(*shape) + 1.0, scale=draw(*channels), offset=draw(*channels),
              w=draw(*shape), vx=draw(*shape), vs=draw(*channels), vo=draw(*channels))


def _derivatives(norm, v):
  """y; dx, dscale, doffset of sum(w y); then all gradients of an inner product with them."""
  inputs = [v["x"], v["scale"], v["offset"], v["w"]]
  with tf.GradientTape() as outer:
    outer.watch(inputs)
    with tf.GradientTape() as inner:
      inner.watch(inputs)
      y = norm(v["x"], v["scale"], v["offset"])
      loss = tf.reduce_sum(v["w"] * y)
    first = inner.gradient(loss, inputs[:3])
    product = sum(tf.reduce_sum(a * v[b]) for a, b in zip(first, ("vx", "vs", "vo")))
    # The answer itself counts, too, as in a loss over several steps.
    product += tf.reduce_sum(tf.square(y))
  return [y, *first, *outer.gradient(product, inputs)]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("shape", [(3, 4, 5, 2), (1, 1, 2, 3)])
def test_first_and_second_derivatives(compiled, shape):
  norm = twice_norm.batch_norm
  make = lambda v: _derivatives(norm, v)
  got = (tf.function(make) if compiled else make)(_values(tf.float32, shape))
  expected = _derivatives(_plain, _values(tf.float64, shape))
  for name, a, b in zip(("y", "dx", "dscale", "doffset", "for x", "for scale", "for offset",
                         "for w"), got, expected):
    np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * float(tf.reduce_max(abs(b))) + 1e-6,
                               err_msg=name)


def test_an_unused_part_of_the_first_derivative_does_no_harm():
  v = _values(tf.float32)

  def norm_of_dx(norm, x, scale, offset, w):
    with tf.GradientTape() as outer:
      outer.watch(x)
      with tf.GradientTape() as inner:
        inner.watch(x)
        loss = tf.reduce_sum(w * norm(x, scale, offset))
      total = tf.reduce_sum(inner.gradient(loss, x) ** 2)
    return outer.gradient(total, x)

  got = norm_of_dx(twice_norm.batch_norm, *(v[k] for k in ("x", "scale", "offset", "w")))
  v = _values(tf.float64)
  expected = norm_of_dx(_plain, *(v[k] for k in ("x", "scale", "offset", "w")))
  np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)


def test_a_third_derivative_is_refused():
  v = _values(tf.float32)
  x = v["x"]
  with tf.GradientTape() as third:
    third.watch(x)
    with tf.GradientTape() as second:
      second.watch(x)
      with tf.GradientTape() as first:
        first.watch(x)
        loss = tf.reduce_sum(v["w"] * twice_norm.batch_norm(x, v["scale"], v["offset"]))
      once = tf.reduce_sum(first.gradient(loss, x) ** 2)
    twice = tf.reduce_sum(second.gradient(once, x) ** 2)
  with pytest.raises(LookupError, match="no third derivative"):
    third.gradient(twice, x)
