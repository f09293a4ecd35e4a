# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Against the net as it is written down: gated maps put side by side, then convolved."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models.episodic import dense_attention
from suite.models.episodic import embedding

NET = dense_attention.DenseAttention(filters=3, stages=2, blocks=2, size=2)
SHAPE = (9, 8, 1)


def _weights(net=NET, shape=SHAPE, seed=0):
  rng = np.random.default_rng(seed)
  return {name: tf.constant(value + 0.3 * rng.normal(size=value.shape), tf.float32)
          for name, value in net.initial(seed, shape).items()}


def _images(count, seed=0, shape=SHAPE):
  return tf.constant(np.random.default_rng(seed).integers(0, 256, [count, *shape]), tf.uint8)


def _plain(weights, images):
  """The same net without the shortcuts; norms are the identity."""
  def conv(x, kernel):
    return tf.nn.leaky_relu(tf.nn.conv2d(x, kernel, 1, "SAME"), 0.01)

  x, number = conv(images, weights["stem/kernel"]), 0
  for stage in (1, 2):
    for _ in range(2):
      number += 1
      block = {name.split("/", 1)[1]: w for name, w in weights.items()
               if name.startswith(f"block{number}/")}
      means = tf.reduce_mean(x, axis=(1, 2))
      x *= tf.sigmoid(means @ block["gate/kernel"] + block["gate/bias"])[:, None, None]
      y = conv(conv(x, block["narrow"][None, None]), block["wide"])
      x = tf.concat([x, y], axis=-1)
    x = conv(tf.nn.avg_pool2d(x, 2, 2, "VALID"), weights[f"transition{stage}"][None, None])
  return x


def test_it_is_the_net_as_it_is_written_down():
  weights = _weights()
  images = NET.prepare(_images(3))
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(weights)
    expected = dense_attention.adaptive_average(_plain(weights, images), 2)
    got = NET.features(weights, images, lambda x: x)
    sums = [tf.reduce_sum(tf.sin(x)) for x in (expected, got)]
  assert got.shape == (3, 2, 2, 3 * 5)
  np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
  wanted, found = (tape.gradient(total, weights) for total in sums)
  for name, gradient in wanted.items():
    np.testing.assert_allclose(found[name], gradient, rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("size", [5, 2])
def test_adaptive_average_by_hand(size):
  x = np.random.default_rng(0).normal(size=[2, 7, 4, 3])
  got = dense_attention.adaptive_average(tf.constant(x), size).numpy()
  rows = {5: [(0, 2), (1, 3), (2, 5), (4, 6), (5, 7)], 2: [(0, 4), (3, 7)]}[size]
  columns = {5: [(0, 1), (0, 2), (1, 3), (2, 4), (3, 4)], 2: [(0, 2), (2, 4)]}[size]
  for i, (top, bottom) in enumerate(rows):
    for j, (left, right) in enumerate(columns):
      expected = x[:, top:bottom, left:right].mean(axis=(1, 2))
      np.testing.assert_allclose(got[:, i, j], expected, rtol=1e-10)


def test_norms_are_as_many_and_as_wide_as_it_says():
  seen = []

  def normalize(x):
    seen.append(x.shape[-1])
    return x

  NET.features(_weights(), NET.prepare(_images(1)), normalize)
  assert seen == NET.norm_sizes(SHAPE) == [3, 3, 3, 3, 3, 9, 3, 3, 3, 3, 15]


def test_the_sizes_of_the_paper():
  net = dense_attention.DenseAttention()
  weights = net.initial(0, (28, 28, 1))
  gates = sum(c * c + c for c in (64, 128, 192, 256))
  convs = 9 * 64 + 4 * 9 * 64 * 64 + 64 * (64 + 128 + 192 + 256) + 192 ** 2 + 320 ** 2
  assert sum(w.size for w in weights.values()) == gates + convs
  # Features are [size, size] maps of as many channels as the last norm has, see above.
  assert (net.size, net.norm_sizes((28, 28, 1))[-1]) == (5, 320)


def test_an_image_is_encoded_by_itself_and_trained_in_its_batch():
  made = embedding.Embedding(NET)
  made.make(0, SHAPE)
  images = _images(4)
  np.testing.assert_allclose(made.encode(images)[:1], made.encode(images[:1]), atol=1e-5)
  assert np.abs(made.train(images)[0][:1] - made.train(images[:2])[0][:1]).max() > 1e-3


def test_pixels_become_the_range():
  images = tf.constant([[[[0], [255]]]], tf.uint8)
  net = dense_attention.DenseAttention(pixel_range=(0.0, 1.0))
  np.testing.assert_allclose(net.prepare(images)[0, 0, :, 0], [0.0, 1.0])


def test_too_small_images_are_refused():
  with pytest.raises(ValueError, match="3x8 pixels vanish in 2 stages.*at least 4x4"):
    NET.initial(0, (3, 8, 1))
