# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tiny ImageNet."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import tiny_imagenet

_IMAGE = fixtures.jpeg((4, 4, 3), 0)


def _members(**changes):
  members = {
      "t/train/n02/images/n02_0.JPEG": _IMAGE,
      "t/train/n02/n02_boxes.txt": b"n02_0.JPEG\t0\t0\t1\t1",
      "t/train/n01/images/n01_0.JPEG": _IMAGE, "t/val/images/val_1.JPEG": _IMAGE,
      "t/val/images/val_0.JPEG": _IMAGE,
      "t/val/val_annotations.txt": b"val_0.JPEG\tn02\t0\t0\t1\t1\nval_1.JPEG\tn01\t0\t0\t1\t1\n",
      "t/wnids.txt": b"n02\nn01", "t/test/images/test_0.JPEG": b"never read"}
  for name, data in changes.items():
    members = {key: (data if key.endswith(name.replace("_", ".")) else value)
               for key, value in members.items()}
  return {name: data for name, data in members.items() if data is not None}


def _parse(path, members):
  fixtures.write_archive(path, members)
  return list(tiny_imagenet.parse({path.name: path}))


@pytest.mark.parametrize("name", ["a.zip", "a.tar.xz"])
def test_val_is_test_and_labels_come_from_its_table(tmp_path, name):
  examples = _parse(tmp_path / name, _members())
  assert sorted((e.split, e.key, e.label) for e in examples) == [
      ("test", "val/val_0", "n02"), ("test", "val/val_1", "n01"),
      ("train", "train/n01_0", "n01"), ("train", "train/n02_0", "n02")]
  assert {e.image for e in examples} == {_IMAGE}


def test_the_table_may_come_before_or_after_the_images(tmp_path):
  members = _members()
  late = _parse(tmp_path / "a.tar", members)
  early = _parse(tmp_path / "b.tar", dict(reversed(list(members.items()))))
  assert sorted((e.key, e.label) for e in early) == sorted((e.key, e.label) for e in late)


@pytest.mark.parametrize("changes, message", [
    ({"wnids_txt": None}, "a.tar has no wnids.txt"),
    ({"wnids_txt": b"n01 n02 n03"}, r"1 classes are in wnids.txt or in the images .* \['n03'\]"),
    ({"val_1_JPEG": b""}, None),
])
def test_incomplete_archives(tmp_path, changes, message):
  if message is None:
    members = _members()
    del members["t/val/images/val_1.JPEG"]
    message = r"1 validation images have no label, or labels no image, such as \['val_1.JPEG'\]"
  else:
    members = _members(**changes)
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path / "a.tar", members)


def test_damaged_table_is_named(tmp_path):
  members = _members()
  members["t/val/val_annotations.txt"] = b"val_0.JPEG n02"
  with pytest.raises(errors.DataError, match="val_annotations.txt', line 1 has no file and wnid"):
    _parse(tmp_path / "a.tar", members)
