# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Import of models' answers from files into an accuracy cache.

| file | form |
|---|---|
| .npy | [M, N] of 1 (correct), 0 (wrong), -1 (not evaluated) |
| .npz | as `answers`, or bits as `A_packed` with `n_samples`; `ids`, `model_names` if there |
| .csv | a header `model,ID,ID,...`, then one line per model; an empty cell was not evaluated |
| .parquet | saved predictions (`id`, `correct`): one model; or `id` and one column per model |
"""

from __future__ import annotations

from collections.abc import Sequence
import csv
import dataclasses
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from suite.lifelong.cache import accuracy_cache

_CELLS = {"": -1, "1": 1, "0": 0, "-1": -1, "true": 1, "false": 0}


@dataclasses.dataclass(frozen=True, eq=False)
class ImportedAnswers:
  """Answers of M models to N samples, as read from a file.

  Attributes:
    models: M names.
    ids: N ids, or None if the file has none.
    answers: [M, N] of 1, 0 and -1, or bool.
  """

  models: list[str]
  ids: list[str] | None
  answers: np.ndarray


def read(path: pathlib.Path, names: Sequence[str] = ()) -> ImportedAnswers:
  """Reads one file.

  Args:
    path: see the table above.
    names: names of the models if the file has none; otherwise their number must match.

  Raises:
    accuracy_cache.CacheError: the file is missing, damaged or of another form.
  """
  readers = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv, ".parquet": _read_parquet}
  path = pathlib.Path(path)
  if path.suffix not in readers:
    raise accuracy_cache.CacheError(f"{path} is none of {', '.join(sorted(readers))}.")
  try:
    found = readers[path.suffix](path)
  except (OSError, pa.ArrowException) as error:
    raise accuracy_cache.CacheError(f"{path} cannot be read: {error}") from error
  if names:
    if len(names) != len(found.answers):
      raise accuracy_cache.CacheError(
          f"{path} has the answers of {len(found.answers)} models, but {len(names)} names are "
          "given.")
    found = dataclasses.replace(found, models=list(names))
  return found


def _read_npy(path: pathlib.Path) -> ImportedAnswers:
  return _named(path, np.atleast_2d(_load(path)), None, None)


def _read_npz(path: pathlib.Path) -> ImportedAnswers:
  with _load(path) as saved:
    if "answers" in saved:
      answers = np.atleast_2d(saved["answers"])
    elif {"A_packed", "n_samples"} <= set(saved):
      answers = np.unpackbits(saved["A_packed"], axis=1, count=int(saved["n_samples"]))
    else:
      raise accuracy_cache.CacheError(
          f"{path} has {sorted(saved)}; needed is `answers` [M, N], or `A_packed` and `n_samples`.")
    return _named(path, answers, saved.get("model_names"), saved.get("ids"))


def _load(path: pathlib.Path) -> Any:
  try:
    return np.load(path, allow_pickle=False)
  except ValueError as error:
    raise accuracy_cache.CacheError(f"{path} is damaged, or holds Python objects, which are not "
                                    f"read: {error}") from error


def _named(path: pathlib.Path, answers: np.ndarray, names: Any, ids: Any) -> ImportedAnswers:
  models = ([str(name) for name in names] if names is not None else
            [path.stem] if len(answers) == 1 else
            [f"{path.stem}/{index}" for index in range(len(answers))])
  return ImportedAnswers(models, None if ids is None else [str(one) for one in ids], answers)


def _read_csv(path: pathlib.Path) -> ImportedAnswers:
  with open(path, newline="", encoding="utf-8") as file:
    lines = csv.reader(file)
    header = next(lines, [])
    if len(header) < 2 or header[0] != "model":
      raise accuracy_cache.CacheError(f"{path} begins with {header[:3]}; needed is a header "
                                      "model,ID,ID,...")
    models, rows = [], []
    for number, line in enumerate(lines, start=2):
      wrong = sorted({cell for cell in line[1:] if cell.strip().lower() not in _CELLS})
      if len(line) != len(header) or wrong:
        raise accuracy_cache.CacheError(
            f"{path}, line {number}: {len(line)} cells for a header of {len(header)}, or cells "
            f"that are not 1, 0, -1 or empty: {wrong[:3]}.")
      models.append(line[0])
      rows.append(np.array([_CELLS[cell.strip().lower()] for cell in line[1:]], np.int8))
  if not rows:
    raise accuracy_cache.CacheError(f"{path} has a header and no models.")
  return ImportedAnswers(models, header[1:], np.stack(rows))


def _read_parquet(path: pathlib.Path) -> ImportedAnswers:
  table = parquet.read_table(path, page_checksum_verification=True)
  if "id" not in table.column_names:
    raise accuracy_cache.CacheError(f"{path} has columns {table.column_names[:6]}; needed is `id`, "
                                    "and `correct` or a column a model.")
  ids = [str(one) for one in table["id"].to_pylist()]
  if "correct" in table.column_names:
    return ImportedAnswers([_model_name(path)], ids, np.asarray(table["correct"])[None])
  names = [name for name in table.column_names if name != "id"]
  columns = [table[name].cast(pa.int8()).fill_null(-1).to_numpy() for name in names]
  if not columns:
    raise accuracy_cache.CacheError(f"{path} has no column but `id`.")
  return ImportedAnswers(names, ids, np.stack(columns))


def _model_name(path: pathlib.Path) -> str:
  """Model name of saved predictions: WORKDIR/LEARNER/predictions/0003.parquet gives
  "quickstart/indep/0003"."""
  run = path.resolve().parent.parent
  is_run = path.parent.name == "predictions"
  return f"{run.parent.name}/{run.name}/{path.stem}" if is_run else path.stem
