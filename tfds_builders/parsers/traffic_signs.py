# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GTSRB: training images in class folders, test images and a table of their classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import csv
import io
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import listed_images

_TRAIN = re.compile(r"(?:^|/)Final_Training/Images/(?P<label>\d{5})/(?P<item>[^/]+)\.ppm$")
_TEST = re.compile(r"(?:^|/)Final_Test/Images/([^/]+)\.ppm$")


def parse(paths: Mapping[str, pathlib.Path], *, train: str, test: str, table: str
          ) -> Iterator[example.Example]:
  """Yields the training images in the order of their archive, then the test images.

  Files are named NNNNN_MMMMM.ppm by track and frame. The frames of a track, which show the same
  sign, are a group.

  Args:
    paths: file name -> path.
    train, test: archives of images.
    table: archive of the test images' classes, lines "file;...;class id".
  """
  num = 0
  for name, data in archives.members(paths[train], lambda name: bool(_TRAIN.search(name))):
    match = _TRAIN.search(name)
    assert match is not None
    num += 1
    where = f"{paths[train]}, member {name!r}"
    track = match["item"].split("_")[0]
    yield example.Example(splits.TRAIN, f"train/{match['label']}/{match['item']}",
                          int(match["label"]), images.encoded(data, where), where,
                          group=f"train/{match['label']}/{track}")
  if not num:
    raise errors.DataError(f"{paths[train]} has no Final_Training/Images/NNNNN/*.ppm. Get the file "
                           "of this name from the publisher.")
  for one in listed_images.join([paths[test]], _TEST, _read_table(paths[table]), unlisted=False):
    yield one._replace(key=f"test/{one.key}")


def _read_table(path: pathlib.Path) -> listed_images.Table:
  found: listed_images.Table = {}
  for name, data in archives.members(path, lambda name: name.endswith(".csv")):
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace")), delimiter=";")
    for number, row in enumerate(rows, start=2):
      file, label = row.get("Filename"), row.get("ClassId")
      if not file or not (label or "").isdigit():
        raise errors.DataError(f"{path}, member {name!r}, line {number} has no Filename and "
                               f"ClassId: {dict(row)}. Get the archive of classes (GT) again.")
      found[file.rsplit(".", 1)[0]] = listed_images.ListEntry(splits.TEST, int(label or 0))
  return found


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, train: str, test: str, table: str) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del file_names
  top = "GTSRB"
  members: dict[str, bytes] = {}
  tests: dict[str, bytes] = {f"{top}/Final_Test/Images/GT-final_test.test.csv": b"not read"}
  lines: list[str] = ["Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId"]
  for label in range(len(class_names)):
    folder = f"{top}/Final_Training/Images/{label:05d}"
    members[f"{folder}/GT-{label:05d}.csv"] = b"not read"
    for item in range(per_class):
      pixels = fixtures.pixels((4, 5, 3), seed=1000 * label + item)
      members[f"{folder}/{item:05d}_00000.ppm"] = b"P6\n5 4\n255\n" + pixels.tobytes()
    pixels = fixtures.pixels((4, 5, 3), seed=10**6 + label)
    tests[f"{top}/Final_Test/Images/{label:05d}.ppm"] = b"P6\n5 4\n255\n" + pixels.tobytes()
    lines.append(f"{label:05d}.ppm;5;4;0;0;4;3;{label}")
  fixtures.write_archive(directory / train, members)
  fixtures.write_archive(directory / test, tests)
  fixtures.write_archive(directory / table, {"GT-final_test.csv": "\n".join(lines).encode()})
  return {splits.TRAIN: per_class * len(class_names), splits.TEST: len(class_names)}
