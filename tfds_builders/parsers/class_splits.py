# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class folders in which each class belongs to one split.

For data sets of few-shot learning. The number of classes of each split and the number of images of
each class are checked, not only the totals.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
import pathlib

from tfds_builders import errors
from tfds_builders.parsers import class_folders
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures


def parse(paths: Mapping[str, pathlib.Path], *, template: str, split_folders: Mapping[str, str],
          classes: Mapping[str, int], images_per_class: int) -> Iterator[example.Example]:
  """Yields the images.

  Args:
    paths: file name -> path; every file is read.
    template, split_folders: as in `class_folders.parse`.
    classes: number of classes of each split.
    images_per_class: number of images of each class.
  """
  split_of: dict[str, str] = {}
  counts: dict[str, int] = collections.Counter()
  for one in class_folders.parse(paths, template=template, split_folders=split_folders):
    label = str(one.label)
    if split_of.setdefault(label, one.split) != one.split:
      raise errors.DataError(f"{one.where}: class {label} is in {split_of[label]} and in "
                             f"{one.split}; no class may be in two splits.")
    counts[label] += 1
    yield one._replace(key=one.key.split("/", 1)[1])
  found = collections.Counter(split_of.values())
  odd = sorted(label for label, count in counts.items() if count != images_per_class)
  if dict(found) != dict(classes) or odd:
    raise errors.DataError(
        f"{', '.join(map(str, paths.values()))}: {dict(found)} classes by split, expected "
        f"{dict(classes)}; {len(odd)} classes do not have {images_per_class} images"
        f"{f', such as {odd[0]} with {counts[odd[0]]}' if odd else ''}. The archive is incomplete "
        "or another edition: get it again.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, template: str, split_folders: Mapping[str, str],
                  classes: Mapping[str, int], images_per_class: int) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  del class_names, per_class  # The numbers are part of the layout.
  folders = {split: folder for folder, split in split_folders.items()}
  members, number = {"top/README.md": b"no image"}, 0
  for split, count in classes.items():
    for _ in range(count):
      number += 1
      for item in range(1, images_per_class + 1):
        name = template.format(split=folders[split], label=f"n{number:04d}",
                               item=f"n{number:04d}{item:04d}",
                               extension=("png", "jpg", "JPEG")[item % 3])
        members[f"top/{name}"] = class_folders.picture(name, (4, 4, 3), seed=len(members))
  fixtures.write_archive(directory / file_names[0], members)
  return {split: count * images_per_class for split, count in classes.items()}
