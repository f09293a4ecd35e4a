# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Import of models' answers from files.

| file | form |
|---|---|
| .npy | [M, N] of 1 (correct), 0 (wrong), -1 (not evaluated) |
| .npz | as `answers`, or bits as `A_packed` with `n_samples`; `ids`, `model_names` if there |
| .csv, .parquet | a line an answer: `model,id,correct`; without `model`: one model |
| .csv, .parquet | a line a sample: `id` and one column per model |
| .csv | a line a model: a header `model,ID,ID,...` |
| .jsonl | per-sample log of lm-evaluation-harness |
| .json | HELM's per_instance_stats.json |

Answers are 1, 0, true, false, or scores between; an empty cell or null was not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import dataclasses
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import answer_tables
from suite.lifelong.cache import harness_logs
from suite.lifelong.cache import long_answers

KINDS = (".csv", ".json", ".jsonl", ".npy", ".npz", ".parquet")


@dataclasses.dataclass(frozen=True, eq=False)
class ImportedAnswers:
  """Answers of M models to N samples, as read from a file.

  Attributes:
    models: M names.
    ids: N ids, or None if the file has none.
    answers: [M, N] of 1, 0 and -1, or bool; or scores float64 in [0, 1], NaN: not evaluated.
  """

  models: list[str]
  ids: list[str] | None
  answers: np.ndarray

  @property
  def is_graded(self) -> bool:
    """Whether there are scores between 0 and 1."""
    return self.answers.dtype.kind == "f" and bool(np.any((self.answers > 0) & (self.answers < 1)))

  def bits(self, threshold: float | None = None) -> np.ndarray:
    """Answers 1, 0 or -1 [M, N]; scores count as correct from the threshold on."""
    if self.answers.dtype.kind != "f":
      return self.answers
    known = ~np.isnan(self.answers)
    if threshold is None and self.is_graded:
      model, sample = np.argwhere((self.answers > 0) & (self.answers < 1))[0].tolist()
      raise accuracy_cache.CacheError(
          f"The score of model {self.models[model]!r} on {(self.ids or range(10**18))[sample]!r} "
          f"is {self.answers[model, sample]:g}; a cache keeps right or wrong. Say from which score "
          "on an answer is right: --threshold 0.5.")
    right = self.answers >= (0.5 if threshold is None else threshold)
    return np.where(known, right, accuracy_cache.NOT_EVALUATED).astype(np.int8)


@dataclasses.dataclass(frozen=True)
class Options:
  """How files are read; see `suite lifelong add-models --help`.

  Attributes:
    names: names of the models if the file has none; otherwise their number must match.
    id_column, score: names of the columns of ids and of answers; `score` also of a metric.
    keep: name of the filter of lm-evaluation-harness.
    repeats: "refuse" different answers of one model to one sample, or take their "mean".
  """

  names: Sequence[str] = ()
  id_column: str = ""
  score: str = ""
  keep: str = ""
  repeats: str = long_answers.REFUSE


def read(path: pathlib.Path, names: Sequence[str] = (), options: Options | None = None
         ) -> ImportedAnswers:
  """Reads one file; see `read_all`."""
  options = options or Options()
  found, = read_all([path], dataclasses.replace(options, names=list(names) or options.names))
  return found


def read_all(paths: Iterable[pathlib.Path], options: Options) -> list[ImportedAnswers]:
  """Reads files; those with a line an answer, and logs, make one table.

  Raises:
    accuracy_cache.CacheError: a file is missing, damaged or of another form; it names the line.
  """
  tables, entries = [], []
  named: dict[str, pathlib.Path] = {}
  for path in map(pathlib.Path, paths):
    if path.suffix not in KINDS:
      raise accuracy_cache.CacheError(f"{path} is none of {', '.join(KINDS)}.")
    try:
      found = _read(path, options)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
      raise accuracy_cache.CacheError(f"{path} cannot be read: {error}") from error
    if isinstance(found, long_answers.Entries):
      name = _model_name(path)
      # A log is one of several of its model; a table without a column of models is all of one.
      if path.suffix in (".csv", ".parquet") and found.models.unique().to_pylist() == [name]:
        if name in named:
          raise accuracy_cache.CacheError(f"{named[name]} and {path} both have a model {name!r}. "
                                          "Rename one of them, or join them to one file.")
        named[name] = path
      entries.append(found)
    else:
      tables.append((path, found))
  if entries:
    models, ids, scores = long_answers.matrix(entries, options.repeats)
    tables.append((pathlib.Path(entries[0].path), ImportedAnswers(models, ids, _plain(scores))))
  return [_renamed(path, one, options.names) for path, one in tables]


def _read(path: pathlib.Path, options: Options) -> ImportedAnswers | long_answers.Entries:
  if path.suffix == ".npy":
    return _named(path, np.atleast_2d(_load(path)), None, None)
  if path.suffix == ".npz":
    return _read_npz(path)
  if path.suffix in (".json", ".jsonl"):
    return harness_logs.read(path, score=options.score, keep=options.keep)
  found = answer_tables.read(path, _model_name(path), id_column=options.id_column,
                             score=options.score)
  if isinstance(found, long_answers.Entries):
    return found
  models, ids, scores = found
  return ImportedAnswers(models, ids, _plain(scores))


def _renamed(path: pathlib.Path, found: ImportedAnswers, names: Sequence[str]) -> ImportedAnswers:
  if not names:
    return found
  if len(names) != len(found.answers):
    raise accuracy_cache.CacheError(
        f"{path} has the answers of {len(found.answers)} models, but {len(names)} names are given.")
  return dataclasses.replace(found, models=list(names))


def _plain(scores: np.ndarray) -> np.ndarray:
  """Scores as 1, 0 and -1 if none is graded."""
  known = ~np.isnan(scores)
  if np.all((scores == 0) | (scores == 1) | ~known):
    return np.where(known, scores == 1, accuracy_cache.NOT_EVALUATED).astype(np.int8)
  return scores


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
  if answers.dtype.kind == "f":
    answers = np.where(answers == accuracy_cache.NOT_EVALUATED, np.nan, answers)
    bad = (answers < 0) | (answers > 1)
    if bad.any():
      raise accuracy_cache.CacheError(f"{path} has {answers[bad][0]:g} at {np.argwhere(bad)[0]}; "
                                      "expected 1, 0, scores between, -1 or NaN.")
    answers = _plain(answers)
  return ImportedAnswers(models, None if ids is None else [str(one) for one in ids], answers)


def _model_name(path: pathlib.Path) -> str:
  """Model name of saved predictions: WORKDIR/LEARNER/predictions/0003.parquet gives
  "quickstart/indep/0003"."""
  run = path.resolve().parent.parent
  is_run = path.parent.name == "predictions"
  return f"{run.parent.name}/{run.name}/{path.stem}" if is_run else path.stem
