# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A table of labeled images: where their files are, what they show, and of which split they are.

    path,label,split,time
    photos/1.jpg,tram,train,2012-05-31
    photos/2.jpg,bus,test,2013

Labels are names of classes: 1 and 001 are two of them. Numbers are sorted by value;
labels="numbers" takes them as class numbers. Every row needs a label. For kind="multi_label" a cell
is a list, or names with a separator ("cat;dog"), and rows of one path are one image.

`class` may be written for `label`, `timestamp` for `time`; `id` is the path unless there is such a
column. A column whose name is close to one that lacks is an error, not ignored. Paths may lack the
ending of the file. A .parquet may hold images as bytes or as {"bytes", "path"}, as Hugging Face's
hub has them, and the names of its class labels. `suite data timeline` reads tables with images
without labels.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable, Mapping, Sequence
import dataclasses
import math
import os
import pathlib
import re
from typing import Any, Literal, get_args

import numpy as np
from PIL import Image

from suite.contracts import tasks
from suite.data.images import own_images
from suite.data.own import dates
from suite.data.own import own_labels
from suite.data.own import own_tables

# The suite's names of splits, and what others call them.
_SPLITS = {"train": ("training", "train"), "dev": ("development", "dev"),
           "validation": ("valid", "val", "eval", "evaluation", "validation"),
           "test": ("testing", "test")}
_OUR_SPLIT = {other: ours for ours, others in _SPLITS.items() for other in others}
LabelsAs = Literal["names", "numbers"]
PERIODS = {"year": "datetime64[Y]", "month": "datetime64[M]"}
_OTHERS = {"label": "class", "time": "timestamp"}
_SHOWN, _COLUMNS_SHOWN, _PATH_SHOWN = 5, 12, 300
_Say = Callable[[Sequence[int]], str]


@dataclasses.dataclass(frozen=True)
class Columns:
  """The names of the columns that are read."""

  path: str = "path"
  label: str = "label"
  split: str | None = "split"
  time: str = "time"


@dataclasses.dataclass(frozen=True)
class LabelForm:
  """How labels are read.

  Attributes:
    labels_as: what labels are.
    kind: "single_label" or "multi_label"; None: single_label, but what looks like several labels is
      refused.
    separator: of several labels in a cell; None: the one of ; | , that there is.
    class_names: names in the order of class numbers: if none is a label, labels are numbers.
  """

  labels_as: LabelsAs = "names"
  kind: str | None = None
  separator: str | None = None
  class_names: Sequence[str] | None = None

  def __post_init__(self) -> None:
    if self.labels_as not in get_args(LabelsAs):
      raise ValueError(f"labels={self.labels_as!r}; allowed are "
                       f"{', '.join(map(repr, get_args(LabelsAs)))}.")
    if self.kind not in (None, *tasks.KINDS):
      raise ValueError(f"kind={self.kind!r}; allowed are {', '.join(map(repr, tasks.KINDS))}.")
    if self.separator is not None and not (self.separator and self.kind == tasks.MULTI_LABEL):
      raise ValueError(f"separator={self.separator!r} is the text between the labels of an image; "
                       "give it with kind='multi_label'.")


@dataclasses.dataclass(frozen=True, eq=False)
class LabeledTable:
  """N labeled images.

  Attributes:
    title: of the table, for messages; `name`: of sets that are made of it.
    files: of each image, its path or the bytes of its file.
    ids: [N], all different.
    labels: str [N], or int64 [N] where class numbers were asked for; for several labels an image
      lists of these.
    class_names: in the order of the labels, where the table has them.
    splits: the suite's name of the split of each image; None: the table has none.
    periods: of each image, such as "2012" or "2012-05", where these were asked for.
  """

  title: str
  name: str
  files: list[pathlib.Path | bytes]
  ids: list[str]
  labels: Any
  class_names: Sequence[str] | None
  splits: list[str] | None
  periods: list[str] | None


def read(table: Any, images: str | os.PathLike[str] | None, columns: Columns,
         by: str | None, form: LabelForm) -> LabeledTable:
  """Reads a table.

  Args:
    table: the path of a .csv or .parquet, or a pandas DataFrame.
    images: the folder that its paths are relative to; None: that of the table, or the current one.
    columns: which it has.
    by: "year" or "month", the periods to divide the images into; None: times are not read.
    form: of the labels.

  Raises:
    ValueError: columns or cells that cannot be used; it names them.
    FileNotFoundError: the table, or some of its images, are not there.
  """
  cells, title, folder, unit, hub_names = _cells(table, columns)

  def say(rows: Sequence[int]) -> str:  # "lines 3, 4, 7 and 2 more"
    numbers = [row + 1 for row in rows]
    if unit == "line":  # That in which a row ends; cells may have line breaks.
      ends = own_tables.lines(pathlib.Path(title))
      numbers = [ends[row] for row in rows]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"{unit}{'s' * (len(rows) > 1)} {', '.join(map(str, numbers[:_SHOWN]))}{more}"

  names = {"path": _image_column(title, cells, columns.path),
           "label": _column(title, cells, "label", columns.label)}
  given = cells[names["label"]]
  class_names = form.class_names
  hub = hub_names.get(names["label"])
  if hub and form.labels_as == "names" and set(class_names or hub) & set(hub):
    given, class_names = _named(title, given, hub, say), class_names or hub
  labels = _labels(title, given, say, dataclasses.replace(form, class_names=class_names))
  if by is not None:
    if by not in PERIODS:
      raise ValueError(f"by={by!r}; allowed are {', '.join(map(repr, PERIODS))}, and None.")
    names["time"] = _column(title, cells, "time", columns.time)
  splits = _splits(title, cells, columns.split, [*names.values(), "id"], say)
  periods = None if by is None else _periods(title, names["time"], cells[names["time"]], by, say)
  places = cells[names["path"]]
  folder = folder if images is None else pathlib.Path(images)
  if _are_embedded(places):
    files, ids = _embedded(title, places, folder, say)
    rows = list(range(len(files)))
  else:
    if isinstance(places[0], (list, tuple, np.ndarray, Image.Image)):
      path, label = names["path"], names["label"]
      raise ValueError(f"{title} has {type(places[0]).__name__} in {path!r}; a table names files "
                       "or holds their bytes. Give images in memory so: suite.images.from_arrays("
                       f"list(frame[{path!r}]), list(frame[{label!r}])).")
    ids = [_text(cell) for cell in places]
    files = _files(title, ids, folder, say)
    rows = _one_row_each(title, files, labels, [splits, periods], say)
  if "id" in cells:
    ids = [_text(cell) for cell in cells["id"]]
  name = pathlib.Path(table).stem if isinstance(table, (str, os.PathLike)) else "mine"
  return LabeledTable(
      title, name, [files[row] for row in rows],
      _unique(title, "id", ids, say, rows),
      labels[rows] if isinstance(labels, np.ndarray) else [labels[row] for row in rows],
      class_names, *(None if values is None else [values[row] for row in rows]
                     for values in (splits, periods)))


def _cells(table: Any, columns: Columns) -> tuple[
    dict[str, list[Any]], str, pathlib.Path, str, dict[str, list[str]]]:
  """(cells by column, a title, folder of relative paths, word for a row, class names by column)."""
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
    return frame, "the frame", pathlib.Path(), "row", {}
  else:
    raise ValueError(f"from_csv was given {type(table).__name__}; it takes the path of a .csv or "
                     ".parquet, or a pandas DataFrame.")
  if len(set(read_table.column_names)) < len(read_table.column_names):
    raise ValueError(f"{title} has the columns {read_table.column_names}; each is needed once.")
  if not read_table.num_rows:
    raise ValueError(f"{title} has no images.")
  by_name = {name: read_table.column(name).to_pylist() for name in read_table.column_names}
  return by_name, title, folder, unit, own_tables.class_names(read_table)


def _image_column(title: str, cells: dict[str, list[Any]], name: str) -> str:
  """The column of paths, or the only one that holds images."""
  holding = [one for one, values in cells.items() if _are_embedded(values)]
  if name == "path" and name not in cells and len(holding) == 1:
    return holding[0]
  return _column(title, cells, "path", name)


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


def _named(title: str, cells: Sequence[Any], names: Sequence[str], say: _Say) -> list[Any]:
  """Class numbers, or lists of them, as names; -1 and what is empty stays."""
  numbered = dict(enumerate(names))

  def named(cell: Any) -> Any:
    if isinstance(cell, (list, tuple, np.ndarray)):
      return [named(one) for one in cell]
    return cell if cell is None or cell != cell or cell == -1 else numbered[int(cell)]

  found = []
  for row, cell in enumerate(cells):
    try:
      found.append(named(cell))
    except (KeyError, ValueError, TypeError) as error:
      raise ValueError(f"{title}: the label {cell!r} of {say([row])} is none of its "
                       f"{len(names)} class numbers. Correct it, or say labels='numbers'."
                       ) from error
  return found


def _labels(title: str, cells: Sequence[Any], say: _Say, form: LabelForm) -> Any:
  """Names of classes str [N], or class numbers int64 [N]; of several labels lists of these."""
  are_several = form.kind == tasks.MULTI_LABEL
  if are_several:
    rows = _several(title, cells, form.separator)
  else:
    rows = [[_text(cell)] for cell in cells]
    if form.kind is None:
      _refuse_several(title, cells, [label for label, in rows], say)
  empty = [row for row, labels in enumerate(rows)
           if any(not label or re.fullmatch(r"-1(\.0*)?", label) for label in labels)]
  if empty:
    first = next(label for label in rows[empty[0]] if not label or label.startswith("-1"))
    what = f"the label {first}, which is none" if first else "no label"
    raise ValueError(f"{title} is unlabelled in part: {len(empty)} of {len(rows)} images have "
                     f"{what}: {say(empty)}. Leave them out.")
  if all(re.fullmatch(r"[0-9]+(\.0*)?", label) for labels in rows for label in labels):
    rows = [[label.partition(".")[0] for label in labels] for labels in rows]  # Floats, by gaps.
  wrong = [row for row, labels in enumerate(rows)
           if not all(re.fullmatch("[0-9]{1,18}", label) for label in labels)]
  found = {label for labels in rows for label in labels}
  known = found if form.class_names is None else set(map(str, form.class_names))
  if form.labels_as == "names" and (wrong or known & found):
    return rows if are_several else np.array([label for label, in rows])
  if wrong:
    raise ValueError(f"{title}: labels='numbers' takes class numbers from 0, but {len(wrong)} of "
                     f"{len(rows)} labels are others: {say(wrong)}, the first "
                     f"{', '.join(rows[wrong[0]])!r}. Say labels='names'.")
  numbers = [[int(label) for label in labels] for labels in rows]
  return numbers if are_several else np.array([label for label, in numbers], np.int64)


def _listed(cell: Any) -> list[str] | None:
  """The labels of a cell that is a list, or the text of one; None of other cells."""
  if isinstance(cell, str) and re.fullmatch(r"\s*\[.*\]\s*", cell, re.DOTALL):
    try:
      cell = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError):
      return None
  return [_text(one) for one in cell] if isinstance(cell, (list, tuple, np.ndarray)) else None


def _several(title: str, cells: Sequence[Any], separator: str | None) -> list[list[str]]:
  """The labels of each row."""
  lists = [_listed(cell) for cell in cells]
  texts = ["" if labels is not None else _text(cell) for cell, labels in zip(cells, lists)]
  found = [mark for mark in own_labels.SEPARATORS if any(mark in text for text in texts)]
  if separator is None and len(found) > 1:
    raise ValueError(f"{title} has {' and '.join(map(repr, found))} in its labels; say which one "
                     f"is between the classes of an image: separator={found[0]!r}.")
  mark = separator or (found[0] if found else None)
  return [labels if labels is not None else [text] if mark is None or not text else [
      one.strip() for one in text.split(mark) if one.strip()] for text, labels in zip(texts, lists)]


def _refuse_several(title: str, cells: Sequence[Any], labels: Sequence[str], say: _Say) -> None:
  """Refuses lists, and labels that look like several ones."""
  joined = own_labels.joined(labels)
  rows = [row for row, cell in enumerate(cells)
          if labels[row] in joined or _listed(cell) is not None]
  if rows:
    raise ValueError(
        f"{title} has {len(rows)} labels that look like several classes of an image: {say(rows)}, "
        f"the first {labels[rows[0]]!r}. If they are, say kind='multi_label'; if each is the name "
        "of one class, kind='single_label'.")


def _splits(title: str, cells: dict[str, list[Any]], name: str | None, used: Sequence[str],
            say: _Say) -> list[str] | None:
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


def _are_embedded(cells: Sequence[Any]) -> bool:
  """Whether a column holds images: bytes, or Hugging Face's {"bytes", "path"}."""
  first = next((cell for cell in cells if cell is not None), None)
  return isinstance(first, bytes) or isinstance(first, Mapping) and "bytes" in first


def _embedded(title: str, cells: Sequence[Any], folder: pathlib.Path, say: _Say
              ) -> tuple[list[pathlib.Path | bytes], list[str]]:
  """(images, ids) of a column that holds them; ids are the paths, if these are different."""
  pairs = [(cell, None) if not isinstance(cell, Mapping) else (
      cell.get("bytes"), cell.get("path")) for cell in cells]
  empty = [row for row, (data, path) in enumerate(pairs) if not data and not path]
  if empty:
    raise ValueError(f"{title}: {len(empty)} of {len(cells)} rows have no image: {say(empty)}. "
                     "Leave them out.")
  outside = [row for row, (data, _) in enumerate(pairs) if not data]
  found = dict(zip(outside, _files(title, [str(pairs[row][1]) for row in outside], folder,
                                   lambda rows: say([outside[row] for row in rows]))))
  paths = [path for _, path in pairs if path]
  ids = paths if len(set(paths)) == len(pairs) else list(map(str, range(len(pairs))))
  return [data or found[row] for row, (data, _) in enumerate(pairs)], ids


def _files(title: str, places: Sequence[str], folder: pathlib.Path, say: _Say
           ) -> list[pathlib.Path | bytes]:
  """The images' files; an error if some are not there."""
  files = [folder / place for place in places]
  files = [file if file.is_file() or "\\" not in place else folder / place.replace("\\", "/")
           for file, place in zip(files, places)]  # As Windows writes paths.
  missing = [row for row, file in enumerate(files) if not file.is_file()]
  beside: dict[pathlib.Path, dict[str, list[str]]] = {}  # Files by folder and name without ending.
  for row in list(missing):
    parent = files[row].parent
    if parent not in beside:
      beside[parent] = collections.defaultdict(list)
      for name in sorted(os.listdir(parent)) if parent.is_dir() else ():
        if name.lower().endswith(own_images.ENDINGS):
          beside[parent][os.path.splitext(name)[0]].append(name)
    names = beside[parent].get(files[row].name, [])
    if len(names) > 1:
      raise ValueError(f"{title}: {str(files[row])!r} of {say([row])} may be "
                       f"{' or '.join(names)}. Write the endings into the table.")
    if names:
      files[row] = parent / names[0]
      missing.remove(row)
  if missing:
    raise FileNotFoundError(
        f"{title}: {len(missing)} of {len(files)} images are not there: {say(missing)}, the first "
        f"{str(files[missing[0]])[:_PATH_SHOWN]!r}, nor with an ending such as .jpg. Paths are "
        f"relative to the folder {str(folder)!r}; say images=DIR for another one, or leave these "
        "rows out.")
  return list(files)


def _one_row_each(title: str, files: Sequence[Any], labels: Any,
                  facts: Sequence[Sequence[str] | None], say: _Say) -> list[int]:
  """The first row of each image; labels of further rows are added to its list.

  One class an image has one row. `facts`: columns that are equal in all rows of an image.
  """
  names = [os.path.normpath(file) for file in files]
  if isinstance(labels, np.ndarray):
    _unique(title, "path", names, say, range(len(names)),
            " If an image has several classes, say kind='multi_label'.")
    return list(range(len(names)))
  first: dict[str, int] = {}
  for row, name in enumerate(names):
    start = first.setdefault(name, row)
    if any(values and values[row] != values[start] for values in facts):
      raise ValueError(f"{title}: {say([start, row])} are of one image, {name!r}, and differ in "
                       "split or time. Give them the same.")
    if start != row:
      labels[start] += [label for label in labels[row] if label not in labels[start]]
  return list(first.values())


def _unique(title: str, what: str, values: Sequence[str], say: _Say, rows: Sequence[int],
            hint: str = "") -> list[str]:
  """The values of some rows, all different."""
  first: dict[str, int] = {}
  again = [row for row in rows
           if first.setdefault(values[row], row) != row or not values[row]]
  if again:
    one = values[again[0]]
    raise ValueError(f"{title}: {len(again)} images have an empty {what} or that of another image: "
                     f"{say(again)}, the first {one!r}, as in {say([first[one]])}. Leave them "
                     f"out.{hint}")
  return [values[row] for row in rows]


def _periods(title: str, name: str, cells: Sequence[Any], by: str,
             say: _Say) -> list[str]:
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
