# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Folders of classes under several names."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import shared_classes

_IMAGE = fixtures.jpeg((4, 4, 3), 0)
_PARTS = {
    "o.tgz": {"template": "{domain}/images/{label}/{item}", "classes": {"back_pack": "backpack"},
              "domains": {"amazon": "train", "dslr": "train"}},
    "c.tar": {"template": "{domain}/{label}/{item}", "classes": {"003.backpack": "backpack"},
              "domains": {"256": "test"}}}
_MEMBERS = {
    "o.tgz": ("amazon/images/back_pack/frame_1.jpg", "amazon/images/bike/frame_1.jpg",
              "dslr/images/back_pack/frame_1.JPG", "webcam/images/back_pack/frame_1.jpg",
              "dslr/images/back_pack/frame_1.mat", "dslr/other/back_pack/frame_1.jpg"),
    "c.tar": ("x/256/003.backpack/003_0001.png", "x/256/257.clutter/257_1.jpg", "x/256/1.jpg")}


def _parse(tmp_path, members):
  for name, listed in members.items():
    fixtures.write_archive(tmp_path / name, dict.fromkeys(listed, _IMAGE))
  paths = {name: tmp_path / name for name in members}
  return [(e.split, e.key, e.label) for e in shared_classes.parse(paths, parts=_PARTS)]


def test_the_named_classes_of_the_named_domains_count(tmp_path):
  assert _parse(tmp_path, _MEMBERS) == [
      ("train", "amazon/images/back_pack/frame_1", "backpack"),
      ("train", "dslr/images/back_pack/frame_1", "backpack"),
      ("test", "256/003.backpack/003_0001", "backpack")]


def test_a_domain_or_class_without_images_is_named(tmp_path):
  with pytest.raises(errors.DataError, match=r"o.tgz has no images in \['dslr'\], named like"):
    _parse(tmp_path, {**_MEMBERS, "o.tgz": _MEMBERS["o.tgz"][:2]})
  with pytest.raises(errors.DataError, match=r"c.tar has no images in \['003.backpack', '256'\]"):
    _parse(tmp_path, {**_MEMBERS, "c.tar": _MEMBERS["c.tar"][1:]})
