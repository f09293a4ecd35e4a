# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of answers from csv and parquet tables, whatever their orientation."""

from __future__ import annotations

from collections.abc import Sequence
import csv
import functools
import pathlib

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from suite.lifelong.cache import cache_input
from suite.lifelong.cache import long_answers

MODEL = "model"
IDS = ("id", "sample_id", "doc_id", "instance_id", "question_id", "example_id", "item_id", "sample")
SCORES = ("correct", "score", "is_correct", "acc", "accuracy", "exact_match")
_KNOWN = ("expected model,ID,ID,... (a line a model), ID,model,model,... (a line a sample) or "
          "model,id,correct (a line an answer)")


def read(path: pathlib.Path, model: str, *, id_column: str = "", score: str = ""
         ) -> long_answers.Entries | tuple[list[str], list[str], np.ndarray]:
  """Reads a table.

  Args:
    path: .csv or .parquet.
    model: name of the model if the table has one and does not name it.
    id_column: name of the column of ids; "": the first of `IDS` that there is.
    score: name of the column of answers; "": the first of `SCORES` that there is.

  Returns:
    Entries of a table with a line an answer; else (models, ids, scores [M, N]).
  """
  header = _header(path)
  id_name = _named(path, header, id_column, IDS, "--id")
  score_name = _named(path, header, score, SCORES, "--score")
  if path.suffix == ".csv" and MODEL in header[:1] and not id_name:
    return _models_as_rows(path, header)
  if not id_name:
    raise cache_input.CacheError(f"{path} begins with {header[:4]}; {_KNOWN}. If the ids have "
                                 "another name, give it: --id NAME.")
  first = 2 if path.suffix == ".csv" else 1
  table = _table(path, header)
  ids = _text(table[id_name])
  if score_name:
    models = (_text(table[MODEL]) if MODEL in header else
              pa.array([model], pa.string()).take(pa.array(np.zeros(len(ids), np.int8))))
    return long_answers.Entries(
        models, ids, long_answers.scores(
            table[score_name], lambda index: f"{path}, line {index + first}"), str(path), first)
  names = [name for name in header if name not in (id_name, MODEL)]
  if not names:
    raise cache_input.CacheError(f"{path} has no column but {id_name!r}; {_KNOWN}.")
  if not len(ids):
    raise cache_input.CacheError(f"{path} has a header and no samples.")
  answers = np.stack([long_answers.scores(
      table[name], functools.partial(_cell, path, first, name)) for name in names])
  return names, ids.to_pylist(), answers


def _header(path: pathlib.Path) -> list[str]:
  if path.suffix == ".parquet":
    return list(parquet.read_schema(path).names)
  with open(path, newline="", encoding="utf-8-sig") as file:
    header = [name.strip() for name in next(csv.reader(file), [])]
  twice = sorted({name for name in header if header.count(name) > 1}) if len(header) < 1000 else []
  if twice:
    raise cache_input.CacheError(f"{path}, line 1: columns {twice[:3]} are given twice. Rename or "
                                 "remove one.")
  return header


def _named(path: pathlib.Path, header: Sequence[str], wanted: str, names: Sequence[str],
           flag: str) -> str:
  """The column that is wanted, or the first of the names, or ""."""
  if wanted and wanted not in header:
    raise cache_input.CacheError(f"{path} has no column {wanted!r} ({flag}); it has "
                                 f"{list(header[:8])}.")
  return wanted or next((name for name in names if name in header), "")


def _models_as_rows(path: pathlib.Path, header: Sequence[str]
                    ) -> tuple[list[str], list[str], np.ndarray]:
  models, rows = [], []
  with open(path, newline="", encoding="utf-8-sig") as file:
    lines = csv.reader(file)
    next(lines)
    for line in lines:
      if not line:
        continue
      if len(line) != len(header):
        raise cache_input.CacheError(
            f"{path}, line {lines.line_num}: {len(line)} cells for a header of {len(header)}. "
            "Leave the cell of a missing answer empty, but keep its comma.")
      models.append(line[0])
      rows.append(long_answers.scores(
          pa.array(line[1:]), functools.partial(_row_cell, path, lines.line_num, header)))
  if not rows:
    raise cache_input.CacheError(f"{path} has a header and no models.")
  return models, list(header[1:]), np.stack(rows)


def _cell(path: pathlib.Path, first: int, name: str, index: int) -> str:
  return f"{path}, line {index + first}, column {name!r}"


def _row_cell(path: pathlib.Path, number: int, header: Sequence[str], index: int) -> str:
  return f"{path}, line {number}, column {header[index + 1]!r}"


def _table(path: pathlib.Path, header: Sequence[str]) -> pa.Table:
  if path.suffix == ".parquet":
    return parquet.read_table(path, page_checksum_verification=True)
  options = arrow_csv.ConvertOptions(column_types={name: pa.string() for name in header},
                                     strings_can_be_null=False)
  try:
    return arrow_csv.read_csv(
        path, read_options=arrow_csv.ReadOptions(column_names=list(header), skip_rows=1),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True), convert_options=options)
  except pa.ArrowInvalid as error:
    if "Empty CSV" in str(error):
      return pa.table({name: pa.array([], pa.string()) for name in header})
    raise cache_input.CacheError(f"{path} is no table of {len(header)} columns: {error}. Correct "
                                 "the line.") from error


def _text(column: pa.ChunkedArray) -> pa.Array:
  """A column as text; whole numbers that are stored as floats are written as whole numbers."""
  column = column.combine_chunks()
  if pa.types.is_floating(column.type):
    column = column.cast(pa.int64())
  return column.cast(pa.string())
