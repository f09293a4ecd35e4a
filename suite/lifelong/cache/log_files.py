# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of harnesses' logs: a log as it was read, what the user selects of it, bounded reading.

Sizes are bounded: content that is far larger than its file, or than 4 GiB, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import dataclasses
import gzip
import json
import pathlib
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong.cache import answer_entries
from suite.lifelong.cache import cache_input
from suite.lifelong.cache import task_groups
from suite.system import io_errors

KINDS = (".json", ".jsonl", ".jsonlines", ".ndjson", ".eval")
MAX_BYTES = 4 << 30
_MAX_RATIO, _FREE_BYTES = 500, 64 << 20
MAX_CONFIG_BYTES = 256 << 20


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
    groups: of tasks, that the results beside the log have.
    unnamed: whether `filters` are numbers since the log names none.
    of_folder: whether the model is the folder's name, since nothing names it.
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
  of_folder: bool = False
  groups: task_groups.Groups = dataclasses.field(default_factory=dict)


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


def allowed(num_bytes: int) -> int:
  """Number of bytes that packed ones may hold: min(4 GiB, 64 MiB + 500 x num_bytes)."""
  return min(MAX_BYTES, _FREE_BYTES + _MAX_RATIO * num_bytes)


def opened(path: pathlib.Path) -> Any:
  """Opens a file as bytes, decompressed if it is gzip; its size is bounded."""
  with open(path, "rb") as file:
    packed = file.read(2) == b"\x1f\x8b"
  size = path.stat().st_size
  limit = allowed(size) if packed else MAX_BYTES
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


def config(path: pathlib.Path) -> dict[str, Any]:
  """The object in a file beside a log; {} if there is none, or it is of another form."""
  try:
    if path.stat().st_size > MAX_CONFIG_BYTES:
      return {}
    found = json.loads(path.read_text(encoding="utf-8-sig"))
  except (OSError, ValueError, RecursionError) as error:
    if io_errors.of(error):
      raise
    return {}
  return found if isinstance(found, dict) else {}


def number(value: Any) -> float:
  """A score as a float; infinite if it is no number."""
  try:
    return answer_entries.score(value)
  except OverflowError:
    return np.inf
