# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of the per-sample logs of evaluation harnesses for language models.

  lm-evaluation-harness  MODEL/samples_TASK_DATE.jsonl (--log_samples): a line a sample
  HELM                   TASK:...,model=MODEL/per_instance_stats.json: a list of instances

Ids are TASK/doc_id and TASK/instance_id, so that files of many tasks go to one cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import json
import pathlib
import re
from typing import Any

import numpy as np
import pyarrow as pa

from suite.lifelong.cache import cache_input
from suite.lifelong.cache import long_answers

# HELM's names of what is right or wrong of one instance, the first that there is.
_HELM = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match",
         "final_number_exact_match", "math_equiv_chain_of_thought", "math_equiv", "f1_score")
_DATE = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+$")


def read(path: pathlib.Path, *, model: str = "", score: str = "", keep: str = ""
         ) -> long_answers.Entries:
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
  return long_answers.Entries(
      pa.array([model] * len(ids)), pa.array(ids), long_answers.scores(
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
      line = _object(text, where)
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
      yield f"{task}/{line['doc_id']}", _number(line[chosen], where, chosen)
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


def _object(text: str, where: str) -> Mapping[str, Any]:
  try:
    found = json.loads(text)
  except ValueError as error:
    raise cache_input.CacheError(f"{where} is no JSON: {error}. The log may have been cut short: "
                                 "remove the line.") from error
  if not isinstance(found, dict):
    raise cache_input.CacheError(f"{where} is no JSON object.")
  return found


def _number(value: Any, where: str, name: str) -> float | None:
  if value is None or isinstance(value, (bool, int, float)):
    return None if value is None or np.isnan(value) else float(value)
  raise cache_input.CacheError(f"{where}: {name} is {value!r}, not a number. Choose another "
                               "metric: --score NAME.")
