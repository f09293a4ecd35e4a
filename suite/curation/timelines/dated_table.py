# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of a timeline: where images are, when they were taken, and what they show.

    path,time,label
    photos/1.jpg,2012-05-31,tram
    photos/2.jpg,2012-06-01 08:30,

`label` may be empty or left out, `id` is the path unless there is such a column, `timestamp` may
be written for `time`; `bucket` is read where buckets are given; other columns are ignored.

Times in the forms that tables of images have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import csv
import dataclasses
import datetime
import math
import pathlib
import re
from typing import Any

import numpy as np
import pyarrow as pa

from suite.curation import errors
from suite.curation import image_table

_TIMES, _LABELS = ("time", "timestamp"), ("label", "class")
_BUCKET = "bucket"
_SHOWN = 5


@dataclasses.dataclass(frozen=True, eq=False)
class DatedTable:
  """N dated images.

  Attributes:
    path: the table's.
    ids: str [N], unique.
    times: float64 [N], seconds since 1970 (UTC).
    labels: str [N]; "" without a label.
    files: path of each image.
    buckets: int64 [N], where they were asked for.
    num_undated: images that were left out because they have no time.
    say: the lines of images, for messages.
  """

  path: pathlib.Path
  ids: np.ndarray
  times: np.ndarray
  labels: np.ndarray
  files: list[pathlib.Path]
  num_undated: int
  say: Callable[[Sequence[int]], str]
  buckets: np.ndarray | None = None

  @property
  def size(self) -> int:
    return len(self.ids)


def read(path: pathlib.Path, images: pathlib.Path | None = None, *, skip_undated: bool = False,
         with_buckets: bool = False) -> DatedTable:
  """Reads a .csv or .parquet table.

  Args:
    path: the table.
    images: the folder that its paths are below; None: that of the table.
    skip_undated: leave out images without a time.
    with_buckets: read the column `bucket`, too, of whole numbers.

  Raises:
    errors.CurationError: a column is missing, or lines cannot be used; it names them.
  """
  columns = image_table.read_columns(path)
  if not columns.num_rows:
    raise errors.CurationError(f"{path} has no images.")
  given, places = _times_and_places(path, columns)

  def say(rows: Sequence[int]) -> str:  # "lines 3, 4, 7 and 2 more"
    unit, numbers = "row", [row + 1 for row in rows]
    if path.suffix == ".csv":  # The line in which a row ends; cells may have line breaks.
      with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        lines = [reader.line_num for row in reader if row][1:]
      unit, numbers = "line", [lines[row] for row in rows]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return (f"{unit}{'s' if len(rows) > 1 else ''} "
            f"{', '.join(map(str, numbers[:_SHOWN]))}{more}")

  empty = [row for row, value in enumerate(given) if value is None or not str(value).strip()]
  if empty and not skip_undated:
    raise errors.CurationError(
        f"{path}: {len(empty)} of {len(given)} images have no time: {say(empty)}. Fill them in, or "
        "leave these images out with --skip_undated.")
  kept = np.setdiff1d(np.arange(len(given)), empty).tolist()
  if not kept:
    raise errors.CurationError(f"{path}: none of its {len(given)} images has a time. Fill in the "
                               "column 'time'.")
  times = np.array([seconds(given[row]) for row in kept])
  wrong = [row for row, at in zip(kept, times) if np.isnan(at)]
  if wrong:
    raise errors.CurationError(
        f"{path}: {len(wrong)} times cannot be read: "
        f"{say(wrong)}, the first {given[wrong[0]]!r}. Allowed are {ALLOWED}.")
  files = _files(path, images or path.parent, [places[row] for row in kept], kept, say)
  ids = _texts(columns, image_table.ID) if image_table.ID in columns.column_names else places
  _check_unique(path, "id", [ids[row] for row in kept], kept, say)
  label = next((name for name in _LABELS if name in columns.column_names), "")
  labels = _texts(columns, label) if label else [""] * len(given)
  return DatedTable(path, np.array([ids[row] for row in kept]), times,
                    np.array([labels[row] for row in kept]), files, len(empty),
                    lambda rows: say([kept[row] for row in rows]),
                    _buckets(path, columns, kept, say) if with_buckets else None)


def _times_and_places(path: pathlib.Path, columns: pa.Table) -> tuple[list[Any], list[str]]:
  """The columns that a table must have: cells of times, and paths as text."""
  names = columns.column_names
  found = [name for name in _TIMES if name in names]
  if len(found) != 1 or len(set(names)) < len(names):
    raise errors.CurationError(
        f"{path} has the columns {names}; needed are 'path', the image file, and {_TIMES[0]!r}, "
        "and each once. 'label' and 'id' may be there.")
  if image_table.PATH not in names and "url" in names:
    raise errors.CurationError(
        f"{path} has the column 'url' and no column 'path': a timeline is made of image files. "
        f"Get the images first, which makes such a table: suite data fetch_urls {path} --out DIR")
  if image_table.PATH not in names:
    raise errors.CurationError(f"{path} has the columns {names}; needed is 'path', the image file.")
  return columns.column(found[0]).to_pylist(), _texts(columns, image_table.PATH)


def _buckets(path: pathlib.Path, columns: pa.Table, kept: Sequence[int],
             say: Callable[[Sequence[int]], str]) -> np.ndarray:
  """The column `bucket` of some rows, int64."""
  if _BUCKET not in columns.column_names:
    raise errors.CurationError(f"{path} has the columns {columns.column_names}; --by bucket needs "
                               "'bucket', a whole number.")
  texts = _texts(columns, _BUCKET)
  wrong = [row for row in kept if not texts[row].isdecimal()]
  if wrong:
    raise errors.CurationError(f"{path}: {len(wrong)} buckets are no whole numbers: {say(wrong)}, "
                               f"the first {texts[wrong[0]]!r}. Number them from 1.")
  return np.array([int(texts[row]) for row in kept], np.int64)


def _texts(columns: pa.Table, name: str) -> list[str]:
  return ["" if value is None else str(value).strip() for value in columns.column(name).to_pylist()]


def _files(path: pathlib.Path, root: pathlib.Path, places: Sequence[str], rows: Sequence[int],
           say: Callable[[Sequence[int]], str]) -> list[pathlib.Path]:
  """Paths of the images; an error if some are outside of the folder, missing or there twice."""
  outside = [i for i, place in enumerate(places) if not image_table.is_below(place)]
  if outside:
    raise errors.CurationError(
        f"{path}: {len(outside)} paths are not below the folder of images: "
        f"{say([rows[i] for i in outside])}, the first {places[outside[0]]!r}. Write paths without "
        "'..' and a leading '/', below the table's folder or --images DIR.")
  files = [root / place for place in places]
  _check_unique(path, "path", [file.as_posix() for file in files], rows, say)
  missing = [i for i, file in enumerate(files) if not file.is_file()]
  if missing:
    raise errors.CurationError(
        f"{path}: {len(missing)} of {len(files)} images are not there: "
        f"{say([rows[i] for i in missing])}, the first {files[missing[0]]}. Say where they are "
        "with --images DIR, or leave out their lines.")
  return files


def _check_unique(path: pathlib.Path, what: str, values: Sequence[str], rows: Sequence[int],
                  say: Callable[[Sequence[int]], str]) -> None:
  first: dict[str, int] = {}
  again = [i for i, value in enumerate(values) if first.setdefault(value, i) != i or not value]
  if again:
    one = values[again[0]]
    raise errors.CurationError(
        f"{path}: {len(again)} images have an empty {what} or that of another image: "
        f"{say([rows[i] for i in again])}, the first {one!r}, as in "
        f"{say([rows[first[one]]])}. Leave the copies out.")


ALLOWED = ("2012, 2012-05, 2012-05-31, 2012-05-31 23:59[:59], with T for the blank and with Z or "
           "+02:00 at the end, 2012/05/31 or 2012:05:31 (EXIF) for 2012-05-31, or seconds since "
           "1970; without a zone, UTC")
_YEAR = re.compile(r"\d{4}")
_DATE = re.compile(r"(\d{4})([-/:])(\d{1,2})(?:\2(\d{1,2}))?(?:[T ]+(\d{1,2}:\d{2}.*))?")
_ZONE = re.compile(r"([+-]\d{2})(\d{2})$")


def seconds(value: Any) -> float:
  """Converts a cell to seconds since 1970 (UTC); NaN if it is not a time, see `ALLOWED`.

  A number of four digits is a year: image files are not from the first three hours of 1970.
  """
  if isinstance(value, datetime.datetime):
    return image_table.seconds(value)
  text = str(value).strip()
  if _YEAR.fullmatch(text):
    return image_table.seconds(f"{text}-01-01")
  match = _DATE.fullmatch(text)
  if match is None:
    found = image_table.seconds(value)
    return found if math.isfinite(found) else float("nan")
  year, _, month, day, clock = match.groups()
  clock = _ZONE.sub(r"\1:\2", clock.replace(" ", "")) if clock else ""
  hour, colon, rest = clock.partition(":")
  return image_table.seconds(f"{year}-{int(month):02d}-{int(day or 1):02d}"
                             + (f"T{int(hour):02d}{colon}{rest}" if clock else ""))
