# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One large gray picture per class, cut into a grid of patches, which are the examples."""

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


def parse(paths: Mapping[str, pathlib.Path], *, dataset: str, side: int,
          parts: Sequence[tuple[str, int]]) -> Iterator[example.Example]:
  """Yields side x side patches of each file, without overlap; the file's name is the label.

  Args:
    paths: file name -> path of a picture.
    dataset: name of the data set; its hash orders the patches of a picture.
    side: patches in a row and in a column; remaining pixels are not used.
    parts: (source split, number of patches of each picture), in the order of the hash.
  """
  for file_name, path in paths.items():
    label = file_name.rsplit(".", 1)[0]
    with images.pillow_image(archives.read_content(path), str(path),
                             ("GIF", "PNG", "JPEG", "BMP", "TIFF")) as image:
      pixels = np.asarray(image.convert("L"))  # [H, W].
    height, width = (size // side for size in pixels.shape)
    if not height or not width:
      raise errors.DataError(f"{path} has {pixels.shape[1]} x {pixels.shape[0]} pixels: too small "
                             f"for {side} x {side} patches. It is damaged: get it again.")
    keys = [f"{label}/{row}{column}" for row in range(side) for column in range(side)]
    order = iter(sorted(keys, key=lambda key: splits.unit_hash(dataset, key)))
    split_of = {next(order): split for split, num in parts for _ in range(num)}
    for key in keys:
      row, column = (int(digit) for digit in key[-2:])
      patch = pixels[row * height:(row + 1) * height, column * width:(column + 1) * width]
      where = f"{path}, patch {key[-2:]}"
      yield example.Example(split_of[key], key, label, images.png(patch), where)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, dataset: str, side: int,
                  parts: Sequence[tuple[str, int]]) -> Mapping[str, int]:
  """Writes tiny pictures of this layout; returns the number of examples by source split."""
  from PIL import Image  # pylint: disable=g-import-not-at-top
  del class_names, per_class, dataset
  for seed, name in enumerate(file_names):
    Image.fromarray(fixtures.pixels((side * 4 + 1, side * 4), seed)).save(directory / name, "GIF")
  counts: list[tuple[str, int]] = [(split, num * len(file_names)) for split, num in parts]
  return dict(counts)
