# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Changes of color worked by hand, and rows that do not see each other."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import color_ops

RED = np.full([1, 2, 2, 3], (200, 0, 0), np.uint8)  # Luma 59.8.


def _changed(change, images=RED):
  return color_ops.recolored(tf.constant(images), change).numpy()[0, 0, 0]


def _one(value):
  return tf.constant([value], tf.float64)


def test_each_change_by_hand():
  means = color_ops.mean_colors(tf.constant(RED))
  np.testing.assert_array_equal(means, [[200, 0, 0]])
  assert _changed(color_ops.nothing(1)) == pytest.approx([200, 0, 0])
  assert _changed(color_ops.brightness(_one(0.5))) == pytest.approx([100, 0, 0])
  assert _changed(color_ops.brightness(_one(2.0))) == pytest.approx([255, 0, 0])
  assert _changed(color_ops.contrast(_one(0.5), means)) == pytest.approx([129.9, 29.9, 29.9])
  assert _changed(color_ops.saturation(_one(0.0))) == pytest.approx([59.8] * 3)
  assert _changed(color_ops.saturation(_one(0.5))) == pytest.approx([129.9, 29.9, 29.9])


def test_a_turn_of_the_hue_keeps_the_luma_and_comes_round():
  images = np.full([1, 2, 2, 3], (120, 90, 100), np.uint8)
  turned = _changed(color_ops.hue(_one(0.5)), images)
  luma = np.dot(color_ops.LUMA, [120, 90, 100])
  assert np.dot(color_ops.LUMA, turned) == pytest.approx(luma, abs=0.2)
  # Half a turn mirrors a color at its gray.
  assert turned == pytest.approx(2 * luma - np.array([120, 90, 100]), abs=0.5)
  assert _changed(color_ops.hue(_one(1.0)), images) == pytest.approx([120, 90, 100], abs=1e-3)


def test_two_changes_are_one_after_the_other():
  means = color_ops.mean_colors(tf.constant(RED))
  both = color_ops.then(color_ops.contrast(_one(0.5), means), color_ops.brightness(_one(2.0)))
  assert _changed(both) == pytest.approx([255, 59.8, 59.8])
  other = color_ops.then(color_ops.brightness(_one(0.5)), color_ops.saturation(_one(0.0)))
  assert _changed(other) == pytest.approx([29.9] * 3)
  chosen = color_ops.chosen(tf.constant([True]), both, other)
  assert _changed(chosen) == pytest.approx([255, 59.8, 59.8])


def test_blur_by_hand():
  image = np.zeros([1, 1, 5, 1], np.float32)
  image[0, 0, 2] = 100.0
  bell = np.exp(-0.5 * np.arange(-1, 2) ** 2 / 0.5**2)
  got = color_ops.blurred(tf.constant(image), _one(0.5), radius=1).numpy()[0, 0, :, 0]
  assert got == pytest.approx([0, *(100 * bell / bell.sum()), 0], rel=1e-5)
  np.testing.assert_array_equal(
      color_ops.blurred(tf.constant(image), _one(0.0), radius=1), image)
  flat = np.full([1, 4, 4, 3], 77.0, np.float32)  # Mirrored edges: nothing darkens.
  np.testing.assert_allclose(color_ops.blurred(tf.constant(flat), _one(2.0), radius=4), flat,
                             rtol=1e-5)
