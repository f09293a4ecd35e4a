# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import image_input
from suite.models import resnet
from suite.models import vgg
from suite.models import vit


def scaler(shape=(2, 2, 3), **arguments):
  return tf.keras.Model(*image_input.image_input(shape, **arguments))


def test_black_grey_and_white_become_minus_one_zero_and_one():
  images = np.zeros([3, 2, 2, 3], np.float32)
  images[1], images[2] = 127.5, 255.0
  scaled = scaler()(images).numpy()
  np.testing.assert_allclose(scaled[:, 0, 0, 0], [-1.0, 0.0, 1.0], atol=1e-6)


def test_uint8_and_float_images_are_scaled_alike():
  images = np.random.default_rng(0).integers(0, 256, [2, 2, 2, 3], np.uint8)
  from_bytes, from_floats = scaler()(images), scaler()(images.astype(np.float32))
  assert from_bytes.dtype == tf.float32
  np.testing.assert_array_equal(from_bytes, from_floats)


def test_fractions_of_float_images_survive():
  assert scaler()(np.full([1, 2, 2, 3], 127.75, np.float32)).numpy()[0, 0, 0, 0] > 0.001


@pytest.mark.parametrize("shape", [(64, 64), (None, 64, 3)])
def test_unknown_sizes_are_refused(shape):
  with pytest.raises(ValueError, match=r"must be \(height, width, channels\), all known"):
    image_input.image_input(shape)


def test_imagenet_s_mean_becomes_zero_and_its_deviation_one():
  mean, deviation = (255 * np.array(v, np.float32) for v in (
      [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
  images = np.stack([mean, mean + deviation, np.zeros(3), np.full(3, 255.0)])[:, None, None, :]
  scaled = scaler((1, 1, 3), pixels="imagenet")(images).numpy()[:, 0, 0]
  np.testing.assert_allclose(scaled[:2], [[0] * 3, [1] * 3], atol=1e-6)
  # Black and white as torchvision's Normalize makes them.
  np.testing.assert_allclose(
      scaled[2:], [[-2.117904, -2.035714, -1.804444], [2.248908, 2.428571, 2.64]], atol=1e-5)


@pytest.mark.parametrize("shape, pixels, message", [
    ((2, 2, 3), "unit", "pixels is 'unit'; allowed are symmetric, imagenet"),
    ((2, 2, 1), "imagenet", "Images have 1 channels; pixels='imagenet' has a mean"),
])
def test_unknown_scales_are_refused(shape, pixels, message):
  with pytest.raises(ValueError, match=message):
    image_input.image_input(shape, pixels)


@pytest.mark.parametrize("make", [
    functools.partial(conv4.conv4, blocks=2, filters=2),
    functools.partial(resnet.resnet18, width=1 / 32, blocks=(1,)),
    functools.partial(resnet.resnet34, width=1 / 32, blocks=(1,)),
    functools.partial(resnet.resnet50, width=1 / 32, blocks=(1,)),
    functools.partial(vgg.vgg, channels=(4,), strides=(1,)),
    functools.partial(vit.vit, layers=1, width=4, heads=2, mlp_size=4)])
def test_every_net_takes_the_name(make):
  layers = [make((8, 8, 3), **given).layers[1].name for given in ({}, {"pixels": "imagenet"})]
  assert layers == ["to_unit_range", "by_imagenet"]
