# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The operations of RandAugment by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import keras_cv_models


def applied(name, row, strength):
  """An operation on an image of one row of gray pixels; the result's first channel."""
  image = tf.constant(np.repeat(np.array(row, np.float32)[None, None, :, None], 3, axis=3))
  return keras_cv_models.ops()[name](image, tf.constant([strength]))[0, 0, :, 0].numpy()


@pytest.mark.parametrize("name, row, strength, expected", [
    ("identity", [0, 100, 200], 1.0, [0, 100, 200]),
    ("auto_contrast", [50, 100, 150], 0.5, [0, 127.5, 255]),
    ("equalize", [7, 7, 7, 7], 0.5, [7, 7, 7, 7]),
    # 55 is added, then 127.5 and more are mirrored.
    ("solarize", [0, 50, 200], 0.5, [55, 105, 0]),
    ("color", [10, 20], 0.5, [10, 20]),  # Gray stays gray.
    ("contrast", [100, 200], 0.5, [75, 225]), ("contrast", [100, 200], -0.5, [125, 175]),
    ("brightness", [100, 200], -0.5, [0, 72.5]),
    # 0.3 * 10 pixels at full strength; what comes in is black.
    ("translate_x", list(range(10)), 1.0, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]),
    ("translate_y", [9] * 4, 0.0, [9] * 4),
    ("shear_x", [1, 2, 3], 1.0, [1, 2, 3])])  # The first row stays where it is.
def test_by_hand(name, row, strength, expected):
  np.testing.assert_allclose(applied(name, row, strength), expected, atol=0.6)


def test_every_operation_is_its_own_and_keeps_shape_and_range():
  images = np.random.default_rng(0).integers(30, 200, [2, 20, 20, 3])
  images = tf.constant(images, tf.float32)
  found = {}
  for name, op in keras_cv_models.ops().items():
    out = op(images, tf.constant([0.5, -0.5])).numpy()
    assert out.shape == images.shape and out.dtype == np.float32
    assert out.min() >= -1e-3 and out.max() <= 255.001
    found[name] = out.tobytes()
  assert len(set(found.values())) == len(found) == 11
