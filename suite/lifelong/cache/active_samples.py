# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Retired samples and families of models: a cache that changes from week to week.

A retired sample (a wrong label, a leaked question, the earlier version of a document) stays in the
cache with its answers, and leaves estimates, questions, rankings and subsets. `opened` gives the
cache without retired samples:

  cache     0 1 2 3 4 5 6 7      numbers of samples
  retired       2     5
  active    0 1   2 3   4 5      what estimates see; questions of a `QuestionSet` stay

A family is a set of models that answer alike, such as checkpoints of one run: what is predicted of
a model does not use its family, and a family counts as one model where errors are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import re
from typing import Any

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import catalog
from suite.lifelong.cache import sample_ids

_TABLES = ("retired", "models", "settings")
_BLOCK = 1 << 14
_CHUNK = 1 << 16
_VERSIONED = re.compile(r"(.*)@([2-9]|[1-9]\d+)")  # Of documents that changed, see `cache_growth`.


@dataclasses.dataclass(frozen=True)
class Roster:
  """What is kept of samples and models beside their answers.

  Attributes:
    retired: ids of retired samples.
    families: model -> family.
    pattern: regular expression of whole names of models; its first group, or all of the name, is
      the family of those that match. `families` comes first.
  """

  retired: frozenset[str] = frozenset()
  families: Mapping[str, str] = dataclasses.field(default_factory=dict)
  pattern: str = ""

  def family(self, model: str) -> str:
    """The family of a model; its own name if it has none."""
    if model in self.families:
      return self.families[model]
    matched = re.fullmatch(self.pattern, model) if self.pattern else None
    return matched.group(1 if matched.re.groups else 0) or model if matched else model

  def codes(self, models: Sequence[str]) -> np.ndarray:
    """Number of the family of each model, in the order of their first models: int64 [M]."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(self.family(one), len(numbers)) for one in models],
                    np.int64)


def read(folder: pathlib.Path) -> Roster:
  """Reads the roster of a cache; an empty one if there is none."""
  return _of_tables(catalog.read(folder, _TABLES))


def _of_tables(tables: catalog.Tables) -> Roster:
  return Roster(frozenset(one for one, in tables["retired"]),
                {name: family for name, family in tables["models"] if family},
                dict(tables["settings"]).get("pattern", ""))


@contextlib.contextmanager
def changing(cache: accuracy_cache.AccuracyCache) -> Iterator[list[Roster]]:
  """Holds the lock of the cache; the roster in the list is committed at the end."""
  with catalog.changing(cache.folder, _TABLES) as tables:
    found = [_of_tables(tables)]
    yield found
    after, = found
    tables["retired"] = [(one,) for one in sorted(after.retired)]
    tables["models"] = [(name, after.families.get(name, "")) for name, _ in tables["models"]]
    tables["settings"] = list({**dict(tables["settings"]), "pattern": after.pattern}.items())


def versions(cache: accuracy_cache.AccuracyCache) -> dict[str, dict[int, int]]:
  """task -> version -> number of its documents, of tasks that have a version 2."""
  found: dict[str, dict[int, int]] = {}
  for chunk in cache.sample_ids.chunks() if cache.tasks else ():
    for one in chunk:
      matched = _VERSIONED.fullmatch(one)
      if matched:
        here = found.setdefault(matched.group(1).rpartition("/")[0], {})
        here[int(matched.group(2))] = here.get(int(matched.group(2)), 0) + 1
  return found


def _whole(cache: accuracy_cache.AccuracyCache | str | os.PathLike
           ) -> accuracy_cache.AccuracyCache:
  if isinstance(cache, ActiveCache):
    return cache.whole
  return (cache if isinstance(cache, accuracy_cache.AccuracyCache) else
          accuracy_cache.AccuracyCache(cache))


def retire(cache: accuracy_cache.AccuracyCache | str | os.PathLike, ids: Iterable[str], *,
           restore: bool = False) -> int:
  """Retires samples, or restores retired ones; returns how many changed.

  Raises:
    CacheError: an id is unknown, or no sample would be left.
  """
  cache = _whole(cache)
  ids = list(dict.fromkeys(ids))
  unknown = np.flatnonzero(cache.sample_ids.find(ids) < 0)
  if unknown.size:
    raise accuracy_cache.CacheError(
        f"{unknown.size} of {len(ids)} ids are not in {cache.folder}, such as "
        f"{ids[int(unknown[0])]!r}; its ids are like {cache.sample_ids.at([0])}.")
  with changing(cache) as roster:
    before = roster[0].retired
    after = before - frozenset(ids) if restore else before | frozenset(ids)
    if len(after) >= cache.num_samples:
      raise accuracy_cache.CacheError(f"All {cache.num_samples:,} samples would be retired. Leave "
                                      "one at least.")
    roster[0] = dataclasses.replace(roster[0], retired=after)
  return len(before ^ after)


def ids_of_tasks(cache: accuracy_cache.AccuracyCache, tasks: Sequence[str]) -> list[str]:
  """Ids of all samples of tasks."""
  names, codes = cache.sample_tasks()
  unknown = [task for task in tasks if task not in names]
  if unknown:
    raise accuracy_cache.CacheError(f"The cache has no task {unknown[0]!r}; it has "
                                    f"{', '.join(names[:8]) or 'none'}.")
  chosen = np.flatnonzero(np.isin(codes, [names.index(task) for task in tasks]))
  return cache.sample_ids.at(chosen)


def set_families(cache: accuracy_cache.AccuracyCache | str | os.PathLike,
                 families: Mapping[str, str] | None = None, pattern: str | None = None) -> Roster:
  """Sets families by name, by a pattern (see `Roster`) or both; None: as before."""
  cache = _whole(cache)
  if pattern is not None:
    try:
      re.compile(pattern)
    except re.error as error:
      raise accuracy_cache.CacheError(f"{pattern!r} is no regular expression ({error}). The first "
                                      "group is the family: (.+)-[0-9]+") from error
  unknown = sorted(set(families or {}) - set(cache.models))
  if unknown:
    raise accuracy_cache.CacheError(
        f"{len(unknown)} names are no models of {cache.folder}, such as {unknown[0]!r}; it has "
        f"models like {cache.models[:3]}.")
  with changing(cache) as roster:
    old = roster[0]
    roster[0] = dataclasses.replace(
        old, families=old.families if families is None else dict(families),
        pattern=old.pattern if pattern is None else pattern)
    return roster[0]


def opened(cache: accuracy_cache.AccuracyCache | str | os.PathLike, *, with_retired: bool = False
           ) -> accuracy_cache.AccuracyCache:
  """The cache without its retired samples. A cache that is open is taken as it is."""
  if isinstance(cache, accuracy_cache.AccuracyCache):
    return cache
  whole = accuracy_cache.AccuracyCache(cache)
  retired = frozenset() if with_retired else read(whole.folder).retired
  return ActiveCache(whole, retired) if retired else whole


class ActiveIds(sample_ids.SampleIds):
  """Ids of the active samples."""

  def __init__(self, whole: sample_ids.SampleIds, active: np.ndarray):
    super().__init__([])
    self._whole, self._active = whole, active

  def __len__(self) -> int:
    return len(self._active)

  def at(self, samples: np.ndarray | Sequence[int]) -> list[str]:
    """Ids of int [n] samples."""
    return self._whole.at(self._active[np.asarray(samples, np.int64)])

  def find(self, ids: Sequence[str], hashed: np.ndarray | None = None) -> np.ndarray:
    """Samples of n ids, -1 for unknown and retired ones: int64 [n]."""
    found = self._whole.find(ids, hashed)
    places = np.minimum(np.searchsorted(self._active, found), max(0, len(self._active) - 1))
    return np.where((found >= 0) & (self._active[places] == found), places, -1)

  def chunks(self, first: int = 0) -> Iterator[list[str]]:
    """Yields the ids from sample `first` on, some at a time."""
    for start in range(first, len(self), _CHUNK):
      yield self.at(np.arange(start, min(len(self), start + _CHUNK)))


def _of_whole(name: str) -> Any:
  """A method that changes the whole cache."""
  def change(self: ActiveCache, *args: Any, **facts: Any) -> Any:
    found = getattr(self.whole, name)(*args, **facts)
    self.refresh()
    return found

  return change


class ActiveCache(accuracy_cache.AccuracyCache):
  """A cache without its retired samples; what is added goes to the whole cache.

  Attributes:
    whole: the cache with all samples.
    active: int64 [N], the number in `whole` of each sample.
  """

  def __init__(self, whole: accuracy_cache.AccuracyCache, retired: frozenset[str]):
    self.whole, self._names = whole, retired
    super().__init__(whole.folder)

  def refresh(self) -> None:
    """Reads what other processes have committed since."""
    self.whole.refresh()
    super().refresh()
    found = self.whole.sample_ids.find(sorted(self._names))
    self.retired = np.unique(found[found >= 0])
    is_active = np.ones(self.whole.num_samples, bool)
    is_active[self.retired] = False
    self.active = np.flatnonzero(is_active)
    self._active_ids = ActiveIds(self.whole.sample_ids, self.active)

  def states(self) -> dict[tuple[int, int], str]:
    """Digest of the present state."""
    text = "\n".join([self.whole.state, *map(str, self.retired.tolist())])
    return {(self.num_models, self.num_samples): hashlib.sha256(text.encode()).hexdigest()[:16]}

  @property
  def num_samples(self) -> int:
    return len(self.active)

  @property
  def sample_ids(self) -> sample_ids.SampleIds:
    return self._active_ids

  @property
  def clusters(self) -> np.ndarray | None:
    """As of the whole cache: int64 [N]."""
    found = self.whole.clusters
    return None if found is None else found[self.active]

  def check_documents(self, ids: Sequence[str], hashes: np.ndarray | None,
                      sources: Sequence[str] | str) -> None:
    """As of the whole cache."""
    self.whole.check_documents(ids, hashes, sources)

  def _cells(self, kind: str, samples: np.ndarray, models: Sequence[int | str] | None
             ) -> np.ndarray:
    """As of the whole cache: [M, n]."""
    return super()._cells(kind, self.active[np.asarray(samples, np.int64)], models)

  def totals(self, first_model: int = 0, first_sample: int = 0) -> np.ndarray:
    """Number of correct and of evaluated answers of each model: int64 [M, 2]."""
    first = int(self.active[first_sample]) if first_sample < len(self.active) else (
        self.whole.num_samples)
    return self.whole.totals(first_model, first) - self.retired_totals(first)[first_model:]

  def retired_totals(self, first: int = 0) -> np.ndarray:
    """Totals [M, 2] of the retired samples, from sample `first` of the whole cache on."""
    found = np.zeros([self.num_models, 2], np.int64)
    chosen = self.retired[self.retired >= first]
    for start in range(0, len(chosen), _BLOCK):
      for plane in (False, True):
        found[:, int(plane)] += self.whole.columns(chosen[start:start + _BLOCK], seen=plane).sum(
            axis=1, dtype=np.int64)
    return found

  def counts(self, models: Sequence[int | str] | None = None
             ) -> tuple[np.ndarray, np.ndarray | None]:
    """Number of correct models [N] and of evaluated models [N] of each sample; None: all."""
    correct, seen = self.whole.counts(models)
    return correct[self.active], None if seen is None else seen[self.active]

  add_models, add_samples, add_answers, set_clusters = map(_of_whole, (
      "add_models", "add_samples", "add_answers", "set_clusters"))
