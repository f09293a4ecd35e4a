# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MATLAB files (before version 7.3) that hold images as rows of an array, and their labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
from typing import Any

import numpy as np

from tfds_builders import errors
from tfds_builders import paper_draws
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import mat_files

Arrays = Mapping[str, tuple[str, str]]


def parse(paths: Mapping[str, pathlib.Path], *, table: str, arrays: Arrays,
          names: tuple[str, str], side: int,
          left_dark: str | None = None) -> Iterator[example.Example]:
  """Yields square images of two values as black and white PNG; labels are class names.

  Args:
    paths: file name -> path.
    table: the file with the images.
    arrays: source split -> the variables of its images, [N, side * side], column by column, 0 or
      1; and of its labels [N], from 1.
    names: the file and the variable with the names of the classes.
    side: of the images.
    left_dark: the defect of the NEVIS'22 reference. It scales this split in place at each reading,
      so its training images are stored as 0 and 1 and look black; and it leaves all images
      transposed. Its draw is reproduced: "dev" is taken out of this source split.
  """
  classes = _class_names(paths[names[0]], names[1])
  variables = [variable for pair in arrays.values() for variable in pair]
  found = mat_files.read(archives.read_content(paths[table]), str(paths[table]), variables)
  keys = example.PixelKeys()
  for split, (data_name, labels_name) in arrays.items():
    data, labels = found[data_name], found[labels_name].ravel()
    _check(f"{paths[table]}, {data_name}", data, labels, side, len(classes))
    parts = _parts(split, len(data), left_dark)
    for index, (row, label) in enumerate(zip(data, labels)):
      upright = row.reshape(side, side).T.astype(np.uint8)
      key, group = keys(split, upright * np.uint8(255))
      pixels = upright * np.uint8(255)
      if left_dark is not None:
        pixels = (upright if parts[index] == left_dark else pixels).T
      yield example.Example(parts[index], key, classes[int(label) - 1],
                            images.png(np.ascontiguousarray(pixels)),
                            f"{paths[table]}, {data_name}, row {index}", group)


def _parts(split: str, count: int, left_dark: str | None) -> Sequence[str]:
  """Returns the source split of each row; "train" and "dev" for the split with the defect."""
  if left_dark != split:
    return [split] * count
  return [split if part == "train" else part for part in paper_draws.TRAIN_DEV.assign(count)]


def _class_names(path: pathlib.Path, variable: str) -> list[str]:
  cells = mat_files.read(archives.read_content(path), str(path), [variable], squeeze=True)[variable]
  names = [str(name) for name in np.atleast_1d(cells).ravel()]
  if len(set(names)) != len(names):
    raise errors.DataError(f"{path}, {variable} names a class twice: {names[:5]}... It is damaged.")
  return names


def _check(where: str, data: np.ndarray, labels: np.ndarray, side: int, num_classes: int) -> None:
  if data.ndim != 2 or data.shape[1] != side * side or len(data) != len(labels):
    raise errors.DataError(f"{where} is {data.shape} with {len(labels)} labels; [N, {side * side}] "
                           "with N labels was expected. It is of another edition: get it again.")
  if not np.isin(data, (0, 1)).all():
    raise errors.DataError(f"{where} has values other than 0 and 1. It is of another edition.")
  if not (np.isin(labels, np.arange(1, num_classes + 1))).all():
    raise errors.DataError(f"{where} has labels outside 1 to {num_classes}, the number of "
                           "class names. One of the files is of another edition: get both again.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, table: str, arrays: Arrays, names: tuple[str, str], side: int,
                  left_dark: str | None = None) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split."""
  del file_names  # They are `table` and the file in `names`.
  content: dict[str, Any] = {}
  counts: dict[str, int] = {}
  for number, (split, (data_name, labels_name)) in enumerate(arrays.items()):
    size = per_class * len(class_names)
    content[data_name] = fixtures.pixels((size, side * side), seed=number) // 128
    content[labels_name] = np.arange(size, dtype=np.uint8)[:, None] % len(class_names) + 1
    for part in _parts(split, size, left_dark):
      counts[part] = counts.get(part, 0) + 1
  (directory / table).write_bytes(mat_files.packed(content))
  cells = np.array(class_names, object)[None, :]
  (directory / names[0]).write_bytes(mat_files.packed({names[1]: cells}))
  return counts
