# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Text tables: each line has the values of one image and, at the end, its label as a number.

A table is a file or a member of an archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import listed_images


def parse(paths: Mapping[str, pathlib.Path], *, parts: Mapping[str, str], height: int, width: int,
          stored_channels: int, channels: int, separator: str | None = None,
          header_lines: int = 0, first_label: int = 1) -> Iterator[example.Example]:
  """Yields the images as PNG.

  Args:
    paths: file name -> path.
    parts: end of the name of a table -> source split.
    height: of each image.
    width: of each image; values are stored pixel by pixel, row by row.
    stored_channels: number of values of a pixel.
    channels: number of leading values of a pixel that are kept.
    separator: between two values; None: white space.
    header_lines: number of lines to skip at the top of each table.
    first_label: the number of the first class.
  """
  keys = example.PixelKeys()
  num_values = height * width * stored_channels
  texts = listed_images.find_texts(paths, parts)
  for name, split in parts.items():
    table, data = texts[name]
    for number, line in enumerate(data.splitlines(), start=1):
      if number <= header_lines or not line.strip():
        continue
      where = f"{table}, line {number}"
      values = _values(line, separator, num_values + 1, where)
      if values[:-1].min() < 0 or values[:-1].max() > 255:
        raise errors.DataError(f"{where} has values outside of 0 to 255: "
                               f"{values[:-1].min()} to {values[:-1].max()}. It is damaged.")
      image = values[:-1].reshape(height, width, stored_channels)[..., :channels].astype(np.uint8)
      key, group = keys(split, image)
      yield example.Example(split, key, int(values[-1]) - first_label, images.png(image), where,
                            group)


def _values(line: bytes, separator: str | None, count: int, where: str) -> np.ndarray:
  """Returns the values of a line, int64 [count]."""
  fields = line.split(separator.encode() if separator else None)
  if len(fields) != count:
    raise errors.DataError(f"{where} has {len(fields)} values, {count} expected: the table is "
                           "truncated or of another edition. Get it again.")
  try:
    return np.array([int(field) for field in fields], np.int64)
  except (ValueError, OverflowError) as error:
    raise errors.DataError(f"{where} is not a line of whole numbers: {error}.") from error


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parts: Mapping[str, str], height: int, width: int,
                  stored_channels: int, channels: int, separator: str | None = None,
                  header_lines: int = 0, first_label: int = 1) -> Mapping[str, int]:
  """Writes tiny tables of this layout; returns the number of examples by source split."""
  del channels
  members: dict[str, bytes] = {"readme.txt": b"no table", "other_table.csv": b"1,2,3\n"}
  for part, name in enumerate(parts):
    lines: list[str] = ["header"] * header_lines
    for index in range(per_class * len(class_names)):
      pixels = fixtures.pixels((height * width * stored_channels,), seed=index + part * 100000)
      label = index % len(class_names) + first_label
      lines.append((separator or " ").join(str(value) for value in [*pixels.tolist(), label]))
    members[name] = "\n".join([*lines, ""]).encode()
    if name in file_names:
      (directory / name).write_bytes(members[name])
  if not set(parts) <= set(file_names):
    fixtures.write_archive(directory / file_names[0], members)
  return {split: per_class * len(class_names) for split in parts.values()}
