# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""HDF5 files, each a domain or part of one, with an array of images and one of labels."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_AT_ONCE = 64
_MAX_SIDE = 4096


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
  import h5py  # pylint: disable=g-import-not-at-top
  keys = example.PixelKeys()
  seen: set[tuple[str, bytes, int]] = set()
  for name, split in parts.items():
    domain = next(domain for domain in domains if name.startswith(domain))
    try:
      with h5py.File(paths[name], "r") as file:
        for index, (pixels, number) in enumerate(_read(file, paths[name])):
          copy = (split, hashlib.sha256(pixels.tobytes()).digest(), number)
          if copy in seen:
            continue
          seen.add(copy)
          key, group = keys(domain, pixels)
          yield example.Example(split, key, number - first_label, images.png(pixels),
                                f"{paths[name]}, image {index}", group)
    except errors.DataError:
      raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
      raise errors.DataError(
          f"{paths[name]} cannot be read as HDF5 with arrays of images and labels: "
          f"{type(error).__name__}: {error}. It is damaged or of another edition: get it again."
      ) from error


def _read(file: Any, path: pathlib.Path) -> Iterator[tuple[np.ndarray, int]]:
  """Yields (uint8 [H, W, 3] with red first, label)."""
  arrays = [_array(file, name, path) for name in ("images", "labels")]
  pixels, labels = arrays
  if (pixels.ndim != 4 or pixels.shape[3] != 3 or max(pixels.shape[1:3]) > _MAX_SIDE
      or labels.shape not in ((len(pixels),), (len(pixels), 1))):
    raise errors.DataError(f"{path} has images of {pixels.shape} and labels of {labels.shape}; "
                           "[N, H, W, 3] and [N] were expected. It is of another edition.")
  for start in range(0, len(pixels), _AT_ONCE):
    block = np.asarray(pixels[start:start + _AT_ONCE])
    if block.dtype != np.uint8 and not np.isin(block, np.arange(256)).all():
      raise errors.DataError(f"{path} has pixels other than whole numbers from 0 to 255 in images "
                             f"{start} to {start + len(block) - 1}. It is damaged.")
    block = np.ascontiguousarray(block[..., ::-1].astype(np.uint8))
    numbers = np.asarray(labels[start:start + _AT_ONCE]).ravel()
    yield from zip(block, (int(number) for number in numbers))


def _array(file: Any, name: str, path: pathlib.Path) -> Any:
  """Returns an array that is in the file itself: HDF5 can point to any other file."""
  import h5py  # pylint: disable=g-import-not-at-top
  inside = isinstance(file.get(name, getlink=True), h5py.HardLink)
  array = file[name] if inside else None
  if not isinstance(array, h5py.Dataset) or array.external or array.is_virtual:
    raise errors.DataError(f"{path} holds no array {name!r}, or only a link; it holds "
                           f"{sorted(file)}. It is damaged or of another edition: get it again.")
  return array


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
