# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An archive with folders of images, each with a text table: lines of name and label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import hashlib
import pathlib
import re

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import listed_images

_LINE = re.compile(r"(\S+)\s+(\d+)", re.ASCII)


def parse(paths: Mapping[str, pathlib.Path], *, folders: Mapping[str, str],
          merge_tables: bool = False) -> Iterator[example.Example]:
  """Yields the images in the order of the archive, all in one pool; labels are numbers.

  Args:
    paths: file name -> path.
    folders: folder of images -> end of the name of its table.
    merge_tables: the defect of the NEVIS'22 reference. It merges all tables by file name, so if two
      images have the same name, that of the earlier folder gets the label of the other; then it
      leaves out images that equal an earlier one in content and label.
  """
  tables = _read_tables(paths, folders, merge_tables)
  pattern = re.compile(rf"(?:^|/)({'|'.join(map(re.escape, folders))})/([^/]+)$")
  missing = {(folder, name) for folder, table in tables.items() for name in table}
  unlabeled: list[str] = []
  seen: set[tuple[bytes, int]] = set()
  for path in paths.values():
    for member, data in archives.members(path, lambda name: bool(pattern.search(name))):
      match = pattern.search(member)
      assert match is not None
      folder, name = match.groups()
      if name not in tables[folder]:
        unlabeled.append(member)
        continue
      missing.discard((folder, name))
      label = tables[folder][name]
      copy = hashlib.sha256(data).digest(), label
      if merge_tables and copy in seen:
        continue
      seen.add(copy)
      where = f"{path}, member {member!r}"
      yield example.Example(splits.POOL, f"{folder}/{name.rsplit('.', 1)[0]}", label,
                            images.encoded(data, where), where)
  if unlabeled or missing and not merge_tables:
    raise errors.DataError(
        f"{' and '.join(map(str, paths.values()))}: {len(unlabeled)} images have no label "
        f"{sorted(unlabeled)[:3]} and {len(missing)} labels no image {sorted(missing)[:3]}. The "
        "archive is incomplete or another edition: get it again.")


def _read_tables(paths, folders: Mapping[str, str], merge: bool) -> dict[str, dict[str, int]]:
  texts = listed_images.find_texts(paths, dict.fromkeys(folders.values(), ""))
  tables: dict[str, dict[str, int]] = {}
  for folder, ending in folders.items():
    where, data = texts[ending]
    table: dict[str, int] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
      if not line.strip():
        continue
      match = _LINE.fullmatch(line.strip())
      if match is None or match[1] in table:
        raise errors.DataError(f"{where}, line {number} is not a name and a label, or names an "
                               f"image twice: {line[:60]!r}. The table is damaged: get it again.")
      table[match[1]] = int(match[2])
    tables[folder] = table
  if merge:
    merged = {name: label for table in tables.values() for name, label in table.items()}
    tables = dict.fromkeys(folders, merged)
  return tables


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, folders: Mapping[str, str],
                  merge_tables: bool = False) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split.

  The images of each folder are numbered from 0 and have different labels.
  """
  del merge_tables  # No image has a copy.
  members: dict[str, bytes] = {}
  count = per_class * len(class_names)
  for number, (folder, table) in enumerate(folders.items()):
    lines = []
    for index in range(count):
      members[f"top/{folder}/{index:08d}.png"] = images.png(
          fixtures.pixels((6, 5, 3), seed=index + number * count))
      lines.append(f"{index:08d}.png {(index + number) % len(class_names)}\n")
    members[f"top/{table}"] = "".join(lines).encode()
  fixtures.write_archive(directory / file_names[0], members)
  return {splits.POOL: count * len(folders)}
