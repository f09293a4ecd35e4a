# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Folders that tell label and domain."""

from __future__ import annotations

import pytest

from tfds_builders import errors
from tfds_builders.parsers import domain_folders
from tfds_builders.parsers import fixtures


def _parse(tmp_path, names, *, files=("r.tar",), **args):
  for file in files:
    fixtures.write_archive(tmp_path / file, {name: fixtures.jpeg((4, 4, 3), seed)
                                             for seed, name in enumerate(names)})
  args = {"template": "{label}/{item}", "domains": dict.fromkeys(files, "r"), **args}
  return [(one.key, one.label, one.extra)
          for one in domain_folders.parse({file: tmp_path / file for file in files}, **args)]


def test_rendition_in_the_name(tmp_path):
  found = _parse(tmp_path, ["r/n1/art_0.jpg", "r/n2/videogame_10.jpg", "r/README.txt"],
                 template="{label}/{domain}_{item}", domains={"r.tar": "imagenet_r/{domain}"})
  assert found == [("n1/art_0", "n1", {"domain": "imagenet_r/art"}),
                   ("n2/videogame_10", "n2", {"domain": "imagenet_r/videogame"})]


def test_kind_and_severity_are_folders(tmp_path):
  found = _parse(tmp_path, ["blur/glass_blur/5/n1/a.JPEG"],
                 template="{domain}/{severity}/{label}/{item}", domains={"r.tar": "c/{domain}"})
  assert found == [("glass_blur/5/n1/a", "n1", {"domain": "c/glass_blur", "severity": 5})]


def test_numbered_classes_of_several_archives(tmp_path):
  found = _parse(tmp_path, ["top/12/a.jpeg"], files=("one.tar", "two.tar"), numbers=True)
  assert [(key, label) for key, label, _ in found] == [("one/12/a", 12), ("two/12/a", 12)]


def test_skipped_items_are_no_examples_and_no_error(tmp_path):
  names = ["CINIC-10/train/cat/cifar10-train-1.png", "CINIC-10/train/cat/n02121808_1.png"]
  found = _parse(tmp_path, names, template="{split}/{label}/{item}", skip="cifar10-.*")
  assert [key for key, _, _ in found] == ["train/cat/n02121808_1"]


@pytest.mark.parametrize("names, values", [
    (["loose.jpg"], {}), (["README.md"], {}), (["x/1/a.jpg", "x/cat/a.jpg"], {"numbers": True}),
    (["fog/6/n1/a.jpg"], {"template": "{domain}/{severity}/{label}/{item}"})])
def test_another_layout_is_an_error(tmp_path, names, values):
  with pytest.raises(errors.DataError, match="has another layout than"):
    _parse(tmp_path, names, **values)
