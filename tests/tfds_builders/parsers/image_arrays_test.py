# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Arrays of images and labels: what is read, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_arrays
from tfds_builders.parsers import images

PIXELS = fixtures.pixels((3, 4, 5, 3), seed=0)
LABELS = np.array([2, 0, 1], np.int32)


def _parse(tmp_path, images_at="x.npy", labels_at="y.npy"):
  paths = {name: tmp_path / name for name in ("x.npy", "y.npy", "z.npz")}
  return list(image_arrays.parse(paths, parts={"v6": (images_at, labels_at)}, domain="cifar10_1"))


def _save(tmp_path, pixels=PIXELS, labels=LABELS):
  np.save(tmp_path / "x.npy", pixels)
  np.save(tmp_path / "y.npy", labels)
  np.savez_compressed(tmp_path / "z.npz", images=pixels, labels=labels)


@pytest.mark.parametrize("places", [("x.npy", "y.npy"), ("z.npz:images", "z.npz:labels")])
def test_images_labels_and_keys(tmp_path, places):
  _save(tmp_path)
  found = _parse(tmp_path, *places)
  assert [one.key for one in found] == ["v6/00000", "v6/00001", "v6/00002"]
  assert [one.label for one in found] == [2, 0, 1]
  assert [one.image for one in found] == [images.png(one) for one in PIXELS]
  assert {one.split for one in found} == {"test"}
  assert found[0].extra == {"domain": "cifar10_1"}


@pytest.mark.parametrize("pixels, labels, message", [
    (PIXELS.astype(np.float32), LABELS, "float32"),
    (PIXELS[..., :1], LABELS, r"\(3, 4, 5, 1\); uint8 .N, H, W, 3. was expected"),
    (PIXELS, LABELS[:2], r"labels of int32 \(2,\); whole numbers for 3 images"),
    (PIXELS, LABELS / 2, "labels of float64"),
])
def test_other_arrays(tmp_path, pixels, labels, message):
  _save(tmp_path, pixels, labels)
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path)


def test_a_pickle_is_refused(tmp_path):
  _save(tmp_path)
  np.save(tmp_path / "x.npy", np.array({"images": 1}), allow_pickle=True)
  with pytest.raises(errors.DataError, match="is not a plain numpy array: .* can run any code"):
    _parse(tmp_path)
  (tmp_path / "x.npy").write_bytes(pickle.dumps([1]))
  with pytest.raises(errors.DataError, match="is not a plain numpy array"):
    _parse(tmp_path)


def test_truncated_file(tmp_path):
  _save(tmp_path)
  (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-1])
  with pytest.raises(errors.DataError, match="x.npy is not a plain numpy array"):
    _parse(tmp_path)


def test_an_array_that_is_not_there(tmp_path):
  _save(tmp_path)
  with pytest.raises(errors.DataError, match="holds no array 'data'"):
    _parse(tmp_path, "z.npz:data", "z.npz:labels")


@pytest.mark.parametrize("header", [
    b"{'descr': '|u1', 'fortran_order': False, 'shape': (9000000000000,)}\n",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, -1)}\n",
    b"{'descr': '|u1', 'fortran_order': False, 'shape': (3,)\n",  # Ends within the tuple.
    b"{'descr': [('a', 'O')], 'fortran_order': False, 'shape': (3,)}\n",
    b"'''\n"])
def test_headers_are_checked_before_memory_is_asked_for(header):
  data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(3)
  with pytest.raises(errors.DataError, match="x.npy is not a plain numpy array"):
    image_arrays.load(data, "x.npy")
