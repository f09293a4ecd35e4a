# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Photographs with counts of objects; labels are bins of the counts, about equally frequent.

The edges of the bins come from training images only, unless a row says otherwise. Counts come from
one MATLAB array for all images (Mall), from a text file per image with one line per object
(TRANCOS) or from a MATLAB file per image with one point per object (ShanghaiTech).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Any, NamedTuple

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import listed_images
from tfds_builders.parsers import mat_files


class Counted(NamedTuple):
  """The split and the count of one image."""

  split: str
  number: int


def parse(paths: Mapping[str, pathlib.Path], *, image: str, counts: Mapping[str, str],
          parts: Mapping[str, Any], num_bins: int,
          edges_from: Sequence[str]) -> Iterator[example.Example]:
  """Yields the images in the order of the archive; labels are bins, the lowest counts first.

  Args:
    paths: file name -> path of an archive with images and tables.
    image: regular expression of an image's name; its groups, joined by slashes, are its key.
    counts: {"array": name of a table, "variable": that gives counts by number, "key": the format
      that makes keys of numbers, from 1}; or {"lines": regular expression of text files} or
      {"points": the same of MATLAB files}, whose groups make the key of their image.
    parts: {"first": [size of the first source split, its name, that of the other]}; or
      {"lists": {end of the name of a list of image names: source split}}; or {"folders": {the
      key's second last part: source split}}.
    num_bins: number of labels.
    edges_from: source splits whose counts are cut into equal shares.
  """
  for path in paths.values():
    table = _read_tables(path, counts, parts)
    chosen = [entry.number for entry in table.values() if entry.split in edges_from]
    if not chosen:
      raise errors.DataError(f"{path} has no counted images in {list(edges_from)}: it is "
                             "incomplete or of another edition. Get it again.")
    edges = bin_edges(chosen, num_bins)
    entries = {key: listed_images.ListEntry(entry.split, bin_of(entry.number, edges))
               for key, entry in table.items()}
    yield from listed_images.join([path], re.compile(image), entries, unlisted=False)


def bin_edges(counts: Sequence[int], num_bins: int) -> list[int]:
  """Returns the highest count of each bin but the last.

  The i-th is the highest count such that fewer than i / num_bins of the images have this count or
  less; -1 if there is none.
  """
  seen = np.cumsum(np.bincount(np.asarray(counts)))
  edges = []
  for index in range(1, num_bins):
    below = np.flatnonzero(seen < seen[-1] / num_bins * index)
    edges.append(int(below[-1]) if len(below) else -1)
  return edges


def bin_of(count: int, edges: Sequence[int]) -> int:
  """Returns the bin of a count: the number of edges below it."""
  return sum(count > edge for edge in edges)


def _read_tables(path: pathlib.Path, counts: Mapping[str, str],
                 parts: Mapping[str, Any]) -> dict[str, Counted]:
  """Reads lists and counts in one pass over the archive."""
  lists = parts.get("lists", {})
  per_image = re.compile(counts.get("lines") or counts.get("points") or "(?!)")
  numbers: dict[str, int] = {}
  split_of: dict[str, str] = {}
  found = set()

  def wanted(name: str) -> bool:
    return bool(per_image.search(name)) or archives.base_name(name) in (*lists, counts.get("array"))

  for name, data in archives.members(path, wanted):
    where = f"{path}, member {name!r}"
    match = per_image.search(name)
    if archives.base_name(name) in lists:
      found.add(archives.base_name(name))
      _read_list(data, where, lists[archives.base_name(name)], split_of)
    elif match:
      read = _num_lines if "lines" in counts else _num_points
      numbers["/".join(match.groups())] = read(data, where)
    else:
      array = mat_files.read(data, where, [counts["variable"]])[counts["variable"]].ravel()
      numbers.update({counts["key"].format(number): _whole(value, where)
                      for number, value in enumerate(array.tolist(), start=1)})
  if set(lists) - found or not numbers:
    raise errors.DataError(f"{path} is missing the lists {sorted(set(lists) - found)} or all "
                           "counts: it is incomplete or of another edition. Get it again.")
  if not lists:
    split_of = {key: _split(key, parts, path) for key in numbers}
  lacking = sorted(set(split_of) ^ set(numbers))
  if lacking:
    raise errors.DataError(f"{path}: {len(lacking)} images have a count but no split, or a split "
                           f"but no count, such as {lacking[:3]}. It is incomplete or of another "
                           "edition: get it again.")
  return {key: Counted(split_of[key], count) for key, count in numbers.items()}


def _read_list(data: bytes, where: str, split: str, split_of: dict[str, str]) -> None:
  for line in data.decode("ascii", "replace").split():
    key = archives.stem(line)
    if split_of.setdefault(key, split) != split:
      raise errors.DataError(f"{where} has the image {key!r} of list {split_of[key]!r} too. One of "
                             "the lists is damaged: get the archive again.")


def _split(key: str, parts: Mapping[str, Any], path: pathlib.Path) -> str:
  if "first" in parts:
    size, first, rest = parts["first"]
    return first if int(key) <= size else rest
  folder = key.split("/")[-2]
  if folder not in parts["folders"]:
    raise errors.DataError(f"{path} has the folder {folder!r}; known are "
                           f"{sorted(parts['folders'])}. It is of another edition.")
  return parts["folders"][folder]


def _num_lines(data: bytes, where: str) -> int:
  del where
  return sum(bool(line.strip()) for line in data.splitlines())


def _num_points(data: bytes, where: str) -> int:
  """Returns N of `image_info`: a cell with a structure whose first field is [N, 2]."""
  cell = mat_files.read(data, where, ["image_info"])["image_info"]
  try:
    structure = cell.flat[0].flat[0]
    points = structure[0]
    return len(points) if points.size else 0
  except (AttributeError, IndexError, TypeError) as error:
    raise errors.DataError(f"{where} has no points in image_info: {error}. It is damaged or of "
                           "another edition: get it again.") from error


def _whole(value: Any, where: str) -> int:
  if not (isinstance(value, (int, float)) and value >= 0 and value == int(value)):
    raise errors.DataError(f"{where} has the count {value!r}; only whole numbers are counts.")
  return int(value)


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, image: str, counts: Mapping[str, str], parts: Mapping[str, Any],
                  num_bins: int, edges_from: Sequence[str]) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split."""
  del image, class_names, edges_from
  each = max(2, per_class) * num_bins
  if "first" in parts:
    size, first, rest = parts["first"]
    members = _frames(size, size + each, counts)
    result = {first: size, rest: each}
  else:
    members = {}
    result = {}
    for place, (name, split) in enumerate((parts.get("lists") or parts["folders"]).items()):
      members.update(_folder(place, name, each, "lines" in counts))
      result[split] = each
  fixtures.write_archive(directory / file_names[0], members)
  return result


def _frames(num_first: int, size: int, counts: Mapping[str, str]) -> dict[str, bytes]:
  """Returns a film whose first frames have each count as often as the others."""
  array = np.array([index % 60 + (index >= num_first) for index in range(size)])[:, None]
  members = {"top/frames/readme.txt": b"no image"}
  members.update({f"top/frames/seq_{number:06d}.jpg": fixtures.jpeg((4, 4, 3), number)
                  for number in range(1, size + 1)})
  members[f"top/{counts['array']}"] = mat_files.packed({counts["variable"]: array})
  return members


def _folder(place: int, name: str, size: int, in_lines: bool) -> dict[str, bytes]:
  """Returns a list with its images and text files, or a folder of images and MATLAB files."""
  members: dict[str, bytes] = {}
  keys = []
  for index in range(size):
    picture = fixtures.jpeg((4, 4, 3), index + place * size)
    if in_lines:
      keys.append(f"image-{place}-{index:06d}")
      members[f"top/images/{keys[-1]}.jpg"] = picture
      members[f"top/images/{keys[-1]}dots.png"] = b"never read"
      members[f"top/images/{keys[-1]}.txt"] = b"12\t34\r\n" * (index + place)
    else:
      folder = f"top/part_{'AB'[index % 2]}/{name}"
      members[f"{folder}/images/IMG_{index}.jpg"] = picture
      members[f"{folder}/ground-truth/GT_IMG_{index}.mat"] = _points(index + place)
      members[f"shanghaitech_h5_empty/{folder}/images/IMG_{index}.jpg"] = b"never read"
  if in_lines:
    members[f"top/image_sets/{name}"] = "".join(f"{key}.jpg\n" for key in keys).encode()
    members["top/image_sets/trainval.txt"] = b"never read"
  return members


def _points(count: int) -> bytes:
  """Returns `image_info` as published: a 1 x 1 cell with a structure of `location`, `number`."""
  structure = np.zeros((1, 1), [("location", object), ("number", object)])
  structure[0, 0] = (np.zeros((count, 2)), np.array([[count]]))
  cell = np.empty((1, 1), object)
  cell[0, 0] = structure
  return mat_files.packed({"image_info": cell})
