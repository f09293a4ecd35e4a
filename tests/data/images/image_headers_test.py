# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shapes read from headers equal those of the decoded images."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import decoding


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("encode", [
    tf.io.encode_png, tf.io.encode_jpeg, lambda x: tf.io.encode_jpeg(x, progressive=True)])
def test_shapes_of_png_and_jpeg(encode, channels):
  image = np.zeros((7, 300, channels), np.uint8)
  assert decoding.shape(encode(image).numpy()) == (7, 300, channels)


def test_transparent_images_count_as_color():
  assert decoding.shape(tf.io.encode_png(np.zeros((4, 5, 4), np.uint8)).numpy()) == (4, 5, 3)


@pytest.mark.parametrize("encoded", [
    b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\x00\x10",
    b"\xff\xd8ab"])
def test_other_and_cut_off_headers_have_no_shape(encoded):
  assert decoding.shape(encoded) is None
