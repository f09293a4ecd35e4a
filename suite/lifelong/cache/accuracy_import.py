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

Reading of answers from csv and parquet tables, whatever their orientation.

Reading of the per-sample logs of evaluation harnesses for language models.

  lm-evaluation-harness  MODEL/samples_TASK_DATE.jsonl (--log_samples): a line a sample
  HELM                   TASK:...,model=MODEL/per_instance_stats.json: a list of instances

Ids are TASK/doc_id and TASK/instance_id, so that files of many tasks go to one cache.

Answers as a list of (model, id, score), and the matrix that they make.

A score is 1 (correct), 0 (wrong) or in between; a missing one was not evaluated. Several scores of
one model on one sample are repeated runs, or a mistake: only equal ones are taken unless their mean
is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import contextlib
import csv
import dataclasses
import functools
import json
import pathlib
import re
from typing import Any, Callable

import numpy as np
import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_input

REFUSE, MEAN = "refuse", "mean"
_WORDS = {"": np.nan, "nan": np.nan, "null": np.nan, "none": np.nan, "na": np.nan, "n/a": np.nan,
          "<na>": np.nan, "true": 1.0, "false": 0.0, "correct": 1.0, "wrong": 0.0,
          "incorrect": 0.0, "-1": np.nan, "-1.0": np.nan}


@dataclasses.dataclass(frozen=True, eq=False)
class Entries:
  """n entries of one file.

  Attributes:
    models, ids: pyarrow strings [n].
    scores: float64 [n], NaN where not evaluated.
    path: the file; `first_line`: the line of the first entry.
  """

  models: pa.Array
  ids: pa.Array
  scores: np.ndarray
  path: str
  first_line: int = 1

  def where(self, index: int) -> str:
    return f"{self.path}, line {index + self.first_line}"


def scores(column: pa.ChunkedArray | pa.Array, where: Callable[[int], str]) -> np.ndarray:
  """Reads a column of numbers, booleans or text as scores in [0, 1], NaN for missing: [n].

  `where` says where an entry is, for messages.
  """
  if isinstance(column, pa.ChunkedArray):
    column = column.combine_chunks()
  if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type) or (
      pa.types.is_floating(column.type)):
    found = np.array(column.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False))
    found[found == cache_input.NOT_EVALUATED] = np.nan
    values, places, texts = found, None, None
  else:
    coded = compute.dictionary_encode(compute.fill_null(column.cast(pa.string()), ""))
    texts = coded.dictionary.to_pylist()
    values = np.full(len(texts), np.inf)
    for index, text in enumerate(texts):
      word = text.strip().lower()
      with contextlib.suppress(ValueError):  # What is no number stays infinite.
        values[index] = _WORDS[word] if word in _WORDS else float(word)
    places = coded.indices.to_numpy()
    found = values[places]
  bad = np.flatnonzero(np.isinf(found) | (found < 0) | (found > 1))
  if bad.size:
    shown = found[bad[0]] if texts is None or places is None else texts[places[bad[0]]]
    raise cache_input.CacheError(
        f"{where(int(bad[0]))}: {shown!r} is no answer; expected 1, 0, true, "
        "false, a score between 0 and 1, or nothing for what was not evaluated. Correct the line.")
  return found


def matrix(entries: Sequence[Entries], repeats: str = REFUSE
           ) -> tuple[list[str], list[str], np.ndarray]:
  """Returns (M models, N ids, scores float64 [M, N], NaN where not evaluated).

  Models and ids are in the order of their first entry.
  """
  models, model_of = _coded([one.models for one in entries])
  ids, id_of = _coded([one.ids for one in entries])
  for name, values, places in (("model", models, model_of), ("id", ids, id_of)):
    empty = [index for index, value in enumerate(values) if not value.strip()]
    if empty:
      raise cache_input.CacheError(f"{_where(entries, int(np.argmax(places == empty[0])))}: an "
                                   f"empty {name}. Fill it in, or remove the line.")
  found = np.concatenate([one.scores for one in entries])
  keys = model_of.astype(np.int64) * len(ids) + id_of
  known = ~np.isnan(found)
  size = len(models) * len(ids)
  sums, nums = np.zeros(size), np.zeros(size, np.int64)
  np.add.at(sums, keys[known], found[known])
  np.add.at(nums, keys[known], 1)
  means = np.divide(sums, nums, out=np.full(size, np.nan), where=nums > 0)
  if repeats == REFUSE:
    differing = np.flatnonzero(known & (np.abs(means[keys] - found) > 1e-12))
    if differing.size:
      later = int(differing[0])
      same = np.flatnonzero(known & (keys == keys[later]))
      raise cache_input.CacheError(
          f"{_where(entries, int(same[-1]))}: model {models[model_of[later]]!r} and id "
          f"{ids[id_of[later]]!r} have another answer than in {_where(entries, int(same[0]))}. "
          "Remove one; or, if these are repeated runs, take their mean: --repeats mean.")
  return models, ids, means.reshape(len(models), len(ids))


def _where(entries: Sequence[Entries], index: int) -> str:
  for one in entries:
    if index < len(one.scores):
      return one.where(index)
    index -= len(one.scores)
  raise IndexError(index)


def _coded(columns: Sequence[pa.Array]) -> tuple[list[str], np.ndarray]:
  """Different values in the order of their first appearance, and the index of each entry."""
  coded = compute.dictionary_encode(pa.concat_arrays([
      compute.fill_null(one.cast(pa.string()), "") for one in columns]))
  return coded.dictionary.to_pylist(), coded.indices.to_numpy()


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
  repeats: str = REFUSE


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
    if isinstance(found, Entries):
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
    models, ids, scores = matrix(entries, options.repeats)
    tables.append((pathlib.Path(entries[0].path), ImportedAnswers(models, ids, _plain(scores))))
  for path, one in tables:
    if options.names and len(options.names) != len(one.answers):
      raise accuracy_cache.CacheError(
          f"{path} has the answers of {len(one.answers)} models, but {len(options.names)} names "
          "are given.")
  return [dataclasses.replace(one, models=list(options.names or one.models)) for _, one in tables]


def _read(path: pathlib.Path, options: Options) -> ImportedAnswers | Entries:
  if path.suffix == ".npy":
    return _named(path, np.atleast_2d(_load(path)), None, None)
  if path.suffix == ".npz":
    with _load(path) as saved:
      if "answers" in saved:
        answers = np.atleast_2d(saved["answers"])
      elif {"A_packed", "n_samples"} <= set(saved):
        answers = np.unpackbits(saved["A_packed"], axis=1, count=int(saved["n_samples"]))
      else:
        raise accuracy_cache.CacheError(
          f"{path} has {sorted(saved)}; needed is `answers` [M, N], or `A_packed` and `n_samples`."
        )
      return _named(path, answers, saved.get("model_names"), saved.get("ids"))
  if path.suffix in (".json", ".jsonl"):
    return read_log(path, score=options.score, keep=options.keep)
  found = read_table(path, _model_name(path), id_column=options.id_column, score=options.score)
  if isinstance(found, Entries):
    return found
  models, ids, scores = found
  return ImportedAnswers(models, ids, _plain(scores))


def _plain(scores: np.ndarray) -> np.ndarray:
  """Scores as 1, 0 and -1 if none is graded."""
  known = ~np.isnan(scores)
  if np.all((scores == 0) | (scores == 1) | ~known):
    return np.where(known, scores == 1, accuracy_cache.NOT_EVALUATED).astype(np.int8)
  return scores


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


MODEL = "model"
IDS = ("id", "sample_id", "doc_id", "instance_id", "question_id", "example_id", "item_id", "sample")
SCORES = ("correct", "score", "is_correct", "acc", "accuracy", "exact_match")
_KNOWN = ("expected model,ID,ID,... (a line a model), ID,model,model,... (a line a sample) or "
          "model,id,correct (a line an answer)")


def read_table(path: pathlib.Path, model: str, *, id_column: str = "", score: str = ""
         ) -> Entries | tuple[list[str], list[str], np.ndarray]:
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
  id_name = _named_column(path, header, id_column, IDS, "--id")
  score_name = _named_column(path, header, score, SCORES, "--score")
  if path.suffix == ".csv" and MODEL in header[:1] and not id_name:
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
        rows.append(scores(
            pa.array(line[1:]), functools.partial(_row_cell, path, lines.line_num, header)))
    if not rows:
      raise cache_input.CacheError(f"{path} has a header and no models.")
    return models, list(header[1:]), np.stack(rows)
  if not id_name:
    raise cache_input.CacheError(f"{path} begins with {header[:4]}; {_KNOWN}. If the ids have "
                                 "another name, give it: --id NAME.")
  first = 2 if path.suffix == ".csv" else 1
  table = _table(path, header)
  ids = _text(table[id_name])
  if score_name:
    models = (_text(table[MODEL]) if MODEL in header else
              pa.array([model], pa.string()).take(pa.array(np.zeros(len(ids), np.int8))))
    return Entries(
        models, ids, scores(
            table[score_name], lambda index: f"{path}, line {index + first}"), str(path), first)
  names = [name for name in header if name not in (id_name, MODEL)]
  if not names:
    raise cache_input.CacheError(f"{path} has no column but {id_name!r}; {_KNOWN}.")
  if not len(ids):
    raise cache_input.CacheError(f"{path} has a header and no samples.")
  answers = np.stack([scores(
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


def _named_column(path: pathlib.Path, header: Sequence[str], wanted: str, names: Sequence[str],
           flag: str) -> str:
  """The column that is wanted, or the first of the names, or ""."""
  if wanted and wanted not in header:
    raise cache_input.CacheError(f"{path} has no column {wanted!r} ({flag}); it has "
                                 f"{list(header[:8])}.")
  return wanted or next((name for name in names if name in header), "")


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


# HELM's names of what is right or wrong of one instance, the first that there is.
_HELM = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match",
         "final_number_exact_match", "math_equiv_chain_of_thought", "math_equiv", "f1_score")
_DATE = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+$")


def read_log(path: pathlib.Path, *, model: str = "", score: str = "", keep: str = ""
         ) -> Entries:
  """Reads a log.

  Args:
    path: .jsonl or .json.
    model: name of the model; "": that of the folder.
    score: name of the metric; "": the first one.
    keep: of lm-evaluation-harness, name of the filter, if there are several.
  """
  if path.suffix == ".jsonl":
    rows = list(_lm_eval(path, score, keep))
    model = model or path.resolve().parent.name
  else:
    rows = list(_helm(path, score))
    named = re.search(r"model=([^,/]+)", path.resolve().parent.name)
    model = model or (named.group(1) if named else path.resolve().parent.name)
  if not rows:
    raise cache_input.CacheError(f"{path} has no samples.")
  ids, values = zip(*rows)
  return Entries(
      pa.array([model] * len(ids)), pa.array(ids), scores(
          pa.array(values, pa.float64()), lambda index: f"{path}, sample {ids[index]!r}"),
      str(path))


def _lm_eval(path: pathlib.Path, score: str, keep: str) -> Iterable[tuple[str, float | None]]:
  task = _DATE.sub("", path.stem)
  task = task[len("samples_"):] if task.startswith("samples_") else task
  met: set[str] = set()
  with open(path, encoding="utf-8-sig") as file:
    for number, text in enumerate(file, start=1):
      where = f"{path}, line {number}"
      if not text.strip():
        continue
      try:
        line = json.loads(text)
      except ValueError as error:
        raise cache_input.CacheError(
          f"{where} is no JSON: {error}. The log may have been cut short: remove the line."
        ) from error
      if not isinstance(line, dict):
        raise cache_input.CacheError(f"{where} is no JSON object.")
      if "doc_id" not in line:
        raise cache_input.CacheError(f"{where} has no doc_id; expected a log of "
                                     "lm-evaluation-harness (--log_samples). Other tables: csv.")
      name = str(line.get("filter", "none"))
      if keep and name != keep:
        met.add(name)
        continue
      met.add(name)
      if len(met) > 1 and not keep:
        raise cache_input.CacheError(f"{where}: filters {sorted(met)} have answers to the same "
                                     "samples. Choose one: --filter NAME.")
      metrics = list(line.get("metrics", [])) or [
          key for key in ("acc", "exact_match", "acc_norm", "pass@1") if key in line]
      chosen = score or (metrics[0] if metrics else "")
      if chosen not in line:
        raise cache_input.CacheError(f"{where} has no metric {chosen!r}; it has {metrics}. Choose "
                                     "one: --score NAME.")
      value = line[chosen]
      if not (value is None or isinstance(value, (bool, int, float))):
        raise cache_input.CacheError(f"{where}: {chosen} is {value!r}, not a number. Choose "
                                     "another metric: --score NAME.")
      yield (f"{task}/{line['doc_id']}",
             None if value is None or np.isnan(value) else float(value))
  if keep and keep not in met:
    raise cache_input.CacheError(f"{path} has no filter {keep!r}; it has {sorted(met)}.")


def _helm(path: pathlib.Path, score: str) -> Iterable[tuple[str, float | None]]:
  task = re.sub(r",?model=[^,]*", "", path.resolve().parent.name).rstrip(":,")
  with open(path, encoding="utf-8-sig") as file:
    text = file.read()
  try:
    instances = json.loads(text)
  except ValueError as error:
    raise cache_input.CacheError(f"{path} is no JSON: {error}. Export it again.") from error
  if not isinstance(instances, list):
    raise cache_input.CacheError(f"{path} is no list of instances; expected HELM's "
                                 "per_instance_stats.json.")
  for number, one in enumerate(instances):
    where = f"{path}, instance {number}"
    stats = {stat["name"]["name"]: stat for stat in one.get("stats", [])
             if not stat["name"].get("perturbation")} if isinstance(one, dict) else {}
    chosen = score or next((name for name in _HELM if name in stats), "")
    if "instance_id" not in one or chosen not in stats:
      raise cache_input.CacheError(
          f"{where}: no instance_id, or no metric {chosen!r}; it has {sorted(stats)[:8]}. Choose "
          "one: --score NAME.")
    turned = (one.get("perturbation") or {}).get("name", "")
    count = stats[chosen].get("count", 1)
    value = stats[chosen].get("sum", 0) / count if count else None
    yield (f"{task}/{one['instance_id']}" + (f"/{turned}" if turned else ""), value)
