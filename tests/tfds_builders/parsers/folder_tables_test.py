# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Folders with tables of labels."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import folder_tables
from tfds_builders.parsers import images

_FOLDERS = {"tr": "tr_labels.txt", "te": "te_labels.txt"}
_MEMBERS = {**{f"m/tr/{index}.png": images.png(fixtures.pixels((4, 4, 3), index))
               for index in range(3)},
            "m/te/0.png": images.png(fixtures.pixels((4, 4, 3), 9)),
            "m/tr_labels.txt": b"0.png 1\n1.png 2\n2.png 3\n", "m/te_labels.txt": b"0.png 7\n"}


def _parse(tmp_path, members, **args):
  fixtures.write_archive(tmp_path / "a.tgz", members)
  return [(e.split, e.key, e.label) for e in folder_tables.parse(
      {"a.tgz": tmp_path / "a.tgz"}, folders=_FOLDERS, **args)]


def test_each_folder_has_the_labels_of_its_own_table(tmp_path):
  assert _parse(tmp_path, _MEMBERS) == [
      ("all", "tr/0", 1), ("all", "tr/1", 2), ("all", "tr/2", 3), ("all", "te/0", 7)]


def test_the_defect_gives_labels_of_the_last_table_and_leaves_out_copies(tmp_path):
  members = {**_MEMBERS, "m/tr/2.png": _MEMBERS["m/tr/1.png"], "m/te/0.png": _MEMBERS["m/tr/0.png"],
             "m/tr_labels.txt": b"0.png 1\n1.png 2\n2.png 2\n"}
  assert [label for _, _, label in _parse(tmp_path, members)] == [1, 2, 2, 7]
  # 0.png of "tr" has the label of 0.png of "te", and equals it; 2.png equals 1.png.
  assert _parse(tmp_path, members, merge_tables=True) == [("all", "tr/0", 7), ("all", "tr/1", 2)]


@pytest.mark.parametrize("change, message", [
    ({"m/tr/8.png": b""}, r"1 images have no label \['m/tr/8.png'\] and 0 labels no image"),
    ({"m/te_labels.txt": b"0.png 7\n1.png 7"}, r"0 images .* 1 labels no image \[\('te', '1.png'"),
    ({"m/te_labels.txt": b"0.png\n"}, "te_labels.txt', line 1 is not a name and a label"),
    ({"m/te_labels.txt": b"0.png x\n"}, "line 1 is not a name and a label"),
    ({"m/te_labels.txt": b"0.png 7\n0.png 7\n"},
     "line 2 is not a name and a label, or names an image"),
])
def test_tables_and_images_must_agree(tmp_path, change, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, {**_MEMBERS, **change})


def test_a_table_must_be_there(tmp_path):
  with pytest.raises(errors.DataError, match=r"are missing the lists \['te_labels.txt'\]"):
    _parse(tmp_path, {name: data for name, data in _MEMBERS.items() if "te_labels" not in name})
