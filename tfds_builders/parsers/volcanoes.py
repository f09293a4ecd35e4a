# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The Magellan images of Venus: raw bytes, and a list of the volcanoes in each image.

A line of a list is "confidence x y radius"; confidence 1 is "definitely a volcano", 4 "only a pit".
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

_IMAGE = re.compile(r"(?:^|/)Images/([^/]+)\.sdt$")
_LIST = re.compile(r"(?:^|/)GroundTruths/([^/]+)\.lxyr$")


def parse(paths: Mapping[str, pathlib.Path], *, side: int,
          surest: str = "1") -> Iterator[example.Example]:
  """Yields whole images as gray PNG, as one pool; label 1: there is a definite volcano.

  Args:
    paths: file name -> path.
    side: of the square images.
    surest: the confidence of a definite volcano.
  """
  for path in paths.values():
    labels = _read_lists(path, surest)
    missing = set(labels)
    for name, data in archives.members(path, lambda name: bool(_IMAGE.search(name))):
      match = _IMAGE.search(name)
      assert match is not None
      key, where = match[1], f"{path}, member {name!r}"
      if key not in labels:
        raise errors.DataError(f"{where} has no list of volcanoes, GroundTruths/{key}.lxyr. The "
                               "archive is incomplete: get it again.")
      if len(data) != side * side:
        raise errors.DataError(f"{where} has {len(data)} bytes; {side} x {side} were expected. The "
                               "archive is damaged or of another edition: get it again.")
      missing.discard(key)
      pixels = np.frombuffer(data, np.uint8).reshape(side, side)
      yield example.Example(splits.POOL, key, int(labels[key]), images.png(pixels), where)
    if missing or not labels:
      raise errors.DataError(f"{path} has {len(labels)} lists of volcanoes and no images of "
                             f"{len(missing)}, such as {sorted(missing)[:3]}. It is incomplete: "
                             "get it again.")


def _read_lists(path: pathlib.Path, surest: str) -> dict[str, bool]:
  labels: dict[str, bool] = {}
  for name, data in archives.members(path, lambda name: bool(_LIST.search(name))):
    match = _LIST.search(name)
    assert match is not None
    rows = [line.split() for line in data.decode("ascii", "replace").splitlines() if line.strip()]
    for row in rows:
      if len(row) != 4 or not re.fullmatch(r"\d", row[0]):
        raise errors.DataError(f"{path}, member {name!r} has the line {' '.join(row)[:60]!r}; "
                               "'confidence x y radius' was expected. Get the archive again.")
    labels[match[1]] = any(row[0] == surest for row in rows)
  return labels


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, side: int, surest: str = "1") -> Mapping[str, int]:
  """Writes a small archive of this layout; returns the number of examples by source split.

  At most 24 images, as large as real ones and nearly black.
  """
  count = min(per_class * len(class_names), 24)
  members: dict[str, bytes] = {"package/README": b"nothing"}
  for number in range(1, count + 1):
    pixels = np.zeros((side, side), np.uint8)
    pixels[0, :5] = fixtures.pixels((5,), seed=number)
    members[f"package/Images/img{number}.sdt"] = pixels.tobytes()
    members[f"package/Images/img{number}.spr"] = b"2\n"
    members[f"package/Chips/exp_{number}.sdt"] = b"no image"
    rows = ["3 10.0 20.5 7.1", *([f"{surest} 5.0 5.0 3.0"] if number % 2 else [])]
    members[f"package/GroundTruths/img{number}.lxyr"] = "\n".join([*rows, ""]).encode()
  fixtures.write_archive(directory / file_names[0], members)
  return {splits.POOL: count}
