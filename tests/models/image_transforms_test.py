# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image functions that stand in for tensorflow-addons': by hand, and beside that library's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from suite.models import addons


@pytest.fixture(autouse=True)
def without_the_library(monkeypatch):
  monkeypatch.setattr(addons, "_library", lambda: None)


def _images(dtype):
  return np.random.default_rng(0).integers(0, 256, [6, 7, 9, 3]).astype(dtype)


def test_a_quarter_turns_counter_clockwise():
  image = np.array([[1, 2], [3, 4]], np.uint8).reshape([1, 2, 2, 1])
  turned = addons.rotate(
      image, tf.constant([math.pi / 2]), interpolation="nearest", fill_value=0)
  np.testing.assert_array_equal(turned[0, :, :, 0], [[2, 4], [1, 3]])


def test_cutout_by_a_loop_over_pixels():
  images, centers = _images(np.float32), np.array([[0, 0], [3, 4], [6, 8], [1, 7], [5, 2], [3, 0]])
  expected = images.copy()
  for i, (row, column) in enumerate(centers):
    for r in range(row - 2, row + 2):
      for c in range(column - 2, column + 2):
        if 0 <= r < 7 and 0 <= c < 9:
          expected[i, r, c] = -1.0
  found = addons.cutout(images, 4, tf.constant(centers), fill_value=-1.0)
  np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_rotations_are_those_of_the_library(interpolation, dtype):
  library = pytest.importorskip("tensorflow_addons", reason="needs tensorflow-addons")
  radians = tf.constant([0.0, 0.1, -0.5, 1.5, 3.0, -2.0])
  given = {"interpolation": interpolation, "fill_value": 7.0}
  np.testing.assert_allclose(
      addons.rotate(_images(dtype), radians, **given),
      library.image.rotate(_images(dtype), radians, **given), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_cutout_is_that_of_the_library(dtype):
  library = pytest.importorskip("tensorflow_addons", reason="needs tensorflow-addons")
  centers = tf.constant([[0, 0], [3, 4], [6, 8], [1, 7], [5, 2], [3, 0]])
  np.testing.assert_array_equal(
      addons.cutout(_images(dtype), 4, centers, fill_value=7),
      library.image.cutout(_images(dtype), (4, 4), offset=centers, constant_values=7))
