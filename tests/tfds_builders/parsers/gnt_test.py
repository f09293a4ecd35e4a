# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Records of handwritten characters."""

import struct

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import gnt


def _record(code, pixels):
  height, width = pixels.shape
  return struct.pack("<I2sHH", 10 + pixels.size, code, width, height) + pixels.tobytes()


_PIXELS = np.array([[255, 250, 3], [0, 255, 255]], np.uint8)


def _parse(tmp_path, data, name="a/1240-c.gnt"):
  fixtures.write_archive(tmp_path / "t.zip", {name: data})
  return list(gnt.parse({"t.zip": tmp_path / "t.zip"}, sets={"t.zip": "train"}))


def test_characters_and_inverted_pixels_come_back(tmp_path):
  found = _parse(tmp_path, _record("\u554a".encode("gb2312"), _PIXELS) + _record(b"A\0", _PIXELS)
                 + _record(b"\xff\xff", _PIXELS) + _record(b"\n\0", _PIXELS))
  assert [one.label for one in found] == ["\u554a", "A", "0xffff", "0x0a00"]
  assert [one.key for one in found] == [f"train/1240-c/{i:04d}" for i in range(4)]
  np.testing.assert_array_equal(tf.io.decode_png(found[0].image)[..., 0], 255 - _PIXELS)


@pytest.mark.parametrize("data, message", [
    (_record(b"A\0", _PIXELS)[:-1], "ends within a record"),
    (_record(b"A\0", _PIXELS)[:7], "ends within a record"),
    (b"\x0f" + _record(b"A\0", _PIXELS)[1:], "record of 15 bytes cannot hold 3 x 2"),
    (struct.pack("<I2sHH", 10, b"A\0", 0, 5), "cannot hold 0 x 5"),
])
def test_damaged_records_are_refused(data, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, data)


def test_a_zip_without_records_is_refused(tmp_path):
  with pytest.raises(errors.DataError, match="holds no .gnt files"):
    _parse(tmp_path, b"", name="1.1Test.alz")
