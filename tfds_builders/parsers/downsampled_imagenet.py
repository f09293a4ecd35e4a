# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Down-sampled ImageNet (Chrabaszcz et al., 2017) as .npz files, a few images of each class.

An .npz file holds `data`, uint8 [N, 3 * 64 * 64] with the channels one after the other, and
`labels` from 1. One file has more than a gigabyte of pixels, so rows are streamed.
Nothing is unpickled: the edition made of pickles is refused.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
import io
import pathlib
from typing import IO
import zipfile

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_arrays
from tfds_builders.parsers import images

_ROWS_AT_ONCE = 1024
_LABEL_BYTES = 64 << 20


def parse(paths: Mapping[str, pathlib.Path], *, images_per_class: int,
          classes: Mapping[str, int], side: int) -> Iterator[example.Example]:
  """Yields the first `images_per_class` images of each class as PNG, files and rows in their order.

  Args:
    paths: file name -> path.
    images_per_class: number of images of each class; a class with fewer is an error.
    classes: number of classes of each split; labels 1, 2, ... are assigned to splits in order.
    side: pixels of a side.
  """
  split_of = [split for split, count in classes.items() for _ in range(count)]
  taken: dict[int, int] = collections.Counter()
  for path in paths.values():
    labels = _labels(path, len(split_of))
    for number, pixels in zip(labels.tolist(), _rows(path, len(labels), 3 * side * side)):
      if taken[number] == images_per_class:
        continue
      taken[number] += 1
      image = pixels.reshape(3, side, side).transpose(1, 2, 0)
      key = f"n{number:04d}/n{number:04d}{taken[number]:04d}"
      yield example.Example(split_of[number - 1], key, number - 1, images.png(image),
                            f"{path}, image {key}")
  short = [number for number in range(1, len(split_of) + 1) if taken[number] < images_per_class]
  if short:
    raise errors.DataError(f"{len(short)} classes have fewer than {images_per_class} images, such "
                           f"as label {short[0]} with {taken[short[0]]}. A file is missing.")


def _labels(path: pathlib.Path, num_classes: int) -> np.ndarray:
  for _, data in archives.members(path, lambda name: name == "labels.npy", _LABEL_BYTES):
    labels = image_arrays.load(data, f"{path}, array 'labels'")
    break
  else:
    raise errors.DataError(f"{path} holds no array 'labels': it is not an .npz file of "
                           "down-sampled ImageNet. (The edition made of pickles is not read.)")
  labels = image_arrays.check_labels(labels, len(labels), f"{path}, array 'labels'")
  if len(labels) and not 1 <= labels.min() <= labels.max() <= num_classes:
    raise errors.DataError(f"{path} has labels from {labels.min()} to {labels.max()}; 1 to "
                           f"{num_classes} were expected.")
  return labels


def _rows(path: pathlib.Path, num_rows: int, width: int) -> Iterator[np.ndarray]:
  """Yields the rows, uint8 [width]."""
  with archives.named_errors(path, "data.npy"), zipfile.ZipFile(path) as archive:
    if "data.npy" not in archive.namelist():
      raise errors.DataError(f"{path} holds no array 'data': get the .npz file again.")
    with archive.open("data.npy") as stream:
      _check_header(stream, path, (num_rows, width))
      for first in range(0, num_rows, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, num_rows - first)
        block = stream.read(count * width)
        if len(block) < count * width:
          raise EOFError("the array ends before its last row")
        yield from np.frombuffer(block, np.uint8).reshape(count, width)


def _check_header(stream: IO[bytes], path: pathlib.Path, shape: tuple[int, int]) -> None:
  try:
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0}[version]
    found, is_fortran, dtype = read(stream)
  except (ValueError, KeyError, SyntaxError) as error:
    raise errors.DataError(f"{path}: 'data' is not a plain numpy array: {error}.") from error
  if found != shape or is_fortran or dtype != np.uint8:
    raise errors.DataError(f"{path}: 'data' is {dtype} {found}; uint8 {shape} was expected.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, images_per_class: int, classes: Mapping[str, int],
                  side: int) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split."""
  del class_names, per_class
  num = sum(classes.values())
  labels = np.tile(np.arange(1, num + 1), images_per_class + 1)  # One image too many per class.
  for part, (name, chosen) in enumerate(zip(file_names, np.array_split(labels, len(file_names)))):
    stream = io.BytesIO()
    np.savez(stream, data=fixtures.pixels((len(chosen), 3 * side * side), seed=part),
             labels=chosen, mean=np.zeros(3))
    (directory / name).write_bytes(stream.getvalue())
  return {split: images_per_class * count for split, count in classes.items()}
