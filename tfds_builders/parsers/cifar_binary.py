# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The binary version of CIFAR: records of label byte(s) and 3 x 32 x 32 pixels, in a tar.

The python version holds pickles, which can run any code when they are loaded; it is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_SIDE = 32
_PIXELS = 3 * _SIDE * _SIDE


def parse(paths: Mapping[str, pathlib.Path], *, batches: Mapping[str, str], label_bytes: int = 1,
          label_index: int = 0) -> Iterator[example.Example]:
  """Yields the images as PNG; labels are the stored numbers.

  Args:
    paths: file name -> path; every file is read.
    batches: member's base name -> source split.
    label_bytes: bytes before the pixels of a record.
    label_index: which of them is the label.
  """
  keys = example.PixelKeys()
  size = label_bytes + _PIXELS
  for path in paths.values():
    missing = set(batches)
    for name, data in archives.members(
        path, wanted=lambda name: archives.base_name(name) in batches):
      missing.discard(archives.base_name(name))
      if not data or len(data) % size:
        raise errors.DataError(f"{path}, member {name!r} has {len(data)} bytes, not a multiple of "
                               f"{size}: it is damaged or another version of the data set.")
      records = np.frombuffer(data, np.uint8).reshape(-1, size)
      for index, record in enumerate(records):
        image = record[label_bytes:].reshape(3, _SIDE, _SIDE).transpose(1, 2, 0)
        split = batches[archives.base_name(name)]
        key, group = keys(split, image)
        yield example.Example(split, key, int(record[label_index]), images.png(image),
                              f"{path}, member {name!r}, record {index}", group)
    if missing:
      raise errors.DataError(f"{path} has no {sorted(missing)}: it is incomplete or another "
                             "version.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, batches: Mapping[str, str], label_bytes: int = 1,
                  label_index: int = 0) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  num_classes = len(class_names)
  members = {}
  counts = dict.fromkeys(batches.values(), 0)
  for number, (name, split) in enumerate(batches.items()):
    records = fixtures.pixels((num_classes * per_class, label_bytes + _PIXELS), seed=number)
    records[:, label_index] = np.arange(len(records)) % num_classes
    members[f"cifar-batches-bin/{name}"] = records.tobytes()
    counts[split] += len(records)
  fixtures.write_archive(directory / file_names[0], members)
  return counts
