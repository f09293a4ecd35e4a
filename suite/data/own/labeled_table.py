# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A table of labeled images: where their files are, what they show, and of which split they are.

    path,label,split,time
    photos/1.jpg,tram,train,2012-05-31
    photos/2.jpg,bus,test,2013

Labels are names of classes: 1 and 001 are two of them. Numbers are sorted by value;
labels="numbers" takes them as class numbers. Every row needs a label. `class` may be written for
`label`, `timestamp` for `time`; `id` is the path unless there is such a column. A column whose name
is close to one that lacks is an error, not ignored. `suite data timeline` reads tables with images
without labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import math
import os
import pathlib
import re
from typing import Any, Literal, get_args

import numpy as np

from suite.data.own import dates
from suite.data.own import own_tables

# The suite's names of splits, and what others call them.
_SPLITS = {"train": ("training", "train"), "dev": ("development", "dev"),
           "validation": ("valid", "val", "eval", "evaluation", "validation"),
           "test": ("testing", "test")}
_OUR_SPLIT = {other: ours for ours, others in _SPLITS.items() for other in others}
LabelsAs = Literal["names", "numbers"]
PERIODS = {"year": "datetime64[Y]", "month": "datetime64[M]"}
_OTHERS = {"label": "class", "time": "timestamp"}
_SHOWN, _COLUMNS_SHOWN = 5, 12


@dataclasses.dataclass(frozen=True)
class Columns:
  """The names of the columns that are read."""

  path: str = "path"
  label: str = "label"
  split: str | None = "split"
  time: str = "time"


@dataclasses.dataclass(frozen=True, eq=False)
class LabeledTable:
  """N labeled images.

  Attributes:
    title: of the table, for messages; `name`: of sets that are made of it.
    files: path of each image.
    ids: [N], all different.
    labels: str [N], or int64 [N] where class numbers were asked for.
    splits: the suite's name of the split of each image; None: the table has none.
    periods: of each image, such as "2012" or "2012-05", where these were asked for.
  """

  title: str
  name: str
  files: list[pathlib.Path]
  ids: list[str]
  labels: np.ndarray
  splits: list[str] | None
  periods: list[str] | None


def read(table: Any, images: str | os.PathLike[str] | None, columns: Columns,
         by: str | None, labels_as: LabelsAs = "names",
         class_names: Sequence[str] | None = None) -> LabeledTable:
  """Reads a table.

  Args:
    table: the path of a .csv or .parquet, or a pandas DataFrame.
    images: the folder that its paths are relative to; None: that of the table, or the current one.
    columns: which it has.
    by: "year" or "month", the periods to divide the images into; None: times are not read.
    labels_as: what labels are.
    class_names: of class numbers, in their order: if none of them is a label, labels are numbers.

  Raises:
    ValueError: columns or cells that cannot be used; it names them.
    FileNotFoundError: the table, or some of its images, are not there.
  """
  cells, title, folder, unit = _cells(table, columns)

  def say(rows: Sequence[int]) -> str:  # "lines 3, 4, 7 and 2 more"
    numbers = [row + 1 for row in rows]
    if unit == "line":  # That in which a row ends; cells may have line breaks.
      ends = own_tables.lines(pathlib.Path(title))
      numbers = [ends[row] for row in rows]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"{unit}{'s' * (len(rows) > 1)} {', '.join(map(str, numbers[:_SHOWN]))}{more}"

  names = {key: _column(title, cells, key, str(getattr(columns, key)))
           for key in ("path", "label")}
  labels = _labels(title, cells[names["label"]], say, labels_as, class_names)
  places = [_text(cell) for cell in cells[names["path"]]]
  if by is not None:
    if by not in PERIODS:
      raise ValueError(f"by={by!r}; allowed are {', '.join(map(repr, PERIODS))}, and None.")
    names["time"] = _column(title, cells, "time", columns.time)
  splits = _splits(title, cells, columns.split, [*names.values(), "id"], say)
  given = cells.get("id")
  ids = places if given is None else _unique(title, "id", [_text(cell) for cell in given], say)
  name = pathlib.Path(table).stem if isinstance(table, (str, os.PathLike)) else "mine"
  files = _files(title, places, folder if images is None else pathlib.Path(images), say)
  return LabeledTable(
      title, name, files, ids, labels, splits,
      None if by is None else _periods(title, names["time"], cells[names["time"]], by, say))


def _cells(table: Any, columns: Columns) -> tuple[dict[str, list[Any]], str, pathlib.Path, str]:
  """(cells by column, a title, the folder of relative paths, what rows are called)."""
  known = [columns.path, columns.label, columns.split or "", columns.time, *_OTHERS.values(), "id"]
  if isinstance(table, (str, os.PathLike)):
    path = pathlib.Path(table)
    if not path.is_file():
      raise FileNotFoundError(f"There is no file {str(path)!r}; give a .csv or .parquet with the "
                              "columns path and label.")
    read_table, title, folder = own_tables.read_columns(path, known), str(path), path.parent
    unit = "row" if path.suffix.lower() == ".parquet" else "line"
  elif hasattr(table, "to_dict") and hasattr(table, "columns"):
    frame = {str(name): list(table[name]) for name in table.columns}
    if len(frame) < len(table.columns):
      raise ValueError(f"The frame has the columns {list(table.columns)}; each is needed once.")
    if not len(table):
      raise ValueError("The frame has no images.")
    return frame, "the frame", pathlib.Path(), "row"
  else:
    raise ValueError(f"from_csv was given {type(table).__name__}; it takes the path of a .csv or "
                     ".parquet, or a pandas DataFrame.")
  if len(set(read_table.column_names)) < len(read_table.column_names):
    raise ValueError(f"{title} has the columns {read_table.column_names}; each is needed once.")
  if not read_table.num_rows:
    raise ValueError(f"{title} has no images.")
  by_name = {name: read_table.column(name).to_pylist() for name in read_table.column_names}
  return by_name, title, folder, unit


def _column(title: str, cells: dict[str, list[Any]], key: str, name: str) -> str:
  """The column that holds what `key` says; an error that names one of a similar name."""
  if name in cells:
    return name
  if name == key and _OTHERS.get(key) in cells:
    return _OTHERS[key]
  like = own_tables.like(key, list(cells))
  hint = f" If {like!r} is it, say columns={{{key!r}: {like!r}}}, or rename it." if like else (
      f" Name the one that has it: columns={{{key!r}: ...}}.")
  if not set(cells) & {"path", "label", *_OTHERS.values(), "id", "split", "time"} and not like:
    hint = " The first line names the columns: path,label."
  if key == "path" and "url" in cells:
    hint = " Get the images first, which makes such a table: suite data fetch_urls TABLE --out DIR"
  raise ValueError(f"{title} has the columns {_shown(cells)}, and no {name!r}.{hint}")


def _shown(columns: Sequence[str] | dict[str, Any]) -> str:
  names = list(columns)
  more = f", ... ({len(names)} in all)" if len(names) > _COLUMNS_SHOWN else ""
  return ", ".join(names[:_COLUMNS_SHOWN]) + more


def _text(cell: Any) -> str:
  is_empty = cell is None or isinstance(cell, float) and math.isnan(cell)
  return "" if is_empty or str(cell) in ("<NA>", "NaT") else str(cell).strip()


def _labels(title: str, cells: Sequence[Any], say: Callable[[Sequence[int]], str],
            labels_as: LabelsAs, class_names: Sequence[str] | None) -> np.ndarray:
  """Names of classes str [N], or class numbers int64 [N]."""
  if labels_as not in get_args(LabelsAs):
    raise ValueError(f"labels={labels_as!r}; allowed are "
                     f"{', '.join(map(repr, get_args(LabelsAs)))}.")
  labels = [_text(cell) for cell in cells]
  empty = [row for row, label in enumerate(labels)
           if not label or re.fullmatch(r"-1(\.0*)?", label)]
  if empty:
    what = "no label" if not labels[empty[0]] else f"the label {labels[empty[0]]}, which is none"
    raise ValueError(f"{title} is unlabelled in part: {len(empty)} of {len(labels)} images have "
                     f"{what}: {say(empty)}. Leave them out.")
  if all(re.fullmatch(r"[0-9]+(\.0*)?", label) for label in labels):
    labels = [label.partition(".")[0] for label in labels]  # A column with gaps has floats.
  wrong = [row for row, label in enumerate(labels) if not re.fullmatch("[0-9]{1,18}", label)]
  known = set(map(str, class_names or labels))
  if labels_as == "names" and (wrong or known & set(labels)):
    return np.array(labels)
  if wrong:
    raise ValueError(f"{title}: labels='numbers' takes class numbers from 0, but {len(wrong)} of "
                     f"{len(labels)} labels are others: {say(wrong)}, the first "
                     f"{labels[wrong[0]]!r}. Say labels='names'.")
  return np.array(list(map(int, labels)), np.int64)


def _splits(title: str, cells: dict[str, list[Any]], name: str | None, used: Sequence[str],
            say: Callable[[Sequence[int]], str]) -> list[str] | None:
  if name is None:
    return None
  if name not in cells:
    like = own_tables.like("split", [one for one in cells if one not in used])
    values = sorted({_text(cell) for cell in cells[like]}) if like else []
    if name != "split":
      raise ValueError(f"{title} has the columns {_shown(cells)}, and no {name!r}.")
    if values and all(is_split(value) for value in values):
      raise ValueError(f"{title} has no column 'split', but {like!r} with {', '.join(values)}. If "
                       f"these are splits, say columns={{'split': {like!r}}}; if not, "
                       "columns={'split': None}.")
    return None
  given = [_text(cell) for cell in cells[name]]
  empty = [row for row, value in enumerate(given) if not value]
  if empty:
    raise ValueError(f"{title}: {len(empty)} of {len(given)} images have no {name!r}: "
                     f"{say(empty)}. Fill them in, or read one set of all: "
                     "columns={'split': None}.")
  if not any(is_split(value) for value in given):
    raise ValueError(f"{title} has the splits {', '.join(sorted(set(given))[:_SHOWN])} in {name!r};"
                     " name them train, dev, validation and test, or read one set of all: "
                     "columns={'split': None}.")
  ours = our_names(title, list(dict.fromkeys(given)))
  return [ours[value] for value in given]


def our_names(name: str, splits: list[str]) -> dict[str, str]:
  """The suite's name of each split; names that it does not know stay.

  Raises:
    ValueError: two splits have one name.
  """
  found: dict[str, str] = {}
  for split in splits:
    ours = _OUR_SPLIT.get(split.strip().lower(), split)
    if ours in found.values():
      both = [one for one in found if found[one] == ours] + [split]
      raise ValueError(f"{name!r} has the splits {both[0]!r} and {both[1]!r}, which both mean "
                       f"{ours!r}. Rename one of them, or join them.")
    found[split] = ours
  return found


def is_split(split: str) -> bool:
  """Whether a text is the name of a split."""
  return split.strip().lower() in _OUR_SPLIT


def _files(title: str, places: Sequence[str], folder: pathlib.Path,
           say: Callable[[Sequence[int]], str]) -> list[pathlib.Path]:
  """The images' files; an error if some are not there, or there twice."""
  files = [folder / place for place in places]
  files = [file if file.is_file() or "\\" not in place else folder / place.replace("\\", "/")
           for file, place in zip(files, places)]  # As Windows writes paths.
  missing = [row for row, file in enumerate(files) if not file.is_file()]
  if missing:
    raise FileNotFoundError(
        f"{title}: {len(missing)} of {len(files)} images are not there: {say(missing)}, the first "
        f"{str(files[missing[0]])!r}. Paths are relative to the folder {str(folder)!r}; say "
        "images=DIR for another one, or leave these rows out.")
  _unique(title, "path", [os.path.normpath(file) for file in files], say)
  return files


def _unique(title: str, what: str, values: list[str], say: Callable[[Sequence[int]], str]
            ) -> list[str]:
  first: dict[str, int] = {}
  again = [row for row, value in enumerate(values)
           if first.setdefault(value, row) != row or not value]
  if again:
    one = values[again[0]]
    raise ValueError(f"{title}: {len(again)} images have an empty {what} or that of another image: "
                     f"{say(again)}, the first {one!r}, as in {say([first[one]])}. Leave them out.")
  return values


def _periods(title: str, name: str, cells: Sequence[Any], by: str,
             say: Callable[[Sequence[int]], str]) -> list[str]:
  undated = [row for row, cell in enumerate(cells) if dates.is_missing(cell)]
  if undated:
    raise ValueError(f"{title}: {len(undated)} of {len(cells)} images have no {name!r}: "
                     f"{say(undated)}. Fill them in, or leave these images out.")
  times = np.array([dates.seconds(cell) for cell in cells])
  wrong = np.flatnonzero(np.isnan(times)).tolist()
  if wrong:
    raise ValueError(f"{title}: {len(wrong)} times of the column {name!r} cannot be read: "
                     f"{say(wrong)}, the first {cells[wrong[0]]!r}. Allowed are {dates.ALLOWED}.")
  if times.max() < dates.OLD_BEFORE:
    raise ValueError(f"{title}: the column {name!r} says that all {len(cells)} images are from "
                     f"before 1990, the first {cells[0]!r}. Write dates such as 2012-05-31.")
  moments = np.floor(times).astype("datetime64[s]")
  return [str(one) for one in moments.astype(PERIODS[by])]
