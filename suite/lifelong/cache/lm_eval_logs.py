# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Per-sample logs of lm-evaluation-harness (`--log_samples`), of old and new versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import hashlib
import json
import pathlib
import re
from typing import Any

import numpy as np

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import log_files

# Metrics of lm-evaluation-harness, for logs that do not list theirs.
_METRICS = ("acc", "acc_norm", "exact_match", "em", "f1", "mc1", "mc2", "pass@1", "pass_at_1",
            "prompt_level_strict_acc", "prompt_level_loose_acc")
_TEXTS = ("doc", "target", "arguments", "resps", "filtered_resps", "prompt_hash", "target_hash")
_DATE = re.compile(r"_(\d{4}-\d{2}-\d{2}T[\d.:-]+)$")
# Beginnings of tasks, to tell them from models in names of old logs.
_TASK = re.compile(
    r"(?:^|_)((?:arc|hellaswag|mmlu|hendrycks|gsm8k|winogrande|truthfulqa|boolq|piqa|openbookqa|"
    r"sciq|lambada|race|copa|rte|wic|wsc|bbh|ifeval|musr|gpqa|math|minerva|drop|triviaqa|nq|"
    r"humaneval|mbpp|leaderboard|cola|mnli|mrpc|qnli|qqp|sst|wnli|cb|headqa|logiqa|mathqa|pubmedqa|"
    r"squad|coqa|wikitext|toxigen|social|siqa|commonsense|csqa|swag|prost|asdiv|anli|xnli|xcopa|"
    r"xstory|paws|belebele|storycloze|blimp|crows|record|multirc|medmcqa|medqa|agieval|ceval|cmmlu)"
    r"(?:[_\d].*)?)$")


def slim(line: Any) -> Any:
  """A line of lm-evaluation-harness without its texts; others as they are."""
  if not isinstance(line, dict) or "doc_id" not in line:
    return line
  document = line.get("doc")
  if not line.get("doc_hash") and isinstance(document, (dict, list)):
    # What the harness computes, for logs of versions that did not write it.
    line["doc_hash"] = hashlib.sha256(json.dumps(document, indent=2, ensure_ascii=False).encode(
        "utf-8", "replace")).hexdigest()
  for name in _TEXTS:
    line.pop(name, None)
  return line


def read_file(path: pathlib.Path, items: Sequence[log_files.Item], wanted: log_files.Wanted
              ) -> log_files.Log:
  """Reads a file of samples; its model is that of the results beside it."""
  stem = path.name
  for ending in (".gz", *log_files.KINDS):
    stem = stem[:-len(ending)] if stem.endswith(ending) else stem
  dated = _DATE.search(stem)
  stem = _DATE.sub("", stem)
  folder = path.resolve().parent
  results = _results(folder, dated.group(1) if dated else "")
  arguments = _arguments(results)
  model = model_name(results)
  if stem.startswith("samples_"):
    task = stem[len("samples_"):]
  else:
    task = stem
    begins = [re.sub(pattern, "__", arguments) + "_" for pattern in
              ("/|=", r"[\"<>:/|\\?*\[\]]+")] if arguments else []
    found = next((one for one in begins if stem.startswith(one)), "")
    if found:
      task = stem[len(found):]
    elif re.match("pretrained(__|=)", stem):
      rest = re.sub("^pretrained(__|=)", "", stem)
      head, _, last = rest.rpartition("__")
      named = _TASK.search(last)
      task = named.group(1) if named else last
      before = last[:len(last) - len(task)].rstrip("_")
      model = model or "/".join(one for one in (head.replace("__", "/"), before) if one)
  return read(path, items, task, model or folder.name, results, wanted)


def _results(folder: pathlib.Path, date: str) -> Mapping[str, Any]:
  """The aggregated results that were written with samples of a date; {} if it is not clear."""
  dated = [one for one in sorted(folder.glob(f"*_{date}.json")) if
           not one.name.startswith("samples_")] if date else []
  found = [log_files.config(one) for one in dated or sorted(folder.glob("*results*.json"))]
  found = [one for one in found if one and ("results" in one or "config" in one)]
  names = {model_name(one) for one in found}
  return found[0] if found and len(names) == 1 else {}


def _arguments(results: Mapping[str, Any]) -> str:
  """The arguments of the model as text, KEY=VALUE,KEY=VALUE."""
  config = results.get("config")
  found = config.get("model_args") if isinstance(config, dict) else None
  if isinstance(found, dict):
    return ",".join(f"{name}={value}" for name, value in found.items())
  return found if isinstance(found, str) else ""


def model_name(results: Mapping[str, Any]) -> str:
  """Name of the model in results, with the revision and the like, which make it another one."""
  pairs = dict(one.split("=", 1) for one in _arguments(results).split(",") if "=" in one)
  name = results.get("model_name")
  if not isinstance(name, str) or not name:
    name = next((pairs[key] for key in ("peft", "delta", "pretrained", "model", "path", "engine")
                 if pairs.get(key)), "")
  if not name:
    config = results.get("config")
    name = str(config.get("model") or "") if isinstance(config, dict) else ""
    return "" if name in ("hf", "vllm") else name
  return ",".join([name, *(f"{key}={pairs[key]}" for key in ("revision", "subfolder")
                           if pairs.get(key) not in (None, "", "main", "None"))])


def read(path: pathlib.Path, items: Sequence[log_files.Item], task: str, model: str,
             results: Mapping[str, Any], wanted: log_files.Wanted) -> log_files.Log:
  """Reads the samples of a task; `results` are the aggregated ones of the same call, or {}.

  Raises:
    CacheError: a sample is none of the harness, or the metric that is wanted is missing.
  """
  chosen = wanted.metric(task)
  documents: list[str] = []
  hashes: list[int] = []
  places: list[int] = []
  filters: list[Any] = []
  metrics: dict[str, list[float]] = {}
  listed: dict[str, None] = {}
  names: list[str] = []
  previous: Any = None

  def where() -> str:
    return f"{path}, {unit} {place}"

  for place, line, _, unit in items:  # noqa: B007 (of messages)
    if not isinstance(line, dict) or "doc_id" not in line:
      raise cache_input.CacheError(f"{where()} has no doc_id; expected a log of "
                                   "lm-evaluation-harness (--log_samples). Other tables: csv.")
    own = line.get("metrics")
    if not own or own != previous:
      previous = own
      names = [str(one) for one in own] if isinstance(own, list) and own else [
          name for name in _METRICS if name in line]
      listed.update(dict.fromkeys(names))
    if chosen and chosen not in line:
      raise cache_input.CacheError(
          f"{where()} has no metric {chosen!r}; it has {', '.join(names) or 'none'}. Choose by "
          f"task: --score {task}={names[0] if names else 'NAME'}")
    for name in (chosen,) if chosen else names:
      column = metrics.get(name)
      if column is None:
        column = metrics[name] = []
      if len(column) < len(documents):
        column += [np.nan] * (len(documents) - len(column))
      value = line.get(name)
      column.append(value if type(value) is float else log_files.number(value))
      if chosen and np.isinf(column[-1]):
        raise cache_input.CacheError(f"{where()}: {chosen} is {line.get(name)!r}, not a number. "
                                     f"Choose another metric: --score {task}=NAME")
    documents.append(str(line["doc_id"]))
    places.append(place)
    filters.append(line.get("filter"))
    hashed = line.get("doc_hash")
    hashes.append(answer_entries.document_hash(str(hashed)) if hashed else 0)
  for column in metrics.values():
    column += [np.nan] * (len(documents) - len(column))
  if not documents:
    raise cache_input.CacheError(f"{path} has no samples.")
  named: list[str] | None = None
  unnamed = False
  if any(one is not None for one in filters):
    named = ["none" if one is None else str(one) for one in filters]
  else:
    named, unnamed = _unnamed_filters(items, documents, hashes, task, results)
  return log_files.Log(path, model, task, documents, metrics, named, hashes,
             [str(path)] * len(documents), places, items[0].unit, named=tuple(listed),
             unnamed=unnamed)


def _unnamed_filters(items: Sequence[log_files.Item], documents: Sequence[str],
                     hashes: Sequence[int], task: str, results: Mapping[str, Any]
                     ) -> tuple[list[str] | None, bool]:
  """Filters of a log that does not name them: each document comes once for every filter.

  Their names are those of the task's configuration in the results, or 1, 2, ...
  """
  met: dict[tuple[str, int], list[int]] = {}
  for index, one in enumerate(zip(documents, hashes)):
    met.setdefault(one, []).append(index)
  counts = {len(one) for one in met.values()}
  if len(counts) != 1 or counts == {1}:
    return None, False
  num = counts.pop()
  if all(len({items[index].digest for index in one}) == 1 for one in met.values()):
    return None, False  # The same lines again.
  names = [str(index) for index in range(1, num + 1)]
  configs = results.get("configs")
  config = configs.get(task) if isinstance(configs, dict) else None
  listed = config.get("filter_list") if isinstance(config, dict) else None
  known = [str(one["name"]) for one in listed if isinstance(one, dict) and "name" in one] if (
      isinstance(listed, list)) else []
  if len(known) == num:
    names = known
  found = [""] * len(documents)
  for places in met.values():
    for name, index in zip(names, places):
      found[index] = name
  return found, names is not known
