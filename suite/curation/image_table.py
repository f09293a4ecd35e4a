# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of images: ids, times and files, from CSV or parquet.

    id,timestamp,path,TITLE
    3001,1180000000,photos/3001.jpg,A laptop
    3002,2007-06-02T03:04:05Z,photos/3002.jpg,

Line i belongs to row i of the features. `timestamp` is in seconds since 1970 or an ISO 8601 time
(UTC by default); `path` is required from the review sheets on. All other columns are copied to the
metadata of the archive.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import pathlib
import re
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from suite.curation import errors

ID, TIME, PATH = "id", "timestamp", "path"
_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\]|^\.|^\s|\s$|^$")
_MAX_ID_BYTES = 200
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@dataclasses.dataclass(frozen=True, eq=False)
class ImageTable:
  """Table of N images.

  Attributes:
    path: the file.
    ids: str [N], unique, each valid as a file name.
    times: float64 [N], seconds since 1970 (UTC).
  """

  path: pathlib.Path
  ids: np.ndarray
  times: np.ndarray
  _columns: pa.Table

  @property
  def size(self) -> int:
    return len(self.ids)

  def order(self) -> np.ndarray:
    """Position of each image among the sorted ids, which breaks ties: int64 [N]."""
    places = np.empty(self.size, np.int64)
    places[np.argsort(self.ids, kind="stable")] = np.arange(self.size)
    return places

  def rows(self) -> dict[str, int]:
    """Maps ids to rows."""
    return {name: row for row, name in enumerate(self.ids.tolist())}

  def file(self, row: int, root: pathlib.Path | None = None) -> pathlib.Path:
    """Path of the image file of a row, below `root` (default: the folder of the table)."""
    if PATH not in self._columns.column_names:
      raise errors.CurationError(f"{self.path} has no column {PATH!r}, which says where an image's "
                                 f"file is; it has {', '.join(self._columns.column_names)}.")
    place = str(self._columns.column(PATH)[row].as_py() or "")
    if not is_below(place):
      raise errors.CurationError(
          f"{self.path}: image {str(self.ids[row])!r} has the path {place!r}; one below the folder "
          "of images is needed, without '..'.")
    return (root or self.path.parent) / place

  def metadata(self, row: int) -> dict[str, str]:
    """Other columns of an image, as text; empty cells are left out."""
    names = [name for name in self._columns.column_names if name not in (ID, TIME, PATH)]
    values = {name: self._columns.column(name)[row].as_py() for name in names}
    return {name: str(value) for name, value in values.items() if value not in (None, "")}


def is_below(place: str) -> bool:
  """Whether a path of a table stays below the folder of images."""
  parts = pathlib.PurePosixPath(place).parts
  return bool(parts) and not place.startswith("/") and ".." not in parts


def read(path: pathlib.Path) -> ImageTable:
  """Reads a .csv or .parquet table.

  Raises:
    errors.CurationError: columns are missing, ids are duplicate or invalid, or times are missing
      or invalid.
  """
  columns = read_columns(path)
  names = columns.column_names
  lacking = [name for name in (ID, TIME) if name not in names]
  if lacking or len(set(names)) < len(names):
    raise errors.CurationError(f"{path} has the columns {names}; each must be there once, and "
                               f"{ID!r} and {TIME!r} among them. Add or rename them.")
  values = columns.column(ID).to_pylist()
  texts = ["" if value is None else str(value) for value in values]
  if not texts:
    raise errors.CurationError(f"{path} has no images.")
  unfit = [text for text in texts
           if _UNFIT.search(text) or len(text.encode("utf-8", "replace")) > _MAX_ID_BYTES]
  if unfit:
    raise errors.CurationError(
        f"{path}: {len(unfit)} ids cannot be names of files: {errors.some(unfit)}. Ids are 1 "
        f"to {_MAX_ID_BYTES} bytes without slashes, control characters, a leading dot or outer "
        "blanks.")
  ids = np.array(texts)
  ordered = np.sort(ids)
  double = np.unique(ordered[1:][ordered[1:] == ordered[:-1]]).tolist()
  if double:
    raise errors.CurationError(f"{path}: {len(double)} ids occur more than once: "
                               f"{errors.some(double)}. Leave the copies out.")
  cells = columns.column(TIME).to_pylist()
  times = np.array([seconds(cell) for cell in cells])
  missing = np.flatnonzero(np.isnan(times)).tolist()
  if missing:
    raise errors.CurationError(
        f"{path}: {len(missing)} of {len(ids)} images have no usable {TIME!r}: "
        f"{errors.some(ids[missing])}, the first {cells[missing[0]]!r}. Give seconds since 1970 "
        "or an ISO 8601 time, or leave those images out of both the table and the features.")
  return ImageTable(path, ids, times, columns)


def read_columns(path: pathlib.Path) -> pa.Table:
  """Reads all columns of a .csv or .parquet table; cells of a .csv as text."""
  readers = {".csv": _read_csv, ".parquet": parquet.read_table}
  if path.suffix not in readers:
    raise errors.CurationError(f"{path} is neither .csv nor .parquet; give the table as "
                               "one of them.")
  try:
    return readers[path.suffix](path)
  except (OSError, UnicodeDecodeError, csv.Error, pa.ArrowException) as error:
    raise errors.CurationError(f"{path} cannot be read: {error}") from error


def _read_csv(path: pathlib.Path) -> pa.Table:
  """Reads all cells as text: an id such as 007 must not become a number."""
  with open(path, encoding="utf-8-sig", newline="") as file:
    names = next(csv.reader(file), [])
  return arrow_csv.read_csv(
      path, parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
      convert_options=arrow_csv.ConvertOptions(
          column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False))


def seconds(value: Any) -> float:
  """Converts a cell to seconds since 1970; NaN if it is not a time."""
  if isinstance(value, datetime.datetime):
    return _since_1970(value)
  try:
    if isinstance(value, (int, float)) or _NUMBER.fullmatch(str(value)):
      found = float(value)
      return found if abs(found) < 1e11 else float("nan")  # Larger values are milliseconds.
    return _since_1970(datetime.datetime.fromisoformat(str(value).strip().replace("Z", "+00:00")))
  except ValueError:
    return float("nan")


def _since_1970(when: datetime.datetime) -> float:
  return (when if when.tzinfo else when.replace(tzinfo=datetime.timezone.utc)).timestamp()
