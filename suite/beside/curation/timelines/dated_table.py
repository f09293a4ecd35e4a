# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of a timeline: where images are, when they were taken, and what they show.

    path,time,label
    photos/1.jpg,2012-05-31,tram
    photos/2.jpg,2012-06-01 08:30,

`label` may be empty or left out, `id` is the path unless there is such a column, `timestamp` may
be written for `time`; `bucket` is read where buckets are given; other columns are ignored. A column
whose name is close to one of these is not: it is an error, unless the user names the column of
labels. Times are in the forms of `dates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import math
import pathlib
import re

import numpy as np
import pyarrow as pa

from suite.beside.curation import errors
from suite.beside.curation import image_table
from suite.data.own import dates
from suite.data.own import own_tables

_TIMES, _LABELS = ("time", "timestamp"), ("label", "class")
_BUCKET = "bucket"
NO_LABELS = "none"  # Of `read`: all images are without a label.
_SHOWN = 5
_OURS = (image_table.ID, image_table.PATH, _BUCKET, *_TIMES, *_LABELS)


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
         with_buckets: bool = False, label: str = "", unit: str | None = None, old: bool = False
         ) -> DatedTable:
  """Reads a .csv or .parquet table.

  Args:
    path: the table.
    images: the folder that its paths are below; None: that of the table.
    skip_undated: leave out images without a time.
    with_buckets: read the column `bucket`, too, of whole numbers.
    label: the column of labels; "": `label` or `class`, if there is one; `NO_LABELS`: none.
    unit: one of `dates.UNITS`, which the numbers among the times are in; None: as `dates` has it.
    old: all images may be from before 1990.

  Raises:
    errors.CurationError: a column is missing, or lines cannot be used; it names them.
  """
  columns = image_table.read_columns(
      path, (image_table.ID, image_table.PATH, "url", _BUCKET, *_TIMES, *_LABELS))
  if not columns.num_rows:
    raise errors.CurationError(f"{path} has no images.")
  column, places = _check_columns(path, columns.column_names), _texts(columns, image_table.PATH)
  given = columns.column(column).to_pylist()

  def say(rows: Sequence[int]) -> str:  # "lines 3, 4, 7 and 2 more"
    what, numbers = "row", [row + 1 for row in rows]
    if path.suffix.lower() == ".csv":
      ends = own_tables.lines(path)
      what, numbers = "line", [ends[row] for row in rows]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return (f"{what}{'s' if len(rows) > 1 else ''} "
            f"{', '.join(map(str, numbers[:_SHOWN]))}{more}")

  empty = [row for row, value in enumerate(given) if dates.is_missing(value)]
  if empty and not skip_undated:
    raise errors.CurationError(
        f"{path}: {len(empty)} of {len(given)} images have no time: {say(empty)}, the first "
        f"{'empty' if given[empty[0]] in (None, '') else repr(given[empty[0]])}. Fill them in, or "
        "leave these images out with --skip_undated.")
  kept = np.setdiff1d(np.arange(len(given)), empty).tolist()
  if not kept:
    raise errors.CurationError(f"{path}: none of its {len(given)} images has a time. Fill in the "
                               f"column {column!r}.")
  def say_kept(rows: Sequence[int]) -> str:
    return say([kept[row] for row in rows])

  times = image_table.read_times(path, column, [given[row] for row in kept], say_kept, unit=unit,
                                 flag="--time_unit")
  if not old:
    image_table.check_not_all_old(path, column, times, "--before_1990")
  files = _files(path, images or path.parent, [places[row] for row in kept], kept, say)
  ids = _texts(columns, image_table.ID) if image_table.ID in columns.column_names else places
  _check_unique(path, "id", [ids[row] for row in kept], kept, say)
  labels = _labels(path, columns, label, say)
  return DatedTable(path, np.array([ids[row] for row in kept]), times,
                    np.array([labels[row] for row in kept]), files, len(empty), say_kept,
                    _buckets(path, columns, kept, say) if with_buckets else None)


def _check_columns(path: pathlib.Path, names: Sequence[str]) -> str:
  """The column of times; an error if that of paths or of times is not there once."""
  found = [name for name in _TIMES if name in names]
  if len(found) != 1 or len(set(names)) < len(names):
    raise errors.CurationError(
        f"{path} has the columns {names}; needed are 'path', the image file, and {_TIMES[0]!r}, "
        f"and each once. 'label' and 'id' may be there.{'' if found else _hint('time', names)}"
        f"{'' if image_table.PATH in names else _hint('path', names)}")
  if image_table.PATH not in names and "url" in names:
    raise errors.CurationError(
        f"{path} has the column 'url' and no column 'path': a timeline is made of image files. "
        f"Get the images first, which makes such a table: suite data fetch_urls {path} --out DIR")
  if image_table.PATH not in names:
    raise errors.CurationError(f"{path} has the columns {names}; needed is 'path', the image file."
                               f"{_hint('path', names)}")
  return found[0]


def _hint(name: str, names: Sequence[str]) -> str:
  close = own_tables.like(name, names, _OURS)
  return f" Rename {close!r} to {name!r}, if that is it." if close else ""


def _labels(path: pathlib.Path, columns: pa.Table, asked: str,
            say: Callable[[Sequence[int]], str]) -> list[str]:
  """The labels of all images, "" without one."""
  names = columns.column_names
  both = [name for name in _LABELS if name in names]
  if asked == NO_LABELS and asked not in names:
    return [""] * columns.num_rows
  if asked and asked not in names:
    raise errors.CurationError(f"{path} has the columns {names}, and --label {asked} is none of "
                               f"them. Name one, or say --label {NO_LABELS}.")
  close = "" if asked or both else own_tables.like("label", names, _OURS)
  if close:
    raise errors.CurationError(
        f"{path} has no column 'label', but {close!r}. If that is the label of an image, say "
        f"--label {close!r}, or rename it to 'label'; if the images have none, --label "
        f"{NO_LABELS}.")
  if not (asked or both):
    return [""] * columns.num_rows
  cells = columns.column(asked or both[0]).to_pylist()
  labels = ["" if cell is None or isinstance(cell, float) and math.isnan(cell) else
            str(cell).strip() for cell in cells]
  if all(re.fullmatch(r"|[0-9]+\.0", label) for label in labels):
    labels = [label[:-2] for label in labels]  # Whole numbers in a column that has gaps.
  unlabelled = [row for row, label in enumerate(labels)
                if re.fullmatch(r"-1(\.0)?|nan|<na>|null", label.lower())]
  if unlabelled:
    raise errors.CurationError(
        f"{path}: {len(unlabelled)} labels are {labels[unlabelled[0]]!r}: {say(unlabelled)}. If "
        "these images have no label, leave the cells empty; if it is a class, give it a name.")
  return labels


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
