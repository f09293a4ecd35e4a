# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Logs whose samples are plain records: one reader, and a table of the fields of each writer.

The fields come from the writers' code and from public files: every-eval-ever's schema 0.3 of
instances, AlpacaEval's annotations.json, OpenCompass' --dump-eval-details, and

  evalplus   evalplus/evaluate.py at 26d6d00 (SAMPLES.eval_results.json, or eval_results.json in
             the folder of the samples; a record a generation; no plus_status with --base-only) and
             at 0310ad2 (SAMPLES_eval_results.json; lists of [status, details])
  lighteval  EvaluationTracker.save and DetailsLogger.Detail at 3fd1526 (doc, model_response,
             metric; doc.id) and at 02932a2 (full_prompt, metrics; no ids), as of the first Open LLM
             Leaderboard. Logs of the second are those of lm-evaluation-harness, as lmms-eval's are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import hashlib
import pathlib
import re
from typing import Any

import numpy as np
from pyarrow import parquet

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import log_files

_DATE = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+$")


@dataclasses.dataclass(frozen=True)
class Layout:
  """Where a record has what.

  Attributes:
    name: of the writer.
    marks: fields by which a record is recognised.
    id: field of the sample; "": its place in the file. Within fields: "doc.id".
    model, task: fields, or functions of the path.
    scores: metric -> its field, or fields that must all be right.
    group: field of an object of metrics, in place of `scores`.
    text: field of the document, whose hash is kept; `is_id`: whether the hash is the id, too.
    words: scores that are words.
    bounds: of the scores, which become 0 to 1.
    main: the metric that the writer reports.
  """

  name: str
  marks: tuple[str, ...]
  model: str | Callable[[pathlib.Path], str]
  task: str | Callable[[pathlib.Path], str]
  id: str = ""
  scores: Mapping[str, str | tuple[str, ...]] = dataclasses.field(default_factory=dict)
  group: str = ""
  text: str = ""
  is_id: bool = False
  words: Mapping[str, float] = dataclasses.field(default_factory=dict)
  bounds: tuple[float, float] = (0.0, 1.0)
  main: tuple[str, ...] = ()


def _stem(path: pathlib.Path) -> str:
  return path.name.partition(".json")[0]


def _of_samples(path: pathlib.Path) -> str:
  """Model of SAMPLES.eval_results.json, SAMPLES_eval_results.json or FOLDER/eval_results.json."""
  return re.sub(r"(^|[._])eval_results$", "", _stem(path)) or _folder(path)


def _folder(path: pathlib.Path) -> str:
  return path.resolve().parent.name


def _of_details(path: pathlib.Path) -> str:
  """Model of details/ORG/MODEL/DATE/details_TASK_DATE.parquet, or of details_ORG__MODEL/DATE/..."""
  parts = path.resolve().parts[:-2]
  if "details" in parts:
    return "/".join(parts[len(parts) - parts[::-1].index("details"):])
  return parts[-1].removeprefix("details_").replace("__", "/")


def _task_of_details(path: pathlib.Path) -> str:
  return _DATE.sub("", path.stem.removeprefix("details_")).replace("|", "_")


_DETAILS: dict[str, Any] = {"model": _of_details, "task": _task_of_details}
LAYOUTS = (
    Layout("every-eval-ever", ("evaluation_name", "sample_id", "evaluation"), "model_id",
           "evaluation_name", "sample_id", {"score": "evaluation.score",
                                            "is_correct": "evaluation.is_correct"},
           text="sample_hash", main=("score",)),
    Layout("AlpacaEval", ("instruction", "generator_2", "preference"), "generator_2",
           lambda path: "alpaca_eval", "", {"preference": "preference"}, text="instruction",
           is_id=True, bounds=(1.0, 2.0)),
    Layout("evalplus", ("task_id", "base_status"), _of_samples, "dataset", "task_id",
           {"plus": ("base_status", "plus_status"), "base": "base_status"},
           words={"pass": 1.0, "success": 1.0, "fail": 0.0, "failed": 0.0, "timeout": 0.0,
                  "timed out": 0.0}, main=("plus",)),
    Layout("lighteval", ("doc", "metric", "model_response"), id="doc.id", group="metric",
           text="doc.query", **_DETAILS),
    Layout("lighteval", ("metrics", "full_prompt"), group="metrics", text="full_prompt",
           **_DETAILS),
    Layout("OpenCompass", ("correct",), _folder, _stem, "id", {"correct": "correct"}),
)
_NAMED = {one.name: one for one in LAYOUTS}


def of(records: Sequence[Any]) -> Layout | None:
  """The layout of records, by the first of them; OpenCompass' are told by `listed`."""
  first = records[0] if records else None
  return next((one for one in LAYOUTS[:-1] if isinstance(first, Mapping)
               and all(name in first for name in one.marks)), None)


def listed(path: pathlib.Path, whole: Mapping[str, Any]) -> tuple[Layout, list[Any]] | None:
  """Records of an object that holds them under one name; None: it is of another form.

  Raises:
    CacheError: it is of a writer that keeps no answers of single samples.
  """
  found = whole.get("eval")
  if isinstance(found, Mapping) and "hash" in whole:  # evalplus.
    rows = []
    for name, runs in found.items():
      if isinstance(runs, Mapping):  # {"nfiles", "base": [[status, ...], ...], "plus": ...}
        plus = runs.get("plus") or []
        runs = [{"base_status": base[0], **({"plus_status": plus[k][0]} if k < len(plus) else {})}
                for k, base in enumerate(runs.get("base") or [])]
      dataset, _, number = str(name).partition("/")
      rows += [{**one, "dataset": dataset, "task_id": number or dataset, "repeat": k}
               for k, one in enumerate(runs)]
    return _NAMED["evalplus"], rows
  found = whole.get("details")
  if isinstance(found, (Mapping, list)) and "doc_id" not in whole:
    pairs = found.items() if isinstance(found, Mapping) else enumerate(found)
    rows = [{"id": str(name), "correct": value, "repeat": k} for name, one in pairs
            if isinstance(one, Mapping) and isinstance(one.get("correct"), (bool, int, float, list))
            for k, value in enumerate(one["correct"] if isinstance(one["correct"], list)
                                      else [one["correct"]])]
    if not rows:
      raise cache_input.CacheError(
          f"{path} is a file of OpenCompass whose details have no answers with \"correct\". "
          "Evaluate with --dump-eval-details, or export a csv with model, id and correct.")
    return _NAMED["OpenCompass"], rows
  if "score" in whole and "score:std" in whole:
    raise cache_input.CacheError(
        f"{path} is a result of simple-evals, which writes means, and no answers of single "
        "samples. Write a csv with model, id and correct from its SingleEvalResult.score.")
  return None


def of_parquet(path: pathlib.Path) -> list[log_files.Log]:
  """The log that a parquet of lighteval is; [] if it is a table of another form."""
  names = parquet.read_schema(path).names
  layout = next((one for one in LAYOUTS if one.name == "lighteval"
                 and all(mark in names for mark in one.marks)), None)
  if layout is None:
    return []
  wanted = {name.partition(".")[0] for name in (layout.id, layout.group, layout.text) if name}
  return read(path, layout, parquet.read_table(path, columns=sorted(wanted)).to_pylist())


def read(path: pathlib.Path, layout: Layout, records: Sequence[Any]) -> list[log_files.Log]:
  """Reads records; a log for each model and task.

  Raises:
    CacheError: a record lacks a field, or has a score outside of the bounds.
  """
  by_log: dict[tuple[str, str], list[tuple[int, Mapping[str, Any]]]] = {}
  for place, one in enumerate(records, start=1):
    if not isinstance(one, Mapping):
      raise cache_input.CacheError(f"{path}, record {place} is no object; expected those of "
                                   f"{layout.name}.")
    key = [what(path) if callable(what) else str(_field(path, layout, one, what, place))
           for what in (layout.model, layout.task)]
    by_log.setdefault((key[0], key[1]), []).append((place, one))
  found = []
  for (model, task), rows in by_log.items():
    texts = [_field(path, layout, one, layout.text, place, optional=not layout.is_id)
             if layout.text else None for place, one in rows]
    hashes = [answer_entries.document_hash(str(text)) if text else 0 for text in texts]
    ids = [hashlib.sha256(str(text).encode()).hexdigest()[:16] if layout.is_id else
           str(_field(path, layout, one, layout.id, place)) if layout.id else str(place - 1)
           for text, (place, one) in zip(texts, rows)]
    metrics: dict[str, list[float]] = {}
    for index, (place, one) in enumerate(rows):
      given = (_field(path, layout, one, layout.group, place) or {} if layout.group else
               {name: tuple(_field(path, layout, one, each, place, optional=True) for each in (
                   fields if isinstance(fields, tuple) else (fields,)))
                for name, fields in layout.scores.items()})
      for name, values in given.items():
        score = float(np.min([_score(path, layout, value, place) for value in (
            values if isinstance(values, tuple) else (values,))]))
        metrics.setdefault(str(name), [np.nan] * len(rows))[index] = score
    repeats = [f"{path}/{one.get('repeat', 0)}" for _, one in rows]
    found.append(log_files.Log(
        path, model, task, ids, metrics, hashes=hashes if any(hashes) else None, repeats=repeats,
        places=[place for place, _ in rows], unit="record", main=layout.main))
  return found


def _field(path: pathlib.Path, layout: Layout, one: Mapping[str, Any], name: str, place: int, *,
           optional: bool = False) -> Any:
  value: Any = one
  for part in name.split("."):
    value = value.get(part) if isinstance(value, Mapping) else None
  if value is None and not optional:
    raise cache_input.CacheError(f"{path}, record {place} of {layout.name} has no {name!r}. It may "
                                 "be of another version: export a csv with model, id and correct.")
  return value


def _score(path: pathlib.Path, layout: Layout, value: Any, place: int) -> float:
  if isinstance(value, str) and value.lower() in layout.words:
    return layout.words[value.lower()]
  number, (low, high) = log_files.number(value), layout.bounds
  if layout.bounds != (0.0, 1.0) and not np.isnan(number):
    if not low <= number <= high:
      raise cache_input.CacheError(f"{path}, record {place}: a score of {value!r}; those of "
                                   f"{layout.name} are from {low:g} to {high:g}. Correct it.")
    return (number - low) / (high - low)
  return number
