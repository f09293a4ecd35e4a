# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import collections

import numpy as np
from PIL import Image
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_grid

_ARGS = {"dataset": "toy", "side": 3, "parts": (("kept", 6), ("validation", 1), ("test", 2))}


def test_patches_lie_in_the_picture_where_their_keys_say(tmp_path):
  pixels = fixtures.pixels((7, 10), 0)  # Patches of 2 x 3 pixels; one row and one column remain.
  Image.fromarray(pixels).save(tmp_path / "D7.gif")
  found = list(image_grid.parse({"D7.gif": tmp_path / "D7.gif"}, **_ARGS))
  assert [one.key for one in found] == [f"D7/{r}{c}" for r in range(3) for c in range(3)]
  assert {one.label for one in found} == {"D7"}
  for one in found:
    row, column = int(one.key[-2]), int(one.key[-1])
    np.testing.assert_array_equal(tf.io.decode_png(one.image)[..., 0],
                                  pixels[2 * row:2 * row + 2, 3 * column:3 * column + 3])
  assert collections.Counter(one.split for one in found) == {"kept": 6, "validation": 1, "test": 2}


def test_every_picture_has_another_order(tmp_path):
  for name in ("D1.gif", "D2.gif"):
    Image.fromarray(fixtures.pixels((9, 9), 0)).save(tmp_path / name)
  paths = {name: tmp_path / name for name in ("D1.gif", "D2.gif")}
  held = collections.defaultdict(set)
  for one in image_grid.parse(paths, **_ARGS):
    if one.split == "test":
      held[one.label].add(one.key[-2:])
  assert held["D1"] != held["D2"]


@pytest.mark.parametrize("data, message", [
    (b"no picture", "D1.gif cannot be decoded"), (b"", "D1.gif cannot be decoded")])
def test_a_file_that_is_not_a_picture_is_named(tmp_path, data, message):
  (tmp_path / "D1.gif").write_bytes(data)
  with pytest.raises(errors.DataError, match=message):
    list(image_grid.parse({"D1.gif": tmp_path / "D1.gif"}, **_ARGS))


def test_a_picture_that_is_too_small_is_named(tmp_path):
  Image.fromarray(fixtures.pixels((2, 9), 0)).save(tmp_path / "D1.gif")
  with pytest.raises(errors.DataError, match="9 x 2 pixels: too small for 3 x 3 patches"):
    list(image_grid.parse({"D1.gif": tmp_path / "D1.gif"}, **_ARGS))
