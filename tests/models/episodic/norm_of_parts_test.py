# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A batch in parts is the whole batch: against the norm and the embedding without parts."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models import norms
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_model
from suite.models.episodic import proto_conv4
from suite.models.episodic import twice_norm


def _whole(x, scale, offset):
  """The same in plain operations, which TensorFlow differentiates by itself."""
  mean = tf.reduce_mean(x, (0, 1, 2))
  variance = tf.reduce_mean(tf.square(x - mean), (0, 1, 2))
  return (x - mean) * tf.math.rsqrt(variance + norms.EPSILON) * scale + offset


def _derivatives(norm, dtype):
  """y; its first derivatives; the second ones of their squares' sum."""
  rng = np.random.default_rng(0)
  x, w = (tf.constant(rng.normal(1.0, 2.0, (9, 3, 4, 2)), dtype) for _ in range(2))
  scale, offset = (tf.constant(rng.normal(size=2), dtype) for _ in range(2))
  inputs = [x, scale, offset]
  with tf.GradientTape() as outer:
    outer.watch(inputs)
    with tf.GradientTape() as inner:
      inner.watch(inputs)
      y = norm(*inputs)
      loss = tf.reduce_sum(w * tf.square(y))
    first = inner.gradient(loss, inputs)
    total = sum(tf.reduce_sum(tf.square(part)) for part in first)
  return [y, *first, *outer.gradient(total, inputs)]


@pytest.mark.parametrize("sizes", [(9,), (5, 4), (1, 2, 6)])
def test_moments_and_derivatives_are_those_of_the_whole_batch(sizes):
  def norm(x, scale, offset):
    ys, mean, variance = twice_norm.norm_with_moments_of_parts(tf.split(x, sizes), scale, offset)
    np.testing.assert_allclose(mean, tf.reduce_mean(x, (0, 1, 2)), rtol=1e-5)
    np.testing.assert_allclose(variance, tf.math.reduce_variance(x, (0, 1, 2)), rtol=1e-5)
    return tf.concat(ys, 0)

  got, expected = _derivatives(norm, tf.float32), _derivatives(_whole, tf.float64)
  for a, b in zip(got, expected):
    np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * float(tf.reduce_max(abs(b))))


def test_images_are_split_evenly_and_not_below_the_smallest_part():
  sizes = lambda n, parts: [len(x) for x in twice_norm.split(tf.zeros([n, 1]), parts)]
  assert sizes(25, 2) == [13, 12] and sizes(25, 9) == [9, 8, 8]
  assert sizes(15, 2) == [15] and sizes(30, 1) == [30]
  assert len(twice_norm.split(tf.zeros([30, 1], tf.float64), 2)) == 1


@pytest.mark.parametrize("net", [dense_attention.DenseAttention(
    filters=3, stages=1, blocks=1, size=2),
                                 proto_conv4.ProtoConv4(filters=3, blocks=2),
                                 proto_conv4.ProtoConv4(filters=3, blocks=2, norm_last=True)])
def test_an_embedding_in_parts(net):
  images = np.random.default_rng(0).integers(0, 256, [17, 8, 8, 3]).astype(np.uint8)

  def results(parts):
    made = embedding.Embedding(net, parts=parts)
    made.make(0, images.shape[1:])

    def step():
      with tf.GradientTape() as tape:
        features, seen = made.train(tf.constant(images))
        loss = tf.reduce_sum(tf.sin(features))
      return features, seen, tape.gradient(loss, made.trainable_variables)

    return tf.nest.flatten(tf.function(step, autograph=False)())

  for a, b in zip(results(1), results(2)):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_refused():
  def backbone(image_shape):
    return tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=image_shape)])

  with pytest.raises(ValueError, match="allowed is a number from 1 on, and 1 for a Functional"):
    embedding.Embedding(functional_model.FunctionalModel(backbone), parts=2)
  with pytest.raises(ValueError, match="Embedding.parts is 0"):
    embedding.Embedding(proto_conv4.ProtoConv4(), parts=0)
