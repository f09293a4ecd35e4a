# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A network cut in two gives the features of the whole, and trains what it is told to."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.models import conv4
from suite.models import resnet
from suite.training.gradient import trainable_parts


def images(size, num=3):
  return tf.constant(np.random.default_rng(0).integers(0, 256, [num, size, size, 3]), tf.uint8)


def check_same(model, cut, size):
  x = images(size)
  np.testing.assert_allclose(
      cut.upper(cut.lower(x), False), model(tf.cast(x, tf.float32), training=False),
      rtol=1e-4, atol=1e-5)


def macs_of(function, shape, dtype=tf.float32):
  return flops.count(tf.function(function, autograph=False).get_concrete_function(
      tf.TensorSpec([1, *shape], dtype))).macs


def test_a_plain_net_is_cut_before_its_last_convolution():
  model = conv4.conv4((16, 16, 3), filters=5, blocks=3)
  cut = trainable_parts.CutNet(model, 1)
  assert cut.trained == {"block3_conv"} and [v.name for v in cut.layers] == ["block3_conv"]
  assert cut.lower(images(16)).shape == [3, 4, 4, 5]  # After two pools.
  check_same(model, cut, 16)
  assert trainable_parts.CutNet(model, 2).trained == {"block2_conv", "block3_conv"}


def test_two_tensors_cross_into_a_residual_block():
  model = resnet.resnet((16, 16, 3), blocks=(1, 1), stem="small", width=1 / 16)
  cut = trainable_parts.CutNet(model, 1)
  assert cut.trained == {"stage2_block1_2_conv"}
  # What the convolution takes and the shortcut, both 8 x 8 of 8 channels.
  assert cut.lower(images(16)).shape == [3, 2 * 8 * 8 * 8]
  check_same(model, cut, 16)


@pytest.mark.parametrize("num_layers", [1, 2, 3, 4])
def test_the_parts_cost_what_the_formula_says(num_layers):
  model = resnet.resnet((16, 16, 3), blocks=(1, 1), stem="small", width=1 / 16)
  cut = trainable_parts.CutNet(model, num_layers)
  costs = mac_views.costs(mac_views.model_layers(model, cut.trained))
  assert macs_of(cut.lower, [16, 16, 3], tf.uint8) == costs.fixed
  code = cut.lower(images(16)).shape[1:]
  assert macs_of(lambda x: cut.upper(x, False), code) == costs.forward - costs.fixed


def test_nested_models_are_looked_into():
  model = resnet.resnet((32, 32, 3), blocks=(1, 1, 1, 1))
  cut = trainable_parts.CutNet(model, 2)
  assert len(cut.trained) == 2
  check_same(model, cut, 32)


def test_norms_above_the_lowest_trained_layer_are_trained_if_asked():
  model = conv4.conv4((16, 16, 3), filters=5, blocks=3)
  cut = trainable_parts.CutNet(model, 1, norms="trained")
  assert cut.trained == {"block3_conv", "block3_norm"}
  norm, code = model.get_layer("block3_norm"), cut.lower(images(16))
  cut.upper(code, False)
  assert (norm.moving_mean.numpy() == 0).all()
  cut.upper(code, True)
  assert (norm.moving_mean.numpy() != 0).all()
  fixed = trainable_parts.CutNet(model, 1)
  before = norm.moving_mean.numpy()
  fixed.upper(code, True)
  np.testing.assert_array_equal(norm.moving_mean, before)


def test_wrong_use_is_named():
  model = conv4.conv4((16, 16, 3), filters=5, blocks=3)
  for num in (0, 4):
    with pytest.raises(ValueError, match="has 3 layers with a kernel, allowed are 1 to 3"):
      trainable_parts.CutNet(model, num)
  with pytest.raises(ValueError, match="norms is 'batch'; allowed are fixed, trained"):
    trainable_parts.CutNet(model, 1, norms="batch")


def test_a_net_that_would_be_trained_from_its_images_on_is_refused():
  inputs = tf.keras.Input((4, 4, 3))
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(tf.keras.layers.Conv2D(2, 4)(inputs)))
  assert trainable_parts.CutNet(model, 1).lower(images(4)).shape == [3, 1, 1, 2]
  with pytest.raises(ValueError, match="no part stays as it is.*take AllLayers"):
    trainable_parts.CutNet(model, 2)
