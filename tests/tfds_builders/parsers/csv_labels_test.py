# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import pytest

from tfds_builders import errors
from tfds_builders.parsers import csv_labels
from tfds_builders.parsers import fixtures

_IMAGE = fixtures.jpeg((4, 4, 3), 0)
_FLAGS = {"tables": {"t.csv": "train"}, "key": "id", "image": "{item}.jpg",
          "flags": (("m", "melanoma"), ("k", "keratosis")), "otherwise": "nevus"}
_JOINED = {"tables": {"t.csv": "all"}, "key": "Image Index", "image": "images/{item}.png",
           "joined": ("Labels", "|"), "lists": {"a.txt": "train", "b.txt": "test"}}


def _parse(tmp_path, texts, names, args):
  fixtures.write_archive(tmp_path / "d.zip", {
      **dict.fromkeys(names, _IMAGE),
      **{name: text.encode() for name, text in texts.items() if name != "t.csv"}})
  (tmp_path / "t.csv").write_text(texts["t.csv"])
  paths = {name: tmp_path / name for name in ("d.zip", "t.csv")}
  return {e.key: (e.split, e.label) for e in csv_labels.parse(paths, **args)}


def test_a_flag_is_the_class_and_no_flag_is_the_other_one(tmp_path):
  table = "id,m,k\nx1,1.0,0.0\nx2,0.0,1.0\nx3,0,0\n"
  assert _parse(tmp_path, {"t.csv": table}, ["d/x1.jpg", "d/x2.jpg", "d/x3.jpg", "d/x1_s.png"],
                _FLAGS) == {"x1": ("train", "melanoma"), "x2": ("train", "keratosis"),
                            "x3": ("train", "nevus")}


def test_joined_findings_and_lists_of_splits(tmp_path):
  texts = {"t.csv": "Image Index,Labels,Age\n1_0.png,Mass|Edema,5\n2_0.png,No Finding,6\n",
           "a.txt": "1_0.png\n", "b.txt": "2_0.png"}
  assert _parse(tmp_path, texts, ["im/images/1_0.png", "im/images/2_0.png"], _JOINED) == {
      "1_0": ("train", ("Mass", "Edema")), "2_0": ("test", ("No Finding",))}


def test_the_images_of_a_patient_are_a_group(tmp_path):
  names = ["00000013_000", "00000013_001", "00000002_000"]
  texts = {"t.csv": "Image Index,Labels\n" + "".join(f"{name}.png,Mass\n" for name in names)}
  fixtures.write_archive(tmp_path / "d.zip", {f"images/{name}.png": _IMAGE for name in names})
  (tmp_path / "t.csv").write_text(texts["t.csv"])
  paths = {name: tmp_path / name for name in ("d.zip", "t.csv")}
  args = {**_JOINED, "lists": None}
  found = {one.key: one.group for one in csv_labels.parse(paths, **args, group=r"(\d+)_")}
  assert found == dict(zip(names, ("00000013", "00000013", "00000002")))
  assert {one.group for one in csv_labels.parse(paths, **args)} == {None}
  with pytest.raises(errors.DataError, match="the name '00000013_000' has no patient, as 'p"):
    list(csv_labels.parse(paths, **args, group=r"p(\d+)"))


@pytest.mark.parametrize("texts, names, args, message", [
    ({"t.csv": "id,m\nx1,1\n"}, ["x1.jpg"], _FLAGS, r"not \['k'\]: it is damaged"),
    ({"t.csv": "id,m,k\nx1,1\n"}, ["x1.jpg"], _FLAGS, "t.csv, line 2 is incomplete"),
    ({"t.csv": "id,m,k\nx1,1,0\n"}, [], _FLAGS, "1 of 1 images that the labels name are missing"),
    ({"t.csv": "id,m,k\nx1,1,0\n"}, ["x1.jpg", "x2.jpg"], _FLAGS, r"1 images have no label"),
    ({"t.csv": "Image Index,Labels\n1.png,Mass\n", "a.txt": "", "b.txt": ""}, ["images/1.png"],
     _JOINED, "line 2: '1.png' is in none of the lists"),
    ({"t.csv": "Image Index,Labels\n1.png,Mass\n", "a.txt": "1.png", "b.txt": "1.png"},
     ["images/1.png"], _JOINED, "'1.png' is in two lists"),
])
def test_what_does_not_fit_together_is_named(tmp_path, texts, names, args, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, texts, names, args)
