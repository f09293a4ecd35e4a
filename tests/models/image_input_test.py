# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.models import image_input


def scaler(shape=(2, 2, 3)):
  return tf.keras.Model(*image_input.image_input(shape))


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
