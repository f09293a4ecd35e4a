# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Arrays in HDF5 files."""

import h5py
import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import hdf5_arrays

_PARTS = {"photo_train.hdf5": "train", "photo_test.hdf5": "train", "sketch.hdf5": "test"}
_PIXELS = fixtures.pixels((4, 2, 3, 3), 0)
_CONTENT = {"photo_train.hdf5": ((0, 1), (1, 7)), "photo_test.hdf5": ((0, 1, 2), (1, 7, 2)),
            "sketch.hdf5": ((3, 3, 3), (1, 1, 2))}


def _write(path, pixels, labels):
  with h5py.File(path, "w") as file:
    file.create_dataset("images", data=pixels)
    file.create_dataset("labels", data=np.array(labels))


def _parse(tmp_path):
  paths = {name: tmp_path / name for name in _PARTS}
  return list(hdf5_arrays.parse(paths, parts=_PARTS, domains=("photo", "sketch")))


@pytest.fixture(name="files")
def _files(tmp_path):
  for name, (indices, labels) in _CONTENT.items():
    _write(tmp_path / name, _PIXELS[list(indices)], labels)
  return tmp_path


def test_colors_labels_and_copies(files):
  examples = _parse(files)
  # Image 0 and 1 come again in the second file; 3 comes twice with one label, and with another.
  assert [(e.split, e.label) for e in examples] == [
      ("train", 0), ("train", 6), ("train", 1), ("test", 0), ("test", 1)]
  np.testing.assert_array_equal(tf.io.decode_png(examples[1].image), _PIXELS[1][..., ::-1])
  assert [e.key.split("/")[0] for e in examples] == ["photo"] * 3 + ["sketch"] * 2
  assert examples[4].key == examples[3].key + "-2" and examples[4].group == examples[3].group


def test_whole_numbers_of_other_types_are_pixels_too(files):
  _write(files / "sketch.hdf5", _PIXELS[3:].astype(np.float32), np.array([[3.0]]))
  assert _parse(files)[-1].label == 2


@pytest.mark.parametrize("pixels, labels, message", [
    (_PIXELS[:2], (1,), r"images of \(2, 2, 3, 3\) and labels of \(1,\)"),
    (_PIXELS[..., :2], (1,) * 4, r"images of \(4, 2, 3, 2\)"),
    (_PIXELS.astype(np.float32) / 255, (1,) * 4, "sketch.hdf5 has pixels other than whole numbers"),
    (_PIXELS.astype(np.int16) - 1000, (1,) * 4, "pixels other than whole numbers from 0 to 255"),
])
def test_other_arrays_are_refused(files, pixels, labels, message):
  _write(files / "sketch.hdf5", pixels, labels)
  with pytest.raises(errors.DataError, match=message):
    _parse(files)


def test_arrays_that_are_missing_or_elsewhere_are_refused(files):
  with h5py.File(files / "sketch.hdf5", "w") as file:
    file["pictures"] = _PIXELS
  with pytest.raises(errors.DataError,
                     match=r"no array 'images', or only a link; .*\['pictures'\]"):
    _parse(files)
  with h5py.File(files / "sketch.hdf5", "w") as file:
    file["images"] = h5py.ExternalLink(str(files / "photo_train.hdf5"), "images")
    file["labels"] = [1, 1]
  with pytest.raises(errors.DataError, match="no array 'images', or only a link"):
    _parse(files)


def test_damaged_files_are_named(files):
  data = (files / "sketch.hdf5").read_bytes()
  for content in (b"", b"nothing", data[:-100]):
    (files / "sketch.hdf5").write_bytes(content)
    with pytest.raises(errors.DataError, match="sketch.hdf5 cannot be read as HDF5"):
      _parse(files)
