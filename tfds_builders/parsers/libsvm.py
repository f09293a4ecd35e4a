# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""LIBSVM's text format: a line is a label and "index:value" for each pixel that is not zero."""

from __future__ import annotations

import bz2
from collections.abc import Iterator, Mapping, Sequence
import pathlib

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images


def parse(paths: Mapping[str, pathlib.Path], *, parts: Mapping[str, str], height: int, width: int,
          low: float, high: float, first_label: int = 1) -> Iterator[example.Example]:
  """Yields the images as gray PNG.

  Args:
    paths: file name -> path.
    parts: file name -> source split.
    height: of each image.
    width: of each image; pixels are counted from 1, row by row.
    low: the value that becomes 0.
    high: the value that becomes 255; values between are rounded to the nearest gray.
    first_label: the number of the first class.
  """
  keys = example.PixelKeys()
  for name, split in parts.items():
    for number, line in enumerate(archives.read_content(paths[name]).splitlines(), start=1):
      if not line.strip():
        continue
      where = f"{paths[name]}, line {number}"
      label, values = _read(line, height * width, where)
      if not (values.min() >= low and values.max() <= high):  # NaN fails, too.
        raise errors.DataError(f"{where} has values from {values.min()} to {values.max()}; they "
                               f"are from {low} to {high} in this data set. It is damaged.")
      pixels = np.round((values - low) * (255 / (high - low))).astype(np.uint8)
      image = pixels.reshape(height, width)
      key, group = keys(split, image)
      yield example.Example(split, key, label - first_label, images.png(image), where, group)


def _read(line: bytes, size: int, where: str):
  """Returns the label and the pixels, float [size]."""
  head, *pairs = line.split()
  values = np.zeros(size)
  seen = set()
  try:
    label = int(float(head))
    for pair in pairs:
      index, value = pair.split(b":")
      values[int(index) - 1] = float(value)
      seen.add(int(index))
  except (ValueError, IndexError, OverflowError) as error:
    raise errors.DataError(f"{where} is not a label with index:value pairs: {error}. The file is "
                           "truncated or damaged: get it again.") from error
  if len(seen) != len(pairs) or (seen and min(seen) < 1):
    raise errors.DataError(f"{where} gives a pixel twice or counts below 1; pixels are 1 to "
                           f"{size}. The file is damaged: get it again.")
  return label, values


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parts: Mapping[str, str], height: int, width: int, low: float,
                  high: float, first_label: int = 1) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split."""
  del file_names  # They are those of `parts`.
  for part, name in enumerate(parts):
    lines: list[str] = []
    for index in range(per_class * len(class_names)):
      pixels = fixtures.pixels((height * width,), seed=index + part * 100000)
      values = low + pixels * ((high - low) / 255)
      lines.append(f"{index % len(class_names) + first_label} "
                   + " ".join(f"{i}:{value:.4f}" for i, value in enumerate(values, start=1)) + " ")
    data = "\n".join([*lines, ""]).encode()
    (directory / name).write_bytes(bz2.compress(data) if name.endswith(".bz2") else data)
  return {split: per_class * len(class_names) for split in parts.values()}
