# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labels in MATLAB files."""

import numpy as np
import pytest
import scipy.io

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import mat_labels

_IMAGE = fixtures.jpeg((4, 4, 3), 0)

_CARS = {"table": "t.mat", "image": "car_ims/{item}.jpg", "split_values": {0: "train", 1: "test"},
         "structures": {"array": "annotations", "name": "relative_im_path", "label": "class",
                        "split": "test"}}
_FLOWERS = {"table": "t.mat", "image": "jpg/{item}.jpg", "number_format": "image_{:04d}",
            "images_per_class": 2, "numbers": {"trn1": "train", "val1": "val", "tst1": "test"}}


def _cars(*rows):
  dtype = [(name, object) for name in ("relative_im_path", "bbox_x1", "class", "test")]
  rows = rows or (("car_ims/000001.jpg", 7, np.uint8(2), np.uint8(0)),
                  ("car_ims/000002.jpg", 7, np.uint8(1), np.uint8(1)))
  return {"annotations": np.array(list(rows), dtype).reshape(1, -1)}


def _parse(tmp_path, names, variables, args):
  fixtures.write_archive(tmp_path / "a.tgz", {"x/readme.txt": b"", **dict.fromkeys(names, _IMAGE)})
  if isinstance(variables, bytes):
    (tmp_path / "t.mat").write_bytes(variables)
  else:
    scipy.io.savemat(tmp_path / "t.mat", variables, do_compression=True)
  paths = {name: tmp_path / name for name in ("a.tgz", "t.mat")}
  return [(e.split, e.key, e.label) for e in mat_labels.parse(paths, **args)]


_CAR_IMAGES = ("car_ims/000002.jpg", "car_ims/000001.jpg")
_FLOWER_IMAGES = tuple(f"jpg/image_{number:04d}.jpg" for number in (1, 2, 3, 4))


def test_structures(tmp_path):
  assert _parse(tmp_path, _CAR_IMAGES, _cars(), _CARS) == [
      ("test", "000002", 0), ("train", "000001", 1)]
  one = _cars(("car_ims/000009.jpg", 7, 196, 1))
  assert _parse(tmp_path, ["car_ims/000009.jpg"], one, _CARS) == [("test", "000009", 195)]


def test_numbers(tmp_path):
  variables = {"trn1": [[4, 1]], "val1": [[2]], "tst1": 3, "trn2": [1, 2, 3]}
  assert _parse(tmp_path, _FLOWER_IMAGES, variables, _FLOWERS) == [
      ("train", "image_0001", 0), ("val", "image_0002", 0), ("test", "image_0003", 1),
      ("train", "image_0004", 1)]


@pytest.mark.parametrize("names, variables, args, message", [
    (_CAR_IMAGES[:1], _cars(), _CARS, r"1 of 2 images .* missing, such as \['000001'\]"),
    ((*_CAR_IMAGES, "car_ims/000003.jpg"), _cars(), _CARS, "1 images have no label, such as"),
    (_CAR_IMAGES, _cars(("000001.jpg", 0, 1, 7)), _CARS,
     r"gives '000001.jpg' the split 7 and the class 1; allowed are \[0, 1\] and classes from 1"),
    (_CAR_IMAGES, _cars(("000001.jpg", 0, 0, 1)), _CARS, "the split 1 and the class 0"),
    (_CAR_IMAGES, _cars(("000001.jpg", 0, 1, 1), ("000001.jpg", 0, 2, 1)), _CARS,
     "t.mat names image '000001' twice"),
    (_CAR_IMAGES, {"annotations": [1, 2]}, _CARS, "t.mat holds another table than expected"),
    (_CAR_IMAGES, {"other": [1, 2]}, _CARS, r"t.mat is missing the variables \['annotations'\]"),
    (_CAR_IMAGES, b"no table at all", _CARS, "t.mat cannot be read as a MATLAB file"),
    (_CAR_IMAGES, b"", _CARS, "t.mat cannot be read as a MATLAB file"),
    (_CAR_IMAGES, b"MATLAB 7.3 MAT-file, Platform: ...", _CARS, "t.mat is a MATLAB 7.3 file"),
    (_FLOWER_IMAGES, {"trn1": [1.5], "val1": [2], "tst1": [3]}, _FLOWERS, "trn1 names image 1.5"),
    (_FLOWER_IMAGES, {"trn1": [0], "val1": [2], "tst1": [3]}, _FLOWERS, "trn1 names image 0"),
    (_FLOWER_IMAGES, {"trn1": [2, 1], "val1": [2], "tst1": [3]}, _FLOWERS, "'image_0002' twice"),
    (_FLOWER_IMAGES, {"trn1": [1], "tst1": [3]}, _FLOWERS, r"is missing the variables \['val1'\]"),
])
def test_damaged_tables(tmp_path, names, variables, args, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, names, variables, args)


def test_truncated_table(tmp_path):
  scipy.io.savemat(tmp_path / "whole.mat", _cars(), do_compression=True)
  data = (tmp_path / "whole.mat").read_bytes()
  for length in (130, 200, len(data) - 20):
    with pytest.raises(errors.DataError, match="t.mat"):
      _parse(tmp_path, _CAR_IMAGES, data[:length], _CARS)
