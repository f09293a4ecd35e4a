# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Chars74K: images of characters in folders SampleNNN of several kinds, as one pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib

from tfds_builders import splits
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_names
from tfds_builders.parsers import images


def parse(paths: Mapping[str, pathlib.Path], *, kinds: Mapping[str, Sequence[str]]
          ) -> Iterator[example.Example]:
  """Yields the images in the order of the archives; sample NNN has label NNN - 1.

  Args:
    paths: file name -> path.
    kinds: file name -> folders above SampleNNN.
  """
  for file, folders in kinds.items():
    found = image_names.parse(
        {file: paths[file]}, template="{kind}/Sample{label}/{item}", extensions=("png",),
        fields={"kind": "|".join(folders), "label": r"\d{3}"}, ignore=r"/Msk/|/Trj/")
    yield from (one._replace(label=int(str(one.label)) - 1) for one in found)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, kinds: Mapping[str, Sequence[str]]) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del file_names
  seed = 0
  for file, folders in kinds.items():
    members: dict[str, bytes] = {}
    for folder in folders:
      for label in range(1, len(class_names) + 1):
        for item in range(1, per_class + 1):
          seed += 1
          name = f"Sample{label:03d}/img{label:03d}-{item:05d}.png"
          members[f"English/{folder}/{name}"] = images.png(fixtures.pixels((4, 5, 3), seed))
          members[f"English/Img/GoodImg/Msk/{name}"] = b"a mask"
    fixtures.write_archive(directory / file, members)
  return {splits.POOL: seed}
