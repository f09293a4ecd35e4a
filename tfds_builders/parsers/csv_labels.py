# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images in archives, and CSV tables that give their labels; lists or tables give their splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import csv
import io
import pathlib
import re

from tfds_builders import errors
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images

Labels = example.Label | tuple[example.Label, ...]


def parse(paths: Mapping[str, pathlib.Path], *, tables: Mapping[str, str], key: str, image: str,
          flags: Sequence[tuple[str, str]] | None = None, otherwise: str = "",
          joined: tuple[str, str] | None = None,
          lists: Mapping[str, str] | None = None,
          group: str | None = None) -> Iterator[example.Example]:
  """Yields the images that the tables name, in the order of the archives.

  Args:
    paths: file name -> path.
    tables: end of the name of a table -> source split (not used if `lists` are given).
    key: column that names the image; the extension is removed.
    image: template of the end of an image's name, with {item}.
    flags: (column, class name): the class whose column is 1; `otherwise` if there is none.
    otherwise: the class of images without a flag.
    joined: (column, separator) of several class names in one cell, instead of flags.
    lists: end of the name of a list of images, one per line -> source split.
    group: regular expression of the beginning of an image's name; its first group names a patient.
  """
  texts = listed_images.find_texts(paths, {**tables, **(lists or {})})
  split_of = _splits(texts, lists or {})
  found: dict[str, listed_images.ListEntry] = {}
  for name, split in tables.items():
    where, data = texts[name]
    for number, row in enumerate(_rows(where, data, key, flags, joined), start=2):
      item = _stem(row[key])
      if lists and item not in split_of:
        raise errors.DataError(f"{where}, line {number}: {row[key]!r} is in none of the lists "
                               f"{sorted(lists)}. Table and lists are of different editions.")
      label = _label(row, flags, otherwise, joined)
      found[item] = listed_images.ListEntry(split_of.get(item, split), label)  # type: ignore[arg-type]
  pattern = listed_images.name_pattern(image, ["item"])
  packed = [path for name, path in paths.items() if name not in texts]
  for one in listed_images.join(packed, pattern, found, unlisted=False):
    yield one._replace(group=_group(group, one)) if group else one


def _rows(where: str, data: bytes, key: str, flags, joined) -> list[dict[str, str]]:
  reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""))
  needed = {key, *(column for column, _ in flags or ()), *((joined[0],) if joined else ())}
  lacking = sorted(needed - set(reader.fieldnames or ()))
  if lacking:
    raise errors.DataError(f"{where} has the columns {reader.fieldnames}, not {lacking}: it is "
                           "damaged or of another edition. Get it again.")
  rows = list(reader)
  for number, row in enumerate(rows, start=2):
    if any(row[column] is None or row[column] == "" for column in needed):
      raise errors.DataError(f"{where}, line {number} is incomplete: {row}. Get the table again.")
  return rows


def _splits(texts, lists: Mapping[str, str]) -> dict[str, str]:
  found: dict[str, str] = {}
  for name, split in lists.items():
    where, data = texts[name]
    for line in data.decode("utf-8", "replace").split():
      if found.setdefault(_stem(line), split) != split:
        raise errors.DataError(f"{where}: {line!r} is in two lists of different splits.")
  return found


def _group(pattern: str, one: example.Example) -> str:
  match = re.match(pattern, one.key)
  if match is None:
    raise errors.DataError(f"{one.where}: the name {one.key!r} has no patient, as {pattern!r} "
                           "expects. The archive is of another edition.")
  return match[1]


def _stem(name: str) -> str:
  return pathlib.PurePosixPath(name.strip()).stem if "." in name else name.strip()


def _label(row: Mapping[str, str], flags, otherwise: str, joined) -> Labels:
  if joined:
    return tuple(part.strip() for part in row[joined[0]].split(joined[1]))
  raised = [name for column, name in flags or () if float(row[column]) == 1.0]
  return raised[0] if raised else otherwise


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, tables: Mapping[str, str], key: str, image: str,
                  flags: Sequence[tuple[str, str]] | None = None, otherwise: str = "",
                  joined: tuple[str, str] | None = None,
                  lists: Mapping[str, str] | None = None,
                  group: str | None = None) -> Mapping[str, int]:
  """Writes tiny archives and tables of this layout; returns the examples by source split.

  With `group`, a patient has three images, named PATIENT_IMAGE.
  """
  del otherwise
  texts: dict[str, list[str]] = {name: [] for name in (*tables, *(lists or {}))}
  columns = [key, *(column for column, _ in flags or ()), *((joined[0],) if joined else ())]
  for name in tables:
    texts[name].append(",".join(columns))
  pictures: dict[str, bytes] = {}
  counts: dict[str, int] = {}
  groups = list((lists or tables).items())
  for number, (name, split) in enumerate(groups):
    table = name if name in tables else next(iter(tables))
    for label in class_names:
      for _ in range(per_class):
        place = counts.get(split, 0)
        item = f"{number}{place // 3:04d}_{place % 3}" if group else f"{len(pictures):05d}"
        pictures[f"top/{image.format(item=item)}"] = fixtures.jpeg((6, 5, 3), len(pictures))
        cells = [str(float(of == label)) for _, of in flags or ()]
        if joined:  # Every other image has a second finding.
          cells = [joined[1].join(dict.fromkeys(
              [label, class_names[0]] if len(pictures) % 2 else [label]))]
        texts[table].append(",".join([item if flags else f"{item}.png", *cells]))
        if lists:
          texts[name].append(f"{item}.png")
        counts[split] = place + 1
  _write(directory, file_names, pictures,
         {name: "\n".join([*lines, ""]).encode() for name, lines in texts.items()})
  return counts


def _write(directory, file_names, pictures, texts) -> None:
  """Writes texts that are files, and the rest into the archives."""
  packed = [name for name in file_names if name not in texts]
  for name in set(file_names) & set(texts):
    (directory / name).write_bytes(texts[name])
  inside = {f"top/{name}": data for name, data in texts.items() if name not in file_names}
  for index, name in enumerate(packed):
    part = dict(list(pictures.items())[index::len(packed)])
    fixtures.write_archive(directory / name, {**part, **(inside if index == 0 else {})})


