# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images as rows of MATLAB arrays."""

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders import paper_draws
from tfds_builders.parsers import mat_arrays
from tfds_builders.parsers import mat_files

_ARGS = {"table": "t.mat", "names": ("n.mat", "classnames"), "side": 2,
         "arrays": {"train": ("train_data", "train_labels"), "val": ("val_data", "val_labels")}}
_NAMES = np.array([["wheel", "ant"]], object)
_ROW = (0, 1, 1, 1)  # By columns: what is upright is [[0, 1], [1, 1]]; this one is symmetric.
_TALL = (1, 1, 0, 0)  # Upright: [[1, 0], [1, 0]].


def _parse(tmp_path, train=(_TALL, _ROW), labels=((1,), (2,)), names=_NAMES, **args):
  content = {"train_data": np.array(train, np.uint8), "train_labels": np.array(labels, np.uint8),
             "val_data": np.array([_TALL], np.uint8), "val_labels": np.array([[2]], np.uint8)}
  (tmp_path / "t.mat").write_bytes(mat_files.packed(content))
  (tmp_path / "n.mat").write_bytes(mat_files.packed({"classnames": names}))
  paths = {name: tmp_path / name for name in ("t.mat", "n.mat")}
  return list(mat_arrays.parse(paths, **_ARGS, **args))


def _pixels(one):
  return tf.io.decode_png(one.image)[..., 0].numpy().tolist()


def test_images_are_upright_black_and_white_with_named_classes(tmp_path):
  examples = _parse(tmp_path)
  assert [(e.split, e.label) for e in examples] == [
      ("train", "wheel"), ("train", "ant"), ("val", "ant")]
  assert [_pixels(e) for e in examples] == [
      [[255, 0], [255, 0]], [[0, 255], [255, 255]], [[255, 0], [255, 0]]]


def test_the_defect_darkens_what_the_reference_trains_on_and_transposes_all(tmp_path):
  train, labels = [_TALL] * 30, [[1]] * 30
  examples = _parse(tmp_path, train, labels, left_dark="train")
  parts = paper_draws.TRAIN_DEV.assign(30)
  assert [e.split for e in examples] == [*parts, "val"]
  assert {"train", "dev"} == set(parts)
  for one in examples:
    assert _pixels(one) == ([[1, 1], [0, 0]] if one.split == "train" else [[255, 255], [0, 0]])
  assert [e.key for e in examples] == [e.key for e in _parse(tmp_path, train, labels)]


@pytest.mark.parametrize("change, message", [
    ({"train": ((0, 1, 0),) * 2}, r"train_data is \(2, 3\) with 2 labels; \[N, 4\] with N labels"),
    ({"labels": ((1,),)}, r"train_data is \(2, 4\) with 1 labels"),
    ({"train": ((0, 1, 0, 2),) * 2}, "train_data has values other than 0 and 1"),
    ({"labels": ((1,), (3,))}, "train_data has labels outside 1 to 2"),
    ({"labels": ((0,), (1,))}, "train_data has labels outside 1 to 2"),
    ({"names": np.array([["a", "a"]], object)}, "n.mat, classnames names a class twice"),
])
def test_damaged_files_are_named(tmp_path, change, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, **change)


def test_a_variable_that_is_not_there(tmp_path):
  _parse(tmp_path)
  (tmp_path / "t.mat").write_bytes(mat_files.packed({"train_data": [[0, 1, 0, 1]]}))
  with pytest.raises(errors.DataError,
                     match=r"t.mat is missing the variables \['train_labels', 'val"):
    list(mat_arrays.parse({n: tmp_path / n for n in ("t.mat", "n.mat")}, **_ARGS))
