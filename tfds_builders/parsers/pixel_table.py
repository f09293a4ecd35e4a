# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A text table: each line has the pixels of one image, then its label as a one-hot vector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images


def parse(paths: Mapping[str, pathlib.Path], *, height: int, width: int, num_classes: int,
          maximum: float) -> Iterator[example.Example]:
  """Yields the images as gray PNG, as one pool.

  Args:
    paths: file name -> path; every file is read.
    height: of each image; a line has height * width pixels, row by row.
    width: of each image.
    num_classes: columns of the one-hot label.
    maximum: the value that becomes 255; values that do not become whole numbers are an error.
  """
  keys = example.PixelKeys()
  for path in paths.values():
    lines = archives.read_content(path).splitlines()
    for number, line in enumerate(lines, start=1):
      if not line.strip():
        continue
      where = f"{path}, line {number}"
      values = _numbers(line, height * width + num_classes, where)
      pixels = values[:height * width] * (255 / maximum)
      one_hot = values[height * width:]
      if (pixels != np.round(pixels)).any() or pixels.min() < 0 or pixels.max() > 255:
        raise errors.DataError(f"{where} has pixels outside 0 to {maximum}, or between steps.")
      if sorted(one_hot) != [0] * (num_classes - 1) + [1]:
        raise errors.DataError(f"{where} has no one-hot label: {one_hot.tolist()}.")
      image = pixels.astype(np.uint8).reshape(height, width)
      key, group = keys(splits.POOL, image)
      label = int(one_hot.argmax())
      yield example.Example(splits.POOL, key, label, images.png(image), where, group)


def _numbers(line: bytes, count: int, where: str) -> np.ndarray:
  """Returns the numbers of a line, float [count]."""
  fields = line.split()
  try:
    values = np.array([float(field) for field in fields])
  except ValueError as error:
    raise errors.DataError(f"{where} is not a line of numbers: {error}.") from error
  if len(values) != count:
    raise errors.DataError(f"{where} has {len(values)} numbers, {count} expected: the file is "
                           "truncated or damaged.")
  return values


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, height: int, width: int, num_classes: int,
                  maximum: float) -> Mapping[str, int]:
  """Writes a tiny table of this layout; returns the number of examples by source split."""
  del class_names
  lines = []
  for number in range(num_classes * per_class):
    pixels = np.where(fixtures.pixels((height * width,), seed=number) > 127, maximum, 0.0)
    one_hot = np.arange(num_classes) == number % num_classes
    lines.append(" ".join([f"{p:.4f}" for p in pixels] + [str(int(v)) for v in one_hot]) + " \n")
  (directory / file_names[0]).write_text("".join(lines))
  return {splits.POOL: len(lines)}
