# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of answers from tables, whatever their orientation: csv, tsv, csv with ; and parquet.

A table has a line an answer (model, task, id, answer), a line a sample (id, a column a model) or a
line a model (model, a column a sample). Columns are found by their names; where several could be
meant, the one that makes the lines unique is taken, and otherwise the user is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import csv
import dataclasses
import functools
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input

KINDS = (".csv", ".tsv", ".parquet")
MODELS = ("model", "model_name", "model_id", "system", "subject_id")
TASKS = ("task", "task_name", "dataset", "benchmark", "scenario", "subtask")
IDS = ("id", "sample_id", "doc_id", "instance_id", "question_id", "example_id", "item_id", "sample")
SCORES = ("correct", "score", "is_correct", "acc", "accuracy", "exact_match")
_METRICS, _FILTERS = ("metric", "metric_name"), ("filter", "filter_name")
_VALUES = ("value", *SCORES)  # The column of answers beside a column of metrics.
_PLAIN = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean, pa.types.is_integer,
          pa.types.is_floating)
_HASHES = ("doc_hash", "document_hash")
_REPEATS = ("trial", "train_trial_index", "repeat", "repetition", "epoch", "run", "run_id", "seed",
            "attempt")
_KNOWN = ("expected model,ID,ID,... (a line a model), ID,model,model,... (a line a sample) or "
          "model,id,correct (a line an answer)")
_NAMES = ("If the columns have other names, give them: a line an answer has --id, --score and "
          "perhaps --model and --task; a line a sample has --id only; a line a model has --model "
          "only.")


@dataclasses.dataclass(frozen=True)
class Columns:
  """Names of columns that the user gives; "": they are found by name.

  `any_number`: scores are numbers of any range, not of 0 to 1.
  """

  model: str = ""
  task: str = ""
  id: str = ""
  score: str = ""
  any_number: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class TableAnswers:
  """What a table has.

  Attributes:
    entries: of a table with a line an answer; else None.
    matrix: (models, ids, scores [M, N]) of the others; else None.
    tasks: task of each entry, pyarrow strings [n]; None: the table has no tasks.
    metrics, filters: names of metrics and filters of the entries, strings [n], or None.
    chosen: the column of answers.
    notes: what was chosen among several columns.
    is_named_by_file: whether the model has its name from the file, since no column has it.
  """

  entries: answer_entries.Entries | None
  matrix: tuple[list[str], list[str], np.ndarray] | None
  tasks: pa.Array | None = None
  metrics: pa.Array | None = None
  filters: pa.Array | None = None
  chosen: str = ""
  notes: tuple[str, ...] = ()
  is_named_by_file: bool = False


def read_table(path: pathlib.Path, model: str, columns: Columns, text: Callable[[], Any]
               ) -> TableAnswers:
  """Reads a table.

  Args:
    path: .csv, .tsv or .parquet, the first two perhaps .gz.
    model: name of the model if the table has one and does not name it.
    columns: names of columns.
    text: opens the file of a csv as bytes.
  """
  is_parquet = path.suffix == ".parquet"
  if is_parquet:
    header, delimiter = list(parquet.read_schema(path).names), ""
  else:
    header, delimiter = _header(path, text)
  for name, flag in ((columns.id, "--id"), (columns.model, "--model"), (columns.task, "--task")):
    if name and name not in header:
      raise cache_input.CacheError(f"{path} has no column {name!r} ({flag}); it has "
                                   f"{list(header[:8])}.")
  has_id = bool(columns.id or any(name in header for name in IDS))
  named = columns.model or (header[0] if header[:1] and header[0] in MODELS else "")
  if named and not has_id:
    if columns.score or columns.task:
      raise cache_input.CacheError(
          f"{path} has a line a model in column {named!r}; --score and --task are of a table with "
          "a line an answer, which has a column of ids, too: --id COLUMN.")
    if not is_parquet:
      return TableAnswers(None, _lines_of_models(path, text, header, delimiter, named,
                                                 columns.any_number))
    wide = parquet.read_table(path, page_checksum_verification=True)
    ids = [name for name in header if name != named]
    return TableAnswers(None, (_text(wide[named]).to_pylist(), ids, np.stack([
        answer_entries.scores(wide[name], functools.partial(_cell, path, 1, name),
                              columns.any_number)
        for name in ids], axis=1)))
  if not has_id:
    raise cache_input.CacheError(f"{path} begins with {header[:4]}; {_KNOWN}. {_NAMES}")
  table = (parquet.read_table(path, page_checksum_verification=True) if is_parquet else
           _table(path, header, delimiter, text))
  return from_table(path, table, model, columns, 1 if is_parquet else 2)


def from_table(path: pathlib.Path, table: pa.Table, model: str, columns: Columns, first: int
               ) -> TableAnswers:
  """Reads a table with a line an answer or a line a sample; the arguments are as above.

  `first` is the line of its first row.
  """
  header, notes = table.column_names, []

  def column(wanted: str, names: Sequence[str], flag: str, beside: Sequence[str] = ()) -> str:
    if wanted and wanted not in header:
      raise cache_input.CacheError(f"{path} has no column {wanted!r} ({flag}); it has "
                                   f"{list(header[:8])}.")
    found = [wanted] if wanted else [name for name in names if name in header]
    if len(found) < 2:
      return found[0] if found else ""
    chosen = _only(table, found, beside, columns.any_number, is_key=flag == "--id")
    if not chosen:
      raise cache_input.CacheError(
          f"{path} has columns {', '.join(found)}, which differ: which one is meant? "
          f"{' or '.join(f'{flag} {one}' for one in found)}")
    others = ", ".join(name for name in found if name != chosen)
    notes.append(f"{flag[2:]} is column {chosen}, not {others}")
    return chosen

  model_name = column(columns.model, MODELS, "--model")
  task_name = column(columns.task, TASKS, "--task")
  key = [name for name in (model_name, task_name) if name]
  key += [name for name in (*_REPEATS, *_METRICS, *_FILTERS) if name in header]
  id_name = column(columns.id, IDS, "--id", key)
  if not id_name:
    raise cache_input.CacheError(f"{path} has columns {list(header[:4])}; {_KNOWN}. {_NAMES}")
  metric_name, filter_name = (next((name for name in names if name in header), "")
                              for names in (_METRICS, _FILTERS))
  taken = (model_name, task_name, id_name, metric_name, filter_name)
  wanted = columns.score if not metric_name or columns.score in header else ""
  score_name = column(wanted, [name for name in (_VALUES if metric_name else SCORES)
                               if name not in taken], "--score")
  rest = [name for name in header if name not in taken]
  if not score_name and model_name and len(rest) == 1:
    score_name = rest[0]
  if not score_name and (model_name or columns.task):
    raise cache_input.CacheError(f"{path} has columns {rest[:6]} beside those of model, task and "
                                 "id: which one has the answers? --score COLUMN")
  ids = _text(table[id_name])
  if not score_name:
    names = [name for name in header if name not in (id_name, model_name)]
    if not names:
      raise cache_input.CacheError(f"{path} has no column but {id_name!r}; {_KNOWN}.")
    if not len(ids):
      raise cache_input.CacheError(f"{path} has a header and no samples.")
    answers = np.stack([answer_entries.scores(
        table[name], functools.partial(_cell, path, first, name), columns.any_number)
                        for name in names])
    return TableAnswers(None, (names, ids.to_pylist(), answers), notes=tuple(notes))
  models = (_text(table[model_name]) if model_name else
            pa.array([model], pa.string()).take(pa.array(np.zeros(len(ids), np.int8))))
  tasks = compute.fill_null(_text(table[task_name]), "") if task_name else None
  hashed = next((name for name in _HASHES if name in header), "")
  labels = [_text(table[name]) for name in _REPEATS if name in header and name not in taken]
  read = {*taken, score_name, hashed, *_REPEATS}
  entries = answer_entries.Entries(
      models, ids if tasks is None else _keys(tasks, ids),
      answer_entries.scores(table[score_name], lambda index: f"{path}, line {index + first}",
                            columns.any_number),
      str(path), first, hashes=_hashes(_text(table[hashed])) if hashed else None,
      repeats=compute.binary_join_element_wise(*labels, "/", null_handling="replace",
                                               null_replacement="") if labels else None,
      others=table.select([name for name in header if name not in read and any(
          is_kind(table.schema.field(name).type) for is_kind in _PLAIN)]))
  return TableAnswers(
      entries, None, tasks, _text(table[metric_name]) if metric_name else None,
      _text(table[filter_name]) if filter_name else None, score_name, tuple(notes),
      not model_name)


def _only(table: pa.Table, found: Sequence[str], beside: Sequence[str], any_number: bool, *,
          is_key: bool) -> str:
  """The column that is meant, of several; "": nothing tells.

  Of ids, the one that makes the lines unique together with the columns `beside`. Of columns that
  say the same with other words, the first.
  """
  if is_key:
    alone = [name for name in found if _is_unique(table, [name])]
    unique = alone or [name for name in found if _is_unique(table, [*beside, name])]
    if not alone and len(unique) == 1:
      return unique[0]
    # An id that is unique within a task, and another one that is so in all tasks, say the same.
    found = unique or found
    first = [*beside, found[0]]
    if all(_num_groups(table, first) == _num_groups(table, [*first, other]) ==
           _num_groups(table, [*beside, other]) for other in found[1:]):
      wide = [name for name in found if _num_groups(table, [name]) == max(
          _num_groups(table, [other]) for other in found)]
      return wide[0]
    return unique[0] if len(unique) == 1 else ""
  first = table[found[0]]
  if all(table[other].equals(first) for other in found[1:]):
    return found[0]
  scored = []
  for name in found:
    try:
      scored.append(answer_entries.scores(table[name], str, any_number))
    except (cache_input.CacheError, pa.ArrowException):
      scored.append(np.zeros(0))
  right = [name for name, values in zip(found, scored) if len(values)]
  if len(right) == len(found) and all(np.array_equal(scored[0], one, equal_nan=True)
                                      for one in scored[1:]):
    return found[0]
  return right[0] if len(right) == 1 else ""


def _is_unique(table: pa.Table, names: Sequence[str]) -> bool:
  return _num_groups(table, names) == table.num_rows


def _num_groups(table: pa.Table, names: Sequence[str]) -> int:
  names = list(dict.fromkeys(names))
  return table.select(names).group_by(names).aggregate([]).num_rows


def _keys(tasks: pa.Array, ids: pa.Array) -> pa.Array:
  """TASK/DOCUMENT; ids that begin with their task already, and those without one, stay."""
  return pa.array([one if not one or not task or one.startswith(f"{task}/") else f"{task}/{one}"
                   for task, one in zip(tasks.to_pylist(), compute.fill_null(ids, "").to_pylist())],
                  pa.string())


def _hashes(column: pa.Array) -> np.ndarray:
  coded = compute.dictionary_encode(compute.fill_null(column, ""))
  values = np.array([answer_entries.document_hash(one) if one else 0
                     for one in coded.dictionary.to_pylist()], np.uint64)
  return values[coded.indices.to_numpy()] if len(values) else np.zeros(0, np.uint64)


def _header(path: pathlib.Path, text: Callable[[], Any]) -> tuple[list[str], str]:
  """Names of the columns, and what separates them."""
  with text() as file:
    lines = _lines(file)
    first = next(lines, "")
  delimiter = "\t" if ".tsv" in path.suffixes else max(",;\t", key=first.count)
  with text() as file:
    header = [name.strip() for name in next(csv.reader(_lines(file), delimiter=delimiter), [])]
  twice = sorted({name for name in header if header.count(name) > 1}) if len(header) < 1000 else []
  if twice:
    raise cache_input.CacheError(f"{path}, line 1: columns {twice[:3]} are given twice. Rename or "
                                 "remove one.")
  return header, delimiter


def _lines(file: Any) -> Iterator[str]:
  for number, line in enumerate(file):
    yield line.decode("utf-8-sig" if not number else "utf-8")


def _lines_of_models(path: pathlib.Path, text: Callable[[], Any], header: Sequence[str],
                     delimiter: str, named: str, any_number: bool
                     ) -> tuple[list[str], list[str], np.ndarray]:
  """Reads a table with a line a model: (models, ids, scores [M, N])."""
  at = header.index(named)
  ids = [name for place, name in enumerate(header) if place != at]
  models: list[str] = []
  rows: list[np.ndarray] = []
  met: set[str] = set()
  with text() as file:
    lines = csv.reader(_lines(file), delimiter=delimiter)
    next(lines)
    for line in lines:
      if not line:
        continue
      if len(line) != len(header):
        raise cache_input.CacheError(
            f"{path}, line {lines.line_num}: {len(line)} cells for a header of {len(header)}. "
            "Leave the cell of a missing answer empty, but keep its comma.")
      models.append(line.pop(at))
      if models[-1] in met:
        raise cache_input.CacheError(
            f"{path}, line {lines.line_num}: model {models[-1]!r} comes again, so this is no table "
            "with a line a model. A line an answer has a column of ids, too: --id COLUMN.")
      met.add(models[-1])
      rows.append(answer_entries.scores(
          pa.array(line, pa.string()), functools.partial(_row_cell, path, lines.line_num, ids),
          any_number))
  if not rows:
    raise cache_input.CacheError(f"{path} has a header and no models.")
  return models, ids, np.stack(rows)


def _cell(path: pathlib.Path, first: int, name: str, index: int) -> str:
  return f"{path}, line {index + first}, column {name!r}"


def _row_cell(path: pathlib.Path, number: int, ids: Sequence[str], index: int) -> str:
  return f"{path}, line {number}, column {ids[index]!r}"


def _table(path: pathlib.Path, header: Sequence[str], delimiter: str, text: Callable[[], Any]
           ) -> pa.Table:
  options = arrow_csv.ConvertOptions(column_types={name: pa.string() for name in header},
                                     strings_can_be_null=False)
  try:
    with contextlib.ExitStack() as stack:
      source = stack.enter_context(text()) if path.suffix == ".gz" else str(path)
      return arrow_csv.read_csv(
          source, read_options=arrow_csv.ReadOptions(column_names=list(header), skip_rows=1),
          parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
          convert_options=options)
  except pa.ArrowInvalid as error:
    if "Empty CSV" in str(error):
      return pa.table({name: pa.array([], pa.string()) for name in header})
    raise cache_input.CacheError(f"{path} is no table of {len(header)} columns: {error}. Correct "
                                 "the line.") from error


def _text(column: pa.ChunkedArray) -> pa.Array:
  """A column as text; whole numbers that are stored as floats are written as whole numbers."""
  column = column.combine_chunks()
  if pa.types.is_floating(column.type):
    whole = compute.equal(column, compute.floor(column))
    if compute.all(compute.fill_null(whole, True)).as_py():
      column = column.cast(pa.int64())
  return column.cast(pa.string())
