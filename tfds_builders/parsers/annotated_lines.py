# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives of images and archives of lines "<class number>;<file>;<class name>" (INTERACT)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images

_LINE = re.compile(r"(\d+)\s*;\s*([^;]+?)\s*;\s*([^;]+?)\s*;?")


def parse(paths: Mapping[str, pathlib.Path], *, sets: Mapping[str, tuple[str, str]],
          num_classes: int) -> Iterator[example.Example]:
  """Yields the images in the order of their archives.

  Args:
    paths: file name -> path.
    sets: archive of images -> (archive of their lines, source split); the split begins their keys.
    num_classes: number of classes; labels are the class numbers less 1.
  """
  for file, (lines_file, split) in sets.items():
    table = _read_lines(paths[lines_file], split, num_classes)
    for one in listed_images.join([paths[file]], re.compile(r"(?:^|/)imgs/([^/]+)\.(?i:jpg)$"),
                                  table, unlisted=True):
      yield one._replace(key=f"{split}/{one.key}")


def _read_lines(path: pathlib.Path, split: str, num_classes: int) -> listed_images.Table:
  table: listed_images.Table = {}
  names: dict[int, str] = {}
  for member, data in archives.members(path, lambda name: name.endswith(".txt")):
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
      if ";" not in line:
        continue  # A line of another text.
      match = _LINE.fullmatch(line.strip())
      label = int(match[1]) if match else 0
      entry = listed_images.ListEntry(split, label - 1)
      if (match is None or not 1 <= label <= num_classes
          or names.setdefault(label, match[3]) != match[3]
          or table.setdefault(archives.stem(match[2]), entry) != entry):
        raise errors.DataError(f"{path}, member {member!r}, line {number} is {line[:80]!r}; a "
                               f"class from 1 to {num_classes}, always with the same name, and a "
                               "file with one class were expected. Get the archive again.")
  return table


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, sets: Mapping[str, tuple[str, str]], num_classes: int
                  ) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del file_names, class_names
  counts: dict[str, int] = {}
  for place, (file, (lines_file, split)) in enumerate(sets.items()):
    members: dict[str, bytes] = {}
    lines: list[str] = []
    each = per_class + 2 * (place == 0)
    for index in range(num_classes * each):
      label = index % num_classes
      name = f"22TCST{place}{index:04d}_20.jpg"
      members[f"top/imgs/{name}"] = fixtures.jpeg((4, 5, 3), seed=10**5 * place + index)
      lines.append(f"{label + 1};{name};is doing {label}")
    members[f"top/imgs/unlisted{place}.jpg"] = fixtures.jpeg((4, 5, 3), seed=place)
    fixtures.write_archive(directory / file, members)
    fixtures.write_archive(directory / lines_file, {
        "top/annotations.txt": "\n".join(lines).encode(), "top/README.txt": b"Of the data."})
    counts[split] = num_classes * each
  return counts
