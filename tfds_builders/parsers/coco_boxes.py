# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Boxes of COCO as images: every annotated object is cropped and labeled by its category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import functools
import json
import math
import pathlib
import re
from typing import Any, NamedTuple

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import coco_json
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_PHOTO = re.compile(r"(?:^|/)(?P<id>\d{12})\.jpg$")


class _Box(NamedTuple):
  id: int
  rank: int  # Position in the table, whose order is not that of the photographs.
  label: int
  sides: tuple[float, float, float, float]  # Left, top, width, height.


def parse(paths: Mapping[str, pathlib.Path], *, photos: Mapping[str, tuple[str, str]],
          min_side: int, crowds: bool = False, by_photo: bool = True,
          numbered: bool = False) -> Iterator[example.Example]:
  """Yields the crops, photograph by photograph in the order of the archives.

  A label is the category's number less 1. Crops of one photograph are a group.

  Args:
    paths: file name -> path.
    photos: archive of photographs -> (end of the name of its table, source split).
    min_side: smaller boxes (either side, in pixels) are left out.
    crowds: whether boxes around groups of objects are examples.
    by_photo: whether the crops of one photograph are a group.
    numbered: whether keys begin with the box's position in its table, to sort in its order.
  """
  others = {name: path for name, path in paths.items() if name not in photos}
  tables = coco_json.tables(others, [ending for ending, _ in photos.values()],
                            functools.partial(_boxes, min_side, crowds))
  for file, (ending, split) in photos.items():
    boxes = tables.pop(ending)
    missing = set(boxes)
    for name, data in archives.members(paths[file], lambda name: bool(_PHOTO.search(name))):
      match = _PHOTO.search(name)
      assert match is not None
      photo = int(match["id"])
      if photo not in boxes:
        continue
      missing.discard(photo)
      where = f"{paths[file]}, member {name!r}"
      for box, crop in zip(boxes[photo], _crops(data, boxes[photo], where)):
        key = f"{match['id']}/{box.id}"
        yield example.Example(split, f"{box.rank:07d}/{key}" if numbered else key, box.label, crop,
                              f"{where}, box {box.id}", f"{photo}" if by_photo else None)
    if missing:
      raise errors.DataError(f"{paths[file]} is missing {len(missing)} of {len(boxes)} "
                             f"photographs, such as {min(missing):012d}.jpg. It is incomplete: get "
                             "it again.")


def _boxes(min_side: int, crowds: bool, where: str, entries: Iterator[tuple[str, Any]]
           ) -> dict[int, list[_Box]]:
  """Returns the boxes that are examples, by photograph."""
  del where
  found: dict[int, list[_Box]] = {}
  for rank, one in enumerate(entry for part, entry in entries if part == "annotations"):
    left, top, width, height = (float(side) for side in one["bbox"])
    if not all(map(math.isfinite, (left, top, width, height))):
      raise ValueError(f"the box {one['bbox']} of annotation {one['id']}")
    if min(width, height) >= min_side and (crowds or not one.get("iscrowd", 0)):
      found.setdefault(int(one["image_id"]), []).append(
          _Box(int(one["id"]), rank, int(one["category_id"]) - 1, (left, top, width, height)))
  return found


def _crops(data: bytes, boxes: Sequence[_Box], where: str) -> Iterator[bytes]:
  """Yields a PNG for each box, or the bytes of a photograph that does not decode."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  try:
    pixels = tf.io.decode_jpeg(data, channels=3).numpy()
  except tf.errors.InvalidArgumentError:
    yield from (data for _ in boxes)
    return
  for box in boxes:
    left, top, width, height = box.sides
    rows = slice(max(0, round(top)), max(0, round(top + height)))
    columns = slice(max(0, round(left)), max(0, round(left + width)))
    crop = pixels[rows, columns]
    if not crop.size:
      raise errors.DataError(f"{where}: box {box.id} {box.sides} is outside the photograph of "
                             f"{pixels.shape[1]} x {pixels.shape[0]} pixels.")
    yield images.png(np.ascontiguousarray(crop))


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, photos: Mapping[str, tuple[str, str]], min_side: int,
                  crowds: bool = False, by_photo: bool = True,
                  numbered: bool = False) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del by_photo, numbered
  number = 0
  tables: dict[str, bytes] = {}
  counts: dict[str, int] = {}
  categories = [{"id": label + 1, "name": name} for label, name in enumerate(class_names)]
  for file, (ending, split) in photos.items():
    members: dict[str, bytes] = {}
    boxes: list[dict[str, Any]] = []
    num_crowds = 0
    for label in list(range(len(class_names))) * per_class:
      number += 1
      members[f"{file[:-4]}/{number:012d}.jpg"] = fixtures.jpeg((24, 30, 3), seed=number)
      sides = (([1.5, 2.5, 17.2, 16.0], 0), ([3, 1, 15.9, 20], 0), ([0, 0, 30, 24], 1))
      for box, is_crowd in sides[:2 + (number % 5 == 0)]:
        num_crowds += is_crowd
        boxes.append({"id": 1000 + len(boxes) + 10**6 * number, "image_id": number, "bbox": box,
                      "category_id": label + 1, "iscrowd": is_crowd})
    members[f"{file[:-4]}/{number + 10**6:012d}.jpg"] = fixtures.jpeg((24, 30, 3), seed=0)
    fixtures.write_archive(directory / file, members)
    tables[f"annotations/{ending}"] = json.dumps(
        {"categories": categories, "annotations": boxes}).encode()
    counts[split] = per_class * len(class_names) + (num_crowds if crowds else 0)
  tables["annotations/captions_train2017.json"] = b"not read"
  other, = (name for name in file_names if name not in photos)
  fixtures.write_archive(directory / other, tables)
  assert min_side == 16  # The boxes above are a little larger and a little smaller.
  return counts
