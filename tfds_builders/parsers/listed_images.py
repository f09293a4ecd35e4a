# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images in archives, and text lists that name them with their split and optionally their label.

Lines and names of images are given by templates: `"{label}/{item}.jpg"` reads `apple_pie/100.jpg`.
The fields that both templates have connect a line to its image and become its key, here
`apple_pie/100`. Lists are in the archive of the images, in another archive, or separate files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import NamedTuple

from absl import logging

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import templates


class ListEntry(NamedTuple):
  """The split and the label of one image."""

  split: str
  label: example.Label


Table = dict[str, ListEntry]


def parse(paths: Mapping[str, pathlib.Path], *, lists: Mapping[str, str], line: str, image: str,
          keep: Mapping[str, str] | None = None, header_lines: int = 0,
          unlisted: bool = False, max_missing: int = 0) -> Iterator[example.Example]:
  """Yields the images that the lists name, in the order of the archives.

  Args:
    paths: file name -> path.
    lists: end of the name of a list -> source split. An image in two lists belongs to the later.
    line: template of a line, with {label}, {item} and optionally others.
    image: template of the end of an image's name, with {item} and optionally {label}.
    keep: field of a line -> the value that it must have; other lines are skipped.
    header_lines: number of lines to skip at the top of each list.
    unlisted: whether images that no list names are allowed (they are left out).
    max_missing: maximum number of listed images that may be missing.
  """
  line_pattern = re.compile(templates.expression(line, other=r"[^\t]+?"))
  table = _read_lists(paths, lists, line_pattern, _shared(line, image), keep or {},
                      header_lines)
  pattern = name_pattern(image, _shared(line, image))
  plain = {name for name in paths if name in lists}
  yield from join([path for name, path in paths.items() if name not in plain], pattern, table,
                  unlisted=unlisted, max_missing=max_missing)


def join(paths: Sequence[pathlib.Path], pattern: re.Pattern[str], table: Mapping[str, ListEntry], *,
         unlisted: bool, max_missing: int = 0) -> Iterator[example.Example]:
  """Yields the images whose key is in the table; DataError unless images and table agree.

  Args:
    paths: archives.
    pattern: of the names of images; its groups, joined by slashes, are the key.
    table: key -> split and label.
    unlisted: whether images without an entry are allowed.
    max_missing: maximum number of entries without an image.
  """
  missing = set(table)
  extra: list[str] = []

  def wanted(name: str) -> bool:
    match = pattern.search(name)
    if match is None:
      return False
    if _key(match) not in table:
      extra.append(name)
      return False
    return True

  for path in paths:
    for name, data in archives.members(path, wanted):
      match = pattern.search(name)
      assert match is not None
      key = _key(match)
      missing.discard(key)
      where = f"{path}, member {name!r}"
      yield example.Example(table[key].split, key, table[key].label, images.encoded(data, where),
                            where)
  found_in = " and ".join(str(path) for path in paths)
  if len(missing) > max_missing or not table:
    raise errors.DataError(
        f"{found_in}: {len(missing)} of {len(table)} images that the labels name are missing"
        f"{f', such as {sorted(missing)[:3]}' if missing else ''}. The archive is incomplete or "
        "another edition: get it again.")
  if missing:
    logging.warning("%s: listed images are missing: %s", found_in, sorted(missing))
  if extra and not unlisted:
    raise errors.DataError(
        f"{found_in}: {len(extra)} images have no label, such as {sorted(extra)[:3]}. The labels "
        "are incomplete, or of another edition than the images: get both again.")


def _key(match: re.Match[str]) -> str:
  return "/".join(match.groups())


def _read_lists(paths, lists, pattern, shared, keep, header_lines) -> Table:
  """Reads all lists; if two name the same image, the later is used."""
  texts = find_texts(paths, lists)
  table: Table = {}
  moved = 0
  for name, split in lists.items():
    where, data = texts[name]
    entries = _read_list(data, where, split, pattern, shared, keep, header_lines)
    for key, entry in entries.items():
      moved += key in table
      if key in table and table[key].label != entry.label:
        raise errors.DataError(f"{where} gives {key!r} the label {entry.label!r}, another list "
                               f"{table[key].label!r}. One of the lists is damaged.")
      table[key] = entry
  if moved:
    logging.info("%d images are in two of the lists %s; they count for the later one.", moved,
                 ", ".join(lists))
  return table


def find_texts(paths: Mapping[str, pathlib.Path],
               endings: Mapping[str, str]) -> dict[str, tuple[str, bytes]]:
  """Returns the files or members with these endings: {ending: (location, content)}."""
  found: dict[str, tuple[str, bytes]] = {}
  for file_name, path in paths.items():
    if file_name in endings:
      found[file_name] = str(path), archives.read_content(path)

  def ending_of(name: str) -> str | None:
    return next((e for e in endings if name == e or name.endswith("/" + e)), None)

  # The smallest archive first: if it has all the lists, the others are not read.
  for file_name, path in sorted(paths.items(), key=lambda item: item[1].stat().st_size):
    if len(found) == len(endings):
      break
    if file_name in endings:
      continue
    for name, data in archives.members(path, lambda name: ending_of(name) is not None):
      found[str(ending_of(name))] = f"{path}, member {name!r}", data
      if len(found) == len(endings):
        break
  lacking = sorted(set(endings) - set(found))
  if lacking:
    raise errors.DataError(f"{' and '.join(map(str, paths.values()))} are missing the lists "
                           f"{lacking}: incomplete, or another edition. Get them again.")
  return found


def _read_list(data: bytes, where: str, split: str, pattern, shared, keep, header_lines) -> Table:
  table: Table = {}
  lines = data.decode("utf-8-sig", "replace").splitlines()
  for number, text in enumerate(lines, start=1):
    text = text.strip().replace("\\", "/")
    if number <= header_lines or not text:
      continue
    match = pattern.fullmatch(text)
    if match is None:
      raise errors.DataError(f"{where}, line {number} does not match {pattern.pattern!r}: "
                             f"{text[:60]!r}. The list is damaged or of another edition.")
    fields = match.groupdict()
    if any(fields[field] != value for field, value in keep.items()):
      continue
    key = "/".join(fields[field] for field in shared)
    entry = ListEntry(split, fields["label"])
    if table.setdefault(key, entry) != entry:
      raise errors.DataError(f"{where}, line {number} gives {key!r} the label {entry.label!r}, an "
                             f"earlier line {table[key].label!r}. The list is damaged.")
  return table


def _shared(line: str, image: str) -> list[str]:
  """Returns the fields that connect a line to an image, in the order of the image's name."""
  return [field for field in templates.fields(image) if field in templates.fields(line)]


def name_pattern(image: str, shared: Sequence[str]) -> re.Pattern[str]:
  """Returns the pattern of names that end like the template; its groups are the shared fields."""
  return re.compile(f"(?:^|/){templates.expression(image, named=shared)}$")


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, lists: Mapping[str, str], line: str, image: str,
                  keep: Mapping[str, str] | None = None, header_lines: int = 0,
                  unlisted: bool = False, max_missing: int = 0) -> Mapping[str, int]:
  """Writes tiny files of this layout; returns the number of examples by source split.

  Lists are separate files if `file_names` has them, otherwise members of the last archive.
  """
  counts = {}
  members: dict[str, bytes] = {"top/README": b"not an image"}
  texts: dict[str, bytes] = {}
  for name, split in lists.items():
    lines = ["a\theader"] * header_lines
    for label in (label for label in class_names for _ in range(per_class)):
      fields = {"label": label, "item": f"{split}_{len(lines):04d}"}
      members[f"top/{templates.filled(image, fields)}"] = fixtures.jpeg((6, 5, 3), len(members))
      lines.append(templates.filled(line, {"flag": "1", **fields}))
    counts[split] = per_class * len(class_names)
    if "flag" in templates.fields(line):  # One image per list is flagged as wrong.
      fields = {"label": class_names[0], "item": f"{split}_rejected"}
      members[f"top/{templates.filled(image, fields)}"] = fixtures.jpeg((6, 5, 3), len(members))
      lines.append(templates.filled(line, {**fields, "flag": "0"}))
      counts[split] += not keep
    if max_missing:
      lines.append(templates.filled(line, {"label": class_names[0], "item": "lost", "flag": "1"}))
    texts[name] = "\n".join(lines + [""]).encode()
  if unlisted:
    name = templates.filled(image, {"label": class_names[0], "item": "unlisted"})
    members[f"top/{name}"] = b"never read"
  members[f"top/thumbs/{class_names[0].replace('/', '')}/1.txt"] = b"not an image"
  _write(directory, file_names, members, texts)
  return counts


def _write(directory, file_names, members, texts) -> None:
  plain = [name for name in file_names if name in texts]
  packed = [name for name in file_names if name not in texts]
  for name in plain:
    (directory / name).write_bytes(texts[name])
  inside = {f"lists/{name}": data for name, data in texts.items() if name not in plain}
  if len(packed) == 1:
    fixtures.write_archive(directory / packed[0], {**members, **inside})
  else:
    fixtures.write_archive(directory / packed[0], members)
    fixtures.write_archive(directory / packed[1], inside)
