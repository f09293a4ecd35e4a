# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""LIBSVM's text format."""

import bz2

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import libsvm

_ARGS = {"parts": {"t": "train"}, "height": 1, "width": 3, "low": -1.0, "high": 1.0}


def _parse(tmp_path, text):
  (tmp_path / "t").write_bytes(bz2.compress(text.encode()))
  return list(libsvm.parse({"t": tmp_path / "t"}, **_ARGS))


def test_values_become_grays_and_what_is_left_out_is_zero(tmp_path):
  examples = _parse(tmp_path, "10 1:-1.000000 2:1 3:0.5 \n1 3:-.5\n")
  assert [(e.split, e.label) for e in examples] == [("train", 9), ("train", 0)]
  # -1, 1, 0.5 and 0, 0, -0.5: (v + 1) * 127.5, to the nearest, halves to the even one.
  np.testing.assert_array_equal(tf.io.decode_png(examples[0].image)[..., 0], [[0, 255, 191]])
  np.testing.assert_array_equal(tf.io.decode_png(examples[1].image)[..., 0], [[128, 128, 64]])


@pytest.mark.parametrize("line, message", [
    ("1 1:1 4:1", "t, line 2 is not a label with index:value"),
    ("1 1", "t, line 2 is not a label"),
    ("x 1:1", "t, line 2 is not a label"),
    ("1 1:1:1", "t, line 2 is not a label"),
    ("1 0:1", "t, line 2 gives a pixel twice or counts below 1; pixels are 1 to 3"),
    ("1 1:1 1:1", "t, line 2 gives a pixel twice"),
    ("1 1:1.5", "t, line 2 has values from 0.0 to 1.5; they are from -1.0 to 1.0"),
    ("1 1:nan", "t, line 2 has values from nan to nan"),
])
def test_damaged_lines_are_named(tmp_path, line, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, f"1 1:1\n{line}\n")


def test_a_truncated_file_is_named(tmp_path):
  data = bz2.compress(b"1 1:1 2:0.25\n" * 99)
  (tmp_path / "t").write_bytes(data[:-9])
  with pytest.raises(errors.DataError, match="t cannot be read: EOFError"):
    list(libsvm.parse({"t": tmp_path / "t"}, **_ARGS))
