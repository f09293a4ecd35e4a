# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import clear_transform
from suite.data.images import image_ops


def rows(height, width):
  """One image whose pixels say where they are: red the row, green the column."""
  image = np.zeros([1, height, width, 3], np.uint8)
  image[0, :, :, 0], image[0, :, :, 1] = np.arange(height)[:, None], np.arange(width)
  return image


def seeds(num):
  return tf.range(num, dtype=tf.int64)


@pytest.mark.parametrize("height, width", [(4, 9), (9, 4)])
def test_training_cuts_any_square_along_the_longer_side(height, width):
  images = tf.constant(np.repeat(rows(height, width), 200, axis=0))
  found = clear_transform.Clear(4, flip_probability=0.0, longest=2.25).train(
      images, tf.cast(seeds(200), tf.uint64)).numpy()
  channel = 1 if width > height else 0
  assert sorted(set(found[:, 0, 0, channel])) == list(range(6))
  assert set(found[:, 0, 0, 1 - channel]) == {0}
  np.testing.assert_array_equal(
      found[:, -1, -1, channel] - found[:, 0, 0, channel], np.full([200], 3))


@pytest.mark.parametrize("size", [4, 3])
def test_half_of_the_images_are_mirrored(size):
  images = tf.constant(np.repeat(rows(size, 4), 400, axis=0))
  found = clear_transform.Clear(size).train(images, tf.cast(seeds(400), tf.uint64)).numpy()
  mirrored = found[:, 0, 0, 1] > found[:, 0, -1, 1]
  assert 160 < mirrored.sum() < 240


def test_a_square_of_the_right_size_is_only_mirrored():
  image = rows(4, 4)
  found = clear_transform.Clear(4, flip_probability=1.0).train(
      tf.constant(image), tf.zeros([1], tf.uint64))
  np.testing.assert_array_equal(found, image[:, :, ::-1])


def test_evaluation_is_the_center_square():
  image = rows(4, 8)
  found = clear_transform.Clear(4).evaluate(tf.constant(image)).numpy()
  np.testing.assert_array_equal(found, image[:, :, 2:6])
  np.testing.assert_array_equal(found, image_ops.Nevis(4).evaluate(tf.constant(image)))


def test_an_image_wider_than_what_is_stored_is_cut_at_both_ends():
  images = tf.constant(np.repeat(rows(4, 12), 200, axis=0))
  found = clear_transform.Clear(4, flip_probability=0.0).train(
      images, tf.cast(seeds(200), tf.uint64)).numpy()
  assert sorted(set(found[:, 0, 0, 1])) == [2, 3, 4, 5, 6]


def test_a_longest_side_below_the_shorter_one_is_refused():
  with pytest.raises(ValueError, match="Clear.longest is 0.5; it must be at least 1"):
    clear_transform.Clear(4, longest=0.5)
