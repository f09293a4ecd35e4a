# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import last_of_class

_ARGS = {"min_images": 4, "last": (("test", 2), ("validation", 1))}


def test_the_last_by_name_are_held_out_and_small_classes_left_out(tmp_path):
  names = ["b/3.jpg", "b/1.jpg", "a/2.jpg", "b/2.jpg", "b/5.jpg", "b/4.jpg", "a/1.jpg", "b/x.txt"]
  fixtures.write_archive(tmp_path / "f.tar", {
      f"top/{name}": fixtures.jpeg((4, 4, 3), i) for i, name in enumerate(names)})
  found = {one.key: (one.split, one.label)
           for one in last_of_class.parse({"f.tar": tmp_path / "f.tar"}, **_ARGS)}
  assert found == {"b/1": ("train", "b"), "b/2": ("train", "b"), "b/3": ("validation", "b"),
                   "b/4": ("test", "b"), "b/5": ("test", "b")}


def test_an_archive_without_a_large_class_is_refused(tmp_path):
  fixtures.write_archive(tmp_path / "f.zip", {"a/1.jpg": fixtures.jpeg((4, 4, 3), 0)})
  with pytest.raises(errors.DataError, match="f.zip has no class folder with 4 JPEG images"):
    list(last_of_class.parse({"f.zip": tmp_path / "f.zip"}, **_ARGS))
