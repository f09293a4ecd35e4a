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
@pytest.mark.parametrize("shape, on_gpu", [
    ((3, 4, 5, 2), False), ((1, 1, 2, 3), False), ((4, 14, 14, 2), False), ((3, 4, 5, 2), True)])
def test_first_and_second_derivatives(monkeypatch, compiled, shape, on_gpu):
  monkeypatch.setattr(twice_norm, "_on_gpu", lambda: on_gpu)  # The kernel's moments.
  norm = twice_norm.batch_norm
  make = lambda v: _derivatives(norm, v)
  got = (tf.function(make, autograph=False) if compiled else make)(_values(tf.float32, shape))
  expected = _derivatives(_plain, _values(tf.float64, shape))
  for name, a, b in zip(("y", "dx", "dscale", "doffset", "for x", "for scale", "for offset",
                         "for w"), got, expected):
    np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * float(tf.reduce_max(abs(b))) + 1e-6,
                               err_msg=name)


def _drawn(shape, ratio):
  """Flat regions with numbers among them; a channel's mean is `ratio` deviations."""
  rng = np.random.default_rng(0)
  x = rng.normal(size=shape) * (rng.random(shape) > 0.8)
  return (x / x.std(AXES) - x.mean(AXES) / x.std(AXES) + ratio).astype(np.float32)


# By the kernel they are off by 2e-6 where means are 0, by 2e-5 at 5 and 1e-4 at 20 deviations.
@pytest.mark.parametrize("shape", [(5, 28, 28, 4), (5, 7, 7, 4), (3, 1, 131, 2)])
@pytest.mark.parametrize("ratio", [0.0, 5.0, 20.0])
def test_flat_regions_are_normalized_as_exactly_as_float32_allows(shape, ratio):
  x = _drawn(shape, ratio)
  expected = _plain(tf.constant(x, tf.float64), 1.0, 0.0).numpy()
  y, mean, variance = twice_norm.with_moments(tf.constant(x), tf.ones(shape[3]),
                                              tf.zeros(shape[3]))
  assert np.sqrt(np.mean((y - expected) ** 2)) < 5e-7
  np.testing.assert_allclose(mean, x.astype(np.float64).mean(AXES), rtol=1e-6, atol=1e-7)
  np.testing.assert_allclose(variance, x.astype(np.float64).var(AXES), rtol=1e-6)


def test_moments_are_differentiated_and_those_of_a_norm_are_not():
  x = tf.constant(_drawn((2, 4, 4, 2), 1.0))
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    mean, variance = twice_norm.moments(x)
    seen = twice_norm.with_moments(x, tf.ones(2), tf.zeros(2))[1:]
  np.testing.assert_allclose(tape.gradient(mean, x), np.full(x.shape, 1 / 32), rtol=1e-6)
  np.testing.assert_allclose(tape.gradient(variance, x), (x - mean) / 16, rtol=1e-4, atol=1e-7)
  assert not np.any(tape.gradient(seen, x))


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


def test_sums_of_squares_are_the_same_without_the_operation_that_xla_lacks():
  x = _values(tf.float32)["x"]
  with twice_norm.for_xla():
    by_xla = twice_norm.group_mean_square(x)
  np.testing.assert_allclose(by_xla, twice_norm.group_mean_square(x), rtol=1e-5)


def test_a_loop_with_permutations_is_differentiated_twice_and_compiled():
  def value(x):
    """The sum after two trips of a loop over x [2, 3]; each trip has a gradient inside."""
    def trip(i, x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        turned = twice_norm.permuted(x, [1, 0])
        loss = tf.reduce_sum(tf.matmul(turned, x) ** 3)
      return [i + 1, x - 0.1 * tape.gradient(loss, x)]

    return tf.reduce_sum(tf.while_loop(
        lambda i, _: i < 2, trip, [tf.constant(0), x], maximum_iterations=2)[1])

  def gradient(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      loss = value(x)
    return tape.gradient(loss, x)

  x = tf.reshape(tf.range(6.0), [2, 3]) / 10
  compiled = tf.function(gradient, jit_compile=True)(x)
  np.testing.assert_allclose(compiled, gradient(x), rtol=1e-5)
  steps = [np.reshape([1e-3 * (i == j) for j in range(6)], [2, 3]) for i in range(6)]
  slopes = [(value(x + s) - value(x - s)) / 2e-3 for s in steps]
  np.testing.assert_allclose(compiled, np.reshape(slopes, [2, 3]), rtol=1e-2)
