# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images in archives, and a MATLAB file (before version 7.3) that gives their labels and splits.

Two forms are read: an array with one structure per image (Stanford Cars), and one array of image
numbers per split, where images of a class have consecutive numbers (Oxford Flowers).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
from typing import Any

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images
from tfds_builders.parsers import mat_files

_MAX_BYTES = 64 << 20  # A table is small; this limits what it unpacks to.


def parse(paths: Mapping[str, pathlib.Path], *, table: str, image: str,
          structures: Mapping[str, str] | None = None,
          split_values: Mapping[int, str] | None = None,
          numbers: Mapping[str, str] | None = None, number_format: str = "{}",
          images_per_class: int = 1) -> Iterator[example.Example]:
  """Yields the images in the order of the archives; labels are class ids.

  Args:
    paths: file name -> path.
    table: name of the MATLAB file; the others are archives.
    image: template of the end of an image's name, with {item}, its key.
    structures: {"array": the variable; "name", "label" (from 1), "split": its fields}.
    split_values: value of the field of the split -> source split.
    numbers: variable that holds the numbers (from 1) of a split's images -> source split.
    number_format: format of the key of a number.
    images_per_class: number of consecutive numbers of a class.
  """
  try:
    entries = (_read_structures(paths[table], structures, split_values or {}) if structures else
               _read_numbers(paths[table], numbers or {}, number_format, images_per_class))
  except errors.DataError:
    raise
  except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
    raise errors.DataError(
        f"{paths[table]} holds another table than expected: {type(error).__name__}: {error}. It is "
        "damaged or of another edition: get it again.") from error
  pattern = listed_images.name_pattern(image, ("item",))
  archives_ = [path for name, path in paths.items() if name != table]
  yield from listed_images.join(archives_, pattern, entries, unlisted=False)


def _variables(path: pathlib.Path, names: Sequence[str]) -> dict[str, Any]:
  return mat_files.read(archives.read_content(path, _MAX_BYTES), str(path), names, squeeze=True)


def _read_structures(path: pathlib.Path, structures: Mapping[str, str],
                     split_values: Mapping[int, str]) -> listed_images.Table:
  array = np.atleast_1d(_variables(path, [structures["array"]])[structures["array"]])
  table: listed_images.Table = {}
  for one in array:
    name = str(one[structures["name"]])
    split, label = int(one[structures["split"]]), int(one[structures["label"]])
    if split not in split_values or label < 1:
      raise errors.DataError(
          f"{path} gives {name!r} the split {split} and the class {label}; allowed are "
          f"{sorted(split_values)} and classes from 1. Get it again.")
    key = archives.stem(name)
    _add(table, key, listed_images.ListEntry(split_values[split], label - 1), path)
  return table


def _read_numbers(path: pathlib.Path, numbers: Mapping[str, str], number_format: str,
                  images_per_class: int) -> listed_images.Table:
  table: listed_images.Table = {}
  variables = _variables(path, list(numbers))
  for variable, split in numbers.items():
    for number in np.atleast_1d(variables[variable]).ravel():
      if number != int(number) or number < 1:
        raise errors.DataError(f"{path}, {variable} names image {number}; they are numbered from "
                               "1. Get it again.")
      entry = listed_images.ListEntry(split, (int(number) - 1) // images_per_class)
      _add(table, number_format.format(int(number)), entry, path)
  return table


def _add(table: listed_images.Table, key: str, entry: listed_images.ListEntry, path) -> None:
  if table.setdefault(key, entry) is not entry:
    raise errors.DataError(f"{path} names image {key!r} twice, as {table[key]} and {entry}: it is "
                           "damaged or of another edition. Get it again.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, table: str, image: str,
                  structures: Mapping[str, str] | None = None,
                  split_values: Mapping[int, str] | None = None,
                  numbers: Mapping[str, str] | None = None, number_format: str = "{}",
                  images_per_class: int = 1) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split.

  With `numbers` every class has all its images, because the numbers determine the classes.
  """
  sources = list((split_values or {}).values()) or list((numbers or {}).values())
  per_class = max(per_class, 2 * len(sources)) if structures else images_per_class
  names: list[str] = []
  members = {"top/README": b"not an image"}
  rows, by_split = [], {split: [] for split in sources}  # type: ignore[var-annotated]
  for label in range(1, len(class_names) + 1):
    for index in range(per_class):
      number = len(names) + 1
      split = sources[index % len(sources)]
      names.append(number_format.format(number) if numbers else f"{number:06d}")
      rows.append((f"car_ims/{names[-1]}.jpg", index % len(sources), label))
      by_split[split].append(number)
      members[f"top/{image.format(item=names[-1])}"] = fixtures.jpeg((4, 5, 3), number)
  if structures:
    values = list(split_values or {})
    dtype = [(structures[field], object) for field in ("name", "split", "label")]
    array = np.array([(name, np.uint8(values[at]), np.uint8(label)) for name, at, label in rows],
                     dtype)
    content: dict[str, Any] = {structures["array"]: array, "class_names": np.array(class_names)}
  else:
    content = {variable: np.array(by_split[split]) for variable, split in (numbers or {}).items()}
  for name in file_names:
    if name == table:
      (directory / name).write_bytes(mat_files.packed(content))
    else:
      fixtures.write_archive(directory / name, members)
  return {split: len(chosen) for split, chosen in by_split.items()}
