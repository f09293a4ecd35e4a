# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FiLM layers that change nothing, by hand, and made by an adaptation network."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import resnet
from suite.models.episodic import film

IMAGES = np.random.default_rng(0).integers(0, 256, [5, 16, 16, 3]).astype(np.uint8)
NETS = {
    "conv4": lambda: conv4.conv4((16, 16, 3), filters=4, blocks=2),
    "resnet18": lambda: resnet.resnet18((16, 16, 3), width=0.0625, blocks=(1, 1)),
}


def pretrained(name):
  """A net whose norms have statistics, scales and offsets."""
  model, rng = NETS[name](), np.random.default_rng(1)
  model.set_weights([rng.uniform(0.5, 1.5, w.shape) if w.ndim == 1 else w
                     for w in model.get_weights()])
  return model


@pytest.mark.parametrize("name", NETS)
def test_without_an_adaptation_the_net_is_the_backbone(name):
  model = pretrained(name)
  expected = model(tf.constant(IMAGES, tf.float32), training=False).numpy()
  filmed, net = film.FilmedModel(model), film.AdaptationNet()
  net.make(0, 6, filmed.sizes)
  made = net(tf.constant([1.0, -2, 3, 0, 5, 1]))
  np.testing.assert_array_equal(made.scale, filmed.identity().scale)
  np.testing.assert_array_equal(made.offset, filmed.identity().offset)
  found = filmed.features(tf.constant(IMAGES), made)
  np.testing.assert_array_equal(found, expected)
  compiled = tf.function(filmed.features, autograph=False)(tf.constant(IMAGES), made)
  np.testing.assert_allclose(compiled, expected, rtol=1e-6, atol=1e-6)
  assert filmed.num_features == expected.shape[1] and float(net.penalty()) == 0


def test_a_film_layer_by_hand():
  norm = tf.keras.layers.BatchNormalization(epsilon=1.0)
  model = tf.keras.Sequential([
      tf.keras.Input([1, 1, 2]), norm, tf.keras.layers.ReLU(), tf.keras.layers.Flatten()])
  # Scales 2 and 3, deviations 2 and 3.
  norm.set_weights([np.array(v) for v in ([2, 3], [1, -1], [10, 20], [3, 8])])
  filmed = film.FilmedModel(model)
  assert filmed.sizes == [2]
  layers = film.Film(tf.constant([0.5, -1.0]), tf.constant([4.0, 6.0]))
  found = filmed.features(tf.constant([[[[14.0, 23]]], [[[6.0, 26]]]]), layers)
  # The norm gives (5, 2) and (-3, 5); FiLM 0.5 x + 4 and 6 - x.
  np.testing.assert_allclose(found, [[6.5, 4], [2.5, 1]], rtol=1e-6)


def test_each_norm_has_layers_of_its_own_in_the_order_of_the_calls():
  model = pretrained("conv4")
  filmed, images = film.FilmedModel(model), tf.constant(IMAGES)
  assert filmed.sizes == [4, 4]
  # All channels of the last norm are 0 times what they were, and 2.
  layers = film.Film(tf.constant([1.0] * 4 + [0.0] * 4), tf.constant([0.0] * 4 + [2.0] * 4))
  np.testing.assert_array_equal(filmed.features(images, layers), np.full([5, 64], 2.0))


def test_the_adaptation_network_is_that_of_numpy():
  rng, net = np.random.default_rng(2), film.AdaptationNet(depth=2, penalty=0.1)
  net.make(7, 3, [4, 2])
  z, squares, scales, offsets = rng.normal(size=3), 0.0, [], []
  for values in net._norms:
    values["strengths"].assign(rng.normal(size=values["strengths"].shape))
    v = {name: value.numpy().astype(np.float64) for name, value in values.items()}
    h = np.maximum(z @ v["shared_kernel"] + v["shared_bias"], 0)
    made = []
    for i in range(2):
      x = h
      for layer in range(2):
        x = x if layer == 0 else np.maximum(x, 0)
        x = x + x @ v["kernels"][layer, i] + v["biases"][layer, i]
      made.append(v["strengths"][i] * x)
    scales.append(1 + made[0])
    offsets.append(made[1])
    squares += np.sum(v["strengths"] ** 2)
  found = net(tf.constant(z, tf.float32))
  np.testing.assert_allclose(found.scale, np.concatenate(scales), rtol=1e-5, atol=1e-6)
  np.testing.assert_allclose(found.offset, np.concatenate(offsets), rtol=1e-5, atol=1e-6)
  assert float(net.penalty()) == pytest.approx(0.1 * squares, rel=1e-5)


def test_the_networks_variables_are_those_of_the_seed_and_the_backbones_are_not_among_them():
  first, same, other = (film.AdaptationNet() for _ in range(3))
  for net, seed in ((first, 1), (same, 1), (other, 2)):
    net.make(seed, 3, [4, 2])
  assert len(first.trainable_variables) == 2 * 5
  for a, b in zip(first.variables, same.variables):
    np.testing.assert_array_equal(a, b)
  assert not np.array_equal(first._norms[0]["kernels"], other._norms[0]["kernels"])
  holder, model = tf.Module(), pretrained("conv4")
  holder.filmed = film.FilmedModel(model)
  assert not holder.variables and not model.trainable_weights


def test_gradients_reach_scales_and_offsets_and_leave_the_backbone():
  model = pretrained("conv4")
  before, filmed = model.get_weights(), film.FilmedModel(model)
  layers = film.Film(*(tf.Variable(part) for part in filmed.identity()))
  with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(filmed.features(tf.constant(IMAGES), layers)))
  for gradient in tape.gradient(loss, list(layers)):
    assert np.isfinite(gradient).all() and np.abs(gradient).max() > 0
  for a, b in zip(before, model.get_weights()):
    np.testing.assert_array_equal(a, b)


def test_wrong_use_is_named():
  model = conv4.conv4((16, 16, 3), filters=4, blocks=2, norm="group")
  with pytest.raises(ValueError, match="SimpleCnaps.backbone, 'conv4', has no BatchNormalization, "
                                       ".*norm = 'batch', .* such as Mahalanobis"):
    film.FilmedModel(model, owner="SimpleCnaps.backbone")
  filmed = film.FilmedModel(pretrained("conv4"))
  with pytest.raises(ValueError, match="are 16x16x1, but the network was made for 16x16x3. Set "
                                       "the learner's channels = 1"):
    filmed.features(tf.zeros([2, 16, 16, 1]), filmed.identity())
  with pytest.raises(ValueError, match="There are 0 images; a set has at least 1"):
    filmed.features(tf.zeros([0, 16, 16, 3]), filmed.identity())
  with pytest.raises(ValueError, match="has depth 0 and penalty 0.001; allowed are a depth from 1"):
    film.AdaptationNet(depth=0)
