# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Encoded images are kept, raw ones become PNG without loss."""

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1), (5, 7, 3), (1, 1), (300, 2, 3)])
def test_png_is_lossless(shape):
  pixels = fixtures.pixels(shape, seed=1)
  decoded = tf.io.decode_png(images.png(pixels)).numpy()
  np.testing.assert_array_equal(decoded.reshape(shape), pixels)


def test_png_refuses_what_it_cannot_hold():
  with pytest.raises(ValueError, match=r"Got float64 \(2, 2, 1\)"):
    images.png(np.zeros((2, 2)))


@pytest.mark.parametrize("data", [fixtures.jpeg((4, 5, 3), 0),
                                  images.png(fixtures.pixels((4, 5), 0))])
def test_jpeg_and_png_bytes_are_kept(data):
  assert images.encoded(data, "x") == data


def test_pgm_becomes_the_same_pixels():
  pixels = fixtures.pixels((6, 4), seed=3)
  decoded = tf.io.decode_png(images.encoded(fixtures.pgm((6, 4), seed=3), "x")).numpy()
  np.testing.assert_array_equal(decoded[..., 0], pixels)


def test_ppm_with_a_comment_has_three_channels():
  data = b"P6\n# made by hand\n2 1\n255\n" + bytes(range(6))
  np.testing.assert_array_equal(images.read_pnm(data, "x"), [[[0, 1, 2], [3, 4, 5]]])


def test_pnm_pixels_that_look_like_white_space_belong_to_the_image():
  np.testing.assert_array_equal(images.read_pnm(b"P5 2 1 255\n\n ", "x")[..., 0], [[10, 32]])


@pytest.mark.parametrize("data, message", [
    (b"P5 2 2 255\n123", "f.pgm is damaged: 2 x 2 x 1 values expected, 3 found"),
    (b"P5 2 2 65535\n12345678", "f.pgm has values up to 65535"),
    (b"P5 x", "f.pgm has no valid PGM or PPM header"),
    (b"<html>", "f.pgm is not a JPEG, PNG, PGM or PPM image"),
])
def test_damaged_pnm_is_named(data, message):
  with pytest.raises(errors.DataError, match=message):
    images.encoded(data, "f.pgm")


@pytest.mark.parametrize("data", [fixtures.jpeg((40, 50, 3), 0),
                                  images.png(fixtures.pixels((40, 5), 0))])
@pytest.mark.parametrize("channels", [1, 3])
def test_check_accepts_whole_images_and_names_truncated_ones(data, channels):
  images.check([(data, "x")] * 3, channels)
  images.check([], channels)
  damaged = (data[:len(data) // 2], "a.zip, member 'b'")
  with pytest.raises(errors.DataError, match="^a.zip, member 'b' is not an image that can"):
    images.check([(data, "x"), damaged, (data, "y")], channels)
