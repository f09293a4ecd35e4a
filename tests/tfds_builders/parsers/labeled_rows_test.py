# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Text tables of values with a number for a label."""

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import labeled_rows

_ARGS = {"parts": {"t": "train"}, "height": 1, "width": 2, "stored_channels": 4, "channels": 3}


def _parse(tmp_path, text):
  (tmp_path / "t").write_text(text)
  return list(labeled_rows.parse({"t": tmp_path / "t"}, **_ARGS))


def test_the_first_bands_of_each_pixel_are_its_colors(tmp_path):
  examples = _parse(tmp_path, "1 2 3 4 5 6 7 8 7\n\n9 9 9 9 9 9 9 9 1 \n")
  assert [(e.split, e.label) for e in examples] == [("train", 6), ("train", 0)]
  np.testing.assert_array_equal(tf.io.decode_png(examples[0].image), [[[1, 2, 3], [5, 6, 7]]])
  assert examples[0].where.endswith("t, line 1")


def test_a_table_with_a_header_in_an_archive(tmp_path):
  members = {"x/other.csv": b"?", "x/t.csv": b"p0,p1,p2,label\n1,2,3,1\n4,5,6,8\n"}
  fixtures.write_archive(tmp_path / "a.zip", members)
  examples = list(labeled_rows.parse(
      {"a.zip": tmp_path / "a.zip"}, parts={"t.csv": "all"}, height=1, width=1, stored_channels=3,
      channels=3, separator=",", header_lines=1))
  assert [(e.split, e.label) for e in examples] == [("all", 0), ("all", 7)]
  np.testing.assert_array_equal(tf.io.decode_png(examples[1].image), [[[4, 5, 6]]])


@pytest.mark.parametrize("line, message", [
    ("1 2 3 4 5 6 7 8", "t, line 2 has 8 values, 9 expected: the table is truncated"),
    ("1 2 3 4 5 6 7 x 1", "t, line 2 is not a line of whole numbers"),
    ("1 2 3 4 5 6 7 .5 1", "t, line 2 is not a line of whole numbers"),
    ("1 2 3 4 5 6 7 99999999999999999999 1", "t, line 2 is not a line of whole numbers"),
    ("1 2 3 4 5 6 7 256 1", "t, line 2 has values outside of 0 to 255: 1 to 256"),
    ("1 2 3 4 5 6 7 -1 1", "t, line 2 has values outside of 0 to 255: -1 to 7"),
])
def test_damaged_lines_are_named(tmp_path, line, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, f"1 2 3 4 5 6 7 8 1\n{line}\n")


def test_a_table_that_is_not_there(tmp_path):
  fixtures.write_archive(tmp_path / "a.zip", {"x/other.csv": b"?"})
  with pytest.raises(errors.DataError, match=r"are missing the lists \['t'\]"):
    list(labeled_rows.parse({"a.zip": tmp_path / "a.zip"}, **_ARGS))
