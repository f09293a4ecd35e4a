# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What one writer changes of an accuracy cache, and which rectangles are joined.

Rectangles of all samples at the end of the models, or of all models at the end of the
samples, are joined in levels. As soon as 16 of fewer than 16^(l + 1) rows or columns are last, they
become one. An answer is rewritten about once a level, so n additions cost O(n log n) and leave at
most 16 files a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import hashlib
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import catalog
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids

RIGHT, SEEN, VALUE, NUMBER = KINDS = piece_files.KINDS
CacheError = piece_files.CacheError
DOCUMENTS, CLUSTERS = "documents", "clusters"
FANOUT = 16
MOST = 512  # Of rectangles, before all are written again.
# Joined files stay below this, so that no addition waits long for the disk.
LARGEST_BYTES = 1 << 28


class ValueRange(NamedTuple):
  """The range of scores that are kept as values: estimates are made of shares of it."""

  low: float = 0.0
  high: float = 1.0

  def shares(self, values: Any) -> Any:
    """Values as shares of the range: 0 is its lower end."""
    return (values - self.low) / (self.high - self.low)

  def values(self, shares: Any) -> Any:
    """Shares of the range as values."""
    return self.low + (self.high - self.low) * shares

  def widened(self, low: float, high: float) -> ValueRange:
    """The range that values from `low` to `high` are in, too.

    From 0 on it ends at 1, 10 or 100, if it can: the next model may be better than all before.
    """
    low, high = min(low, self.low), max(high, self.high)
    ends = [one for one in (1.0, 10.0, 100.0) if one >= high]
    return ValueRange(low, ends[0] if ends and low == 0.0 else high)


@dataclasses.dataclass(frozen=True)
class Given:
  """What is said of answers that are added.

  Attributes:
    threshold: score from which on graded answers were counted as correct; None: no answer was
      graded. All additions have the same (`agreed_threshold`).
    tasks: what the answers to the tasks of the samples are; a sample TASK/DOCUMENT is of a task.
    hashes: uint64, hash of the document of each id, 0 if unknown; they are compared with those of
      the cache and kept.
    values: the answers are scores of any range, NaN where not evaluated, which are kept as they
      are; such a cache has no threshold.
  """

  threshold: float | None = None
  tasks: Mapping[str, cache_tasks.Task] = dataclasses.field(default_factory=dict)
  hashes: np.ndarray | None = None
  values: bool = False


class Change:
  """What a writer changes.

  Attributes:
    tables: of the data base, as they will be committed.
    num_samples: with those that are added.
    middle: score from which on one counts as right; None: answers are right or wrong.
  """

  def __init__(self, cache: Any, tables: catalog.Tables):
    """`cache`: an `AccuracyCache`, opened at its last state; `tables`: as they were read."""
    self.tables, self.num_samples = tables, cache.num_samples
    self.middle: float | None = None
    self._cache = cache
    self._files = dict(cache.files)
    self._number = max((piece_files.number_of(name) for name in self._files), default=0)
    self._state = hashlib.sha256(cache.state.encode())

  def take(self, given: Given, answers: Any) -> None:
    """Takes threshold, range and tasks, which must agree with those of the cache."""
    cache, settings = self._cache, dict(self.tables["settings"])
    threshold = cache.agreed_threshold(given.threshold)
    if threshold is not None:
      settings["threshold"] = threshold
    if given.values:
      if threshold is not None:
        raise CacheError(f"{cache.folder} counts graded answers as correct from {threshold:g} on, "
                         "so it keeps no scores. Leave out --values, or put the scores into "
                         "another cache.")
      known = [row[~np.isnan(row)] for row in answers]
      wide = (cache.value_range or ValueRange()).widened(
          min((float(one.min()) for one in known if one.size), default=0.0),
          max((float(one.max()) for one in known if one.size), default=1.0))
      settings["low"], settings["high"] = wide
      self.middle = float(wide.values(0.5))
    self.tables["settings"] = list(settings.items())
    self.tables["tasks"] = cache_tasks.rows(
        cache_tasks.agreed(cache.tasks, given.tasks, cache.folder))

  def samples_of(self, ids: Sequence[str]) -> np.ndarray:
    """The samples of ids, those that are added included; a CacheError if one is unknown."""
    found = self._cache.sample_ids.find(ids)
    new = np.flatnonzero(found < 0)
    if len(new) > self.num_samples - self._cache.num_samples:
      raise CacheError(f"{str(ids[int(new[0])])!r} is no sample of the cache.")
    found[new] = self._cache.num_samples + np.arange(len(new))
    return found

  def add_ids(self, ids: Sequence[str]) -> None:
    """Adds samples."""
    batch, facts = sample_ids.write(self._cache.folder, self._next(), [ids])
    known = self.tables["ids"]
    if batch.file is None and known and known[-1][1] is not None and batch.first == sum(
        known[-1][:2]):
      samples, first, *_ = known.pop()
      batch = sample_ids.Batch(samples + batch.samples, first)
    known.append(tuple(batch))
    self._keep(facts)
    self.num_samples += len(ids)

  def add_rows(self, rows: Iterable[Mapping[str, np.ndarray]], place: tuple[int, int, int, int]
               ) -> piece_files.Rectangle:
    """Writes a rectangle: (model, models, sample, samples)."""
    facts = piece_files.write(self._cache.folder, self._next(), rows, place[1], place[3])
    self._keep(facts)
    names = {one.name.split(".")[1]: one.name for one in facts}
    found = piece_files.Rectangle(*place, 0, names[RIGHT], *map(names.get, KINDS[1:]))
    self.tables["planes"].append(tuple(found))
    return found

  def set_column(self, name: str, samples: np.ndarray, values: np.ndarray) -> None:
    """Sets what is known of samples."""
    old = self._cache.column(name, values.dtype)
    found = np.zeros(self.num_samples, values.dtype)
    found[:len(old)] = old
    found[samples] = np.where(values == 0, found[samples], values)
    if np.array_equal(found[:len(old)], old) and not np.any(found[len(old):]):
      return
    facts, = piece_files.write(self._cache.folder, self._next(), [{name: found.view(np.uint8)}], 1,
                               len(found))
    self._keep([facts])
    self.tables["columns"] = [*(one for one in self.tables["columns"] if one[0] != name),
                              (name, facts.name, len(found))]

  def fill(self, new: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> None:
    """Adds answers: model -> (samples [n], answers [n]); states that have these cells are new."""
    for piece in self._cache.pieces:
      at = piece.at
      here = {model - at.model: (samples[inside] - at.sample, given[inside])
              for model, (samples, given) in new.items() if at.model <= model < at.ends[0]
              for inside in [(samples >= at.sample) & (samples < at.ends[1])] if inside.any()}
      if not here:
        continue
      first, end = min(here), max(here) + 1
      self.tables["planes"].remove(tuple(at))
      self.add_rows((self._filled(piece, row, here.get(row)) for row in range(first, end)),
                    (at.model + first, end - first, at.sample, at.samples))
      self.tables["planes"] += [tuple(at.part(*some)) for some in ((0, first), (end, at.models))
                                if some[0] < some[1]]
    salt, least = self._state.hexdigest(), min(int(samples.min()) for samples, _ in new.values())
    self.tables["commits"] = [
        (models, num, hashlib.sha256((state + salt).encode()).hexdigest()[:16]
         if models > min(new) and num > least else state)
        for models, num, state in self.tables["commits"]]

  def _filled(self, piece: piece_files.Piece, row: int,
              given: tuple[np.ndarray, np.ndarray] | None) -> dict[str, np.ndarray]:
    cells = {kind: piece.whole(kind, row) for kind in (*piece.planes, SEEN)}
    if given is not None:
      places, answers = given
      cells[SEEN][places] = 1
      cells[RIGHT][places] = answers == 1 if self.middle is None else answers >= self.middle
      if VALUE in cells:
        cells[VALUE][places] = answers
      if NUMBER in cells:
        cells[NUMBER][places] = 1
    return piece_files.packed(cells)

  def commit(self, names: Sequence[str]) -> None:
    """Adds the state after what was changed. `names`: of new models."""
    self._state.update("\n".join(names).encode())
    self.tables["commits"].append((len(self.tables["models"]), self.num_samples,
                                   self._state.hexdigest()[:16]))

  def join(self) -> None:
    """Joins small rectangles, or all if there are many, and forgets the files that they had."""
    num_models, num_samples = len(self.tables["models"]), self.num_samples
    places = [piece_files.Rectangle(*one) for one in self.tables["planes"]]
    rows = _rows_a_file(num_samples, places)
    if len(places) > MOST and 2 * (1 + num_models // rows) <= len(places):
      for first in range(0, num_models, rows):
        self._rewrite(first, min(rows, num_models - first), 0, num_samples)
    else:
      below = _run({one.ends[0]: one for one in places if one.samples == num_samples}, 0,
                   num_models)
      beside = _run({one.ends[1]: one for one in places if one.models == num_models}, 1,
                    num_samples)
      if num := _tail([(one.models, self._size(one)) for one in below]):
        self._rewrite(below[-num].model, num_models - below[-num].model, 0, num_samples)
      elif num := _tail([(one.samples, self._size(one)) for one in beside]):
        self._rewrite(0, num_models, beside[-num].sample, num_samples - beside[-num].sample)
    batches = [sample_ids.Batch(*one) for one in self.tables["ids"]]
    if num := _tail([(one.samples, 16 * one.samples) for one in batches]):
      ids = sample_ids.SampleIds([one.opened(self._files) for one in batches[-num:]])
      batch, facts = sample_ids.write(self._cache.folder, self._next(), ids.chunks())
      self._keep(facts)
      self.tables["ids"][-num:] = [tuple(batch)]
    forget_files(self.tables)

  def _rewrite(self, model: int, models: int, sample: int, samples: int) -> None:
    """Makes one rectangle of those within a larger one."""
    inside = [piece_files.Piece(at, self._files) for at in sorted(
        (piece_files.Rectangle(*one) for one in self.tables["planes"]), key=lambda at: at.sample)
              if model < at.ends[0] and at.model < model + models and at.sample >= sample]
    kinds = {kind for one in inside for kind in one.planes}
    self.add_rows((piece_files.beside(
        [one for one in inside if one.at.model <= row < one.at.ends[0]], row, kinds)
                   for row in range(model, model + models)),
                  (model, models, sample, samples))
    made = self.tables["planes"].pop()
    left = []
    for one in inside:
      self.tables["planes"].remove(tuple(one.at))
      first, end = max(0, model - one.at.model), min(one.at.models, model + models - one.at.model)
      left += [tuple(one.at.part(*some)) for some in ((0, first), (end, one.at.models))
               if some[0] < some[1]]
    self.tables["planes"] += [made, *left]

  def _size(self, at: piece_files.Rectangle) -> int:
    return sum(at.models * self._files[name].facts.width for name in at.files())

  def _next(self) -> int:
    self._number += 1
    return self._number

  def _keep(self, facts: Sequence[piece_files.Facts]) -> None:
    for one in facts:
      self.tables["files"].append(tuple(one))
      self._files[one.name] = piece_files.Checked(self._cache.folder, one)
      self._state.update(one.sha256.encode())


def forget_files(tables: catalog.Tables) -> None:
  """Leaves out files that nothing names."""
  used = {name for row in tables["planes"] for name in row[5:]} | {
      row[2] for row in tables["ids"]} | {row[1] for row in tables["columns"]}
  tables["files"] = [row for row in tables["files"] if row[0] in used]


def _rows_a_file(num_samples: int, places: Sequence[piece_files.Rectangle]) -> int:
  """Number of models whose answers to all samples go to one file of a cache that is rewritten."""
  bits = 34 if any(one.value for one in places) else 2
  return max(1, LARGEST_BYTES // (bits * (num_samples + 7) // 8 or 1))


def _run(by_end: Mapping[int, piece_files.Rectangle], axis: int, end: int
         ) -> list[piece_files.Rectangle]:
  """Rectangles that follow each other to the end of the models (axis 0) or samples (1)."""
  found: list[piece_files.Rectangle] = []
  while end in by_end:
    found.insert(0, by_end[end])
    end = found[0].sample if axis else found[0].model
  return found


def _tail(sizes: Sequence[tuple[int, int]]) -> int:
  """How many of the last additions become one, by (size, bytes) of each; 0: none."""
  level = 0
  while True:
    limit, num, num_bytes = FANOUT**(level + 1), 0, 0
    for size, one in reversed(sizes):
      if size >= limit:
        break
      num_bytes += one
      if num_bytes > LARGEST_BYTES:
        break
      num += 1
    if num >= FANOUT:
      return num
    if num == len(sizes) or num_bytes > LARGEST_BYTES:
      return 0
    level += 1
