# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Omniglot's two original archives as one pool of characters, divided by character.

A class is "Alphabet/characterNN"; the classes of both archives are sorted, shuffled once with the
benchmark's seed, and cut into training, validation and test classes, so alphabets
are mixed. Drawings are 105 x 105 PNG images, black ink on white, stored as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_NAME = re.compile(r"(?:^|/)(?P<key>(?P<label>[^/]+/character\d+)/[^/]+)\.png$")
SPLITS = {splits.TRAIN: 1200, splits.VALIDATION: 211, splits.TEST: 212}


def parse(paths: Mapping[str, pathlib.Path], *, num_classes: Mapping[str, int], seed: int
          ) -> Iterator[example.Example]:
  """Yields the drawings; keys are "Alphabet/characterNN/NNNN_NN".

  Args:
    paths: file name -> path; every file is read.
    num_classes: number of classes of each split, in the order of the shuffled classes.
    seed: of the shuffle by NumPy's RandomState, whose stream does not change.
  """
  split_of = _divided(_class_names(paths), num_classes, seed)
  for path in paths.values():
    for name, data in archives.members(path, wanted=_is_drawing):
      match = _NAME.search(name)
      assert match is not None
      yield example.Example(split_of[match["label"]], match["key"], match["label"], data,
                            f"{path}, member {name!r}")


def _is_drawing(name: str) -> bool:
  return _NAME.search(name) is not None


def _class_names(paths: Mapping[str, pathlib.Path]) -> list[str]:
  found: dict[str, pathlib.Path] = {}
  for path in paths.values():
    matches = map(_NAME.search, archives.names(path))
    names = {match["label"] for match in matches if match}
    if not names:
      raise errors.DataError(f"{path} holds no Alphabet/characterNN/*.png. Get the archive of "
                             "images (not of strokes) from the publisher.")
    for name in sorted(names):
      if name in found:
        raise errors.DataError(f"{path} and {found[name]} both hold {name}: the archives are the "
                               "same, or of other editions. Get both from the publisher.")
      found[name] = path
  return sorted(found)


def _divided(names: Sequence[str], num_classes: Mapping[str, int], seed: int) -> dict[str, str]:
  """Returns class -> split."""
  if len(names) != sum(num_classes.values()):
    raise errors.DataError(f"The archives hold {len(names)} characters, expected "
                           f"{sum(num_classes.values())}: one is incomplete. Get them again.")
  order = np.arange(len(names))
  np.random.RandomState(seed).shuffle(order)
  split_of: dict[str, str] = {}
  first = 0
  for split, count in num_classes.items():
    split_of.update((names[place], split) for place in order[first:first + count])
    first += count
  return split_of


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, num_classes: Mapping[str, int], seed: int) -> Mapping[str, int]:
  """Writes two tiny archives of this layout; returns the number of examples by source split."""
  del seed
  background, evaluation = file_names
  members: dict[str, dict[str, bytes]] = {background: {}, evaluation: {}}
  for index in range(len(class_names)):
    file = background if index % 5 else evaluation
    folder = f"Script_{index % 30}/character{index // 30 + 1:02d}"
    top = file.rsplit(".", 1)[0]
    for item in range(1, per_class + 1):
      members[file][f"{top}/{folder}/{index:04d}_{item:02d}.png"] = images.png(
          fixtures.pixels((4, 4), seed=index * 97 + item))
  for file, found in members.items():
    fixtures.write_archive(directory / file, {"top/README.txt": b"no drawing", **found})
  return {split: count * per_class for split, count in num_classes.items()}
