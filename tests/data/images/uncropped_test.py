# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Stored images and squares of them, by hand and against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import clear_transform


def pixels(*shape, seed=0):
  return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


@pytest.mark.parametrize("is_wide", [False, True])
def test_an_image_is_stored_line_by_line_behind_its_length(is_wide):
  tall = pixels(2, 3, 2, 3)
  image = tall.transpose(0, 2, 1, 3) if is_wide else tall
  packed = clear_transform.pack(tf.constant(image), 2, 2.0)
  assert packed.shape == (2, *clear_transform.shape(2, 2.0)) == (2, 5, 2, 3)
  np.testing.assert_array_equal(packed[:, 0], 2 * [[[0, 3, is_wide], [0, 0, 0]]])
  np.testing.assert_array_equal(packed[:, 1:4], tall)
  assert not packed[:, 4].numpy().any()
  assert clear_transform.lengths(packed).numpy().tolist() == [3, 3]


def test_a_length_may_take_two_bytes():
  packed = clear_transform.pack(tf.constant(pixels(1, 2, 700, 3)), 2, 400.0)
  np.testing.assert_array_equal(packed[0, 0, 0], [2, 700 - 512, 1])
  assert clear_transform.lengths(packed).numpy() == [700]


def test_zeros_are_a_black_square():
  packed = tf.zeros([2, *clear_transform.shape(4, 2.0)], tf.uint8)
  assert clear_transform.lengths(packed).numpy().tolist() == [4, 4]
  assert not clear_transform.squares(packed, tf.zeros([2], tf.int32)).numpy().any()


def test_of_a_longer_image_the_central_part_is_stored():
  image = pixels(1, 2, 9, 3)
  packed = clear_transform.pack(tf.constant(image), 2, 2.0).numpy()
  np.testing.assert_array_equal(packed[0, 1:], image[0, :, 2:6].transpose(1, 0, 2))


def test_gray_images_become_colored():
  packed = clear_transform.pack(tf.constant(pixels(1, 4, 2, 1)), 2, 2.0).numpy()
  assert packed.shape == (1, 5, 2, 3) and (packed[:, 1:, :, :1] == packed[:, 1:]).all()


def squares_by_numpy(images, starts, flip, size):
  found = []
  for image, start, mirror in zip(images, starts, flip):
    wide = image.shape[1] > image.shape[0]
    square = image[:, start:start + size] if wide else image[start:start + size]
    found.append(square[:, ::-1] if mirror else square)
  return np.stack(found)


@pytest.mark.parametrize("compiled", [False, True])
def test_squares_of_tall_and_wide_images_at_once(compiled):
  images = [pixels(4, 7, 3), pixels(6, 4, 3, seed=1), pixels(4, 4, 3, seed=2)] * 4
  packed = tf.concat([clear_transform.pack(tf.constant(i[None]), 4, 2.0) for i in images], 0)
  lengths = clear_transform.lengths(packed).numpy()
  assert lengths.tolist() == [7, 6, 4] * 4
  starts = np.arange(12) % (lengths - 3)
  flip = np.arange(12) % 5 < 2
  cut = (
    tf.function(clear_transform.squares, autograph=False) if compiled else clear_transform.squares
  )
  found = cut(packed, tf.constant(starts, tf.int32), tf.constant(flip))
  np.testing.assert_array_equal(found, squares_by_numpy(images, starts, flip, 4))
  found = cut(packed, tf.constant(starts, tf.int32))
  np.testing.assert_array_equal(found, squares_by_numpy(images, starts, 0 * flip, 4))


@pytest.mark.parametrize("height, width, length", [(10, 20, 16), (20, 10, 16), (7, 9, 10),
                                                   (31, 16, 15)])
def test_the_shorter_side_is_resized_and_the_longer_one_follows(height, width, length):
  # floor(8 * long / short), as torchvision's Resize has it.
  image = tf.constant(pixels(1, height, width, 3))
  packed = clear_transform.pack(image, 8, 3.0)
  assert clear_transform.lengths(packed).numpy() == [length]
  sides = (8, length) if width > height else (length, 8)
  resized = tf.image.resize(image, sides).numpy()[0]
  stored = packed[0, 1:1 + length].numpy()
  stored = stored.transpose(1, 0, 2) if width > height else stored
  np.testing.assert_allclose(stored, resized, atol=0.51)
