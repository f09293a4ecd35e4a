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
| lmms-eval | MODEL/DATE_samples_TASK.jsonl: as lm-evaluation-harness |
| others | records, see `log_layouts` |

A log has all metrics and filters that could be meant; `accuracy_import` selects. A log is found by
its content, not by its ending. Sizes are bounded: content that is far larger than its file, or than
4 GiB, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import hashlib
import json
import pathlib
import re
from typing import Any
import zipfile
import zlib

import numpy as np
import pyarrow as pa

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import helm_logs
from suite.lifelong.cache import log_files
from suite.lifelong.cache import log_layouts
from suite.lifelong.cache import task_groups

_ZSTD = 93  # Method of zip members, which zipfile does not know before Python 3.14.
# Other files beside the logs, which a pattern such as DIR/*.json meets too.
_BESIDE = re.compile(r"(?:.*_)?results?(?:_.*)?|run_spec|stats|scenario|scenario_state|instances|"
                     r"predictions|display_\w+|costs|config|groups?(?:_.*)?|runs|summary|schema")
_INSPECT = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0}
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


def read(path: pathlib.Path, wanted: log_files.Wanted) -> list[log_files.Log] | pa.Table:
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
      return [_lm_eval(path, _listed(rows), str(task), name, whole, wanted)
              for task, rows in whole["samples"].items() if isinstance(rows, list)]
    if (records := log_layouts.listed(path, whole)) is not None:
      return log_layouts.read(path, *records)
    if _BESIDE.fullmatch(path.name.split(".json")[0]) or "results" in whole:
      return []
  if not items:
    raise cache_input.CacheError(f"{path} has no samples.")
  if not isinstance(first, dict):
    raise cache_input.CacheError(f"{path}, {items[0].unit} {items[0].place} is no JSON object.")
  if "instance_id" in first and "stats" in first:
    return [helm_logs.read(path, items, wanted)]
  if "doc_id" in first:
    return [_lm_eval_file(path, items, wanted)]
  if "spec" in first or "event_id" in first:
    return [_openai(path, items)]
  if "responses" in first:
    return _py_irt(path, items)
  if (layout := log_layouts.of([first])) is not None:
    return log_layouts.read(path, layout, [one.value for one in items])
  if _BESIDE.fullmatch(path.name.split(".json")[0]):
    return []
  if all(isinstance(one, dict) for _, one, _, _ in items):
    names = list(dict.fromkeys(name for _, one, _, _ in items for name in one))
    plain = [name for name in names if not any(
        isinstance(one.get(name), (dict, list)) for _, one, _, _ in items)]
    return pa.table({name: pa.array([
        value if value is None or isinstance(value, str) else json.dumps(value)
        for value in (one.get(name) for _, one, _, _ in items)], pa.string()) for name in plain})
  raise cache_input.CacheError(
      f"{path} is no log of lm-evaluation-harness (doc_id), HELM (instance_id, stats), inspect-ai, "
      "OpenCompass (details), evalplus, AlpacaEval, every-eval-ever, openai/evals or py-irt, and "
      "no table of objects with model, id and correct.")


def _json(path: pathlib.Path) -> tuple[Any, list[log_files.Item]]:
  """The object that the file is, or None; and the items of its lines or of its list."""
  items: list[log_files.Item] = []
  with log_files.opened(path) as file:
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
      items.append(log_files.Item(number, _slim(found), hash(line), "line"))
    else:
      return (items[0].value if len(items) == 1 else None), items
  try:
    with log_files.opened(path) as file:
      whole = json.loads(file.read().decode("utf-8-sig"))
  except (ValueError, RecursionError) as error:
    if isinstance(error, UnicodeDecodeError):
      raise
    raise cache_input.CacheError(f"{path}, line 1 is no JSON, and neither is the file: {error}. "
                                 "The log may have been cut short: export it again.") from error
  if isinstance(whole, list):
    return None, _listed(whole)
  return whole, [log_files.Item(1, whole, 0, "sample")]


def _listed(rows: Sequence[Any]) -> list[log_files.Item]:
  return [log_files.Item(index, _slim(one), hash(json.dumps(one)), "sample")
          for index, one in enumerate(rows, start=1)]


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
      left = [log_files.allowed(path.stat().st_size)]
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
  if member.file_size > min(left[0], log_files.allowed(member.compress_size)):
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


def _lm_eval_file(path: pathlib.Path, items: Sequence[log_files.Item], wanted: log_files.Wanted
                  ) -> log_files.Log:
  """Reads a file of lm-evaluation-harness; its model is that of the results beside it."""
  stem = path.name
  for ending in (".gz", *log_files.KINDS):
    stem = stem[:-len(ending)] if stem.endswith(ending) else stem
  dated = _DATE.search(stem)
  stem = _DATE.sub("", stem)
  folder = path.resolve().parent
  # The aggregated results that were written with the samples; {} if it is not clear which.
  written = [one for one in sorted(folder.glob(f"*_{dated.group(1)}.json")) if
             not one.name.startswith("samples_")] if dated else []
  beside = [log_files.config(one) for one in written or sorted(folder.glob("*results*.json"))]
  beside = [one for one in beside if one and ("results" in one or "config" in one)]
  results = beside[0] if beside and len({_model_name(one) for one in beside}) == 1 else {}
  arguments = _model_arguments(results)
  model = _model_name(results)
  if named := re.match(r"(?:\d[\dT_.-]*_)?samples_", stem):  # lmms-eval has the date in front.
    task = stem[named.end():]
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
  return dataclasses.replace(_lm_eval(path, items, task, model or folder.name, results, wanted),
                             of_folder=not model)


def _model_arguments(results: Mapping[str, Any]) -> str:
  """The arguments of the model as text, KEY=VALUE,KEY=VALUE."""
  config = results.get("config")
  found = config.get("model_args") if isinstance(config, dict) else None
  if isinstance(found, dict):
    return ",".join(f"{name}={value}" for name, value in found.items())
  return found if isinstance(found, str) else ""


def _model_name(results: Mapping[str, Any]) -> str:
  """Name of the model in results, with the revision and the like, which make it another one."""
  pairs = dict(one.split("=", 1) for one in _model_arguments(results).split(",") if "=" in one)
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


def _lm_eval(path: pathlib.Path, items: Sequence[log_files.Item], task: str, model: str,
             results: Mapping[str, Any], wanted: log_files.Wanted) -> log_files.Log:
  """Reads a task of lm-evaluation-harness; `results` are those of the same call, or {}.

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
             unnamed=unnamed, groups=task_groups.of_results(results))


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


def _inspect(path: pathlib.Path, about: Mapping[str, Any], samples: Sequence[Any],
             wanted: log_files.Wanted) -> log_files.Log:
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
            log_files.number(each))
  chosen = wanted.metric(task)
  if chosen and chosen not in metrics:
    raise cache_input.CacheError(
        f"{path} has no scorer {chosen!r}; it has {', '.join(sorted(metrics)) or 'no scores'}. "
        f"Choose one: --score {task}=NAME")
  if not metrics:
    raise cache_input.CacheError(f"{path} has no scores (status {about.get('status')!r}). Score it "
                                 "first: inspect score.")
  has_inputs = "samples" in about  # Summaries cut inputs off.
  return log_files.Log(path, model, task, [one[0] for one in rows], metrics, None,
             [answer_entries.document_hash(json.dumps(one[3], sort_keys=True)) if has_inputs and
              one[3] is not None else 0 for one in rows],
             [f"{path}/{one[1]}" for one in rows], list(range(1, len(rows) + 1)), "sample")


def _openai(path: pathlib.Path, items: Sequence[log_files.Item]) -> log_files.Log:
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
      number = log_files.number(value) if isinstance(value, (bool, int, float)) else np.inf
      metrics.setdefault(str(name), [np.nan] * len(found))[index] = number
  return log_files.Log(
      path, model, str(spec.get("eval_name") or ""), [one[1] for one in found], metrics,
      repeats=[str(path)] * len(found), places=[one[0] for one in found],
      named=("correct",) if "correct" in metrics else ())


def _py_irt(path: pathlib.Path, items: Sequence[log_files.Item]) -> list[log_files.Log]:
  found = []
  for place, one, _, _ in items:
    answers = one.get("responses") if isinstance(one, dict) else None
    if not isinstance(answers, dict) or "subject_id" not in one:
      raise cache_input.CacheError(f"{path}, line {place} has no subject_id and responses; "
                                   "expected a line a model, as py-irt reads.")
    found.append(log_files.Log(path, str(one["subject_id"]), "", [str(name) for name in answers],
                     {"response": [log_files.number(value) for value in answers.values()]},
                     places=[place] * len(answers)))
  return found
