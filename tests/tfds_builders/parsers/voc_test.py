# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""PASCAL VOC as one label an image."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import voc

_IMAGE = fixtures.jpeg((4, 4, 3), 0)
_ARGS = {"sets": {"a.tar": ("trainval", "train")}, "image": "PNGImages/{item}.png"}


def _members(**changes):
  top = "VOCdevkit/VOC2006"
  members = {
      f"{top}/ImageSets/dog_trainval.txt": b"01  1\n02 -1\n03  1\n04  0\n",
      f"{top}/ImageSets/cat_trainval.txt": b"01 -1\n02  1\n03  1\n04 -1\n",
      f"{top}/ImageSets/cat_val.txt": b"another set", f"{top}/ImageSets/trainval.txt": b"01\n02\n"}
  members.update({f"{top}/PNGImages/{name}.png": _IMAGE for name in ("04", "03", "02", "01")})
  members.update({f"{top}/{name}": data for name, data in changes.items()})
  return {name: data for name, data in members.items() if data is not None}


def _parse(tmp_path, members, **args):
  fixtures.write_archive(tmp_path / "a.tar", members)
  return [(e.split, e.key, e.label) for e in voc.parse({"a.tar": tmp_path / "a.tar"},
                                                       **{**_ARGS, **args})]


def test_images_of_several_classes_or_none_are_left_out(tmp_path):
  assert _parse(tmp_path, _members()) == [("train", "02", "cat"), ("train", "01", "dog")]


def test_images_of_several_classes_can_get_that_whose_list_comes_last(tmp_path):
  assert _parse(tmp_path, _members(), several="last") == [
      ("train", "03", "cat"), ("train", "02", "cat"), ("train", "01", "dog")]
  members = dict(sorted(_members().items()))  # The list of dogs behind that of cats.
  assert ("train", "03", "dog") in _parse(tmp_path, members, several="last")
  with pytest.raises(ValueError, match="Got several='first'; allowed are 'drop' and 'last'"):
    _parse(tmp_path, _members(), several="first")


@pytest.mark.parametrize("changes, message", [
    ({"PNGImages/02.png": None}, r"1 of 2 images .* missing, such as \['02'\]"),
    ({"ImageSets/cat_trainval.txt": b"01 -1\n02"}, "line 2 is '02'; an image and"),
    ({"ImageSets/cat_trainval.txt": b"01 2\n"}, "line 1 is '01 2'"),
    ({"ImageSets/cat_trainval.txt": b""}, "a.tar has no list ImageSets/CLASS_trainval.txt, or an"),
    ({"ImageSets/cat_trainval.txt": None, "ImageSets/dog_trainval.txt": None}, "has no list"),
])
def test_incomplete_archives(tmp_path, changes, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, _members(**changes))
