# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Against Keras layers, and second derivatives against finite differences in float64."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models.episodic import functional_conv4

SHAPE, FILTERS, BLOCKS, CLASSES = (12, 12, 2), 4, 2, 3


def _setting(dtype="float64", shape=SHAPE):
  """Weights with biases off 0, a row of scales and offsets off 1 and 0, five images."""
  rng = np.random.default_rng(3)
  weights = functional_conv4.initial(0, shape, FILTERS, BLOCKS, CLASSES)
  weights = {name: tf.constant(value + 0.1 * rng.normal(size=value.shape), dtype)
             for name, value in weights.items()}
  row = functional_conv4.Norms(tf.constant(rng.uniform(0.5, 1.5, [BLOCKS, FILTERS]), dtype),
                               tf.constant(rng.normal(size=[BLOCKS, FILTERS]), dtype))
  return weights, row, tf.constant(rng.normal(size=[5, *shape]), dtype)


def _by_layers(weights, row, images):
  """As the papers write it down: bias before the norm, LeakyReLU before pooling."""
  x = images
  for block in range(BLOCKS):
    kernel, bias = weights[f"block{block + 1}/kernel"], weights[f"block{block + 1}/bias"]
    x = tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), bias)
    norm = tf.keras.layers.BatchNormalization(epsilon=1.001e-5, dtype=x.dtype)
    norm.build(x.shape)
    norm.gamma.assign(row.scale[block])
    norm.beta.assign(row.offset[block])
    x = tf.keras.layers.LeakyReLU(0.01, dtype=x.dtype)(norm(x, training=True))
    x = tf.keras.layers.MaxPooling2D(2, dtype=x.dtype)(x)
  return tf.reshape(x, [5, -1]) @ weights["head/kernel"] + weights["head/bias"]


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("float64", 1e-10)])
@pytest.mark.parametrize("shape", [(12, 12, 1), (13, 15, 4)])
def test_it_is_the_net_of_the_papers(dtype, tolerance, shape):
  weights, row, images = _setting(dtype, shape)
  np.testing.assert_allclose(functional_conv4.apply(weights, row, images),
                             _by_layers(weights, row, images), rtol=tolerance, atol=tolerance)


def _loss(weights, row, images):
  logits = functional_conv4.apply(weights, row, images)
  labels = tf.constant([0, 1, 2, 0, 1])
  return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def _gradients(weights, row, images):
  with tf.GradientTape() as tape:
    tape.watch(weights)
    loss = _loss(weights, row, images)
  return tape.gradient(loss, weights, unconnected_gradients="zero")


def _hessian_vector(weights, vector, row, images):
  with tf.GradientTape() as tape:
    tape.watch(weights)
    gradients = _gradients(weights, row, images)
    product = tf.add_n([tf.reduce_sum(gradients[k] * vector[k]) for k in weights])
  return tape.gradient(product, weights, unconnected_gradients="zero")


def _flat(tensors):
  return np.concatenate([np.ravel(tensors[name]) for name in sorted(tensors)])


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-3), ("float64", 1e-6)])
def test_second_derivatives_are_right(dtype, tolerance):
  weights, row, images = _setting()
  rng = np.random.default_rng(1)
  vector = {name: rng.normal(size=value.shape) for name, value in weights.items()}
  up, down = (_flat(_gradients({k: w + sign * 1e-6 * vector[k] for k, w in weights.items()}, row,
                               images)) for sign in (1, -1))
  expected = (up - down) / 2e-6
  cast = lambda value: tf.cast(value, dtype)
  got = _flat(_hessian_vector({k: cast(w) for k, w in weights.items()},
                              {k: cast(v) for k, v in vector.items()},
                              functional_conv4.Norms(*map(cast, row)), cast(images)))
  assert np.linalg.norm(got - expected) < tolerance * np.linalg.norm(expected)


def test_a_batch_normalized_by_its_own_measured_statistics_is_batch_norm():
  weights, row, images = _setting()
  statistics = functional_conv4.measure(weights, row, images)
  np.testing.assert_allclose(functional_conv4.apply(weights, row, images, statistics),
                             functional_conv4.apply(weights, row, images), rtol=1e-10, atol=1e-12)
  first = tf.nn.conv2d(images, weights["block1/kernel"], 1, "SAME").numpy()
  np.testing.assert_allclose(statistics.mean[0], first.mean((0, 1, 2)))
  np.testing.assert_allclose(statistics.variance[0], first.var((0, 1, 2)))


def test_with_given_statistics_no_image_depends_on_the_others():
  weights, row, images = _setting()
  statistics = functional_conv4.measure(weights, row, images[:3])
  together = functional_conv4.apply(weights, row, images, statistics)
  alone = functional_conv4.apply(weights, row, images[4:], statistics)
  np.testing.assert_allclose(together[4:], alone)
  assert not np.allclose(functional_conv4.apply(weights, row, images)[4:], alone)


# CFSL: 63,077 adapted numbers for Omniglot; 28 -> 14 -> 7 -> 3 -> 1 and 64 -> 4.
@pytest.mark.parametrize("shape, features, total", [((28, 28, 1), 48, 63077),
                                                    ((64, 64, 3), 768, None)])
def test_sizes_of_the_papers(shape, features, total):
  weights = functional_conv4.initial(0, shape, 48, 4, 5)
  assert weights["head/kernel"].shape == (features, 5)
  assert total in (None, sum(value.size for value in weights.values()))


def test_initial_weights_are_the_seeds_and_glorots():
  one, same, other = (functional_conv4.initial(seed, (28, 28, 1), 48, 4, 5) for seed in (1, 1, 2))
  np.testing.assert_array_equal(_flat(one), _flat(same))
  assert not np.array_equal(one["head/kernel"], other["head/kernel"])
  limit = np.sqrt(6 / (9 * (48 + 48)))
  assert 0.99 * limit < np.abs(one["block2/kernel"]).max() <= limit
  assert not one["block2/bias"].any()


def test_pixels_and_rows_of_a_net():
  net = functional_conv4.Conv4(filters=3, blocks=2, pixel_range=(0.0, 1.0))
  np.testing.assert_allclose(net.prepare(tf.constant([0, 51, 255], tf.uint8)), [0, 0.2, 1])
  np.testing.assert_allclose(functional_conv4.Conv4().prepare(tf.constant([0.0, 255.0])), [-1, 1])
  white = functional_conv4.scaled(tf.constant([[255, 255, 255]], tf.uint8), "imagenet")
  np.testing.assert_allclose(white[0], [0.515 / 0.229, 0.544 / 0.224, 0.594 / 0.225], rtol=1e-5)
  with pytest.raises(ValueError, match="images of 1 channels; .* 'imagenet' for 3 channels"):
    functional_conv4.scaled(tf.zeros([2, 1]), "imagenet")
  norms = net.initial_norms(7)
  assert norms.scale.shape == norms.offset.shape == (7, 2, 3)
  assert norms.scale.all() and not norms.offset.any()


def test_images_too_small_are_refused():
  with pytest.raises(ValueError, match="8x28 pixels vanish in 4 blocks.*at least 16x16"):
    functional_conv4.initial(0, (8, 28, 1), 4, 4, 5)
