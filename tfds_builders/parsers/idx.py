# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""idx files (MNIST and others): one of images and one of labels per split, gzip or plain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import hashlib
import math
import os
import pathlib
import struct

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_UINT8 = 8
_MAX_BYTES = 4 << 30

# Source split -> (file of images, file of labels).
Parts = Mapping[str, tuple[str, str]]


def parse(paths: Mapping[str, pathlib.Path], *, parts: Parts,
          rotated: Sequence[str] = ()) -> Iterator[example.Example]:
  """Yields the images as PNG; labels are the stored numbers.

  Args:
    paths: file name -> path.
    parts: the files of each split.
    rotated: source splits whose images are rotated, each by an angle that depends on its key.
  """
  keys = example.PixelKeys()
  for split, (image_name, label_name) in parts.items():
    pixels = read(paths[image_name], ndim=3)
    labels = read(paths[label_name], ndim=1)
    if len(pixels) != len(labels):
      raise errors.DataError(
          f"{paths[image_name]} has {len(pixels)} images but {paths[label_name]} has {len(labels)} "
          "labels: one of them is not of this data set.")
    for index, (image, label) in enumerate(zip(pixels, labels)):
      key, group = keys(split, image)
      if split in rotated:
        image = rotate(image, angle(key))
      yield example.Example(split, key, int(label), images.png(image),
                            f"{paths[image_name]}, image {index}", group)


def angle(key: str) -> int:
  """Returns whole degrees from 0 to 359 that depend only on the key."""
  return int.from_bytes(hashlib.sha256(f"angle of {key}".encode()).digest()[:8], "big") % 360


def rotate(image: np.ndarray, degrees: int) -> np.ndarray:
  """Rotates uint8 [H, W] about its middle by cubic splines; pixels from outside are 0."""
  import scipy.ndimage  # pylint: disable=g-import-not-at-top
  return scipy.ndimage.rotate(image, degrees, reshape=False)


def read(path: os.PathLike, *, ndim: int) -> np.ndarray:
  """Reads an idx file of unsigned bytes as a uint8 array with `ndim` axes."""
  data = archives.read_content(path, _MAX_BYTES)
  head = 4 + 4 * ndim
  if len(data) < head or data[:4] != bytes((0, 0, _UINT8, ndim)):
    raise errors.DataError(f"{path} is not an idx file of bytes with {ndim} axes: it begins with "
                           f"{data[:4]!r}. It is damaged or another file.")
  shape = struct.unpack(f">{ndim}I", data[4:head])
  if len(data) - head != math.prod(shape):
    raise errors.DataError(f"{path} is truncated or damaged: its header says {shape}, which is "
                           f"{math.prod(shape)} bytes, but {len(data) - head} follow.")
  return np.frombuffer(data, np.uint8, offset=head).reshape(shape)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parts: Parts,
                  rotated: Sequence[str] = ()) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split."""
  del file_names, rotated  # The files are those of `parts`.
  labels = np.tile(np.arange(len(class_names), dtype=np.uint8), per_class)
  for number, (image_name, label_name) in enumerate(parts.values()):
    pixels = fixtures.pixels((len(labels), 6, 5), seed=number)
    for name, array in ((image_name, pixels), (label_name, labels)):
      header = bytes((0, 0, _UINT8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape)
      data = header + array.tobytes()
      if name.endswith(".gz"):
        fixtures.write_gzip(directory / name, data)
      else:
        (directory / name).write_bytes(data)
  return {split: len(labels) for split in parts}
