# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images by the labels of their regions."""

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import mat_files
from tfds_builders.parsers import region_labels

_IMAGE = fixtures.jpeg((4, 4, 3), 0)
_SETS = {"matlab/training.mat": ("training", "train"), "matlab/testing.mat": ("testing", "test")}
_ARGS = {"sets": _SETS, "words": "wlist.txt", "num_words": 3, "annotations": "ok"}


def _mat(name, numbers):
  return mat_files.packed({name: np.array(numbers)[:, None]})


def _members(**changes):
  members = {
      "ok/wlist.txt": b"1\tsky\n2\t\n3\tman\n",
      "ok/00/labels.txt": b"7 1 3\n7 2 1\n7 3 3\n12 1 2\n",
      "ok/01/labels.txt": b"1.0e+00\t1\t2\n1\t2\t1\n",
      "labels.txt": b"not read", "00/labels.txt": b"not read",
      "ok/matlab/training.mat": _mat("training", [1, 7]),
      "ok/matlab/testing.mat": _mat("testing", [12]),
      "ok/00/images/7.jpg": b"a copy, not read", "01/segmentation_masks/1.jpg": b"not read",
      "01/images/1.jpg": _IMAGE, "00/images/7.jpg": _IMAGE, "00/images/12.jpg": _IMAGE,
      "00/images/99.jpg": b"of no set"}
  members.update(changes)
  return {f"x/{name}": data for name, data in members.items() if data is not None}


def _parse(tmp_path, members, **args):
  fixtures.write_archive(tmp_path / "a.zip", members)
  return [(e.split, e.key, e.label) for e in region_labels.parse(
      {"a.zip": tmp_path / "a.zip"}, **{**_ARGS, **args})]


def test_an_image_has_the_labels_of_all_its_regions(tmp_path):
  assert _parse(tmp_path, _members()) == [
      ("train", "01/1", (0, 1)), ("train", "00/7", (0, 2)), ("test", "00/12", (1,))]


def test_the_last_region_alone_can_be_the_label_and_a_set_left_out(tmp_path):
  sets = {"matlab/training.mat": ("training", "all")}
  assert _parse(tmp_path, _members(), last_only=True, sets=sets) == [
      ("all", "01/1", (0,)), ("all", "00/7", (2,))]


@pytest.mark.parametrize("changes, message", [
    ({"00/images/7.jpg": None}, r"1 images of the sets have no files, such as \[7\]; at most 0"),
    ({"ok/01/labels.txt": None}, r"1 images of the sets have no labels, such as \[1\]"),
    ({"ok/01/labels.txt": b"1 1 4\n"}, "01/labels.txt', line 1 is '1 1 4'; an image, a region and"),
    ({"ok/01/labels.txt": b"1 1\n"}, "line 1 is '1 1'"),
    ({"ok/01/labels.txt": b"7 1 1\n"}, r"that another table has, too, such as \[7\]"),
    ({"ok/wlist.txt": b"1\tsky\n"}, "wlist.txt' has 1 lines; the words 1 to 3"),
    ({"ok/wlist.txt": None}, r"are missing the lists \['wlist.txt'\]"),
    ({"ok/matlab/testing.mat": _mat("testing", [7])}, "names image 7 of another set"),
    ({"ok/matlab/testing.mat": _mat("testing", [0.5])}, "the numbers of images were expected"),
    ({"ok/matlab/testing.mat": _mat("others", [12])}, r"is missing the variables \['testing'\]"),
])
def test_incomplete_archives(tmp_path, changes, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, _members(**changes))


def test_a_few_images_may_be_missing(tmp_path):
  members = _members(**{"00/images/7.jpg": None, "ok/01/labels.txt": None})
  assert _parse(tmp_path, members, max_missing=1) == [("test", "00/12", (1,))]
