# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows as words are the same rows, whatever their bits."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import byte_rows


@pytest.mark.parametrize("shape, dtype", [
    ((2, 2, 3), np.uint8), ((3, 3, 3), np.uint8), ((), np.int64), ((5,), np.float32)])
def test_rows_are_those_of_gather(shape, dtype):
  rows = np.random.default_rng(0).integers(0, 256, [9, *shape]).astype(dtype)
  rows[3] = 255  # As words these are NaN.
  if dtype == np.uint8:
    rows[4, ..., ::2] = 127  # Signaling NaN, too.
  for places in ([3, 0, 3, 4, 8], [[1, 3], [4, 4]]):
    found = tf.function(byte_rows.gather, input_signature=[
        tf.TensorSpec([None, *shape], dtype), tf.TensorSpec(np.shape(places), tf.int64)])(
            tf.constant(rows), tf.constant(places, tf.int64))
    np.testing.assert_array_equal(found, rows[np.array(places)])
    assert found.dtype == dtype


def test_packing_and_back():
  rows = np.random.default_rng(0).integers(0, 256, [4, 3, 2, 2, 3]).astype(np.uint8)
  words = byte_rows.packed(tf.constant(rows))
  assert words.shape == [4, 9] and words.dtype == tf.float32
  row = tf.TensorSpec(rows.shape[1:], tf.uint8)
  np.testing.assert_array_equal(byte_rows.unpacked(words, row), rows)
  odd = tf.zeros([4, 3], tf.uint8)
  assert byte_rows.packed(odd) is odd
  assert byte_rows.unpacked(odd, tf.TensorSpec([3], tf.uint8)) is odd
