# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""idx files."""

import struct

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import idx

_PARTS = {"train": ("i", "l")}


def _write(path, array, shape=None):
  shape = shape or array.shape
  data = bytes((0, 0, 8, len(shape))) + struct.pack(f">{len(shape)}I", *shape) + array.tobytes()
  fixtures.write_gzip(path, data)


def _parse(tmp_path, pixels, labels):
  _write(tmp_path / "i", np.asarray(pixels, np.uint8))
  _write(tmp_path / "l", np.asarray(labels, np.uint8))
  return list(idx.parse({"i": tmp_path / "i", "l": tmp_path / "l"}, parts=_PARTS))


def test_images_labels_and_keys(tmp_path):
  pixels = fixtures.pixels((3, 4, 5), seed=0)
  examples = _parse(tmp_path, pixels, [7, 0, 9])
  assert [e.label for e in examples] == [7, 0, 9]
  assert {e.split for e in examples} == {"train"}
  np.testing.assert_array_equal(tf.io.decode_png(examples[1].image)[..., 0], pixels[1])


def test_keys_depend_on_pixels_alone_and_copies_share_a_group(tmp_path):
  pixels = fixtures.pixels((3, 4, 5), seed=0)
  pixels[2] = pixels[0]
  forward = _parse(tmp_path, pixels, [1, 2, 1])
  backward = _parse(tmp_path, pixels[::-1], [1, 2, 1])
  assert {e.key for e in forward} == {e.key for e in backward}
  assert len({e.key for e in forward}) == 3
  assert forward[2].key == forward[0].key + "-2"
  assert forward[2].group == forward[0].group == forward[0].key


@pytest.mark.parametrize("shape, message", [
    ((2, 2, 3), r"i is truncated or damaged: its header says \(2, 2, 3\), which is 12 bytes, but"),
    ((2, 2, 1), r"i is truncated or damaged: .* 4 bytes, but 8 follow"),
    ((4000000000, 4000000000, 9), r"i is truncated or damaged"),
    ((8,), r"i is not an idx file of bytes with 3 axes"),
])
def test_header_and_content_must_agree(tmp_path, shape, message):
  _write(tmp_path / "i", np.zeros(8, np.uint8), shape)
  with pytest.raises(errors.DataError, match=message):
    idx.read(tmp_path / "i", ndim=3)


def test_truncated_gzip_is_named(tmp_path):
  _write(tmp_path / "i", fixtures.pixels((20, 9, 9), seed=0))
  (tmp_path / "i").write_bytes((tmp_path / "i").read_bytes()[:500])
  with pytest.raises(errors.DataError, match="i cannot be read: EOFError"):
    idx.read(tmp_path / "i", ndim=3)


def test_images_and_labels_must_have_the_same_number(tmp_path):
  with pytest.raises(errors.DataError, match="i has 2 images but .*l has 3 labels"):
    _parse(tmp_path, np.zeros((2, 2, 2)), [1, 2, 3])


def test_rotated_splits_are_turned_by_an_angle_of_their_key_and_keep_it(tmp_path):
  pixels = np.zeros((40, 5, 5), np.uint8)
  pixels[:, 0, 2] = np.arange(40) + 200  # A mark at the top, another in each image.
  plain = _parse(tmp_path, pixels, [1] * 40)
  paths = {"i": tmp_path / "i", "l": tmp_path / "l"}
  turned = list(idx.parse(paths, parts=_PARTS, rotated=("train",)))
  assert [e.key for e in turned] == [e.key for e in plain]
  assert turned == list(idx.parse(paths, parts=_PARTS, rotated=("train",)))
  assert plain == list(idx.parse(paths, parts=_PARTS, rotated=("test",)))
  assert len({idx.angle(e.key) for e in plain}) > 30
  for one, source in zip(turned, pixels):
    np.testing.assert_array_equal(tf.io.decode_png(one.image)[..., 0],
                                  idx.rotate(source, idx.angle(one.key)))


def test_a_quarter_turn_is_exact():
  image = np.arange(9, dtype=np.uint8).reshape(3, 3)
  np.testing.assert_array_equal(idx.rotate(image, 90), np.rot90(image))
  np.testing.assert_array_equal(idx.rotate(image, 0), image)
