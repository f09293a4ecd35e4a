# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Text tables of pixels."""

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import pixel_table

_ARGS = {"height": 1, "width": 3, "num_classes": 2, "maximum": 1.0}


def _parse(path, text):
  path.write_text(text)
  return list(pixel_table.parse({path.name: path}, **_ARGS))


def test_lines_become_images(tmp_path):
  examples = _parse(tmp_path / "t", "0.0 1.0000 0 1 0 \n1 0 0.0 0 1\n\n")
  assert [e.label for e in examples] == [0, 1]
  np.testing.assert_array_equal(tf.io.decode_png(examples[0].image)[..., 0], [[0, 255, 0]])
  assert [e.split for e in examples] == ["all", "all"]


def test_numbers_written_in_another_way_have_the_same_key(tmp_path):
  one = _parse(tmp_path / "t", "0 1 1 1 0\n")
  other = _parse(tmp_path / "u", "0.00 1.0 1 1 0\n")
  assert one[0].key == other[0].key


@pytest.mark.parametrize("line, message", [
    ("0 1 0 1", "line 2 has 4 numbers, 5 expected: the file is truncated"),
    ("0 1 x 1 0", "line 2 is not a line of numbers"),
    ("0 1 0.3 1 0", "line 2 has pixels outside 0 to 1.0, or between steps"),
    ("0 1 2 1 0", "line 2 has pixels outside 0 to 1.0"),
    ("0 1 nan 1 0", "line 2 has pixels outside 0 to 1.0"),
    ("0 1 0 1 1", "line 2 has no one-hot label"),
    ("0 1 0 0 0", "line 2 has no one-hot label"),
])
def test_damaged_line_is_named(tmp_path, line, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path / "t", f"0 0 0 1 0\n{line}\n")
