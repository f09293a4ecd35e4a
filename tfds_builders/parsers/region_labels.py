# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""SAIAPR TC-12, the segmented IAPR TC-12: each region of an image has a label.

`NN/labels.txt` has one line per region, "IMAGE REGION LABEL", `wlist.txt` the word of each label,
and a MATLAB file for each set the numbers of its images. Images are in `NN/images`, often twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Any, cast

from absl import logging
import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import listed_images
from tfds_builders.parsers import mat_files

_LABELS = re.compile(r"(?:^|/)\d+/labels\.txt$")
_IMAGE = re.compile(r"(?:^|/)(\d+)/images/(\d+)\.jpg$")


def parse(paths: Mapping[str, pathlib.Path], *, sets: Mapping[str, tuple[str, str]], words: str,
          num_words: int, annotations: str, last_only: bool = False,
          max_missing: int = 0) -> Iterator[example.Example]:
  """Yields the images of the sets in the order of the archives; labels are numbers from 0.

  Args:
    paths: file name -> path.
    sets: end of the name of a MATLAB file -> (its variable, source split).
    words: end of the name of the list of words.
    num_words: the number of words of this list.
    annotations: the folder of all tables; its images are copies.
    last_only: the defect of the NEVIS'22 reference: an image has the label of its last region only.
    max_missing: maximum number of images of the sets without labels, and of those without a file.
  """
  texts = listed_images.find_texts(paths, {words: "", **dict.fromkeys(sets, "")})
  _check_words(*texts[words], num_words)
  split_of: dict[int, str] = {}
  for ending, (variable, split) in sets.items():
    for number in _numbers(*texts[ending], variable):
      if split_of.setdefault(number, split) != split:
        raise errors.DataError(f"{texts[ending][0]} names image {number} of another set. One "
                               "of the sets is damaged or of another edition.")
  regions = _read_regions(paths, annotations, num_words)
  unlabeled = sorted(set(split_of) - set(regions))
  missing = set(split_of) & set(regions)
  where = " and ".join(map(str, paths.values()))
  _check_missing(where, unlabeled, "labels", max_missing)

  def wanted(name: str) -> bool:
    match = _IMAGE.search(name)
    return (match is not None and annotations not in name.split("/")
            and int(match[2]) in split_of and int(match[2]) in regions)

  for path in paths.values():
    for name, data in archives.members(path, wanted):
      match = _IMAGE.search(name)
      assert match is not None
      number = int(match[2])
      missing.discard(number)
      found = regions[number][-1:] if last_only else sorted(set(regions[number]))
      where_one = f"{path}, member {name!r}"
      yield example.Example(split_of[number], f"{match[1]}/{match[2]}", tuple(found),
                            images.encoded(data, where_one), where_one)
  _check_missing(where, sorted(missing), "files", max_missing)


def _check_missing(where: str, numbers: Sequence[int], what: str, allowed: int) -> None:
  if len(numbers) > allowed:
    raise errors.DataError(f"{where}: {len(numbers)} images of the sets have no {what}, such as "
                           f"{list(numbers[:3])}; at most {allowed} may. It is incomplete: get it "
                           "again.")
  if numbers:
    logging.warning("%s: images of the sets without %s: %s", where, what, numbers)


def _check_words(where: str, data: bytes, num_words: int) -> None:
  """Checks the numbers of the list; a word may be blank."""
  numbers = [line.split(b"\t")[0].strip() for line in data.splitlines() if line.strip()]
  if numbers != [b"%d" % number for number in range(1, num_words + 1)]:
    raise errors.DataError(f"{where} has {len(numbers)} lines; the words 1 to {num_words}, in this "
                           "order, were expected. It is damaged or of another edition.")


def _numbers(where: str, data: bytes, variable: str) -> list[int]:
  values = np.atleast_1d(mat_files.read(data, where, [variable], squeeze=True)[variable]).ravel()
  if values.dtype.kind not in "iuf" or not len(values) or (values != values.astype(int)).any():
    raise errors.DataError(f"{where} has {values.dtype} {values.shape} in {variable}; the numbers "
                           "of images were expected. Get it again.")
  return [int(value) for value in values]


def _read_regions(paths: Mapping[str, pathlib.Path], annotations: str,
                  num_words: int) -> dict[int, list[int]]:
  """Returns image -> the labels of its regions, from 0, in the order of their table."""
  found: dict[int, list[int]] = {}
  for path in paths.values():
    for name, data in archives.members(path, lambda name: bool(
        _LABELS.search(name) and annotations in name.split("/"))):
      table: dict[int, list[int]] = {}
      for number, line in enumerate(data.decode("ascii", "replace").splitlines(), start=1):
        if not line.strip():
          continue
        image, label = _region(line, f"{path}, member {name!r}, line {number}", num_words)
        table.setdefault(image, []).append(label - 1)
      twice = sorted(set(table) & set(found))
      if twice:
        raise errors.DataError(f"{path}, member {name!r} has labels of images that another table "
                               f"has, too, such as {twice[:3]}. Get the archive again.")
      found.update(table)
  return found


def _region(line: str, where: str, num_words: int) -> tuple[int, int]:
  """Returns (image, label)."""
  try:
    image, _, label = (int(float(field)) for field in line.split())
  except (ValueError, OverflowError):
    image, label = -1, -1
  if not 1 <= label <= num_words:
    raise errors.DataError(f"{where} is {line[:60]!r}; an image, a region and a label of 1 to "
                           f"{num_words} were expected. Get the archive again.")
  return image, label


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, sets: Mapping[str, tuple[str, str]], words: str, num_words: int,
                  annotations: str, last_only: bool = False,
                  max_missing: int = 0) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split.

  Each image has three regions; the first and the last have the same label. There are images of no
  set, and a copy of all images beside the tables.
  """
  del class_names, last_only, max_missing
  numbers: dict[str, list[int]] = {ending: [] for ending in sets}
  tables: dict[str, list[str]] = {}
  members: dict[str, bytes] = {}
  total = per_class * num_words
  for number in range(1, len(sets) * total + 3):
    folder = f"{number % 3:02d}"
    members[f"top/saiapr/{folder}/images/{number}.jpg"] = fixtures.jpeg((5, 4, 3), number)
    members[f"top/{annotations}/saiapr/{folder}/images/{number}.jpg"] = b"a copy, not read"
    label = (number - 1) % num_words + 1
    for region, one in enumerate((label, label * 7 % num_words + 1, label), start=1):
      tables.setdefault(folder, []).append(f"{number}\t{region}\t{one}")
    if number <= len(sets) * total:
      numbers[list(sets)[(number - 1) // total]].append(number)
  top = f"top/{annotations}"
  members.update({f"{top}/saiapr/{folder}/labels.txt": "\n".join([*lines, ""]).encode()
                  for folder, lines in tables.items()})
  members[f"{top}/{words}"] = "".join(
      f"{number}\t{'' if number == 3 else f'word {number}'}\n"
      for number in range(1, num_words + 1)).encode()
  for ending, (variable, _) in sets.items():
    members[f"{top}/{ending}"] = mat_files.packed(
        {variable: cast(Any, np.array(numbers[ending])[:, None])})
  fixtures.write_archive(directory / file_names[0], members)
  counts: dict[str, int] = {}
  for _, split in sets.values():
    counts[split] = counts.get(split, 0) + total
  return counts
