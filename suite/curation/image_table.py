# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of images: ids, times and files, from CSV or parquet.

    id,timestamp,path,TITLE
    3001,1180000000,photos/3001.jpg,A laptop
    3002,2007-06-02T03:04:05Z,photos/3002.jpg,

Line i belongs to row i of the features. `timestamp` is in one of the forms of `dates` (UTC by
default); `path` is required from the review sheets on. All other columns are copied to the metadata
of the archive.

A .csv may be what a spreadsheet writes: with semicolons or tabs, a byte order mark, in UTF-16,
under Excel's line "sep=;", with empty rows at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import csv
import dataclasses
import pathlib
import re
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from suite.curation import dates
from suite.curation import errors

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
  """Reads all columns of a .csv or .parquet table; cells of a .csv as text.

  Args:
    path: the table.
    known: names of columns; "Label" and " label" are read as "label" if that is one of them.
  """
  readers = {".csv": _read_csv, ".parquet": parquet.read_table}
  if path.suffix.lower() not in readers:
    raise errors.CurationError(f"{path} is neither .csv nor .parquet; give the table as "
                               "one of them.")
  try:
    table = readers[path.suffix.lower()](path)
  except (OSError, UnicodeError, csv.Error, pa.ArrowException) as error:
    if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
      raise errors.CurationError(f"{path} is not text in UTF-8. Save it again so: spreadsheets call"
                                 " it 'CSV UTF-8'.") from error
    raise errors.CurationError(f"{path} cannot be read: {error}") from error
  plain = [name.strip().lower() for name in table.column_names]
  return table.rename_columns([
      other if other in known and other not in table.column_names else name
      for name, other in zip(table.column_names, plain)])


class _CsvForm(NamedTuple):
  """How a .csv is written; `skip`: lines before the names of the columns."""

  encoding: str
  delimiter: str
  skip: int


def _csv_form(path: pathlib.Path) -> _CsvForm:
  with open(path, "rb") as file:
    start = file.read(2)
  encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
  with open(path, encoding=encoding, newline="") as file:
    first = file.readline().strip()
    if re.fullmatch("sep=.", first):  # Excel's.
      return _CsvForm(encoding, first[-1], 1)
  # Names of columns hardly hold what separates them; a comma counts most.
  return _CsvForm(encoding, max(",;\t|", key=lambda mark: len(next(csv.reader(
      [first], delimiter=mark), []))), 0)


def lines(path: pathlib.Path) -> list[int]:
  """The line in which each row of a .csv ends; cells may have line breaks."""
  form = _csv_form(path)
  with open(path, encoding=form.encoding, newline="") as file:
    reader = csv.reader(file, delimiter=form.delimiter)
    return [reader.line_num for row in reader if row][1 + form.skip:]


def _read_csv(path: pathlib.Path) -> pa.Table:
  """Reads all cells as text: an id such as 007 must not become a number."""
  form = _csv_form(path)
  with open(path, encoding=form.encoding, newline="") as file:
    reader = csv.reader(file, delimiter=form.delimiter)
    names = [next(reader, []) for _ in range(form.skip + 1)][-1]
  table = arrow_csv.read_csv(
      path, read_options=arrow_csv.ReadOptions(
          encoding=form.encoding.replace("utf-8-sig", "utf8"), skip_rows=form.skip),
      parse_options=arrow_csv.ParseOptions(newlines_in_values=True, delimiter=form.delimiter),
      convert_options=arrow_csv.ConvertOptions(
          column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False))
  size = table.num_rows
  while size and not any(str(column[size - 1].as_py() or "").strip() for column in table.columns):
    size -= 1
  return table.slice(0, size)
