# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images and labels as two numpy arrays: .npy files, or members of .npz files.

Files that hold pickles are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import io
import math
import pathlib
import tokenize

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_MAX_BYTES = 512 << 20


def parse(paths: Mapping[str, pathlib.Path], *, parts: Mapping[str, tuple[str, str]],
          domain: str) -> Iterator[example.Example]:
  """Yields the images as PNG; labels are the stored numbers, keys the positions in the arrays.

  Args:
    paths: file name -> path.
    parts: name of a part, which begins its keys -> its images and its labels, "file.npy" or
      "file.npz:array".
    domain: the feature "domain" of all examples.
  """
  for name, (images_at, labels_at) in parts.items():
    pixels = check_images(_array(paths, images_at), images_at)
    labels = check_labels(_array(paths, labels_at), len(pixels), labels_at)
    for index, (image, label) in enumerate(zip(pixels, labels)):
      yield example.Example(splits.TEST, f"{name}/{index:05d}", int(label), images.png(image),
                            f"{paths[images_at.split(':')[0]]}, image {index}",
                            extra={"domain": domain})


def _array(paths: Mapping[str, pathlib.Path], place: str) -> np.ndarray:
  file, _, member = place.partition(":")
  path = paths[file]
  if not member:
    return load(archives.read_content(path, _MAX_BYTES), f"{path}")
  for name, data in archives.members(path, lambda name: name == f"{member}.npy", _MAX_BYTES):
    return load(data, f"{path}, array {name!r}")
  raise errors.DataError(f"{path} holds no array {member!r}. It is of another edition (an early "
                         "one is a pickle, which is not read): get the .npz file.")


def load(data: bytes, where: str) -> np.ndarray:
  """Returns the array in the bytes of a .npy file; DataError otherwise, also for pickles."""
  try:
    if data.startswith(np.lib.format.MAGIC_PREFIX):
      _check_size(data)
    found = np.load(io.BytesIO(data), allow_pickle=False)
  except (ValueError, EOFError, OSError, SyntaxError, tokenize.TokenError, TypeError, MemoryError,
          OverflowError, RecursionError) as error:
    raise errors.DataError(f"{where} is not a plain numpy array: {error}. It is damaged, or a "
                           "pickle, which can run any code and is not read. Get it "
                           "again.") from error
  if not isinstance(found, np.ndarray):
    raise errors.DataError(f"{where} holds several arrays; one was expected.")
  return found


def _check_size(data: bytes) -> None:
  """Raises ValueError unless an array has the bytes that its header says, before they are used."""
  stream = io.BytesIO(data)
  version = np.lib.format.read_magic(stream)
  read = (np.lib.format.read_array_header_1_0 if version == (1, 0) else
          np.lib.format.read_array_header_2_0)
  shape, _, dtype = read(stream)
  needed, there = math.prod(shape) * dtype.itemsize, len(data) - stream.tell()
  if needed != there and not dtype.hasobject:  # Objects are refused by np.load.
    raise ValueError(f"its header asks for {needed} bytes, {there} follow")


def check_images(pixels: np.ndarray, where: str) -> np.ndarray:
  """Returns `pixels`, checked to be uint8 [N, H, W, 3]."""
  if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[3] != 3 or 0 in pixels.shape:
    raise errors.DataError(f"{where} has images of {pixels.dtype} {pixels.shape}; uint8 "
                           "[N, H, W, 3] was expected. It is of another edition.")
  return pixels


def check_labels(labels: np.ndarray, num_images: int, where: str) -> np.ndarray:
  """Returns `labels`, checked to be whole numbers [num_images]."""
  if labels.shape != (num_images,) or not np.issubdtype(labels.dtype, np.integer):
    raise errors.DataError(f"{where} has labels of {labels.dtype} {labels.shape}; whole numbers "
                           f"for {num_images} images were expected. The files do not belong "
                           "together, or one is incomplete.")
  return labels


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, parts: Mapping[str, tuple[str, str]], domain: str
                  ) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split."""
  del file_names, domain  # They are those of `parts`.
  size = per_class * len(class_names)
  inside: dict = {}
  for number, places in enumerate(parts.values()):
    arrays = (fixtures.pixels((size, 5, 6, 3), seed=number),
              (np.arange(size) % len(class_names)).astype(np.int32))
    for place, array in zip(places, arrays):
      file, _, member = place.partition(":")
      inside.setdefault(file, {})[member] = array
  for file, found in inside.items():
    if "" in found:
      np.save(directory / file, found[""])
    else:
      np.savez(directory / file, **found)
  return {splits.TEST: size * len(parts)}
