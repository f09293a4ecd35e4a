# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Classes of whole images from tables of COCO's format."""

import json

import pytest

from tfds_builders import errors
from tfds_builders.parsers import coco_labels
from tfds_builders.parsers import fixtures

_TABLES = {"train_annotations.json": "train", "test_annotations.json": "test"}


def _table(*pairs):
  return json.dumps({"categories": [{"id": 4, "name": "bat"}, {"id": 9, "name": "cat"}],
                     "annotations": [{"image_id": i, "category_id": c} for i, c in pairs]}).encode()


def _parse(tmp_path, train, test, names=("a", "b", "c")):
  fixtures.write_archive(tmp_path / "i.tar.gz", {
      f"all/{name}.jpg": fixtures.jpeg((2, 2, 3), 0) for name in names})
  fixtures.write_archive(tmp_path / "t.tar.gz", {
      "x/train_annotations.json": train, "x/test_annotations.json": test})
  paths = {name: tmp_path / name for name in ("i.tar.gz", "t.tar.gz")}
  return list(coco_labels.parse(paths, images_file="i.tar.gz", tables=_TABLES))


def test_the_last_annotation_of_an_image_is_its_class(tmp_path):
  found = _parse(tmp_path, _table(("a", 9), ("a", 4)), _table(("b", 9)))
  assert [(one.key, one.label, one.split) for one in found] == [
      ("a", "bat", "train"), ("b", "cat", "test")]  # c is in no table.


@pytest.mark.parametrize("train, test, message", [
    (_table(("a", 4)), _table(("a", 4)), "1 images are in two splits"),
    (_table(("a", 5)), _table(("b", 4)), "KeyError: 5"),
    (_table(("z", 4)), _table(("b", 4)), "1 of 2 images that the labels name are missing"),
    (b"{", _table(("b", 4)), "not a table in COCO's format"),
])
def test_tables_that_do_not_fit_are_refused(train, test, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, train, test)


def test_a_missing_table_is_named(tmp_path):
  fixtures.write_archive(tmp_path / "t.zip", {"x": b""})
  with pytest.raises(errors.DataError, match="are missing the tables .*test_annotations"):
    list(coco_labels.parse({"i": tmp_path / "t.zip", "t": tmp_path / "t.zip"}, images_file="i",
                           tables=_TABLES))
