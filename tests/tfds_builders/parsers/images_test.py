# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Encoded images are kept, raw ones become PNG without loss."""

import io

import numpy as np
from PIL import Image
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
])
def test_damaged_pnm_is_named(data, message):
  with pytest.raises(errors.DataError, match=message):
    images.read_pnm(data, "f.pgm")


@pytest.mark.parametrize("data", [b"P5 2 2 255\n123", b"<html>", b"GIF89a broken", b"", b"BM"])
def test_bytes_that_are_not_an_image_are_unchanged_and_unreadable(data):
  assert images.encoded(data, "f.pgm") == data
  assert list(images.unreadable([(data, "f.pgm")], 3).values())[0].startswith(
      "f.pgm is not a JPEG or PNG image")


@pytest.mark.parametrize("kind", ["gif", "bmp", "tiff"])
@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3)])
def test_gif_bmp_and_tiff_become_png_without_loss(kind, shape):
  pixels = fixtures.pixels(shape, seed=1) // 128 * 255  # Eight colors: a GIF holds them exactly.
  stream = io.BytesIO()
  Image.fromarray(pixels).save(stream, kind)
  decoded = tf.io.decode_png(images.encoded(stream.getvalue(), "x"), channels=3).numpy()
  np.testing.assert_array_equal(decoded, np.broadcast_to(pixels.reshape(5, 7, -1), (5, 7, 3)))


@pytest.mark.parametrize("data", [fixtures.jpeg((40, 50, 3), 0),
                                  images.png(fixtures.pixels((40, 5), 0))])
@pytest.mark.parametrize("channels", [1, 3])
def test_whole_images_are_readable_and_truncated_ones_are_named(data, channels):
  assert images.unreadable([(data, "x")] * 3, channels) == {}
  assert images.unreadable([], channels) == {}
  damaged = (data[:len(data) // 2], "a.zip, member 'b'")
  found = images.unreadable([(data, "x"), damaged, (b"", "c"), (data, "y")], channels)
  assert set(found) == {1, 2} and found[1].startswith("a.zip, member 'b' cannot be decoded")


def test_a_bomb_is_an_unreadable_image():
  picture = io.BytesIO()
  Image.new("P", (8, 8)).save(picture, "GIF")
  data = bytearray(picture.getvalue())
  data[6:10] = b"\xff\xff\xff\xff"  # The screen's width and height, 65,535 each.
  assert images.encoded(bytes(data), "b.gif") == bytes(data)
  with pytest.raises(errors.DataError, match="b.gif"), images.pillow_image(
      bytes(data), "b.gif", ("GIF",)):
    pass
  assert "b.gif is not a JPEG or PNG" in images.unreadable([(bytes(data), "b.gif")], 3)[0]
