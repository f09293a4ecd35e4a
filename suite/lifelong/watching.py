# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A cache that follows a folder of logs: new files are added, and predictions are tested.

  update   1. a line "begin" is written to watched.jsonl, in the cache
           2. files that are new, by path and digest, are read and added (`cache_growth.add`)
           3. the answers that came are compared with predictions (`drift`)
           4. a line "update" with all of this is written

A kill between 1 and 4 loses nothing: files without a line are read again, answers that the cache
has are left as they are, and they are tested, since the last line is a "begin".

A file that cannot be read may be half-written: it waits until it has not changed for `settle`
seconds. If it cannot be read then, or contradicts the cache, it is set aside with the reason, and
the others are added. It is tried again when it changes, or when it is to be read in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import hashlib
import json
import logging
import os
import pathlib
import time
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong import drift
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_growth
from suite.lifelong.cache import task_groups
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import sealed_lines

_LOGGER = logging.getLogger(__name__)
FILE = "watched.jsonl"
LOCK = "watch.lock"
ADDED, SKIPPED, REFUSED, WAITING = "added", "skipped", "refused", "waiting"
SETTLE = 60.0
_TOGETHER = 64  # Number of files that are read at once.


class WatchedFile(NamedTuple):
  """A file of the folder.

  Attributes:
    path: below the folder.
    status: "added"; "skipped", without answers; "refused", set aside; "waiting", half-written.
    reason: why it was refused or waits.
    digest: SHA-256 of its content, and of how it was read if it was refused.
    size, changed: in bytes; time in nanoseconds.
    named: names of models that are the name of the file.
  """

  path: str
  status: str
  reason: str
  digest: str
  size: int
  changed: int
  named: list[str]


class Update(NamedTuple):
  """What an update found.

  Attributes:
    time: in seconds since 1970.
    files: that are new, or are waiting.
    models: names of new models.
    num_samples, num_answers: numbers of new ones.
    retired: ids that another version replaced.
    tests: of the new answers.
  """

  time: float
  files: list[WatchedFile]
  models: list[str]
  num_samples: int
  num_answers: int
  retired: list[str]
  tests: list[drift.Test]


@dataclasses.dataclass(frozen=True)
class Settings:
  """How files are read, and alarms are raised.

  Attributes:
    options: as of `accuracy_import.read_all`; tasks of the cache are added.
    threshold: score from which on graded answers are correct, if the cache has none.
    changed: "refuse" or "version", see `cache_growth`.
    settle: seconds without a change after which a file is taken to be complete.
    level: share of the updates with a false alarm.
  """

  options: accuracy_import.Options = accuracy_import.Options()
  threshold: float | None = None
  changed: str = cache_growth.REFUSE
  settle: float = SETTLE
  level: float = drift.LEVEL

  @property
  def digest(self) -> str:
    plain = dataclasses.asdict(dataclasses.replace(self.options, known={}))
    return hashlib.sha256(json.dumps([plain, self.threshold, self.changed], default=str).encode()
                          ).hexdigest()


def history(cache: pathlib.Path) -> list[Update]:
  """The updates of a cache that found something, the last one last."""
  return [_parsed(line) for line in _log(cache).lines if line["kind"] == "update"]


def alarms(updates: Iterable[Update]) -> dict[str, list[drift.Test]]:
  """model -> the alarms about it, of all updates."""
  found: dict[str, list[drift.Test]] = {}
  for test in (test for one in updates for test in one.tests if test.is_alarm):
    for name in test.model.split(", ") if test.kind == drift.TASK_TEST else [test.model]:
      found.setdefault(name, []).append(test)
  return found


def files(updates: Iterable[Update]) -> dict[str, WatchedFile]:
  """The last that is known of each file, by path."""
  return {one.path: one for update in updates for one in update.files}


def update(cache_folder: pathlib.Path, folder: pathlib.Path, settings: Settings = Settings(), *,
           now: Callable[[], float] = time.time) -> Update:
  """Reads what is new in a folder and adds it to a cache, which need not exist.

  Args:
    cache_folder: the cache; it may lie in the folder.
    folder: logs, at any depth.
    settings: how files are read.
    now: the clock.

  Raises:
    CacheError: there is no folder, or the cache is damaged.
    file_lock.LockedError: another process watches for this cache.
  """
  if not folder.is_dir():
    raise accuracy_cache.CacheError(f"{folder} is no folder. Give the one that logs are written "
                                    "to.")
  atomic_files.make_folder(cache_folder)
  with file_lock.held(cache_folder / LOCK, wait=False):
    log = _log(cache_folder)
    past = [_parsed(line) for line in log.lines if line["kind"] == "update"]
    found = _Found(cache_folder, folder, settings, files(past), now)
    if not found.new:
      return found.result([])
    found.add(bool(log.lines) and log.lines[-1]["kind"] == "begin")
    cache = active_samples.opened(cache_folder) if accuracy_cache.is_cache(cache_folder) else None
    history: dict[str, list[float]] = {}  # Task -> values z of the level tests of all updates.
    for test in (test for one in past for test in one.tests):
      if test.kind == drift.LEVEL_TEST and not test.is_alarm:
        history.setdefault(test.task, []).append(test.z)
    tests = [] if cache is None else drift.tests(
        cache, found.arrived(cache), history=history, level=settings.level)
    done = found.result(tests)
    kept = [one for one in done.files if one.status != WAITING]
    if kept:
      _append(cache_folder, {
          "kind": "update", **done._asdict(), "files": [one._asdict() for one in kept],
          "tests": [test_record(one) for one in tests]})
    return done


def test_record(one: drift.Test) -> dict[str, Any]:
  """A test as JSON, where an end that is open is null."""
  return {key: None if isinstance(value, float) and not np.isfinite(value) else value
          for key, value in dataclasses.asdict(one).items()}


class _Found:
  """The files of one update.

  Attributes:
    new: those to read.
  """

  def __init__(self, cache_folder: pathlib.Path, folder: pathlib.Path, settings: Settings,
               known: Mapping[str, WatchedFile], now: Callable[[], float]):
    self._cache_folder, self._folder, self._settings = cache_folder, folder, settings
    self._known, self._now = known, now
    self._done: list[WatchedFile] = []
    self._has_begun = False
    self._added = cache_growth.Added()
    self._arrived: dict[str, set[str]] = {}
    self.new: list[WatchedFile] = []
    for path in sorted(self._paths()):
      name = path.relative_to(folder).as_posix()
      try:
        one = self._looked_at(path, name)
      except OSError as error:  # It has gone, or may not be read.
        if path.exists():
          self._done.append(WatchedFile(name, WAITING, f"cannot be read: {error}", "", 0, 0, []))
        continue
      if one is not None:
        self.new.append(one)

  def _paths(self) -> Iterable[pathlib.Path]:
    mine = self._cache_folder.resolve()
    for place, folders, names in os.walk(self._folder):
      here = pathlib.Path(place)
      folders[:] = sorted(one for one in folders if not one.startswith(".")
                          and not accuracy_cache.is_cache(here / one)
                          and (here / one).resolve() != mine)
      for name in names:
        path = here / name
        kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
        if kind in accuracy_import.KINDS and not name.startswith((".", atomic_files.TEMPORARY)):
          yield path

  def _looked_at(self, path: pathlib.Path, name: str) -> WatchedFile | None:
    """The file if it is to be read."""
    facts, old = path.stat(), self._known.get(name)
    if old is not None and (old.size, old.changed) == (facts.st_size, facts.st_mtime_ns) and (
        old.status != REFUSED or old.digest.endswith(self._settings.digest)):
      return None
    digest = atomic_files.sha256(path)
    if old is not None and old.status != REFUSED and old.digest == digest:
      return None  # It was only touched.
    return WatchedFile(name, WAITING, "", digest, facts.st_size, facts.st_mtime_ns, [])

  def add(self, is_again: bool) -> None:
    """Reads and adds the new files. `is_again`: an update that was killed may have added some."""
    self._has_begun = is_again
    for start in range(0, len(self.new), _TOGETHER):
      self._add(self.new[start:start + _TOGETHER], is_again)

  def _add(self, some: Sequence[WatchedFile], is_again: bool) -> None:
    """Adds files together, or, if that is refused, in halves: so a bad one is found."""
    cache = accuracy_cache.AccuracyCache(self._cache_folder, create=True)
    if cache.problem:
      raise accuracy_cache.CacheError(f"{cache.problem}, so nothing can be added. See suite "
                                      f"lifelong verify --cache {self._cache_folder}.")
    paths = [self._folder / one.path for one in some]
    try:
      tables, report = self._read(cache, paths)
      named = {name: pathlib.Path(path).relative_to(self._folder).as_posix()
               for name, path in report.named_by_file.items()}
      owners = {name: one.path for one in [*self._known.values(), *self._done]
                for name in one.named}  # Of models whose name is that of their file.
      for name, one_path in named.items():
        if owners.get(name, one_path) != one_path:
          raise accuracy_cache.CacheError(
              f"{owners[name]} and {one_path} both have a model {name!r}, the name of the file. "
              "Rename one of them, or add a column of models.")
      if any(self._is_changed(one) for one in some):
        raise _ChangedError("It changed while it was read.")
      if tables and not self._has_begun:
        _append(self._cache_folder, {"kind": "begin", "time": self._now()})
        self._has_begun = True
      for table in tables:
        self._take(cache, table, is_again)
    except (accuracy_cache.CacheError, _ChangedError) as error:
      if len(some) > 1:
        half = len(some) // 2
        self._add(some[:half], is_again)
        self._add(some[half:], is_again)
        return
      young = self._now() - some[0].changed / 1e9 < self._settings.settle
      self._done.append(
          some[0]._replace(status=WAITING, reason=f"may be half-written, is tried again: {error}")
          if isinstance(error, _ChangedError) or young else
          some[0]._replace(status=REFUSED, reason=str(error),
                           digest=some[0].digest + self._settings.digest))
      return
    for one, path in zip(some, paths):
      self._done.append(one._replace(
          status=SKIPPED if str(path) in report.skipped else ADDED,
          named=[name for name, owner in named.items() if owner == one.path]))

  def _read(self, cache: accuracy_cache.AccuracyCache, paths: Sequence[pathlib.Path]
            ) -> tuple[list[accuracy_import.ImportedAnswers], accuracy_import.Report]:
    options = dataclasses.replace(
        self._settings.options, known=cache.tasks, is_all=False,
        values=self._settings.options.values or cache.value_range is not None)
    try:
      return accuracy_import.read_reported(paths, options)
    except accuracy_import.NoSamplesError:  # What harnesses write beside their logs.
      return [], accuracy_import.Report(skipped=[str(path) for path in paths])
    except accuracy_cache.CacheError:
      raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError) as error:
      # A file of a form that nobody has thought of must not stop the others.
      _LOGGER.warning("%s: %r", paths[0], error)
      raise accuracy_cache.CacheError(f"{paths[0]} cannot be read: {error!r}.") from error

  def _is_changed(self, one: WatchedFile) -> bool:
    try:
      facts = (self._folder / one.path).stat()
    except FileNotFoundError:
      return True
    return (facts.st_size, facts.st_mtime_ns) != (one.size, one.changed)

  def _take(self, cache: accuracy_cache.AccuracyCache, table: accuracy_import.ImportedAnswers,
            is_again: bool) -> None:
    """Adds a table, and remembers which of its answers are new."""
    seen = _seen(cache, table) if not is_again else None
    with task_groups.joining(cache.folder, table.groups):
      added = cache_growth.add(cache, table, threshold=self._settings.threshold,
                               changed=self._settings.changed,
                               values=self._settings.options.values)
    self._added.models += added.models
    self._added.num_samples += added.num_samples
    self._added.num_answers += added.num_answers
    self._added.retired += added.retired
    given = table.answers if table.answers.dtype.kind != "f" else np.where(
        np.isnan(table.answers), -1, 1)
    ids = added.ids
    for row, name in enumerate(table.models):
      is_new = given[row] != accuracy_cache.NOT_EVALUATED
      if seen is not None and name in seen:
        is_new = is_new & ~seen[name]
      self._arrived.setdefault(name, set()).update(
          ids[place] for place in np.flatnonzero(is_new).tolist())

  def arrived(self, cache: accuracy_cache.AccuracyCache) -> dict[str, np.ndarray]:
    """model -> samples whose answers are new."""
    found = {}
    for name, ids in self._arrived.items():
      samples = cache.sample_ids.find(sorted(ids))
      if np.any(samples >= 0):
        found[name] = np.sort(samples[samples >= 0])
    return found

  def result(self, tests: list[drift.Test]) -> Update:
    return Update(self._now(), self._done, list(dict.fromkeys(self._added.models)),
                  self._added.num_samples, self._added.num_answers, self._added.retired, tests)


class _ChangedError(Exception):
  """A file has changed while it was read."""


def _seen(cache: accuracy_cache.AccuracyCache, table: accuracy_import.ImportedAnswers
          ) -> dict[str, np.ndarray]:
  """Model of the cache -> bool [n], whether it has answers to the samples of a table."""
  if table.ids is None or not cache.num_models:
    return {}
  ids = cache_growth.versioned(cache, table)[0].ids or []
  samples = cache.sample_ids.find(ids)
  known, models = samples >= 0, set(cache.models)
  found = {}
  for name in table.models:
    if name in models:
      found[name] = np.zeros(len(samples), bool)
      found[name][known] = cache.answers(name, samples[known]) != accuracy_cache.NOT_EVALUATED
  return found


def _log(cache: pathlib.Path) -> sealed_lines.Log:
  log = sealed_lines.read(cache / FILE)
  if log.damage:
    raise accuracy_cache.CacheError(f"{log.damage}. Put the file back, or remove it: all files are "
                                    "then read again, which changes nothing in the cache.")
  return log


def _append(cache: pathlib.Path, line: Mapping[str, Any]) -> None:
  log = _log(cache)
  sealed_lines.append(cache / FILE, line, at=log.end)


def _parsed(line: Mapping[str, Any]) -> Update:
  values = {name: line[name] for name in Update._fields}
  values["files"] = [WatchedFile(**one) for one in line["files"]]
  values["tests"] = [_test(one) for one in line["tests"]]
  return Update(**values)


def _test(record: Mapping[str, Any]) -> drift.Test:
  values: dict[str, Any] = {key: float("inf") if value is None else value
                            for key, value in record.items()}
  return drift.Test(**values)
