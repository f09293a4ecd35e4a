# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CBIS-DDSM as packed on Kaggle: tables of cases, and a table that names the images of each case.

A row of a table of cases is an abnormality: `image file path` begins with the name of its case,
`Mass-Training_P_00001_LEFT_CC`, which is `PatientID` of the full mammogram in the table of images
(crops and masks have a number behind it). A case with several abnormalities has several rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import csv
import io
import pathlib
import re
from typing import NamedTuple

from absl import logging

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.parsers import listed_images

_CASE = re.compile(r"[^/]*_(P_\d+)_(?:LEFT|RIGHT)_[A-Z]+")
_AT_ONCE = 64  # Images in memory while they are put in the order of the tables; a few MB each.


class _Image(NamedTuple):
  split: str
  label: str
  patient: str


def parse(paths: Mapping[str, pathlib.Path], *, tables: Mapping[str, str], info: str,
          max_missing: int = 0) -> Iterator[example.Example]:
  """Yields the full mammograms in the order of the tables; a patient is a group.

  The label of an image is the pathology of its first abnormality.

  Args:
    paths: file name -> path; the images are `jpeg/SERIES/NAME.jpg`.
    tables: end of the name of a table of cases -> source split.
    info: end of the name of the table of images.
    max_missing: maximum number of cases without an image.
  """
  texts = listed_images.find_texts(paths, {**tables, info: ""})
  of_case = _images_by_case(*texts[info])
  table: dict[str, _Image] = {}
  missing: list[str] = []
  for name, split in tables.items():
    where, data = texts[name]
    for case, pathology in _cases(where, data).items():
      match = _CASE.fullmatch(case)
      if match is None:
        raise errors.DataError(f"{where} has a case {case!r}; PREFIX_P_NUMBER_SIDE_VIEW was "
                               "expected. The table is damaged or of another edition.")
      if case not in of_case:
        missing.append(case)
      for key in of_case.get(case, ()):
        table.setdefault(key, _Image(split, pathology, match[1]))
  if len(missing) > max_missing or not table:
    raise errors.DataError(
        f"{texts[info][0]} has no image of {len(missing)} cases, such as {sorted(missing)[:3]}; at "
        f"most {max_missing} are allowed, and {len(table)} images were found. The archive is "
        "incomplete or another edition: get it again.")
  if missing:
    logging.warning("%s has no image of these cases: %s", texts[info][0], sorted(missing))
  for key, name, data in _in_order(list(paths.values()), list(table)):
    one = table[key]
    yield example.Example(one.split, key.rsplit(".", 1)[0], one.label, images.encoded(data, name),
                          name, group=one.patient)


def _rows(where: str, data: bytes, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
  """Yields the cells of these columns, row by row, empty ones included."""
  text = data.decode("utf-8-sig", "replace").replace("\0", "")
  reader = csv.DictReader(io.StringIO(text, newline=""))
  lacking = sorted(set(columns) - set(reader.fieldnames or ()))
  if lacking:
    raise errors.DataError(f"{where} has the columns {reader.fieldnames}, not {lacking}: it is "
                           "damaged or of another edition. Get it again.")
  for row in reader:
    yield tuple((row[column] or "").strip() for column in columns)


def _cases(where: str, data: bytes) -> dict[str, str]:
  """Returns case -> pathology of its first abnormality."""
  found: dict[str, str] = {}
  rows = _rows(where, data, ("image file path", "pathology"))
  for number, (path, pathology) in enumerate(rows, start=1):
    if not path or not pathology:
      raise errors.DataError(f"{where}, record {number} is incomplete: image {path!r}, pathology "
                             f"{pathology!r}. Get the table again.")
    found.setdefault(path.split("/")[0], pathology)
  return found


def _images_by_case(where: str, data: bytes) -> dict[str, list[str]]:
  """Returns case -> the ends of the names of its images, "SERIES/NAME.jpg"."""
  found: dict[str, list[str]] = {}
  for path, case in _rows(where, data, ("image_path", "PatientID")):
    key = "/".join(path.split("/")[-2:])
    if key not in found.setdefault(case, []):
      found[case].append(key)
  return found


def _in_order(paths: Sequence[pathlib.Path],
              keys: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
  """Yields (key, location, content) of images, in the order of the keys.

  The archive's directory is read once for each _AT_ONCE images, which is cheap for a zip.
  """
  pattern = re.compile(r"(?:^|/)jpeg/([^/]+/[^/]+)$")

  def key_of(name: str) -> str:
    match = pattern.search(name)
    return match[1] if match else ""

  now: set[str] = set()
  for start in range(0, len(keys), _AT_ONCE):
    batch = keys[start:start + _AT_ONCE]
    now.clear()
    now.update(batch)
    held: dict[str, tuple[str, bytes]] = {}
    for path in paths:
      for name, data in archives.members(path, lambda name: key_of(name) in now):
        if key_of(name) in held:
          raise errors.DataError(f"{path} holds {key_of(name)!r} twice. Get it again.")
        held[key_of(name)] = f"{path}, member {name!r}", data
    lacking = [key for key in batch if key not in held]
    if lacking:
      raise errors.DataError(
          f"{' and '.join(map(str, paths))}: images that the tables name are missing, such as "
          f"{lacking[:3]}. The archive is incomplete: get it again.")
    for key in batch:
      where, data = held.pop(key)
      yield key, where, data


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, tables: Mapping[str, str], info: str,
                  max_missing: int = 0) -> Mapping[str, int]:
  """Writes a tiny archive of this layout; returns the number of examples by source split.

  Each case also has a crop and a mask; every third case has two abnormalities.
  """
  head = "patient_id,abnormality id,pathology,subtlety,image file path"
  texts = {name: [head] for name in tables}
  rows = ["file_path,image_path,PatientID,SeriesDescription"]
  members: dict[str, bytes] = {}
  counts: dict[str, int] = {}
  for number, (table, label) in enumerate(
      (table, label) for label in class_names for _ in range(per_class) for table in tables):
    patient, side = f"P_{number // 2:05d}", ("LEFT", "RIGHT")[number % 2]
    case = f"{table.split('_')[0].title()}-Set_{patient}_{side}_CC"
    for kind, suffix in (("full mammogram images", ""), ("cropped images", "_1"),
                         ("ROI mask images", "_1")):
      name = f"jpeg/1.3.6.{number}.{len(rows)}/1-{number:03d}.jpg"
      rows.append(f"CBIS-DDSM/dicom/x.dcm,CBIS-DDSM/{name},{case}{suffix},{kind}")
      members[name] = b"not read" if suffix else fixtures.jpeg((6, 5, 1), number)
    # Some cells end in line breaks, as published.
    texts[table].append(f'{patient},1,{label},4,"{case}/1.3.6/1.3.7/000000.dcm\n"')
    if number % 3 == 0:
      texts[table].append(f"{patient},2,{class_names[0]},4,{case}/1.3.6/1.3.7/000000.dcm")
    counts[tables[table]] = counts.get(tables[table], 0) + 1
  if max_missing:
    texts[next(iter(tables))].append(f"P_9,1,{class_names[0]},4,Mass-Set_P_99999_LEFT_CC/1/2/0.dcm")
  texts = {**texts, info: rows}
  members.update({f"csv/{name}": "\n".join([*lines, ""]).encode() for name, lines in texts.items()})
  fixtures.write_archive(directory / file_names[0], dict(sorted(members.items())))
  return counts
