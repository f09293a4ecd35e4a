# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables as users have them, .csv or .parquet: all their columns, and names that are nearly right.

A .csv may be what a spreadsheet writes: with semicolons or tabs, a byte order mark, in UTF-16,
under Excel's line "sep=;", with empty rows at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
import csv
import difflib
import json
import pathlib
import re
from typing import NamedTuple

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

# Other names for what a column holds, without case, blanks and marks.
_OTHER_NAMES = {
    "time": ("date", "datetime", "datetaken", "taken", "year", "created", "createdat", "uploaded",
             "dateuploaded", "captured", "capturedate", "datetimeoriginal", "exifdatetime", "day"),
    "path": ("file", "filename", "filepath", "image", "imagepath", "imagefile", "img", "imgpath",
             "photo", "picture", "location"),
    "label": ("category", "categories", "categoryname", "categoryid", "classname", "classlabel",
              "classid", "labelname", "labelid", "labeltext", "target", "targets", "species", "y",
              "tag", "tags", "concept", "groundtruth", "object", "breed", "class"),
    "split": ("splits", "set", "subset", "partition", "part", "usage", "fold", "phase",
              "datasplit")}


def read_columns(path: pathlib.Path, known: Sequence[str]) -> pa.Table:
  """Reads all columns of a .csv or .parquet table; cells of a .csv as text.

  Args:
    path: the table.
    known: names of columns; "Label" and " label" are read as "label" if that is one of them.

  Raises:
    ValueError: it cannot be read.
  """
  readers = {".csv": _read_csv, ".tsv": _read_csv, ".parquet": parquet.read_table}
  if path.suffix.lower() not in readers:
    raise ValueError(f"{path} is neither .csv nor .parquet; give the table as one of them.")
  try:
    table = readers[path.suffix.lower()](path)
  except (OSError, UnicodeError, csv.Error, pa.ArrowException) as error:
    if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
      raise ValueError(f"{path} is not text in UTF-8. Save it again so: spreadsheets call it 'CSV "
                       "UTF-8'.") from error
    raise ValueError(f"{path} cannot be read: {error}") from error
  plain = [name.strip().lower() for name in table.column_names]
  return table.rename_columns([
      other if other in known and other not in table.column_names else name
      for name, other in zip(table.column_names, plain)]).replace_schema_metadata(
          table.schema.metadata)


def class_names(table: pa.Table) -> dict[str, list[str]]:
  """Names of classes by column, as Hugging Face's `datasets` writes them into a .parquet."""
  text = (table.schema.metadata or {}).get(b"huggingface")
  try:
    features = json.loads(text)["info"]["features"] if text else {}
    found = {}
    for column, feature in features.items():
      element = feature[0] if isinstance(feature, list) else feature.get("feature") or feature
      if element.get("_type") == "ClassLabel" and element.get("names"):
        found[column.strip().lower() if column not in table.column_names else column] = list(
            map(str, element["names"]))
    return found
  except (ValueError, TypeError, KeyError, AttributeError, IndexError):
    return {}  # Of another form.


class _Form(NamedTuple):
  """How a .csv is written; `skip`: lines before the names of the columns."""

  encoding: str
  delimiter: str
  skip: int


def _form(path: pathlib.Path) -> _Form:
  with open(path, "rb") as file:
    start = file.read(2)
  encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
  with open(path, encoding=encoding, newline="") as file:
    first = file.readline().strip()
    if re.fullmatch("sep=.", first):  # Excel's.
      return _Form(encoding, first[-1], 1)
  # Names of columns hardly hold what separates them; a comma counts most.
  return _Form(encoding, max(",;\t|", key=lambda mark: len(next(csv.reader(
      [first], delimiter=mark), []))), 0)


def lines(path: pathlib.Path) -> list[int]:
  """The line in which each row of a .csv ends; cells may have line breaks."""
  form = _form(path)
  with open(path, encoding=form.encoding, newline="") as file:
    reader = csv.reader(file, delimiter=form.delimiter)
    return [reader.line_num for row in reader if row][1 + form.skip:]


def _read_csv(path: pathlib.Path) -> pa.Table:
  """Reads all cells as text: an id such as 007 must not become a number."""
  form = _form(path)
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


def like(name: str, names: Sequence[str], others: Sequence[str] = ()) -> str:
  """The column whose name is most like one that is looked for; "" if none is.

  Args:
    name: "time", "path", "label" or "split".
    names: of the columns.
    others: names that are known to mean something else.
  """
  plain = {re.sub(r"[\W_]", "", one.lower()): one for one in names if one not in others}
  near = [one for word in (name, *_OTHER_NAMES[name]) for one in difflib.get_close_matches(
      word, plain, n=1, cutoff=0.8 if len(word) > 3 else 1.0)]
  return plain[near[0]] if near else ""
