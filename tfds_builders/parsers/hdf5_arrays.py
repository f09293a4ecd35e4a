# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""HDF5 files, each a domain or part of one, with an array of images and one of labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import hashlib
import pathlib

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import child
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_AT_ONCE = 64
_MAX_SIDE = 4096
_ARRAYS = ("images", "labels")


def parse(paths: Mapping[str, pathlib.Path], *, parts: Mapping[str, str],
          domains: Sequence[str], first_label: int = 1) -> Iterator[example.Example]:
  """Yields the images of the arrays "images" [N, H, W, 3], blue first, and "labels" [N] as PNG.

  Copies of an image with the same source split and label are left out: files of one domain
  overlap.

  Args:
    paths: file name -> path.
    parts: file name -> source split.
    domains: beginnings of the file names; keys begin with them.
    first_label: the number of the first class.
  """
  keys = example.PixelKeys()
  seen: set[tuple[str, bytes, int]] = set()
  for name, split in parts.items():
    domain = next(domain for domain in domains if name.startswith(domain))
    for index, (pixels, number) in enumerate(_read(paths[name])):
      copy = (split, hashlib.sha256(pixels.tobytes()).digest(), number)
      if copy in seen:
        continue
      seen.add(copy)
      key, group = keys(domain, pixels)
      yield example.Example(split, key, number - first_label, images.png(pixels),
                            f"{paths[name]}, image {index}", group)


def _read(path: pathlib.Path) -> Iterator[tuple[np.ndarray, int]]:
  """Yields (uint8 [H, W, 3] with red first, label)."""
  pixels, labels = _rows(path, 0, 0)
  shape, of_labels = (tuple(one["shape"].tolist()) for one in (pixels, labels))
  size = shape[0] if shape else 0
  if (len(shape) != 4 or shape[3] != 3 or max(shape[1:3]) > _MAX_SIDE
      or of_labels not in ((size,), (size, 1))):
    raise errors.DataError(f"{path} has images of {shape} and labels of {of_labels}; "
                           "[N, H, W, 3] and [N] were expected. It is of another edition.")
  for start in range(0, size, _AT_ONCE):
    block, numbers = (one["rows"] for one in _rows(path, start, start + _AT_ONCE))
    if block.dtype.kind not in "uif" or numbers.dtype.kind not in "uif":
      raise errors.DataError(f"{path} has images of {block.dtype} and labels of {numbers.dtype}; "
                             "numbers were expected. It is of another edition.")
    if block.dtype != np.uint8 and not np.isin(block, np.arange(256)).all():
      raise errors.DataError(f"{path} has pixels other than whole numbers from 0 to 255 in images "
                             f"{start} to {start + len(block) - 1}. It is damaged.")
    block = np.ascontiguousarray(block[..., ::-1].astype(np.uint8))
    yield from zip(block, (int(number) for number in numbers.ravel()))


def _rows(path: pathlib.Path, start: int, stop: int) -> list[dict[str, np.ndarray]]:
  """Returns the shape and some rows of both arrays, which must be in the file itself."""
  # HDF5 is native code that damaged files can crash, and can point to any other file.
  found = child.call("hdf5", str(path), "HDF5 with arrays of images and labels", path=str(path),
                     names=list(_ARRAYS), start=start, stop=stop)
  for name in _ARRAYS:
    if name not in found:
      raise errors.DataError(f"{path} holds no array {name!r}, or only a link; it holds "
                             f"{found[''].tolist()}. It is damaged or of another edition: get it "
                             "again.")
  return [found[name] for name in _ARRAYS]


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parts: Mapping[str, str], domains: Sequence[str],
                  first_label: int = 1) -> Mapping[str, int]:
  """Writes tiny files of this layout, the last of each domain with the images of all others.

  Returns:
    The number of examples by source split.
  """
  import h5py  # pylint: disable=g-import-not-at-top
  del file_names  # They are those of `parts`.
  counts = dict.fromkeys(parts.values(), 0)
  for place, domain in enumerate(domains):
    names = [name for name in parts if name.startswith(domain)]
    size = per_class * len(class_names)
    pixels = fixtures.pixels((size, 5, 6, 3), seed=place)
    labels = np.arange(size) % len(class_names) + first_label
    for number, name in enumerate(names):
      some = slice(None) if number == len(names) - 1 else slice(number, None, len(names) - 1)
      with h5py.File(directory / name, "w") as file:
        file.create_dataset("images", data=pixels[some])
        file.create_dataset("labels", data=labels[some].astype(np.uint16))
    counts[parts[names[0]]] += size
  return counts
