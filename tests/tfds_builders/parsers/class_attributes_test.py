# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Attributes of classes as labels of their images."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import class_attributes
from tfds_builders.parsers import fixtures

_GOOD = {"classes.txt": "1\tox\n2\tbat\n", "predicate-matrix-binary.txt": "1 0 1\n0 1 0\n",
         "trainclasses.txt": "ox\n", "testclasses.txt": "bat\n"}
_IMAGES = ("ox/ox_1", "bat/bat_9")


def _parse(tmp_path, tables, image_names=_IMAGES):
  members = {f"top/JPEGImages/{name}.jpg": fixtures.jpeg((2, 2, 3), 0) for name in image_names}
  members.update({f"top/{name}": text.encode() for name, text in tables.items()})
  fixtures.write_archive(tmp_path / "a.zip", members)
  return list(class_attributes.parse({"a.zip": tmp_path / "a.zip"}, num_attributes=3))


def test_an_image_has_the_attributes_of_its_class(tmp_path):
  found = [(one.split, one.key, one.label) for one in _parse(tmp_path, _GOOD)]
  assert found == [("train", "ox/ox_1", (0, 2)), ("test", "bat/bat_9", (1,))]


@pytest.mark.parametrize("changes, image_names, message", [
    ({"predicate-matrix-binary.txt": "1 0\n0 1\n"}, _IMAGES, "not a matrix of zeros and ones"),
    ({"predicate-matrix-binary.txt": "1 0 2\n0 1 0\n"}, _IMAGES, "not a matrix of zeros and ones"),
    ({"testclasses.txt": "ox"}, _IMAGES, "'ox', which is in no other table, or in both"),
    ({"testclasses.txt": "cat"}, _IMAGES, "'cat'"),
    ({}, ("ox/ox_1",), "no images of \\['bat'\\]"),
    ({}, (*_IMAGES, "cat/1"), "of class 'cat'"),
])
def test_tables_that_do_not_fit_are_refused(changes, image_names, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, {**_GOOD, **changes}, image_names)
