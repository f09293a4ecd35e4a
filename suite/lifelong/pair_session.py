# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A session with two new models: both are asked the same questions until they are told apart.

The questions are fixed ones of the cache, 64 first, then twice as many in all after each round. The
difference is that of `api.compare`. It is looked at after each round, K times at most, and the
models differ if p is below level / K (Bonferroni's correction for the looks), so that equal models
are told apart in a share `level` of the sessions at most. A session also ends when the 95% interval
of the difference is no wider than a target, or the budget is spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
import os
import pathlib
from typing import Any

import numpy as np

from suite.lifelong import api
from suite.lifelong import session_files
from suite.lifelong.answers import intervals

FIRST = 64
LEVEL = 0.05


class PairSession:
  """Questions about the difference of two models.

  Attributes:
    cache: the opened cache.
    names: of the two models.
    target_width, budget: the session ends at this width, or after so many questions.
    level: share of sessions in which equal models are told apart.
  """

  def __init__(self, cache: api.Cache, names: Sequence[str], target_width: float | None = None,
               budget: int | None = None, *, level: float | None = None,
               state: str | os.PathLike[str], seed: int | None = None):
    """Starts a session, or resumes the one in the folder `state`; None: as it was started."""
    if len(set(names)) != 2:
      raise api.CacheError(f"Got the models {list(names)}; a session of two models has two names.")
    folder = pathlib.Path(state)
    self._files = session_files.SessionFiles(folder)
    self.cache = api.opened_cache(cache)
    low, high = self.cache.value_range or (0.0, 1.0)
    given = {"target_width": target_width, "budget": budget, "level": level, "seed": seed,
             "names": list(names)}
    kept = self._files.read(session_files.SETTINGS)
    if kept is None:
      kept = {"format": 2, "num_samples": self.cache.num_samples, "level": LEVEL,
              "target_width": 0.02 * (high - low), "budget": self.cache.num_samples,
              "seed": session_files.seed_of(folder),
              **{key: value for key, value in given.items() if value is not None}}
      if not (0 < kept["target_width"] < 2 * (high - low) and 0 < kept["level"] < 1
              and 1 <= kept["budget"] <= self.cache.num_samples):
        raise api.CacheError(
            f"Got a target width of {kept['target_width']:g}, a level of {kept['level']:g} and a "
            f"budget of {kept['budget']:,}; expected a width of the difference, such as "
            f"{0.02 * (high - low):g}, a level such as {LEVEL} and 1 to "
            f"{self.cache.num_samples:,} questions.")
      folder.mkdir(parents=True, exist_ok=True)
      self._files.write(session_files.SETTINGS, kept)
    for key, value in given.items():
      if value is not None and value != kept.get(key):
        raise api.CacheError(f"{folder} was started with {key}={kept.get(key)}; got {value}. Leave "
                             "it out to resume, or start a session in another folder.")
    if kept["num_samples"] != self.cache.num_samples:
      raise api.CacheError(f"{folder} was started with {kept['num_samples']:,} samples; the cache "
                           f"has {self.cache.num_samples:,}. Start a session in another folder.")
    self.names: list[str] = list(names)
    self.target_width, self.level = float(kept["target_width"]), float(kept["level"])
    self.budget = int(kept["budget"])
    self._reference = api.Reference(self.cache, seed=int(kept["seed"]))
    self._answers: dict[str, dict[str, float]] = {name: {} for name in self.names}
    self._round = 1
    while (found := self._files.read(self._name())) is not None:
      self._take(found)
    self._gap: tuple[intervals.Interval, float] | None = None

  @property
  def num_answers(self) -> int:
    """Number of questions that both have answered."""
    return len(self._answers[self.names[0]])

  @property
  def num_looks(self) -> int:
    """Largest number of rounds."""
    return 1 + max(0, math.ceil(math.log2(self.budget / FIRST)))

  def estimates(self) -> list[Any]:
    """The estimate of each model."""
    return [self._reference.estimate_from(self._answers[name]) for name in self.names]

  def difference(self) -> tuple[intervals.Interval, float]:
    """(difference, p) of the answers so far; p is not corrected."""
    if self._gap is None:
      first, second = self.estimates()
      self._gap = api.compare(first, second, self.cache.num_samples,
                              self._reference.clusters)
    return self._gap

  @property
  def are_apart(self) -> bool:
    return self.num_answers > 0 and self.difference()[1] < self.level / self.num_looks

  @property
  def is_done(self) -> bool:
    return self.num_answers > 0 and (
        self.num_answers >= self.budget or self.are_apart
        or self.difference()[0].width <= self.target_width)

  def questions(self) -> list[str]:
    """Ids of the next round, for both models; [] if the session ended."""
    if self.is_done:
      return []
    wanted = min(self.budget, FIRST << (self._round - 1))
    return [one for one in self._reference.questions(wanted).tolist()
            if one not in self._answers[self.names[0]]]

  def answer(self, given: Mapping[str, Mapping[str, float]]) -> None:
    """Takes the answers of both models to `questions`: name -> id -> score."""
    ids = self.questions()
    for name in self.names:
      missing = [one for one in ids if one not in given.get(name, {})]
      if missing:
        raise api.CacheError(
            f"{len(missing):,} of the {len(ids):,} questions of round {self._round} have no answer "
            f"of {name!r}, such as {missing[0]!r}. Evaluate both models on all of them.")
    record = {name: dict(zip(ids, self._reference.checked(
        np.array([given[name][one] for one in ids]), ids).tolist())) for name in self.names}
    self._files.write(self._name(), record)
    self._take(record)

  def _take(self, record: Mapping[str, Mapping[str, float]]) -> None:
    for name in self.names:
      self._answers[name].update(record[name])
    self._round, self._gap = self._round + 1, None

  def _name(self) -> str:
    return f"answers_{self._round:04d}.json"
