# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of class folders."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import fixtures


def _parse(path, members, **args):
  fixtures.write_archive(path, members)
  return list(class_folders.parse({path.name: path}, **args))


def test_pool_with_any_folders_above(tmp_path):
  members = {"README": b"", "att_faces/s2/10.pgm": fixtures.pgm((3, 4), 0),
             "s1/1.pgm": fixtures.pgm((3, 4), 1)}
  examples = _parse(tmp_path / "a.zip", members, template="{label}/{item}.pgm")
  assert [(e.split, e.key, e.label) for e in examples] == [
      ("all", "s2/10", "s2"), ("all", "s1/1", "s1")]
  assert examples[0].image.startswith(b"\x89PNG")


def test_splits_and_original_bytes(tmp_path):
  data = fixtures.jpeg((3, 4, 3), 0)
  examples = _parse(tmp_path / "a.tar.xz", {"x/val/cat/0.jpg": data, "train/dog/0.jpg": data},
                    template="{split}/{label}/{item}.jpg",
                    split_folders={"train": "train", "val": "test"})
  assert [(e.split, e.key, e.label) for e in examples] == [
      ("test", "val/cat/0", "cat"), ("train", "train/dog/0", "dog")]
  assert examples[0].image == data


def test_images_elsewhere_are_an_error_unless_ignored(tmp_path):
  data = fixtures.jpeg((3, 4, 3), 0)
  members = {"train/dog/0.jpg": data, "extra/logo.jpg": data}
  args = {"template": "{split}/{label}/{item}.jpg", "split_folders": {"train": "train"}}
  with pytest.raises(errors.DataError, match=r"a.zip has another layout than .*1 image files "
                     r"match, 1 do not, such as \['extra/logo.jpg'\]"):
    _parse(tmp_path / "a.zip", members, **args)
  assert len(_parse(tmp_path / "a.zip", members, ignore="extra/.*", **args)) == 1


def test_archive_without_images_is_an_error(tmp_path):
  with pytest.raises(errors.DataError, match="a.zip has another layout .*0 image files match"):
    _parse(tmp_path / "a.zip", {"readme.txt": b""}, template="{label}/{item}.jpg")


def test_a_damaged_member_comes_as_it_is_with_its_place(tmp_path):
  """The spool counts and names it: a few are let go, many are an error."""
  damaged = b"P5 9 9 255\n1"
  one, = _parse(tmp_path / "a.zip", {"s1/1.pgm": damaged}, template="{label}/{item}.pgm")
  assert one.image == damaged and one.where.endswith("a.zip, member 's1/1.pgm'")


def test_a_dot_in_the_template_is_a_dot(tmp_path):
  with pytest.raises(errors.DataError, match="another layout"):
    _parse(tmp_path / "a.zip", {"s1/1xpgm.pgm.jpg": fixtures.jpeg((2, 2, 3), 0)},
           template="{label}/{item}.pgm")
