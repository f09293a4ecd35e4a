# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class folders; the last images of each class are held out, and small classes left out."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_IMAGE = re.compile(r"(?i)(?:^|/)(?P<key>(?P<label>[^/]+)/[^/]+)\.jpe?g$")


def parse(paths: Mapping[str, pathlib.Path], *, min_images: int,
          last: Sequence[tuple[str, int]]) -> Iterator[example.Example]:
  """Yields the images of all classes that are large enough.

  Args:
    paths: file name -> path; every file is read twice, the first time for its names only.
    min_images: minimum size of a class; smaller classes are left out.
    last: (source split, number of images) from the end backwards: (("test", 2),
      ("validation", 1)) holds out the last two images for test and the one before them for
      validation; the rest is "train".
  """
  for path in paths.values():
    held_out = _held_out(path, min_images, last)
    for name, data in archives.members(path, lambda name: bool(_IMAGE.search(name))):
      match = _IMAGE.search(name)
      if match and match["key"] in held_out:
        where = f"{path}, member {name!r}"
        yield example.Example(held_out[match["key"]], match["key"], match["label"],
                              images.encoded(data, where), where)


def _held_out(path: pathlib.Path, min_images: int,
              last: Sequence[tuple[str, int]]) -> dict[str, str]:
  """Returns key -> source split of the images that are kept."""
  keys: dict[str, list[str]] = collections.defaultdict(list)

  def remember(name: str) -> bool:
    match = _IMAGE.search(name)
    if match:
      keys[match["label"]].append(match["key"])
    return False

  for _ in archives.members(path, remember):
    pass
  found: dict[str, str] = {}
  for names in keys.values():
    if len(names) < min_images:
      continue
    names = sorted(names, reverse=True)
    for split, num in last:
      found.update(dict.fromkeys(names[:num], split))
      names = names[num:]
    found.update(dict.fromkeys(names, splits.TRAIN))
  if not found:
    raise errors.DataError(f"{path} has no class folder with {min_images} JPEG images or more; it "
                           "has another layout, or is incomplete. Get it again.")
  return found


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, min_images: int,
                  last: Sequence[tuple[str, int]]) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  members = {"top/README": b"no image"}
  num = max(per_class, min_images)
  for label in (*class_names, "Too_Few"):
    for item in range(1, (num if label != "Too_Few" else min_images - 1) + 1):
      members[f"top/{label}/{label}_{item:04d}.jpg"] = fixtures.jpeg((5, 5, 3), len(members))
  fixtures.write_archive(directory / file_names[0], members)
  counts = {split: size * len(class_names) for split, size in last}
  return {**counts, splits.TRAIN: (num - sum(size for _, size in last)) * len(class_names)}
