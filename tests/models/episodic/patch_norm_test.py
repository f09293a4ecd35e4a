# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Batch norm folded into the first convolution against batch norm of its output."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import precision
from suite.models.episodic import proto_conv4
from suite.models.episodic import twice_norm


def _random(seed, *shape, dtype=tf.float64):
  return tf.constant(np.random.default_rng(seed).normal(size=shape), dtype)


def _drawing(size, dtype):
  """Images of strokes on flat ground, which most patches lie in."""
  images = np.ones([8, size, size, 1])
  for i, image in enumerate(images):
    image[i + 2, 1:-1] = image[3:-2, 2 * i + 3] = 0.0
  return tf.constant(images, dtype)


def _outer(images, kernel, scale, offset, folded):
  """The normalized convolution by either way."""
  if not folded:
    return twice_norm.batch_norm(tf.nn.conv2d(images, kernel, 1, "SAME"), scale, offset)
  (shifted,), _, _ = twice_norm.with_patch_moments(
      [twice_norm.Convolution(images, kernel)], scale, offset)
  return shifted.values + shifted.offset


@pytest.mark.parametrize("groups", [1, 3])
def test_moments_are_those_of_the_convolution(groups):
  images, kernel = _random(0, 4, 7, 6, groups), _random(1, 3, 3, 1, 5 * groups)
  mean, variance = twice_norm.patch_moments(twice_norm.observe(images), kernel)
  for g in range(groups):
    output = tf.nn.conv2d(images[..., g:g + 1], kernel[..., 5 * g:5 * g + 5], 1, "SAME").numpy()
    np.testing.assert_allclose(mean[5 * g:5 * g + 5], output.mean((0, 1, 2)), atol=1e-13)
    np.testing.assert_allclose(variance[5 * g:5 * g + 5], output.var((0, 1, 2)), rtol=1e-12)


def test_moments_of_one_patch_by_hand():
  image = tf.reshape(tf.constant([3.0, 5.0], tf.float64), [1, 1, 2, 1])
  kernel = np.zeros([3, 3, 1, 1])
  kernel[1, :, 0, 0] = 1.0, 10.0, 100.0  # Left, here, right: 30 + 500 and 3 + 50.
  mean, variance = twice_norm.patch_moments(twice_norm.observe(image), tf.constant(kernel))
  np.testing.assert_allclose([mean[0], variance[0]], [(530 + 53) / 2, (530 - 53) ** 2 / 4])


def test_outputs_and_two_derivatives_are_those_of_batch_norm():
  images, kernel = _random(0, 4, 8, 8, 1), _random(1, 3, 3, 1, 5)
  scale, offset = _random(2, 5), _random(3, 5)

  def derivatives(folded):
    with tf.GradientTape() as outer:
      outer.watch([kernel, scale, offset])
      with tf.GradientTape() as tape:
        tape.watch([kernel, scale, offset])
        y = _outer(images, kernel, scale, offset, folded)
        loss = tf.reduce_sum(tf.sin(y) * _random(4, *y.shape))
      first = tape.gradient(loss, [kernel, scale, offset])
      total = tf.add_n([tf.reduce_sum(tf.square(g)) for g in first])
    return [y, *first, *outer.gradient(total, [kernel, scale, offset])]

  for ours, expected in zip(derivatives(True), derivatives(False)):
    np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-9)


def test_in_float32_flat_ground_costs_no_digits():
  kernel = _random(1, 3, 3, 1, 6)
  ones, zeros = tf.ones([6], tf.float64), tf.zeros([6], tf.float64)
  exact = _outer(_drawing(28, tf.float64), kernel, ones, zeros, False)
  found = _outer(_drawing(28, tf.float32), *(
      tf.cast(t, tf.float32) for t in (kernel, ones, zeros)), True)
  np.testing.assert_allclose(found, exact, atol=3e-6)


def test_parts_of_a_batch_have_the_moments_of_the_whole():
  images, kernel = _random(0, 9, 6, 6, 1), _random(1, 3, 3, 1, 4)
  scale, offset = _random(2, 4), _random(3, 4)
  (whole,), *moments = twice_norm.with_patch_moments(
      [twice_norm.Convolution(images, kernel)], scale, offset)
  parts, *of_parts = twice_norm.with_patch_moments(
      [twice_norm.Convolution(part, kernel) for part in tf.split(images, [2, 7])], scale, offset)
  np.testing.assert_allclose(tf.concat([p.values for p in parts], 0), whole.values, rtol=1e-11)
  np.testing.assert_allclose(of_parts, moments, rtol=1e-11)


def test_a_plain_norm_gives_the_same_features():
  net = proto_conv4.ProtoConv4(filters=3, blocks=2, dtype="float64")
  weights = {name: tf.constant(value, tf.float64)
             for name, value in net.initial(0, (8, 8, 1)).items()}
  images, ones, zeros = _random(0, 4, 8, 8, 1), tf.ones([3], tf.float64), tf.zeros([3], tf.float64)

  def normalize(x):
    return twice_norm.batch_norm(x, ones, zeros)

  def of_one(xs):
    if isinstance(xs[0], twice_norm.Convolution):
      return twice_norm.with_patch_moments(xs, ones, zeros)[0]
    return [normalize(xs[0])]

  folded, = twice_norm.finish_together([net.passing(weights, images)], of_one)
  np.testing.assert_allclose(folded, net.features(weights, images, normalize), rtol=1e-9)


def test_more_channels_and_other_kernels_are_not_folded():
  assert twice_norm.folds(tf.zeros([3, 3, 1, 4]))
  assert not twice_norm.folds(tf.zeros([3, 3, 3, 4]))
  assert not twice_norm.folds(tf.zeros([5, 5, 1, 4]))


def test_in_bfloat16_normalized_values_are_off_by_its_rounding_only():
  kernel, ones, zeros = _random(1, 3, 3, 1, 6), tf.ones([6]), tf.zeros([6])
  exact = _outer(_drawing(28, tf.float64), kernel, *(
      tf.cast(t, tf.float64) for t in (ones, zeros)), False)
  with precision.used("bfloat16"):
    found = _outer(_drawing(28, tf.float32), tf.cast(kernel, tf.float32), ones, zeros, True)
  assert found.dtype == tf.float32
  difference = np.abs(found.numpy() - exact.numpy())
  assert 1e-4 < difference.max() < 0.03 * np.abs(exact.numpy()).max()
