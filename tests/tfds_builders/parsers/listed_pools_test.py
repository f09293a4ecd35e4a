# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of one class each, with lists of those to train and to test on."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_pools

_ARGS = {"labels": {"b.zip": "bikes"}, "ending": ".image.png"}


def _parse(tmp_path, train, test, items=("bike_001", "bike_002", "bike_003"), **changes):
  members = {f"bikes/{item}.image.png": b"png" for item in items}
  members.update({"bikes/bike_001.mask.0.png": b"", "bikes_train.txt": train,
                  "bikes_test.txt": test})
  fixtures.write_archive(tmp_path / "b.zip", members)
  return [(one.key, one.split, one.label) for one in listed_pools.parse(
      {"b.zip": tmp_path / "b.zip"}, **_ARGS, **changes)]


def test_the_test_list_is_the_test_split(tmp_path):
  # Lists may name items with folders and endings, or without.
  found = _parse(tmp_path, b"bikes/bike_002.image.png\n", b"bike_001\n\n")
  assert found == [("bikes/bike_001", "test", "bikes"), ("bikes/bike_002", "train", "bikes"),
                   ("bikes/bike_003", "train", "bikes")]


def test_pooled_images_of_the_training_lists_come_first(tmp_path):
  found = _parse(tmp_path, b"bike_002\n", b"bike_001\n", pooled=True)
  assert [key for key, _, _ in found] == ["bikes/bike_002", "bikes/bike_001", "bikes/bike_003"]
  assert {split for _, split, _ in found} == {"all"}


@pytest.mark.parametrize("train, test, items, message", [
    (b"", b"bike_001", ("bike_001",), "has 0 images on bikes_train.txt"),
    (b"bike_001", b"bike_001", ("bike_001",), "1 on both"),
    (b"bike_001", b"bike_002", ("bike_001", "bike_003"), "is missing 1 images .* such as bike_002"),
])
def test_lists_that_do_not_fit_are_refused(train, test, items, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, train, test, items)
