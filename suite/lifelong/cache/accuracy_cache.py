# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The accuracy cache on disk: which model answers which sample correctly.

  cache/format.json     version of the format; threshold of graded answers, if there were any, or
                        the range of scores that are kept as values; tasks with their metric and
                        filter (`cache_tasks`)
        commits.jsonl   one line for each addition; files that it does not name are ignored
        0001.bits       answers of an addition: one bit each, one more where some are missing,
                        and a float32 where scores are kept
        0001.index      ids of the added samples (`sample_ids`), unless they are 0, 1, 2, ...
        counts.bin      see `sample_counts`
        questions.jsonl see `question_sets`
        documents.bin   see `cache_tasks`

                sample batch 0    sample batch 1
  model batch 0 [ piece       ]   [ piece       ]     An addition writes a column or a row of
  model batch 1 [ piece       ]   [ piece       ]     pieces to a new file.

A piece is bits [models, ceil(samples / 8)], memory-mapped if it is large. An addition writes and
syncs its files, then appends its line; a crash in between leaves files that the next addition
overwrites. Small additions are joined later (`committed`): the joined file is written, the log is
replaced, the old files are removed. Writers take a lock. Readers need none: a written file never
changes, and one that was removed since the log was read is found in the new log.

A line has the digests of its files, and names the line before it. Opening the cache reads parts of
large files (`piece_files.spot`); `cache_check` reads all of them.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import itertools
import json
import math
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong.cache import cache_input
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import committed
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import io_errors

# 1: ids without an index; 2: no tasks. Both are read, and converted when something is added.
# 4: scores are kept as values. A cache without any stays one of format 3.
VERSION, _OF_BITS = 4, 3
NOT_EVALUATED = cache_input.NOT_EVALUATED
CacheError = cache_input.CacheError
Piece = piece_files.Piece


def is_cache(folder: str | os.PathLike) -> bool:
  return (pathlib.Path(folder) / "format.json").exists()


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


class AccuracyCache:
  """M models x N samples; an answer is 1 (correct), 0 (wrong) or -1 (not evaluated).

  Attributes:
    folder: the cache's folder.
    models: names of the models, in the order in which they were added.
    num_samples: N.
  """

  def __init__(self, folder: str | os.PathLike, *, create: bool = False):
    """Opens the cache at its last committed state.

    With `create` it need not exist: its first addition creates it, unless that is refused.
    """
    self.folder = pathlib.Path(folder)
    if not create or is_cache(self.folder):
      self._check_version()
    self._committed = committed.Committed(self.folder)

  def refresh(self) -> None:
    """Reads what other processes have committed since."""
    self._committed.refresh()

  @property
  def problem(self) -> str:
    """What is damaged, so that the cache was opened as it was before; "" if nothing is."""
    return self._committed.problem

  @property
  def threshold(self) -> float | None:
    """Score from which on graded answers were counted as correct; None: there were none so far."""
    return self._format().get("threshold") if is_cache(self.folder) else None

  def agreed_threshold(self, given: float | None) -> float | None:
    """Returns the threshold for graded answers: that of the cache, or the given one if it has none.

    Raises:
      CacheError: they differ, or the given one is not in (0, 1].
    """
    if given is not None and not 0.0 < given <= 1.0:
      raise CacheError(f"Got a threshold of {given:g}; expected a score above 0, and 1 at most: "
                       "--threshold 0.5.")
    stored = self.threshold
    if given is not None and self.value_range is not None:
      raise CacheError(f"{self.folder} keeps scores as values; got a threshold of {given:g}. Leave "
                       "out --threshold, or put right and wrong into another cache.")
    if None not in (given, stored) and given != stored:
      raise CacheError(f"{self.folder} counts graded answers as correct from {stored:g} on; got a "
                       f"threshold of {given:g}. Models that are cut at different scores cannot be "
                       "compared: leave out --threshold, or put them into another cache.")
    return given if stored is None else stored

  @property
  def value_range(self) -> ValueRange | None:
    """The range of the scores that are kept; None: the answers are right or wrong."""
    found = self._format().get("range") if is_cache(self.folder) else None
    return None if found is None else ValueRange(*found)

  @property
  def tasks(self) -> dict[str, cache_tasks.Task]:
    """The tasks of the samples, by name; {} if none are known."""
    if not is_cache(self.folder):
      return {}
    found = self._format()
    return self._tasks_of(found)

  def sample_tasks(self) -> tuple[list[str], np.ndarray]:
    """Names of the tasks, and the number of the task of each sample: int32 [N], -1 for none.

    Tasks without a sample are left out. Without tasks: ([], int32 [0]).
    """
    names = list(self.tasks)
    if not names:
      return [], np.zeros(0, np.int32)
    codes = cache_tasks.codes(names, self.sample_ids.chunks())
    used, codes = np.unique(codes, return_inverse=True)
    first = int(used[0] < 0)
    return [names[index] for index in used[first:].tolist()], (codes - first).astype(np.int32)

  def check_documents(self, ids: Sequence[str], hashes: np.ndarray | None,
                      sources: Sequence[str] | str) -> None:
    """Raises a CacheError if ids of the cache are other documents: hashes uint64 [n], 0: unknown.

    `sources`: the file of each, or of all.
    """
    if hashes is None or not self.num_samples:
      return
    found = cache_tasks.Documents(self.folder, self.states())
    if len(found.hashes):
      found.check(self.sample_ids.find(ids), hashes, ids,
                  [sources] * len(ids) if isinstance(sources, str) else sources, self.tasks)

  def _tasks_of(self, found: Mapping[str, Any]) -> dict[str, cache_tasks.Task]:
    if found.get("version", VERSION) < 3:
      return cache_tasks.inferred(self.sample_ids.chunks())
    return cache_tasks.parsed(found.get("tasks", {}))

  @property
  def models(self) -> list[str]:
    return self._committed.models

  def states(self) -> dict[tuple[int, int], str]:
    """Digest of each state that the cache has had, by its numbers of models and of samples.

    Equal digests stand for equal answers.
    """
    return self._committed.states()

  @property
  def state(self) -> str:
    """Digest of the present state."""
    return self.states().get((self.num_models, self.num_samples), "")

  @property
  def num_samples(self) -> int:
    return sum(self._committed.sample_sizes)

  @property
  def num_models(self) -> int:
    return len(self.models)

  @property
  def model_batches(self) -> tuple[int, ...]:
    """Number of models of each addition of models."""
    return tuple(self._committed.model_sizes)

  @property
  def sample_batches(self) -> tuple[int, ...]:
    """Number of samples of each addition of samples."""
    return tuple(self._committed.sample_sizes)

  def piece(self, model_batch: int, sample_batch: int) -> Piece:
    return self._committed.pieces[model_batch, sample_batch]

  def pieces(self) -> Iterable[Piece]:
    return self._committed.pieces.values()

  @property
  def ids(self) -> np.ndarray:
    """All ids in the order in which samples were added: str [N]; `sample_ids` reads only some."""
    return np.array([one for chunk in self.sample_ids.chunks() for one in chunk], str)

  @property
  def sample_ids(self) -> sample_ids.SampleIds:
    return self._committed.ids

  def answers(self, model: int | str, samples: np.ndarray) -> np.ndarray:
    """Answers of one model to int [n] samples: int8 [n]; costs n lookups."""
    batch, row = self._place(model)
    samples = np.asarray(samples, np.int64)
    starts = np.concatenate([[0], np.cumsum(self._committed.sample_sizes)])
    found = np.empty(len(samples), np.int8)
    where = np.searchsorted(starts, samples, side="right") - 1
    for index in np.unique(where):
      piece, chosen = self._committed.pieces[batch, index], where == index
      inside = samples[chosen] - starts[index]
      values = piece_files.at(piece.correct[row], inside).astype(np.int8)
      if piece.seen is not None:
        values[piece_files.at(piece.seen[row], inside) == 0] = NOT_EVALUATED
      found[chosen] = values
    return found

  def matrix(self, models: Sequence[int | str] | None = None) -> np.ndarray:
    """Answers of the given models (default: all), unpacked: int8 [M, N]."""
    chosen = range(self.num_models) if models is None else models
    everything = np.arange(self.num_samples)
    found = np.empty([len(chosen), self.num_samples], np.int8)
    for row, model in enumerate(chosen):
      found[row] = self.answers(model, everything)
    return found

  def columns(self, samples: np.ndarray, models: Sequence[int | str] | None = None, *,
              seen: bool = False) -> np.ndarray:
    """Whether models (default: all) are known to answer samples int [n] correctly: uint8 [M, n].

    With `seen`: whether they were evaluated on these samples.
    """
    places = [self._place(m) for m in (range(self.num_models) if models is None else models)]
    samples = np.asarray(samples, np.int64)
    starts = np.concatenate([[0], np.cumsum(self._committed.sample_sizes)])
    where = np.searchsorted(starts, samples, side="right") - 1
    found = np.empty([len(places), len(samples)], np.uint8)
    batches, rows = np.array(places, np.int64).reshape(-1, 2).T
    for index in np.unique(where):
      chosen = np.flatnonzero(where == index)
      inside = samples[chosen] - starts[index]
      for batch in np.unique(batches).tolist():
        piece, lines = self._committed.pieces[batch, index], np.flatnonzero(batches == batch)
        bits = piece.seen if seen else piece.correct
        found[np.ix_(lines, chosen)] = (
            1 if bits is None else piece_files.at_all(bits, rows[lines], inside))
    return found

  def values(self, samples: np.ndarray, models: Sequence[int | str] | None = None) -> np.ndarray:
    """Scores of models (default: all) on samples int [n]: float32 [M, n], NaN: not evaluated."""
    places = [self._place(m) for m in (range(self.num_models) if models is None else models)]
    samples = np.asarray(samples, np.int64)
    starts = np.concatenate([[0], np.cumsum(self._committed.sample_sizes)])
    where = np.searchsorted(starts, samples, side="right") - 1
    found = np.empty([len(places), len(samples)], np.float32)
    batches, rows = np.array(places, np.int64).reshape(-1, 2).T
    for index in np.unique(where):
      chosen = np.flatnonzero(where == index)
      inside = samples[chosen] - starts[index]
      for batch in np.unique(batches).tolist():
        lines = np.flatnonzero(batches == batch)
        found[np.ix_(lines, chosen)] = piece_files.values_at(
            self._committed.pieces[batch, index], rows[lines], inside)
    return found

  def totals(self, first_model: int = 0, first_sample: int = 0) -> np.ndarray:
    """Number of correct and of evaluated answers of each model: int64 [M, 2].

    Models and samples before `first_model` and `first_sample` are left out.
    """
    found, row, ends = np.zeros([self.num_models, 2], np.int64), 0, np.cumsum(self.sample_batches)
    for batch, num in enumerate(self._committed.model_sizes):
      rows = slice(min(num, max(0, first_model - row)), num)
      here = found[row + rows.start:row + num]
      for index, size in enumerate(self._committed.sample_sizes):
        known = size - int(np.clip(ends[index] - first_sample, 0, size))
        piece = self._committed.pieces[batch, index]
        if known == size or not len(here):
          continue
        for column, plane in enumerate((piece.correct, piece.seen)):
          here[:, column] += (size - known if plane is None else
                              piece_files.row_counts(plane[rows], size) -
                              piece_files.row_counts(plane[rows], known))
      row += num
    return found[first_model:]

  def complete_models(self) -> list[str]:
    """Names of the models that were evaluated on all samples."""
    return [name for name, (_, seen) in zip(self.models, self.totals().tolist())
            if seen == self.num_samples]

  def counts(self, models: Sequence[int | str] | None = None
             ) -> tuple[np.ndarray, np.ndarray | None]:
    """Number of correct models [N] and of evaluated models [N] of each sample; None: all."""
    places = [self._place(m) for m in (range(self.num_models) if models is None else models)]
    correct, seen = [], []
    for index, size in enumerate(self._committed.sample_sizes):
      pieces = [(self._committed.pieces[batch, index], row) for batch, row in places]
      correct.append(piece_files.column_counts([p.correct[row] for p, row in pieces], size))
      masked = [p.seen[row] for p, row in pieces if p.seen is not None]
      seen.append(piece_files.column_counts(masked, size) + (len(pieces) - len(masked))
                  if masked else None)
    if all(one is None for one in seen):
      return np.concatenate(correct), None
    return np.concatenate(correct), np.concatenate([
        np.full(size, len(places)) if one is None else one
        for one, size in zip(seen, self._committed.sample_sizes)]).astype(np.uint16)

  def add_models(self, names: Sequence[str], answers: Iterable[np.ndarray],
                 ids: Sequence[str] | None = None, *, threshold: float | None = None,
                 tasks: Mapping[str, cache_tasks.Task] = {}, hashes: np.ndarray | None = None,
                 values: bool = False) -> None:
    """Adds models with their answers to all samples.

    Args:
      names: names of the models; none may be in the cache.
      answers: [m, N], or any iterable of rows, packed one at a time. In an empty cache it defines
        the number of samples, and `ids` is required.
      ids: ids [N] of the columns; None: those of the cache. Rows are reordered as the cache;
        samples of the cache that are not among them were not evaluated.
      threshold: score from which on graded answers were counted as correct; None: no answer was
        graded. All additions have the same (`agreed_threshold`).
      tasks: what the answers to the tasks of the samples are; a sample TASK/DOCUMENT is of a task.
      hashes: uint64, hash of the document of each id, 0 if unknown; they are compared with those
        of the cache and kept.
      values: the answers are scores of any range, NaN where not evaluated, which are kept as they
        are; such a cache has no threshold.
    """
    extent = None
    if values:
      answers = [cache_input.checked_values(row, f"model {name!r}")
                 for name, row in cache_input.paired([str(name) for name in names], answers)]
      extent = _extent(answers)
    with self._writing(threshold, tasks, ids, hashes, extent):
      middle = self._middle() if values else None
      names = cache_input.checked_names(names, self._committed.places)
      sizes, order = self._committed.sample_sizes, None
      if sizes:
        order = cache_input.columns(ids, self.sample_ids)
      else:
        ids = cache_input.new_ids(ids, self.sample_ids)
        sizes = [len(ids)]
      rows = [cache_input.packed(row, order, sizes, name, middle)
              for name, row in cache_input.paired(names, answers)]
      if not self._committed.sample_sizes:
        assert ids is not None
        self._committed.add({"samples": len(ids)}, [], [ids])
      pieces = [_piece([row[index] for row in rows], size)
                for index, size in enumerate(self._committed.sample_sizes)]
      self._committed.add({"models": list(names)}, pieces)

  def add_samples(self, ids: Sequence[str], answers: np.ndarray,
                  models: Sequence[str] | None = None, *, threshold: float | None = None,
                  tasks: Mapping[str, cache_tasks.Task] = {}, hashes: np.ndarray | None = None,
                  values: bool = False) -> None:
    """Adds samples with the answers of all models.

    Args:
      ids: ids of the samples; none may be in the cache.
      answers: [M, n].
      models: [M] names of the rows; None: those of the cache. Models of the cache that are not
        among them were not evaluated on these samples.
      threshold, tasks, hashes, values: as of `add_models`.
    """
    if values:
      answers = cache_input.checked_values(answers, "the new samples")
    with self._writing(threshold, tasks, ids, hashes, _extent([answers]) if values else None):
      middle = self._middle() if values else None
      if not self.models:
        raise CacheError("The cache has no models yet: add models first; that also brings samples.")
      ids = cache_input.new_ids(ids, self.sample_ids)
      answers = np.asarray(answers)
      names = list(self.models if models is None else models)
      if answers.shape != (len(names), len(ids)):
        raise CacheError(f"Got answers of shape {list(answers.shape)} for {len(names)} models and "
                         f"{len(ids)} new samples.")
      unknown = sorted(set(names) - self._committed.places.keys())
      if unknown or len(set(names)) < len(names):
        raise CacheError(f"Rows must be models of the cache, each once; unknown: {unknown}.")
      whole = (np.full((self.num_models, len(ids)), NOT_EVALUATED, np.int8) if middle is None else
               np.full((self.num_models, len(ids)), np.nan, np.float32))
      rows = [self._committed.places[name] for name in names]
      whole[rows] = cache_input.checked(answers, "the new samples") if middle is None else answers
      packed = [cache_input.packed(row, None, [len(ids)], name, middle)[0]
                for name, row in zip(self.models, whole)]
      ends = itertools.accumulate(self._committed.model_sizes)
      pieces = [_piece(packed[end - size:end], len(ids))
                for end, size in zip(ends, self._committed.model_sizes)]
      self._committed.add({"samples": len(ids)}, pieces, [ids])

  def add_answers(self, names: Sequence[str], answers: np.ndarray, ids: Sequence[str], *,
                  threshold: float | None = None, tasks: Mapping[str, cache_tasks.Task] = {},
                  hashes: np.ndarray | None = None) -> int:
    """Adds answers of models of the cache to samples of the cache that were not evaluated.

    Args:
      names: [m] models.
      answers: [m, n], -1 for what was not evaluated.
      ids: [n] samples.
      threshold, tasks, hashes: as of `add_models`.

    Returns:
      number of new answers. Those that the cache has already are left as they are.

    Raises:
      CacheError: an answer differs from the one that the cache has, or it keeps scores as values.
    """
    if self.value_range is not None:
      raise CacheError(f"{self.folder} keeps scores as values, to which answers are not added one "
                       "by one: add whole models and samples.")
    with self._writing(threshold, tasks, ids, hashes):
      answers = cache_input.checked(np.asarray(answers), "the new file")
      if answers.shape != (len(names), len(ids)):
        raise CacheError(f"Got answers of shape {list(answers.shape)} for {len(names)} models and "
                         f"{len(ids)} samples.")
      samples = self.sample_ids.find(ids)
      if np.any(samples < 0):
        raise CacheError(f"{ids[int(np.argmin(samples))]!r} is no sample of the cache.")
      starts = np.concatenate([[0], np.cumsum(self._committed.sample_sizes)])
      changed: dict[tuple[int, int], dict[int, tuple[np.ndarray, np.ndarray]]] = {}
      num = 0
      for name, given in zip(names, answers):
        batch, row = self._place(name)
        mine = self.answers(name, samples)
        both = (given != NOT_EVALUATED) & (mine != NOT_EVALUATED)
        wrong = np.flatnonzero(both & (given != mine))
        if wrong.size:
          raise CacheError(
              f"Model {name!r} has another answer to {ids[int(wrong[0])]!r} in the cache; "
              f"{wrong.size:,} of {int(both.sum()):,} answers differ. Is it another run, or "
              "another model of this name? Leave the file out, or give its model another name.")
        new = np.flatnonzero((given != NOT_EVALUATED) & (mine == NOT_EVALUATED))
        where = np.searchsorted(starts, samples[new], side="right") - 1
        for index in np.unique(where).tolist():
          here = new[where == index]
          changed.setdefault((batch, index), {})[row] = (samples[here] - starts[index], given[here])
        num += len(new)
      if changed:
        documents = cache_tasks.Documents(self.folder, self.states())

        def keep_documents(state: str) -> None:  # They are of both states.
          if len(documents.hashes):
            documents.write(np.zeros(0, np.int64), np.zeros(0, np.uint64), self.num_samples,
                            self.state, state)

        self._committed.change({
            (batch, index): _filled(self._committed.pieces[batch, index], rows,
                                    self._committed.sample_sizes[index])
            for (batch, index), rows in changed.items()}, keep_documents)
      return num

  def _place(self, model: int | str) -> tuple[int, int]:
    if isinstance(model, str):
      if model not in self._committed.places:
        raise CacheError(f"The cache has no model {model!r}; it has {len(self.models)}, such as "
                         f"{self.models[:3]}.")
      model = self._committed.places[model]
    if not 0 <= model < self.num_models:
      raise CacheError(f"The cache has no model {model}; its {self.num_models} models are 0 to "
                       f"{self.num_models - 1}.")
    ends = list(itertools.accumulate(self._committed.model_sizes))
    batch = bisect.bisect_right(ends, model)
    return batch, int(model - (ends[batch] - self._committed.model_sizes[batch]))

  @contextlib.contextmanager
  def _writing(self, threshold: float | None = None,
               tasks: Mapping[str, cache_tasks.Task] = {}, ids: Sequence[str] | None = None,
               hashes: np.ndarray | None = None, extent: tuple[float, float] | None = None
               ) -> Iterator[None]:
    """Lock of the only writer, on the newest state; the system frees it if the process dies.

    Threshold, range and tasks are stored before what was added with them, hashes of documents after
    it.
    The folder of a new cache is removed again if its first addition is refused.
    """
    new = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
    with file_lock.held(self.folder / "lock"):
      try:
        # Marks the folder as a cache of this format, before anything of it is written.
        found: dict[str, Any] = {}
        if is_cache(self.folder):
          self._check_version()
          found = self._format()
        if found.get("version", 0) < _OF_BITS:
          known = cache_tasks.plain(self._tasks_of(found)) if found else {}
          self._write_format({**found, "version": _OF_BITS, **({"tasks": known} if known else {})})
        self.refresh()
        if self.problem:
          raise CacheError(f"{self.problem}, so nothing can be added. {self._committed.remedy()}")
        if self._committed.is_early:
          self._committed.upgrade()
        if ids is not None:
          self.check_documents(ids, hashes, "The new file")
        with self._facts_stored(threshold, tasks, extent):
          yield
        if ids is not None and hashes is not None and np.any(hashes):
          documents = cache_tasks.Documents(self.folder, self.states())
          documents.write(self.sample_ids.find(ids), np.asarray(hashes, np.uint64),
                          self.num_samples, self.state)
      except Exception:
        if not (self.folder / committed.COMMITS).exists():  # While the lock is held.
          for name in ("format.json", "lock"):
            (self.folder / name).unlink(missing_ok=True)
          for folder in new:
            with contextlib.suppress(OSError):  # Something else is in it.
              folder.rmdir()
        raise

  @contextlib.contextmanager
  def _facts_stored(self, threshold: float | None, tasks: Mapping[str, cache_tasks.Task],
                    extent: tuple[float, float] | None = None) -> Iterator[None]:
    """Stores threshold, range and new tasks; not if what is added with them is refused.

    `extent`: lowest and highest of the scores that are to be kept.
    """
    before = self._format()
    after = dict(before)
    if self.agreed_threshold(threshold) is not None:
      after["threshold"] = self.agreed_threshold(threshold)
      if extent is not None:
        raise CacheError(f"{self.folder} counts graded answers as correct from "
                         f"{after['threshold']:g} on, so it keeps no scores. Leave out --values, "
                         "or put the scores into another cache.")
    elif extent is not None:
      known = self.value_range or ValueRange()
      after.update(version=VERSION, range=list(known.widened(*extent)))
    joined = cache_tasks.agreed(self.tasks, tasks, self.folder)
    if joined:
      after["tasks"] = cache_tasks.plain(joined)
    if after != before:
      self._write_format(after)
    try:
      yield
    except Exception:
      if after != before:
        self._write_format(before)
      raise

  def _middle(self) -> float:
    """The middle of the range of values, from which on a score counts as right."""
    return float((self.value_range or ValueRange()).values(0.5))

  def _write_format(self, values: dict[str, Any]) -> None:
    atomic_files.write(self.folder / "format.json", json.dumps(values).encode())
    atomic_files.sync_folder(self.folder.parent)

  def _format(self) -> dict[str, Any]:
    try:
      found = json.loads((self.folder / "format.json").read_text())
      if not found["version"] >= 1 or not 0.0 < found.get("threshold", 1.0) <= 1.0:
        raise ValueError("values")
      low, high = found.get("range", (0.0, 1.0))
      if not -math.inf < low < high < math.inf:
        raise ValueError("range")
      if _OF_BITS <= found["version"] <= VERSION:
        cache_tasks.parsed(found.get("tasks", {}))
      return found
    except FileNotFoundError as error:
      raise CacheError(f"{self.folder} is no accuracy cache (it has no format.json). Make one "
                       f"with: suite lifelong add-models --cache {self.folder} ...") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
      if io_errors.of(error):
        raise
      raise CacheError(f"{self.folder / 'format.json'} is damaged: put it back.") from error

  def _check_version(self) -> None:
    version = self._format()["version"]
    if version > VERSION:
      raise CacheError(f"{self.folder} was written by a newer version (format {version}; this one "
                       f"reads up to {VERSION}). Update lifelong-suite.")


def _piece(rows: Sequence[tuple[np.ndarray, np.ndarray | None, np.ndarray | None]], size: int
           ) -> Piece:
  """A piece of what `cache_input.packed` has of each model on `size` samples."""
  return piece_files.below([
      Piece(correct[None], None if seen is None else seen[None],
            None if values is None else values[None]) for correct, seen, values in rows], size)


def _extent(rows: Sequence[np.ndarray]) -> tuple[float, float]:
  """Lowest and highest of all scores; (0, 1) if there are none."""
  known = [row[~np.isnan(row)] for row in rows]
  return (min((float(one.min()) for one in known if one.size), default=0.0),
          max((float(one.max()) for one in known if one.size), default=1.0))


def _filled(piece: Piece, rows: Mapping[int, tuple[np.ndarray, np.ndarray]], size: int) -> Piece:
  """A piece with further answers: row -> (samples [n], answers 0/1 [n])."""
  correct = np.array(piece.correct)
  assert piece.seen is not None  # Otherwise nothing was missing.
  seen = np.array(piece.seen)
  for row, (places, answers) in rows.items():
    for plane, values in ((correct, answers), (seen, np.ones(len(places), np.int8))):
      bits = piece_files.unpack(plane[row], size)
      bits[places] = values
      plane[row] = piece_files.pack(bits)
  every = piece_files.pack(np.ones(size, bool))
  return Piece(correct, None if np.array_equal(seen, np.broadcast_to(every, seen.shape)) else seen)
