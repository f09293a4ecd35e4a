# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of attributes."""

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import attribute_table
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import mat_files

_IMAGE = fixtures.jpeg((4, 4, 3), 0)
_ARGS = {"names": ("images.mat", "images"), "values": ("labels.mat", "labels_cv"),
         "num_attributes": 3, "folder": "images"}


def _parse(tmp_path, names=("a/x/sun_1.jpg", "b/sun_2.jpg"), values=((0, .33, 1), (0, 0, 0)),
           images=("b/sun_2.jpg", "a/x/sun_1.jpg")):
  fixtures.write_archive(tmp_path / "i.tgz", {
      "d/readme.txt": b"", **{f"d/images/{name}": _IMAGE for name in images}})
  cells = np.array([[name] for name in names], object)
  fixtures.write_archive(tmp_path / "t.tgz", {
      "d/images.mat": mat_files.packed({"images": cells}), "d/attributes.mat": b"?",
      "d/labels.mat": mat_files.packed({"labels_cv": np.array(values)})})
  paths = {name: tmp_path / name for name in ("i.tgz", "t.tgz")}
  return [(e.split, e.key, e.label) for e in attribute_table.parse(paths, **_ARGS)]


def test_what_is_not_zero_is_a_label(tmp_path):
  assert _parse(tmp_path) == [("all", "b/sun_2", ()), ("all", "a/x/sun_1", (1, 2))]


@pytest.mark.parametrize("change, message", [
    ({"images": ("b/sun_2.jpg",)}, r"1 of 2 images .* missing, such as \['a/x/sun_1'\]"),
    ({"images": ("b/sun_2.jpg", "a/x/sun_1.jpg", "c.jpg")}, "1 images have no label, such as"),
    ({"values": ((0, 1, 1),)}, r"labels.mat' has values of \(1, 3\) for 2 images and 3 attributes"),
    ({"values": ((0, 1), (1, 1))}, r"values of \(2, 2\) for 2 images"),
    ({"names": ("b/sun_2.jpg", "b/sun_2.jpg")}, "images.mat' names 'b/sun_2.jpg' twice"),
])
def test_tables_and_images_must_agree(tmp_path, change, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, **change)
