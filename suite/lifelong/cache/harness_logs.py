# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading of the per-sample logs of evaluation harnesses for language models.

| harness | files |
|---|---|
| lm-evaluation-harness | MODEL/samples_TASK_DATE.jsonl; MODEL_ARGS_TASK.jsonl before 0.4.3; lines
or a list whatever the ending; the dictionary of `simple_evaluate` |
| HELM | TASK:...,model=MODEL/per_instance_stats.json: a list of instances |
| inspect-ai | .eval (a zip file, its members deflated or zstd), .json |
| openai/evals | .jsonl: a line `spec`, then events |
| py-irt | .jsonlines: a line a model with its `responses` |

A log has all metrics and filters that could be meant; `accuracy_import` selects. A log is found by
its content, not by its ending. Sizes are bounded: content that is far larger than its file, or than
4 GiB, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import gzip
import hashlib
import json
import pathlib
import re
from typing import Any, NamedTuple
import zipfile
import zlib

import numpy as np
import pyarrow as pa

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input
from suite.system import io_errors

KINDS = (".json", ".jsonl", ".jsonlines", ".ndjson", ".eval")
MAX_BYTES = 4 << 30
_MAX_RATIO, _FREE_BYTES = 500, 64 << 20
_MAX_CONFIG_BYTES = 256 << 20
_ZSTD = 93  # Method of zip members, which zipfile does not know before Python 3.14.

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
# HELM's main metric of each scenario (main_name in its schemas), by the metric.
_MAIN = {
    ("quasi_exact_match",): "babi_qa bbq boolq civil_comments entity_data_imputation "
                            "entity_matching imdb legal_support legalbench lsat_qa med_qa raft "
                            "synthetic_reasoning wikifact",
    ("exact_match",): "blimp hellaswag mmlu openbookqa thai_exam truthful_qa",
    ("f1_score",): "narrative_qa natural_qa quac",
    ("final_number_exact_match", "exact_match_indicator"): "gsm",
    ("exact_match_indicator",): "dyck_language dyck_language_np",
    ("f1_set_match",): "synthetic_reasoning_natural",
    ("math_equiv_chain_of_thought", "math_equiv"): "math",
    ("rouge_2",): "summarization_cnndm summarization_xsum billsum_legal_summarization "
                  "eurlexsum_legal_summarization multilexsum_legal_summarization",
    ("pass",): "code_humaneval",
    ("test_avg",): "code_apps",
    ("bleu_4",): "wmt_14",
    ("chain_of_thought_correctness",): "gpqa mmlu_pro",
    ("ifeval_strict_accuracy",): "ifeval",
    ("omni_math_accuracy",): "omni_math",
    ("wildbench_score_rescaled",): "wildbench",
    ("RR@10",): "msmarco",
}
MAIN_METRICS = {scenario: names for names, text in _MAIN.items() for scenario in text.split()}
# What HELM has of right and wrong, for other scenarios.
_HELM = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match",
         "exact_match_indicator", "final_number_exact_match", "math_equiv_chain_of_thought",
         "math_equiv", "f1_score", "pass", "chain_of_thought_correctness", "ifeval_strict_accuracy")
# Other files beside the logs, which a pattern such as DIR/*.json meets too.
_BESIDE = re.compile(r"(?:.*_)?results?(?:_.*)?|run_spec|stats|scenario|scenario_state|instances|"
                     r"predictions|display_\w+|costs|config|groups?(?:_.*)?|runs|summary|schema")
_INSPECT = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0}


@dataclasses.dataclass(frozen=True, eq=False)
class Log:
  """n answers of one model to one task, with all metrics.

  Attributes:
    path, model, task: as read.
    documents: n ids within the task.
    metrics: by name, n scores; NaN: not evaluated, infinite: no number.
    filters: name of the filter of each answer; None: the log has none.
    hashes: n hashes of documents, 0 if unknown.
    repeats: n labels, equal within a run.
    places: line or place of each answer, counted in `unit`.
    main: names of the metric that the harness reports, the first that there is.
    named: the metrics that may be meant; () are all.
    dropped: reason -> number of answers that are left out.
    unnamed: whether `filters` are numbers since the log names none.
  """

  path: pathlib.Path
  model: str
  task: str
  documents: list[str]
  metrics: dict[str, list[float]]
  filters: list[str] | None = None
  hashes: list[int] | None = None
  repeats: list[str] | None = None
  places: list[int] | None = None
  unit: str = "line"
  main: tuple[str, ...] = ()
  named: tuple[str, ...] = ()
  dropped: dict[str, int] = dataclasses.field(default_factory=dict)
  unnamed: bool = False


class Item(NamedTuple):
  """A line of a file, or an element of its list: a value at a place, a digest of its text."""

  place: int
  value: Any
  digest: int
  unit: str


@dataclasses.dataclass(frozen=True)
class Wanted:
  """What the user selects, by task; "" is nothing."""

  metric: Callable[[str], str] = lambda task: ""
  filter: Callable[[str], str] = lambda task: ""


def read(path: pathlib.Path, wanted: Wanted) -> list[Log] | pa.Table:
  """Reads a log; JSON lines that are no log of a harness are a table.

  Returns [] for files that harnesses write beside their logs.

  Raises:
    CacheError: the file is damaged, too large or of another form.
  """
  if zipfile.is_zipfile(path):
    return [_inspect(path, *_zipped(path), wanted)]
  whole, items = _json(path)
  first = items[0].value if items else None
  if isinstance(whole, dict):
    if "samples" in whole and isinstance(whole.get("eval"), dict):
      return [_inspect(path, whole, whole["samples"] or [], wanted)]
    if isinstance(whole.get("samples"), dict):
      name = _model_name(whole) or path.resolve().parent.name
      return [_lm_eval(path, [Item(index, _slim(one), hash(json.dumps(one)), "sample")
                              for index, one in enumerate(rows, start=1)],
                       str(task), name, whole, wanted)
              for task, rows in whole["samples"].items() if isinstance(rows, list)]
    if _BESIDE.fullmatch(path.name.split(".json")[0]) or "results" in whole:
      return []
  if not items:
    raise cache_input.CacheError(f"{path} has no samples.")
  if not isinstance(first, dict):
    raise cache_input.CacheError(f"{path}, {items[0].unit} {items[0].place} is no JSON object.")
  if "instance_id" in first and "stats" in first:
    return [_helm(path, items, wanted)]
  if "doc_id" in first:
    return [_lm_eval_file(path, items, wanted)]
  if "spec" in first or "event_id" in first:
    return [_openai(path, items)]
  if "responses" in first:
    return _py_irt(path, items)
  if _BESIDE.fullmatch(path.name.split(".json")[0]):
    return []
  if all(isinstance(one, dict) for _, one, _, _ in items):
    names = list(dict.fromkeys(name for _, one, _, _ in items for name in one))
    plain = [name for name in names if not any(
        isinstance(one.get(name), (dict, list)) for _, one, _, _ in items)]
    return pa.table({name: pa.array([_plain(one.get(name)) for _, one, _, _ in items], pa.string())
                     for name in plain})
  raise cache_input.CacheError(
      f"{path} is no log of lm-evaluation-harness (doc_id), HELM (instance_id, stats), inspect-ai, "
      "openai/evals or py-irt, and no table of objects with model, id and correct.")


def _plain(value: Any) -> str | None:
  return None if value is None else value if isinstance(value, str) else json.dumps(value)


def opened(path: pathlib.Path) -> Any:
  """Opens a file as bytes, decompressed if it is gzip; its size is bounded."""
  with open(path, "rb") as file:
    packed = file.read(2) == b"\x1f\x8b"
  size = path.stat().st_size
  limit = min(MAX_BYTES, _FREE_BYTES + _MAX_RATIO * size) if packed else MAX_BYTES
  if not packed and size > limit:
    raise cache_input.CacheError(f"{path} has {size:,} bytes; {limit:,} are allowed. Divide it.")
  return _Bounded(gzip.open(path, "rb") if packed else open(path, "rb"), path, limit)


class _Bounded:
  """A stream of bytes that refuses to give more than a number of them."""

  def __init__(self, file: Any, path: pathlib.Path, limit: int):
    self._file, self._path, self._limit, self._given = file, path, limit, 0
    self.closed = False

  def read(self, size: int = -1) -> bytes:
    left = self._limit - self._given + 1
    return self._count(self._file.read(left if size is None or size < 0 else min(size, left)))

  def readline(self) -> bytes:
    data = self._file.readline(self._limit - self._given + 1)
    self._given += len(data)
    return data if self._given <= self._limit else self._count(b"")

  def _count(self, data: bytes) -> bytes:
    self._given += len(data)
    if self._given > self._limit:
      raise cache_input.CacheError(f"{self._path} holds more than the {self._limit:,} bytes that "
                                   "are allowed. Divide it.")
    return data

  def readable(self) -> bool:
    return True

  def writable(self) -> bool:
    return False

  def seekable(self) -> bool:
    return False

  def __iter__(self) -> Iterator[bytes]:
    return iter(self.readline, b"")

  def __enter__(self) -> _Bounded:
    return self

  def __exit__(self, *args: Any) -> None:
    self.close()

  def close(self) -> None:
    self._file.close()
    self.closed = True


def _json(path: pathlib.Path) -> tuple[Any, list[Item]]:
  """The object that the file is, or None; and the items of its lines or of its list."""
  items: list[Item] = []
  with opened(path) as file:
    for number, data in enumerate(file, start=1):
      line = data.decode("utf-8-sig" if number == 1 else "utf-8").strip()
      if not line:
        continue
      if not items and line[0] != "{":
        break  # A list.
      try:
        found = json.loads(line)
      except (ValueError, RecursionError) as error:
        if not items:
          break  # One object in several lines.
        raise cache_input.CacheError(
            f"{path}, line {number} is no JSON: {error}. The log may have been cut short: remove "
            "the line.") from error
      items.append(Item(number, _slim(found), hash(line), "line"))
    else:
      return (items[0].value if len(items) == 1 else None), items
  try:
    with opened(path) as file:
      whole = json.loads(file.read().decode("utf-8-sig"))
  except (ValueError, RecursionError) as error:
    if isinstance(error, UnicodeDecodeError):
      raise
    raise cache_input.CacheError(f"{path}, line 1 is no JSON, and neither is the file: {error}. "
                                 "The log may have been cut short: export it again.") from error
  if isinstance(whole, list):
    return None, [Item(index, _slim(one), hash(json.dumps(one)), "sample")
                  for index, one in enumerate(whole, start=1)]
  return whole, [Item(1, whole, 0, "sample")]


def _slim(line: Any) -> Any:
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


# lm-evaluation-harness.


def _lm_eval_file(path: pathlib.Path, items: Sequence[Item], wanted: Wanted
                  ) -> Log:
  """Reads a file of samples; its model is that of the results beside it."""
  stem = path.name
  for ending in (".gz", *KINDS):
    stem = stem[:-len(ending)] if stem.endswith(ending) else stem
  dated = _DATE.search(stem)
  stem = _DATE.sub("", stem)
  folder = path.resolve().parent
  results = _results(folder, dated.group(1) if dated else "")
  arguments = _arguments(results)
  model = _model_name(results)
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
  return _lm_eval(path, items, task, model or folder.name, results, wanted)


def _results(folder: pathlib.Path, date: str) -> Mapping[str, Any]:
  """The aggregated results that were written with samples of a date; {} if it is not clear."""
  dated = [one for one in sorted(folder.glob(f"*_{date}.json")) if
           not one.name.startswith("samples_")] if date else []
  found = [_config(one) for one in dated or sorted(folder.glob("*results*.json"))]
  found = [one for one in found if one and ("results" in one or "config" in one)]
  names = {_model_name(one) for one in found}
  return found[0] if found and len(names) == 1 else {}


def _config(path: pathlib.Path) -> dict[str, Any]:
  try:
    if path.stat().st_size > _MAX_CONFIG_BYTES:
      return {}
    found = json.loads(path.read_text(encoding="utf-8-sig"))
  except (OSError, ValueError, RecursionError) as error:
    if io_errors.of(error):
      raise
    return {}
  return found if isinstance(found, dict) else {}


def _arguments(results: Mapping[str, Any]) -> str:
  """The arguments of the model as text, KEY=VALUE,KEY=VALUE."""
  config = results.get("config")
  found = config.get("model_args") if isinstance(config, dict) else None
  if isinstance(found, dict):
    return ",".join(f"{name}={value}" for name, value in found.items())
  return found if isinstance(found, str) else ""


def _model_name(results: Mapping[str, Any]) -> str:
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


def _lm_eval(path: pathlib.Path, items: Sequence[Item], task: str, model: str,
             results: Mapping[str, Any], wanted: Wanted) -> Log:
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
      column.append(value if type(value) is float else _number(value))
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
  return Log(path, model, task, documents, metrics, named, hashes,
             [str(path)] * len(documents), places, items[0].unit, named=tuple(listed),
             unnamed=unnamed)


def _unnamed_filters(items: Sequence[Item], documents: Sequence[str],
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


def _number(value: Any) -> float:
  try:
    return answer_entries.score(value)
  except OverflowError:
    return np.inf


# HELM.


def _helm(path: pathlib.Path, items: Sequence[Item], wanted: Wanted) -> Log:
  folder = path.resolve().parent
  named = re.search(r"model=([^,/]+)", folder.name)
  task = re.sub(r",?model=[^,]*", "", folder.name).rstrip(":,")
  spec = _config(folder / "run_spec.json")
  adapter = spec.get("adapter_spec")
  model = named.group(1) if named else str(
      adapter.get("model") or "") if isinstance(adapter, dict) else ""
  chosen = wanted.metric(task)
  perturbed = wanted.filter(task)
  merged: dict[tuple[str, str, str, str], dict[str, float]] = {}
  places: dict[tuple[str, str, str, str], int] = {}
  dropped: dict[str, int] = {}
  for place, one, _, _ in items:
    where = f"{path}, instance {place - 1}"
    try:
      turned = str((one.get("perturbation") or {}).get("name", ""))
      key = (str(one["instance_id"]), turned, str(one.get("train_trial_index", 0)))
      stats = []
      for stat in one["stats"]:
        other = stat["name"].get("perturbation") or {}
        # Of pairs of an instance and its perturbed ones there are also the original and the worst.
        if bool(other) <= bool(turned) and other.get("computed_on") not in ("original", "worst"):
          stats.append((str(stat["name"]["name"]), str(stat["name"].get("split") or ""), stat))
    except (KeyError, TypeError, AttributeError) as error:
      raise cache_input.CacheError(
          f"{where} is no instance with instance_id and stats ({error!r}); expected HELM's "
          "per_instance_stats.json.") from error
    split = next((split for _, split, _ in stats if split), "")
    for name, _, stat in stats:
      count, total = stat.get("count", 1), _number(stat.get("sum", 0))
      value = _number(stat["mean"]) if "sum" not in stat and "mean" in stat else (
          total / count if isinstance(count, (int, float)) and count else np.nan)
      here = merged.setdefault((*key, split), {})
      places.setdefault((*key, split), place - 1)
      if abs(here.get(name, value) - value) > 1e-12:
        raise cache_input.CacheError(
            f"{where}: {name} of instance {key[0]!r}, trial {key[2]}, is {value:g}, and "
            f"{here[name]:g} in instance {places[(*key, split)]}. Remove one.")
      here[name] = value
  splits = {key[3] for key in merged if key[3]}
  main_split = "valid" if re.match("boolq|hellaswag|natural_qa|imdb|quac|msmarco|truthful_qa", task
                                   ) and "valid" in splits else "test"
  every = list(merged.items())
  if len(splits) > 1 and main_split in splits:
    every = [one for one in every if one[0][3] == main_split]
    dropped[f"of other splits than {main_split}"] = len(merged) - len(every)
  kinds = {key[1] for key, _ in every}
  if perturbed and perturbed not in ("none", *kinds):
    raise cache_input.CacheError(f"{path} has no perturbation {perturbed!r} (--filter); it has "
                                 f"{sorted(kinds - {''})}.")
  keep = perturbed if perturbed and perturbed != "none" else ""
  if "" in kinds or keep:
    left = [one for one in every if one[0][1] == keep]
    if len(left) < len(every):
      dropped["of perturbed instances" if not keep else f"other than {keep}"] = (
          len(every) - len(left))
    every = left
  names = list(dict.fromkeys(name for _, values in every for name in values))
  scenario = re.split("[:,]", task)[0]
  if chosen and chosen not in names:
    raise cache_input.CacheError(
        f"{path} has no metric {chosen!r}; it has {', '.join(sorted(names)[:8])}. Choose one: "
        "--score NAME.")
  metrics = {name: [values.get(name, np.nan) for _, values in every]
             for name in names if not chosen or name == chosen}
  # An instance with none of the metrics that may be meant was not scored by this class of metric.
  documents = [f"{key[0]}/{key[1]}" if key[1] else key[0] for key, _ in every]
  main = MAIN_METRICS.get(scenario, ())
  if scenario.startswith("mmlu_pro"):
    main = MAIN_METRICS["mmlu_pro"]
  hashes = _helm_hashes(folder)
  return Log(path, model or folder.name, task, documents, metrics, [keep or "none"] * len(every),
             [hashes.get((key[0], key[1]), 0) for key, _ in every],
             [f"{path}/{key[2]}" for key, _ in every], [places[key] for key, _ in every],
             "instance", main=main, named=tuple(dict.fromkeys([*main, *_HELM])), dropped=dropped)


def _helm_hashes(folder: pathlib.Path) -> dict[tuple[str, str], int]:
  """Hashes of the documents, (instance, perturbation) -> hash, from instances.json."""
  path, found = folder / "instances.json", {}
  try:
    if path.stat().st_size > _MAX_CONFIG_BYTES:
      return {}
    for one in json.loads(path.read_text(encoding="utf-8-sig")):
      turned = str((one.get("perturbation") or {}).get("name", ""))
      found[str(one["id"]), turned] = answer_entries.document_hash(
          json.dumps([one.get("input"), one.get("references")], sort_keys=True))
  except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
    if io_errors.of(error) and not isinstance(error, FileNotFoundError):
      raise
    return {}
  return found


# inspect-ai.


def _zipped(path: pathlib.Path) -> tuple[dict[str, Any], list[Any]]:
  """The header and the samples of an .eval file; summaries where it has them."""
  try:
    with zipfile.ZipFile(path) as archive:
      members = {one.filename: one for one in archive.infolist()}
      if len(members) > 2_000_000:
        raise cache_input.CacheError(f"{path} has {len(members):,} members.")
      header = next((name for name in ("header.json", "_journal/start.json", "start.json")
                     if name in members), "")
      if not header:
        raise cache_input.CacheError(f"{path} is a zip file without header.json; expected a log of "
                                     "inspect-ai (.eval).")
      left = [min(MAX_BYTES, _FREE_BYTES + _MAX_RATIO * path.stat().st_size)]
      about = _member(path, archive, members[header], left)
      summary = next((name for name in ("summaries.json", "summary.json") if name in members), "")
      if summary:
        return about, _member(path, archive, members[summary], left)
      parts = sorted(name for name in members if re.fullmatch(
          r"(_journal/)?summaries/\d+\.json", name))
      if parts:
        return about, [one for name in parts
                       for one in _member(path, archive, members[name], left)]
      return about, [_member(path, archive, members[name], left) for name in sorted(members)
                     if re.fullmatch(r"samples/.*\.json", name)]
  except (zipfile.BadZipFile, NotImplementedError, EOFError, pa.ArrowException) as error:
    raise cache_input.CacheError(f"{path} cannot be read: {error}. It may have been cut short: get "
                                 "it again.") from error


def _member(path: pathlib.Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo,
            left: list[int]) -> Any:
  """A member as JSON; `left` is the number of bytes that may still be read."""
  where = f"{path}, member {member.filename!r}"
  if member.file_size > min(left[0], _FREE_BYTES + _MAX_RATIO * member.compress_size):
    raise cache_input.CacheError(f"{where} would hold {member.file_size:,} bytes, more than is "
                                 "allowed. It is no log.")
  left[0] -= member.file_size
  if member.compress_type == _ZSTD:
    with open(path, "rb") as file:
      file.seek(member.header_offset)
      local = file.read(30)
      if len(local) < 30 or local[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"no local header of {member.filename!r}")
      file.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
      packed = file.read(member.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
      data = stream.read(member.file_size + 1)
    if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
      raise zipfile.BadZipFile(f"bad content of {member.filename!r}")
  else:
    data = archive.read(member)
  try:
    return json.loads(data)
  except (ValueError, RecursionError) as error:
    raise cache_input.CacheError(f"{where} is no JSON: {error}.") from error


def _inspect(path: pathlib.Path, about: Mapping[str, Any], samples: Sequence[Any], wanted: Wanted
             ) -> Log:
  try:
    task, model = str(about["eval"]["task"]), str(about["eval"]["model"])
    rows = [(str(one["id"]), str(one.get("epoch", 1)), one.get("scores") or {}, one.get("input"))
            for one in samples]
  except (KeyError, TypeError, AttributeError) as error:
    raise cache_input.CacheError(f"{path} is no log of inspect-ai with eval.task, eval.model and "
                                 f"samples with an id ({error!r}).") from error
  if not rows:
    raise cache_input.CacheError(f"{path} has no samples (status {about.get('status')!r}).")
  metrics: dict[str, list[float]] = {}
  for index, (_, _, given, _) in enumerate(rows):
    for name, one in (given.items() if isinstance(given, dict) else ()):
      value = one.get("value") if isinstance(one, dict) else one
      parts = {f"{name}/{key}": each for key, each in value.items()} if isinstance(
          value, dict) else {str(name): value}
      for key, each in parts.items():
        column = metrics.setdefault(key, [np.nan] * len(rows))
        column[index] = _INSPECT[each] if isinstance(each, str) and each in _INSPECT else (
            _number(each))
  chosen = wanted.metric(task)
  if chosen and chosen not in metrics:
    raise cache_input.CacheError(
        f"{path} has no scorer {chosen!r}; it has {', '.join(sorted(metrics)) or 'no scores'}. "
        f"Choose one: --score {task}=NAME")
  if not metrics:
    raise cache_input.CacheError(f"{path} has no scores (status {about.get('status')!r}). Score it "
                                 "first: inspect score.")
  has_inputs = "samples" in about  # Summaries cut inputs off.
  return Log(path, model, task, [one[0] for one in rows], metrics, None,
             [answer_entries.document_hash(json.dumps(one[3], sort_keys=True)) if has_inputs and
              one[3] is not None else 0 for one in rows],
             [f"{path}/{one[1]}" for one in rows], list(range(1, len(rows) + 1)), "sample")


# openai/evals and py-irt.


def _openai(path: pathlib.Path, items: Sequence[Item]) -> Log:
  spec: dict[str, Any] = {}
  rows: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}
  for place, one, _, _ in items:
    if isinstance(one, dict) and isinstance(one.get("spec"), dict):
      spec = one["spec"]
    elif isinstance(one, dict) and one.get("sample_id") is not None and isinstance(
        one.get("data"), dict):
      rows.setdefault(str(one.get("type")), []).append((place, str(one["sample_id"]), one["data"]))
  kind = next((name for name in ("match", "metrics") if name in rows), "")
  if not kind:
    raise cache_input.CacheError(f"{path} has no events of type match or metrics; it has "
                                 f"{sorted(rows) or 'none with a sample_id'}. Export the answers "
                                 "as a csv with model, id and correct.")
  names = spec.get("completion_fns")
  model = ",".join(map(str, names)) if isinstance(names, list) and names else str(
      spec.get("model_name") or path.name.split(".")[0])
  found = rows[kind]
  metrics: dict[str, list[float]] = {}
  for index, (_, _, data) in enumerate(found):
    for name, value in data.items():
      number = _number(value) if isinstance(value, (bool, int, float)) else np.inf
      metrics.setdefault(str(name), [np.nan] * len(found))[index] = number
  return Log(path, model, str(spec.get("eval_name") or ""), [one[1] for one in found], metrics,
             repeats=[str(path)] * len(found), places=[one[0] for one in found],
             named=("correct",) if "correct" in metrics else ())


def _py_irt(path: pathlib.Path, items: Sequence[Item]) -> list[Log]:
  found = []
  for place, one, _, _ in items:
    answers = one.get("responses") if isinstance(one, dict) else None
    if not isinstance(answers, dict) or "subject_id" not in one:
      raise cache_input.CacheError(f"{path}, line {place} has no subject_id and responses; "
                                   "expected a line a model, as py-irt reads.")
    found.append(Log(path, str(one["subject_id"]), "", [str(name) for name in answers],
                     {"response": [_number(value) for value in answers.values()]},
                     places=[place] * len(answers)))
  return found
