# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Number of models of an accuracy cache that solve each sample, stored and updated incrementally.

A new model adds its bits to the counts; only new samples are counted in full. The counts (one or
two bytes for each sample) define an order from easy to hard, ties by position:

  counts = sample_counts.SampleCounts(cache)
  order = rank_order.RankOrder(counts.ranked())

They are saved beside the cache, in counts.npz, with the state that was counted and the totals of
each model; a zip file has sums. A file of another cache, or a damaged one, is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
import logging
import zipfile

import numpy as np

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.system import atomic_files

_LOGGER = logging.getLogger(__name__)
VERSION = 5
FILE = "counts.npz"
# The expected value of a sample's missing answers: the mean of its known ones and of two pseudo
# answers with the mean of the whole cache.
_PRIOR = 2.0
_BLOCK = 1 << 20


class SampleCounts:
  """Counts over all M models of a cache, by sample, N of them.

  Attributes:
    cache: the cache.
    num_models: M.
    correct: uint8 [N], uint16 if M > 255: number of models that solve each sample.
    seen: number of models that were evaluated on each sample, same type; None if all were on all.
    totals: int64 [M, 2]: number of correct and of evaluated answers of each model.
  """

  num_models: int
  correct: np.ndarray
  seen: np.ndarray | None
  totals: np.ndarray
  _state: str  # Of the cache that was counted.

  def __init__(self, cache: accuracy_cache.AccuracyCache, *, keep: bool = True,
               save: bool = True):
    """`keep`: read saved counts if they exist, and, with `save`, save them when they change."""
    self.cache, self._keep = cache, keep and save
    self._path = cache.folder / FILE
    self._whole = (SampleCounts(cache.whole, keep=keep, save=save)
                   if isinstance(cache, active_samples.ActiveCache) else None)
    self._forget()
    if keep and self._whole is None:
      # Loads saved counts if they are of the present or an earlier state of this cache.
      try:
        with np.load(self._path, allow_pickle=False) as saved:
          found = {name: saved[name] for name in saved.files}
        known = len(found["totals"]), len(found["correct"])
        self._state = str(found["state"])
        if not self._state or self.cache.states().get(known) != self._state or (
            int(found["version"]) != VERSION):
          raise ValueError("it is of another cache or version")
        (self.num_models, _), self.totals, self.correct = known, found["totals"], found["correct"]
        self.seen = found.get("seen")
      except FileNotFoundError:
        pass
      except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        _LOGGER.info("%s is counted again: %s.", self._path, error)
        self._forget()
    self.update()

  def update(self) -> None:
    """Counts what was added to the cache; old samples cost one addition for each new model."""
    cache, wanted = self.cache, (self.cache.num_models, self.cache.num_samples)
    if isinstance(cache, active_samples.ActiveCache) and self._whole is not None:
      self._whole.update()
      whole, self.num_models = self._whole, self._whole.num_models
      self.correct = whole.correct[cache.active]
      self.seen = None if whole.seen is None else whole.seen[cache.active]
      if self.seen is not None and np.all(self.seen == self.num_models):
        self.seen = None
      self.totals = whole.totals - cache.retired_totals()
      return
    states = cache.states()
    if self._state != states.get((self.num_models, len(self.correct)), ""):
      self._forget()  # The cache was truncated since.
    known = (self.num_models, len(self.correct))
    if known == wanted:
      return
    if wanted[0] > 65535:
      raise accuracy_cache.CacheError(f"{cache.folder} has {wanted[0]} models; 65,535 at most are "
                                      "counted.")
    new, new_seen = cache.further_counts(*known)
    correct = new.astype(_dtype(wanted[0]), copy=False)
    correct[:known[1]] += self.correct
    seen = None
    if self.seen is not None or new_seen is not None:
      seen = np.full(wanted[1], wanted[0], correct.dtype)
      seen[:known[1]] -= correct.dtype.type(known[0])
      if new_seen is not None:
        seen[:] = new_seen
      seen[:known[1]] += correct.dtype.type(known[0]) if self.seen is None else self.seen
    totals = np.concatenate([self.totals, cache.totals(known[0])])
    if known[0] and known[1] < wanted[1]:
      totals[:known[0]] += cache.totals(0, known[1])[:known[0]]
    self.num_models, self.correct, self.seen, self.totals = wanted[0], correct, seen, totals
    self._state = states.get(wanted, "")
    if self._keep:
      self._save()

  def ranked(self) -> np.ndarray:
    """Counts [N] to order samples by, of the type of `correct`; `correct` if none is missing."""
    if self.seen is None:
      return self.correct
    mean = mean_answer(int(self.correct.sum(dtype=np.int64)), int(self.seen.sum(dtype=np.int64)))
    found = np.empty_like(self.correct)
    for start in range(0, len(found), _BLOCK):
      part = slice(start, start + _BLOCK)
      found[part] = expected(self.correct[part], self.seen[part], self.num_models, mean)
    return found

  def without(self, models: Sequence[str]) -> tuple[np.ndarray, np.ndarray | None]:
    """Number of correct and of evaluated ones [N] of the other models; None: all of them.

    Only the answers of the models that are left out are read.
    """
    correct, seen = self.cache.counts(models)
    left = self.num_models - len(models)
    found = (self.correct - correct).astype(_dtype(left))
    if self.seen is None:
      return found, None
    known = self.seen - (len(models) if seen is None else seen)
    return found, None if np.all(known == left) else known.astype(np.uint16)

  def _forget(self) -> None:
    self.num_models, self._state = 0, ""
    self.correct, self.seen = np.zeros(0, np.uint8), None
    self.totals = np.zeros([0, 2], np.int64)

  def _save(self) -> None:
    """Replaces the file atomically."""
    arrays = {"version": np.array(VERSION), "state": np.array(self._state),
              "totals": self.totals, "correct": self.correct,
              **({} if self.seen is None else {"seen": self.seen})}
    try:
      with atomic_files.opening(self._path) as file:
        np.savez(file, **arrays)
    except OSError as error:  # A read-only cache can still be used.
      _LOGGER.info("%s is not saved: %s.", self._path, error)


def expected(correct: np.ndarray, seen: np.ndarray, num_models: int, mean: float) -> np.ndarray:
  """Expected number of all M models that solve samples [n]: whole numbers, float64 [n].

  c correct of s evaluated models give c + (M - s) (c + 2 p) / (s + 2) of M, halves rounded up,
  where p is the mean answer of the whole cache and the value for a sample without answers.
  """
  correct, seen = correct.astype(np.float64), seen.astype(np.float64)
  unseen = (num_models - seen) * (correct + _PRIOR * mean) / (seen + _PRIOR)
  return np.floor(correct + unseen + 0.5)


def mean_answer(correct: int, seen: int) -> float:
  """Share of correct answers; 0 if there are none."""
  return correct / max(1, seen)


def _dtype(num_models: int) -> np.dtype:
  return np.dtype(np.uint8 if num_models < 256 else np.uint16)
