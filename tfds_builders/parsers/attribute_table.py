# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images in an archive, and MATLAB tables that give every image a number for each attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Any, cast

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images
from tfds_builders.parsers import mat_files


def parse(paths: Mapping[str, pathlib.Path], *, names: tuple[str, str], values: tuple[str, str],
          num_attributes: int, folder: str) -> Iterator[example.Example]:
  """Yields the images in the order of their archive, all in one pool.

  Args:
    paths: file name -> path; tables and images may lie in any of them.
    names: (end of the name of the table of image names, its variable).
    values: the same of the table of values, [images, attributes]; those that are not 0 are labels.
    num_attributes: columns of `values`.
    folder: the folder of the images, which have the names of the table.
  """
  texts = listed_images.find_texts(paths, {names[0]: "", values[0]: ""})
  cells = _variable(texts[names[0]], names[1], squeeze=True)
  numbers = _variable(texts[values[0]], values[1])
  image_names = [str(name) for name in np.atleast_1d(cells).ravel()]
  if numbers.shape != (len(image_names), num_attributes):
    raise errors.DataError(f"{texts[values[0]][0]} has values of {numbers.shape} for "
                           f"{len(image_names)} images and {num_attributes} attributes. One of the "
                           "tables is truncated or of another edition: get them again.")
  table: listed_images.Table = {}
  for name, row in zip(image_names, numbers):
    labels = tuple(int(index) for index in np.flatnonzero(row))
    key = name.rsplit(".", 1)[0]
    if key in table:
      raise errors.DataError(f"{texts[names[0]][0]} names {name!r} twice. It is damaged.")
    table[key] = listed_images.ListEntry(splits.POOL, cast(Any, labels))
  pattern = re.compile(rf"(?:^|/){re.escape(folder)}/(.+)\.jpg$")
  archive_paths = [path for name, path in paths.items() if name not in (names[0], values[0])]
  yield from listed_images.join(archive_paths, pattern, table, unlisted=False)


def _variable(text: tuple[str, bytes], name: str, squeeze: bool = False) -> np.ndarray:
  where, data = text
  return np.asarray(mat_files.read(data, where, [name], squeeze=squeeze)[name])


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, names: tuple[str, str], values: tuple[str, str],
                  num_attributes: int, folder: str) -> Mapping[str, int]:
  """Writes tiny archives of this layout, images first; returns counts by source split."""
  del class_names
  count = per_class * num_attributes
  members: dict[str, bytes] = {"top/readme.txt": b"not an image"}
  image_names = []
  numbers = np.zeros((count, num_attributes))
  for index in range(count):
    image_names.append(f"a/scene/sun_{index:06d}.jpg")
    members[f"top/{folder}/{image_names[-1]}"] = fixtures.jpeg((6, 5, 3), index)
    numbers[index, index % num_attributes] = 1 / 3
    numbers[index, index * 7 % num_attributes] = 1.0
  cells = np.array(image_names, object)[:, None]
  tables = {"top/attributes.mat": b"never read",
            f"top/{names[0]}": mat_files.packed({names[1]: cells}),
            f"top/{values[0]}": mat_files.packed({values[1]: numbers})}
  fixtures.write_archive(directory / file_names[0], members)
  fixtures.write_archive(directory / file_names[1], tables)
  return {splits.POOL: count}
