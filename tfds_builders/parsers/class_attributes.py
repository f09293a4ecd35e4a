# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images in class folders whose labels are the attributes of their class (Animals with Attributes).

Tables: classes.txt with lines "<number> <name>", a matrix of zeros and ones with one line per
class, and lists of the training and the test classes.
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
from tfds_builders.parsers import listed_images

_TABLES = {"classes.txt": "", "predicate-matrix-binary.txt": "", "trainclasses.txt": "",
           "testclasses.txt": ""}
_IMAGE = re.compile(r"(?:^|/)JPEGImages/(?P<label>[^/]+)/(?P<item>[^/]+)\.jpg$")


def parse(paths: Mapping[str, pathlib.Path], *, num_attributes: int) -> Iterator[example.Example]:
  """Yields the images in the order of the archive; splits share no class.

  Args:
    paths: file name -> path of one archive.
    num_attributes: columns of the matrix.
  """
  path, = paths.values()
  attributes, split_of = _read_tables(paths, num_attributes)
  seen = set()
  for name, data in archives.members(path, lambda name: bool(_IMAGE.search(name))):
    match = _IMAGE.search(name)
    assert match is not None
    label, where = match["label"], f"{path}, member {name!r}"
    if label not in attributes or label not in split_of:
      raise errors.DataError(f"{where} is of class {label!r}, which the archive's tables do not "
                             "know. Get the archive again.")
    seen.add(label)
    yield example.Example(split_of[label], f"{label}/{match['item']}", attributes[label],
                          images.encoded(data, where), where)
  lacking = sorted(set(split_of) - seen)
  if lacking:
    raise errors.DataError(f"{path} has no images of {lacking[:5]}: it is incomplete.")


def _read_tables(paths: Mapping[str, pathlib.Path], num_attributes: int
                 ) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
  """Returns (attributes by class, split by class)."""
  texts = {name: (where, data.decode("utf-8", "replace"))
           for name, (where, data) in listed_images.find_texts(paths, _TABLES).items()}
  names = [line.split()[-1] for line in texts["classes.txt"][1].splitlines() if line.strip()]
  where, text = texts["predicate-matrix-binary.txt"]
  rows = [line.split() for line in text.splitlines() if line.strip()]
  if len(rows) != len(names) or any(
      len(row) != num_attributes or set(row) - {"0", "1"} for row in rows):
    raise errors.DataError(f"{where} is not a matrix of zeros and ones with {len(names)} lines of "
                           f"{num_attributes}. The archive is damaged: get it again.")
  attributes = {name: tuple(index for index, value in enumerate(row) if value == "1")
                for name, row in zip(names, rows)}
  split_of: dict[str, str] = {}
  for table, split in (("trainclasses.txt", splits.TRAIN), ("testclasses.txt", splits.TEST)):
    for name in texts[table][1].split():
      if name not in attributes or name in split_of:
        raise errors.DataError(f"{texts[table][0]} has class {name!r}, which is in no other table, "
                               "or in both lists. The archive is damaged: get it again.")
      split_of[name] = split
  return attributes, split_of


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, num_attributes: int) -> Mapping[str, int]:
  """Writes a tiny archive of this layout: one class for every attribute, the last fifth test."""
  del per_class
  top, count, each = "Animals_with_Attributes2", num_attributes, 2
  names = [f"animal+{index:02d}" for index in range(count)]
  num_train = count - count // 5
  rows: list[str] = []
  members: dict[str, bytes] = {f"{top}/predicates.txt": "\n".join(class_names).encode()}
  for index, name in enumerate(names):
    shown = {index, 7 * index % count}
    if index >= num_train:  # Every attribute occurs in both splits.
      shown |= set(range(5 * (index - num_train), 5 * (index - num_train) + 5))
    else:
      shown |= {(index + num_train) % count}
    rows.append(" ".join("1" if column in shown else "0" for column in range(count)))
    for item in range(each):
      members[f"{top}/JPEGImages/{name}/{name}_{item:05d}.jpg"] = fixtures.jpeg(
          (4, 5, 3), seed=100 * index + item)
  tables = {"classes.txt": "\n".join(f"{i + 1:8d}\t{name}" for i, name in enumerate(names)),
            "predicate-matrix-binary.txt": "\n".join(rows),
            "trainclasses.txt": "\n".join(names[:num_train]),
            "testclasses.txt": "\n".join(names[num_train:])}
  members.update({f"{top}/{name}": text.encode() for name, text in tables.items()})
  fixtures.write_archive(directory / file_names[0], members)
  return {splits.TRAIN: each * num_train, splits.TEST: each * (count - num_train)}
