# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GTSRB's folders of training images and its table of test classes."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import traffic_signs

_ARGS = {"train": "a.zip", "test": "b.zip", "table": "c.zip"}
_PPM = b"P6\n1 1\n255\nabc"


def _parse(tmp_path, train, test, table):
  for name, members in zip("abc", (train, test, {"GT-final_test.csv": table})):
    fixtures.write_archive(tmp_path / f"{name}.zip", members)
  return list(traffic_signs.parse({f"{n}.zip": tmp_path / f"{n}.zip" for n in "abc"}, **_ARGS))


_TRAIN = {"GTSRB/Final_Training/Images/00016/00003_00029.ppm": _PPM,
          "GTSRB/Final_Training/Images/00016/GT-00016.csv": b"x"}
_TEST = {"GTSRB/Final_Test/Images/00000.ppm": _PPM}


def test_labels_come_from_folders_and_from_the_table(tmp_path):
  train, test = _parse(tmp_path, _TRAIN, _TEST, b"Filename;Width;ClassId\n00000.ppm;1;7\n")
  assert (train.split, train.label, train.key) == ("train", 16, "train/00016/00003_00029")
  assert train.group == "train/00016/00003"  # The track, which the frames of one sign share.
  assert (test.split, test.label, test.key) == ("test", 7, "test/00000")


@pytest.mark.parametrize("train, test, table, message", [
    ({"x": b""}, _TEST, b"Filename;ClassId\n00000.ppm;7\n", "has no Final_Training"),
    (_TRAIN, _TEST, b"Filename;ClassId\n00000.ppm;seven\n", "line 2 has no Filename and ClassId"),
    (_TRAIN, _TEST, b"Filename;ClassId\n", "0 of 0 images"),
    (_TRAIN, {**_TEST, "GTSRB/Final_Test/Images/00001.ppm": _PPM},
     b"Filename;ClassId\n00000.ppm;7\n", "1 images have no label"),
])
def test_damaged_archives_are_refused(train, test, table, message, tmp_path):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, train, test, table)
