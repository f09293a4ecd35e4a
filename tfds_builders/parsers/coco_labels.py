# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Whole images with tables in COCO's format: the class is that of the last annotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import json
import pathlib
import re
from typing import Any

from tfds_builders import errors
from tfds_builders.parsers import coco_json
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images


def parse(paths: Mapping[str, pathlib.Path], *, images_file: str, tables: Mapping[str, str]
          ) -> Iterator[example.Example]:
  """Yields the images that the tables name, in the order of the archive.

  Args:
    paths: file name -> path.
    images_file: the archive of images, named by their ids: <id>.jpg in any folder.
    tables: end of the name of a table -> source split.
  """
  found = coco_json.tables({name: path for name, path in paths.items() if name != images_file},
                           tables, _labels)
  table: listed_images.Table = {}
  for ending, split in tables.items():
    twice = sorted(set(found[ending]) & set(table))
    if twice:
      raise errors.DataError(f"{ending}: {len(twice)} images are in two splits: {twice[0]}, ...")
    table.update((image, listed_images.ListEntry(split, name))
                 for image, name in found[ending].items())
  yield from listed_images.join([paths[images_file]], re.compile(r"(?:^|/)([^/]+)\.jpg$"), table,
                                unlisted=True)


def _labels(where: str, entries: Iterator[tuple[str, Any]]) -> dict[str, str]:
  """Returns image -> name of the category of its last annotation."""
  del where
  names: dict[int, str] = {}
  categories: dict[str, int] = {}
  for part, one in entries:
    if part == "categories":
      names[one["id"]] = str(one["name"])
    elif part == "annotations":
      categories[str(one["image_id"])] = one["category_id"]
  return {image: names[category] for image, category in categories.items()}


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, images_file: str, tables: Mapping[str, str]) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  members: dict[str, bytes] = {}
  annotations: dict[str, bytes] = {}
  ids = {name: 10 + number for number, name in enumerate(class_names)}
  categories = [{"id": ids[name], "name": name} for name in class_names]
  number = 0
  for ending in tables:
    entries: list[dict[str, Any]] = []
    for name in list(class_names) * per_class:
      number += 1
      image = f"586a{number:04d}-23d2"
      members[f"eccv_18_all_images_sm/{image}.jpg"] = fixtures.jpeg((4, 5, 3), seed=number)
      # The last of two annotations counts.
      entries += [{"image_id": image, "category_id": 10}, {"image_id": image,
                                                           "category_id": ids[name]}]
    annotations[f"eccv_18_annotation_files/{ending}"] = json.dumps(
        {"categories": categories, "annotations": entries}).encode()
  members["eccv_18_all_images_sm/of-another-list.jpg"] = fixtures.jpeg((4, 5, 3), seed=0)
  annotations["eccv_18_annotation_files/cis_test_annotations.json"] = b"not read"
  other, = (name for name in file_names if name != images_file)
  fixtures.write_archive(directory / images_file, members)
  fixtures.write_archive(directory / other, annotations)
  return {split: per_class * len(class_names) for split in tables.values()}
