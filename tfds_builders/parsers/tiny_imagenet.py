# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tiny ImageNet: `train/<wnid>/images/<wnid>_<i>.JPEG`, and `val/images` with a table of labels.

The test images have no labels and are not read. Any folders may be above `train` and `val`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_TRAIN = re.compile(r"(?:^|/)train/(?P<wnid>n\d+)/images/(?P<item>[^/]+)\.JPEG$")
_VAL = re.compile(r"(?:^|/)val/images/(?P<file>(?P<item>[^/]+)\.JPEG)$")
_TABLE = re.compile(r"(?:^|/)val/val_annotations\.txt$")
_WNIDS = re.compile(r"(?:^|/)wnids\.txt$")
_WANTED = (_TRAIN, _VAL, _TABLE, _WNIDS)


def parse(paths: Mapping[str, pathlib.Path]) -> Iterator[example.Example]:
  """Yields train images as `train`, labeled validation images as `test`; labels are wnids."""
  for path in paths.values():
    yield from _parse_one(path)


def _parse_one(path: pathlib.Path) -> Iterator[example.Example]:
  labels: dict[str, str] = {}  # Validation file -> wnid.
  waiting: dict[str, bytes] = {}  # Validation images that come before their table: about 20 MB.
  wnids: list[str] = []
  seen = set()
  for name, data in archives.members(path, wanted=lambda n: any(p.search(n) for p in _WANTED)):
    where = f"{path}, member {name!r}"
    train, val = _TRAIN.search(name), _VAL.search(name)
    if train:
      seen.add(train["wnid"])
      yield example.Example(splits.TRAIN, f"train/{train['item']}", train["wnid"],
                            images.encoded(data, where), where)
    elif val:
      waiting[val["file"]] = data
    elif _TABLE.search(name):
      labels = _read_table(data, where)
    else:
      wnids = data.decode("ascii", "replace").split()
  _check(path, labels, waiting, wnids, seen)
  for file, data in sorted(waiting.items()):
    where = f"{path}, validation image {file!r}"
    yield example.Example(splits.TEST, f"val/{file.rsplit('.', 1)[0]}", labels[file],
                          images.encoded(data, where), where)


def _read_table(data: bytes, where: str) -> dict[str, str]:
  labels = {}
  for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
    fields = line.split("\t")
    if len(fields) < 2 or not re.fullmatch(r"n\d+", fields[1]):
      raise errors.DataError(f"{where}, line {number} has no file and wnid: {line[:60]!r}.")
    labels[fields[0]] = fields[1]
  return labels


def _check(path, labels, waiting, wnids, seen) -> None:
  if not labels or not wnids:
    lacking = [n for n, v in (("val/val_annotations.txt", labels), ("wnids.txt", wnids)) if not v]
    raise errors.DataError(f"{path} has no {' and '.join(lacking)}: it is incomplete, or not Tiny "
                           "ImageNet as published.")
  lone = sorted(set(labels) ^ set(waiting))
  if lone:
    raise errors.DataError(f"{path}: {len(lone)} validation images have no label, or labels no "
                           f"image, such as {lone[:3]}. The archive is incomplete.")
  foreign = sorted((seen | set(labels.values())) ^ set(wnids))
  if foreign:
    raise errors.DataError(f"{path}: {len(foreign)} classes are in wnids.txt or in the images but "
                           f"not in both, such as {foreign[:3]}. The archive is incomplete.")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  wnids = [f"n{100 + i:08d}" for i in reversed(range(len(class_names)))]
  top = "tiny-imagenet-200"
  members: dict[str, bytes] = {}
  table: list[str] = []
  for wnid in wnids:
    for item in range(per_class):
      name = f"{top}/train/{wnid}/images/{wnid}_{item}.JPEG"
      members[name] = fixtures.jpeg((4, 4, 3), len(members))
      file = f"val_{len(table)}.JPEG"
      members[f"{top}/val/images/{file}"] = fixtures.jpeg((4, 4, 1), len(members))
      table.append(f"{file}\t{wnid}\t0\t0\t3\t3\n")
  members[f"{top}/test/images/test_0.JPEG"] = b"not read"
  members[f"{top}/val/val_annotations.txt"] = "".join(table).encode()
  members[f"{top}/wnids.txt"] = "\n".join(wnids).encode()
  fixtures.write_archive(directory / file_names[0], members)
  return {splits.TRAIN: len(table), splits.TEST: len(table)}
