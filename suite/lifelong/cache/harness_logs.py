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

from collections.abc import Mapping, Sequence
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
from suite.lifelong.cache import lm_eval_logs
from suite.lifelong.cache import log_files

_ZSTD = 93  # Method of zip members, which zipfile does not know before Python 3.14.
# Other files beside the logs, which a pattern such as DIR/*.json meets too.
_BESIDE = re.compile(r"(?:.*_)?results?(?:_.*)?|run_spec|stats|scenario|scenario_state|instances|"
                     r"predictions|display_\w+|costs|config|groups?(?:_.*)?|runs|summary|schema")
_INSPECT = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0}


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
      name = lm_eval_logs.model_name(whole) or path.resolve().parent.name
      return [lm_eval_logs.read(path, _listed(rows), str(task), name, whole, wanted)
              for task, rows in whole["samples"].items() if isinstance(rows, list)]
    if _BESIDE.fullmatch(path.name.split(".json")[0]) or "results" in whole:
      return []
  if not items:
    raise cache_input.CacheError(f"{path} has no samples.")
  if not isinstance(first, dict):
    raise cache_input.CacheError(f"{path}, {items[0].unit} {items[0].place} is no JSON object.")
  if "instance_id" in first and "stats" in first:
    return [helm_logs.read(path, items, wanted)]
  if "doc_id" in first:
    return [lm_eval_logs.read_file(path, items, wanted)]
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
    return pa.table({name: pa.array([
        value if value is None or isinstance(value, str) else json.dumps(value)
        for value in (one.get(name) for _, one, _, _ in items)], pa.string()) for name in plain})
  raise cache_input.CacheError(
      f"{path} is no log of lm-evaluation-harness (doc_id), HELM (instance_id, stats), inspect-ai, "
      "openai/evals or py-irt, and no table of objects with model, id and correct.")


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
      items.append(log_files.Item(number, lm_eval_logs.slim(found), hash(line), "line"))
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
  return [log_files.Item(index, lm_eval_logs.slim(one), hash(json.dumps(one)), "sample")
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
