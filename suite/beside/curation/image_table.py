# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of images: ids, times and files, from CSV or parquet.

    id,timestamp,path,TITLE
    3001,1180000000,photos/3001.jpg,A laptop
    3002,2007-06-02T03:04:05Z,photos/3002.jpg,

Line i belongs to row i of the features. `timestamp` is in one of the forms of `dates` (UTC by
default); `path` is required from the review sheets on. All other columns are copied to the metadata
of the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import pathlib
import re
from typing import Any

import numpy as np
import pyarrow as pa

from suite.beside.curation import errors
from suite.data.own import dates
from suite.data.own import own_tables

ID, TIME, PATH = "id", "timestamp", "path"
_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\]|^\.|^\s|\s$|^$")
_MAX_ID_BYTES = 200


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


def read(path: pathlib.Path, *, unit: str | None = None) -> ImageTable:
  """Reads a .csv or .parquet table.

  Args:
    path: the table.
    unit: one of `dates.UNITS`, which the numbers among the times are in; None: as `dates` has it.

  Raises:
    errors.CurationError: columns are missing, ids are duplicate or invalid, or times are missing
      or invalid.
  """
  columns = read_columns(path, (ID, TIME, PATH))
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
  missing = [row for row, cell in enumerate(cells) if dates.is_missing(cell)]
  if missing:
    raise errors.CurationError(
        f"{path}: {len(missing)} of {len(ids)} images have no {TIME!r}: "
        f"{errors.some(ids[missing])}, the first {cells[missing[0]]!r}. Fill them in, or leave "
        "those images out of both the table and the features.")
  times = read_times(path, TIME, cells, lambda rows: errors.some(ids[list(rows)]), unit=unit,
                     flag="--time-unit")
  return ImageTable(path, ids, times, columns)


def read_times(path: pathlib.Path, column: str, cells: Sequence[Any],
               say: Callable[[Sequence[int]], str], *, unit: str | None, flag: str) -> np.ndarray:
  """Converts the cells of a column to float64 [N], seconds since 1970; none of them is empty.

  Args:
    path, column: where they stand, for messages.
    cells: texts, numbers, dates or times.
    say: names some cells, by their positions.
    unit: of numbers; None: as `dates` has it.
    flag: how a user says the unit.

  Raises:
    errors.CurationError: some are no times, or numbers that may mean several things.
  """
  times = np.array([dates.seconds(cell, unit) for cell in cells], np.float64)
  wrong = np.flatnonzero(np.isnan(times)).tolist()
  unclear = [row for row in wrong if dates.question(cells[row])]
  if unclear and len(unclear) == len(wrong):
    raise errors.CurationError(
        f"{path}: what are the numbers of the column {column!r}? {len(unclear)} of {len(cells)} are"
        f" neither dates nor plausible times since 1970: {say(unclear)}, the first "
        f"{cells[unclear[0]]!r} ({dates.question(cells[unclear[0]])}). If all its numbers count "
        f"from 1970, say in what unit: {flag} {', '.join(dates.UNITS)}. If not, write dates such "
        "as 2012-05-31, and leave the cells of images without a date empty.")
  if wrong:
    raise errors.CurationError(
        f"{path}: {len(wrong)} times of the column {column!r} cannot be read: {say(wrong)}, the "
        f"first {cells[wrong[0]]!r}. Allowed are {dates.ALLOWED}.")
  return times


def check_not_all_old(path: pathlib.Path, column: str, times: np.ndarray, flag: str) -> None:
  """Raises an error if all images are from before 1990: most often a unit was misread."""
  if times.max() < dates.OLD_BEFORE:
    first, last = (np.datetime64(int(np.floor(at)), "s").astype("datetime64[D]")
                   for at in (times.min(), times.max()))
    raise errors.CurationError(
        f"{path}: are all {len(times)} images from before 1990? The column {column!r} says "
        f"{first} to {last}. If they are, say {flag}; if not, write dates such as 2012-05-31.")


def read_columns(path: pathlib.Path, known: Sequence[str]) -> pa.Table:
  """All columns of a .csv or .parquet table; see `own_tables.read_columns`."""
  try:
    return own_tables.read_columns(path, known)
  except ValueError as error:
    raise errors.CurationError(str(error)) from error
