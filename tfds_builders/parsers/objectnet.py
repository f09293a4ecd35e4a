# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ObjectNet: `images/FOLDER/ITEM.png`, and tables in `mappings/` that lead to ImageNet's classes.

  folder_to_objectnet_label.json        folder -> name of ObjectNet's class
  objectnet_to_imagenet_1k.json         that name -> names of ImageNet's classes, "a; b; c"
  imagenet_to_label_2012_v2             those names, one per line
  pytorch_to_imagenet_2012_id.json      class (by WordNet id) -> its line, from 0

113 of the 313 classes are in the second table; the images of the others are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import json
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_IMAGE = re.compile(r"(?:^|/)images/(?P<key>(?P<folder>[^/]+)/[^/]+)\.(?i:png|jpe?g)$")
_FOLDERS = "folder_to_objectnet_label.json"
_CLASSES = "objectnet_to_imagenet_1k.json"
_NAMES = "imagenet_to_label_2012_v2"
_LINES = "pytorch_to_imagenet_2012_id.json"
_TABLES = (_FOLDERS, _CLASSES, _NAMES, _LINES)


def parse(paths: Mapping[str, pathlib.Path], *, domain: str) -> Iterator[example.Example]:
  """Yields the images of the classes that ImageNet has, too.

  The label is the first of ImageNet's classes that the folder stands for; "also" has the numbers of
  the others, separated by spaces, which are right answers, too.
  """
  (path,) = paths.values()
  classes = _classes(path)
  for name, data in archives.members(path, lambda name: bool(_IMAGE.search(name))):
    match = _IMAGE.search(name)
    assert match is not None
    if match["folder"] in classes:
      first, *others = classes[match["folder"]]
      where = f"{path}, member {name!r}"
      yield example.Example(splits.TEST, match["key"], first, images.encoded(data, where), where,
                            extra={"domain": domain, "also": " ".join(map(str, others))})


def _classes(path: pathlib.Path) -> dict[str, list[int]]:
  """Returns the classes of ImageNet, sorted, by folder."""
  found = {archives.base_name(name): data for name, data in archives.members(
      path, lambda name: archives.base_name(name) in _TABLES)}
  lacking = sorted(set(_TABLES) - set(found))
  if lacking:
    raise errors.DataError(f"{path} has no {', '.join(lacking)}. Put the folder mappings of "
                           "ObjectNet's archive into it, too.")
  try:
    lines = {int(line): int(place) for place, line in json.loads(found[_LINES]).items()}
    places: dict[str, int] = {}
    for line, text in enumerate(found[_NAMES].decode().splitlines()):
      places.setdefault(text.strip(), lines[line])
    folders = {name: folder for folder, name in json.loads(found[_FOLDERS]).items()}
    return {folders[name]: sorted(places[one] for one in names.split("; "))
            for name, names in json.loads(found[_CLASSES]).items()}
  except (KeyError, ValueError, AttributeError) as error:
    raise errors.DataError(f"{path}: the tables in its folder mappings do not agree: {error!r}. "
                           "Get ObjectNet's archive again.") from error


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, domain: str) -> Mapping[str, int]:
  """Writes a tiny archive of this layout: a folder for each class, one for two, one for none."""
  del domain
  size = len(class_names)
  shown = {f"thing_{place}": [place] for place in range(size)}
  shown["things"] = [0, size - 1]
  # Lines are in another order than classes.
  names = {place: f"name {place}, other name" for place in range(size)}
  members = {
      f"objectnet-1.0/mappings/{_FOLDERS}": json.dumps(
          {folder: folder.title() for folder in (*shown, "rock")}).encode(),
      f"objectnet-1.0/mappings/{_CLASSES}": json.dumps(
          {folder.title(): "; ".join(names[one] for one in places)
           for folder, places in shown.items()}).encode(),
      f"objectnet-1.0/mappings/{_NAMES}": "".join(
          f"{names[place]}\n" for place in reversed(range(size))).encode(),
      f"objectnet-1.0/mappings/{_LINES}": json.dumps(
          {str(place): size - 1 - place for place in range(size)}).encode()}
  tables = len(members)
  for folder in (*shown, "rock"):
    for item in range(per_class):
      members[f"objectnet-1.0/images/{folder}/{item}.png"] = images.png(
          fixtures.pixels((4, 4, 3), len(members)))
  fixtures.write_archive(directory / file_names[0], members)
  return {splits.TEST: len(members) - tables - per_class}
