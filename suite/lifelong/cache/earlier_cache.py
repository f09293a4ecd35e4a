# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Caches of formats 1 to 4, which are copied to one of the present format on request.

  cache/format.json     version; threshold, or the range of scores that are kept; tasks (from 3 on)
        commits.jsonl   one line for each addition of models, or of samples
        0001.bits       pieces of an addition, by the additions of the other kind: bits of right
                        answers, of evaluated ones where some are missing, and scores (4)
        0001.index      ids of the added samples, as of `sample_ids`, or their text alone (1)
        documents.bin, roster.json, groups.json, questions.jsonl, watched.jsonl
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import itertools
import json
import os
import pathlib
import re
import shutil
from typing import Any
import zlib

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import bit_rows
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import catalog
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids
from suite.lifelong.cache import task_groups
from suite.system import atomic_files
from suite.system import sealed_json
from suite.system import sealed_lines

CacheError = piece_files.CacheError
_NUMBERED = re.compile(r"(.+?)/(?:id)?(?:0|[1-9]\d*)(?:/[A-Za-z]\w*)?")
_HEADER = 4096  # Of documents.bin, before uint64 [n].
_TOGETHER = 256  # Models that are copied at once.


class EarlierCache:
  """A cache of an earlier format.

  Attributes:
    models: M names. ids: N ids, a `range` where they are 0, 1, 2, ...
    facts: threshold, tasks, hashes and whether scores are kept, as of `accuracy_cache.Given`.
  """

  def __init__(self, folder: pathlib.Path):
    version = catalog.version(folder)
    if not version < catalog.VERSION:
      raise CacheError(f"{folder} is of format {version}; nothing is to be converted.")
    self._folder = folder
    log = sealed_lines.read(folder / "commits.jsonl")
    if log.damage:
      raise CacheError(f"{log.damage}. Put it back from a copy.")
    self.models: list[str] = []
    self._pieces: dict[tuple[int, int], Any] = {}  # (addition of models, of samples) -> planes.
    self._rows: list[tuple[int, int]] = []  # Addition and row of each model.
    self._sizes: list[int] = []
    ids: list[Any] = []
    batches = 0
    for line in log.lines:
      data = self._file(line["bits"], line["bytes"], line.get("sha256"))
      if line.get("samples"):
        places = [(batch, len(self._sizes)) for batch in range(batches)]
        self._sizes.append(line["samples"])
        ids.append(self._ids(line))
      else:
        places = [(batches, column) for column in range(len(self._sizes))]
        self._rows += [(batches, row) for row in range(len(line["models"]))]
        self.models += line["models"]
        batches += 1
      self._pieces.update({place: (data, offsets) for place, offsets in zip(
          places, line["offsets"])})
    self.ids: Any = range(sum(self._sizes))
    if [one for batch in ids for one in batch[:1]] != [
        str(first) for first in np.cumsum([0, *self._sizes[:-1]])] or not all(
            isinstance(one, range) for one in ids):
      self.ids = [str(one) for batch in ids for one in batch]
    found = sealed_json.read(folder / catalog.MARK)
    self.facts: dict[str, Any] = {
        "threshold": found.get("threshold"), "values": "range" in found, "hashes": self._hashes(),
        "tasks": {name: cache_tasks.Task(**one) for name, one in found.get("tasks", {}).items()}
                 if version > 2 else _inferred_tasks([self.ids])}

  def row(self, model: int) -> np.ndarray:
    """Answers of a model: int8 [N], or, if scores are kept, float32."""
    parts = []
    batch, row = self._rows[model]
    for column, size in enumerate(self._sizes):
      data, (right, seen, *value) = self._pieces[batch, column]
      width = (size + 7) // 8
      if value:
        parts.append(data[value[0] + 4 * size * row:][:4 * size].view("<f4"))
        continue
      part = bit_rows.unpack(data[right + row * width:][:width], size).astype(
          np.float32 if self.facts["values"] else np.int8)
      if seen is not None:
        part[bit_rows.unpack(data[seen + row * width:][:width], size) == 0] = (
            np.nan if self.facts["values"] else accuracy_cache.NOT_EVALUATED)
      parts.append(part)
    return np.concatenate(parts)

  def tables(self, models: list[str]) -> catalog.Tables:
    """Rows of the data base beside answers: families of models, retired samples, groups, ..."""
    try:
      roster, groups = (sealed_json.read(self._folder / f"{name}.json") or {}
                        for name in ("roster", "groups"))
    except ValueError as error:
      raise CacheError(f"{self._folder} has a damaged roster.json or groups.json ({error}). Put it "
                       "back, or remove it.") from error
    questions = sealed_lines.read(self._folder / "questions.jsonl")
    if questions.damage:
      raise CacheError(f"{questions.damage}. Put it back, or remove it.")
    families = roster.get("families", {})
    return {
        "models": [(name, families.get(name, "")) for name in models],
        "retired": [(one,) for one in roster.get("retired", [])],
        "groups": task_groups.rows({
            name: task_groups.Group(tuple(one["tasks"]), one["by_size"])
            for name, one in groups.get("groups", {}).items()}),
        "questions": [(one["seed"], one["first"], one["last"], one["check"], *(
            np.array(one[name], "<u4").tobytes() for name in ("samples", "ranks")))
                      for one in questions.lines],
        "settings": [("pattern", roster["pattern"])] if roster.get("pattern") else []}

  def _file(self, name: str, size: int, sha256: str | None) -> np.ndarray:
    path = self._folder / name
    if not path.is_file() or path.stat().st_size != size:
      raise CacheError(f"{path} is truncated or missing. Put it back from a copy.")
    if sha256 is not None and sha256 != atomic_files.sha256(path):
      raise CacheError(f"{path} is damaged: its content is not what was written. Put it back from "
                       "a copy.")
    return np.memmap(path, np.uint8, "r") if size else np.zeros(0, np.uint8)

  def _ids(self, line: dict[str, Any]) -> Any:
    if "id_first" in line:
      return range(line["id_first"], line["id_first"] + line["samples"])
    data = self._file(line["ids"], line["id_bytes"], line.get("id_sha256"))
    if "id_text_bytes" not in line:
      return zlib.decompress(data.tobytes()).decode().split("\n")
    num = -(-line["samples"] // sample_ids.BLOCK)
    start = line["id_text_bytes"]
    offsets = data[start:start + 8 * (num + 1)].view("<u8").tolist()
    return [one for first, end in zip(offsets, offsets[1:])
            for one in zlib.decompress(data[first:end].tobytes()).decode().split("\n")]

  def _hashes(self) -> np.ndarray | None:
    path = self._folder / "documents.bin"
    if not path.exists():
      return None
    data, found = path.read_bytes(), np.zeros(len(self.ids), np.uint64)
    try:
      if json.loads(data[:_HEADER])["crc32"] != zlib.crc32(data[_HEADER:]):
        raise ValueError("bad sum")
    except (ValueError, KeyError, TypeError) as error:
      raise CacheError(f"{path} is damaged. Put it back, or remove it: documents are then not "
                       "checked.") from error
    known = np.frombuffer(data[_HEADER:], np.uint64)[:len(found)]
    found[:len(known)] = known
    return found


def convert(folder: pathlib.Path, out: pathlib.Path) -> accuracy_cache.AccuracyCache:
  """Copies a cache of an earlier format to a new folder, and compares all that it holds.

  Raises:
    CacheError: it is damaged, or of the present format; or there is something at `out`.
  """
  if os.path.lexists(out):
    raise CacheError(f"{out} exists. Give a folder that does not.")
  old = EarlierCache(folder)
  with atomic_files.replacing(out) as copy:
    new = accuracy_cache.AccuracyCache(copy, create=True)
    for first in range(0, len(old.models), _TOGETHER):
      some = range(first, min(len(old.models), first + _TOGETHER))
      new.add_models([old.models[model] for model in some], map(old.row, some), old.ids,
                     **old.facts)
    with catalog.changing(copy) as tables:
      rows = old.tables(new.models)
      rows["settings"] = [*tables["settings"], *rows["settings"]]
      tables.update(rows)
    if (folder / "watched.jsonl").exists():
      shutil.copyfile(folder / "watched.jsonl", copy / "watched.jsonl")
    _compare(old, accuracy_cache.AccuracyCache(copy))
  return accuracy_cache.AccuracyCache(out)


def _compare(old: EarlierCache, new: accuracy_cache.AccuracyCache) -> None:
  """Raises a CacheError if a copy has other models, ids or answers."""
  ids = itertools.chain.from_iterable(new.sample_ids.chunks())
  is_same = len(old.ids) == new.num_samples and old.models == new.models and all(
      str(one) == other for one, other in zip(old.ids, ids))
  everything = np.arange(new.num_samples)
  for model in range(new.num_models if is_same else 0):
    mine = new.values(everything, [model])[0] if old.facts["values"] else new.answers(
        model, everything)
    is_same &= np.array_equal(old.row(model), mine, equal_nan=old.facts["values"])
  if not is_same:
    raise CacheError("The copy differs from the earlier cache: it was written to meanwhile, or "
                     "the disk has errors. Convert it again.")


def _inferred_tasks(chunks: Iterable[Sequence[str]]) -> dict[str, cache_tasks.Task]:
  """Tasks of a cache that keeps none: if all ids are TASK/NUMBER or TASK/idNUMBER, else {}."""
  found: dict[str, cache_tasks.Task] = {}
  for chunk in chunks:
    if isinstance(chunk, range):
      return {}
    for one in chunk:
      matched = _NUMBERED.fullmatch(str(one))
      if not matched:
        return {}
      found.setdefault(matched.group(1), cache_tasks.Task())
  return found
