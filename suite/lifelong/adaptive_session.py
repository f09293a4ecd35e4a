# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A session with one new model: questions follow from its answers until the interval is narrow.

    asking = lifelong.session("cache", target_width=0.02)   # 2 points: +-1
    ids = next(asking)
    try:
      while True:
        ids = asking.send(model(ids))
    except StopIteration as end:
      found = end.value                                     # an `Estimate`

or `Session`, which the generator drives. With a state folder each round is on disk before it is
asked, and its answers before the next one is chosen, so a session resumes after a kill with the
same questions:

    session.json     settings, number of samples and state of the cache at the start
    round_0001.json  ids, chances, predicted, mean, variance (`active_sampling.Round`)
    answers_0001.json  id -> score

Models may be added to the cache meanwhile; samples may not, since the estimate is about those that
there were at the start.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
import dataclasses
import json
import os
import pathlib
from typing import Any

import numpy as np

from suite.lifelong import api
from suite.lifelong.answers import intervals
from suite.lifelong.estimators import active_sampling
from suite.lifelong.estimators import estimator
from suite.system import atomic_files

TARGET_WIDTH = 0.02
_SETTINGS = "session.json"
_FORMAT = 1


class Session:
  """Adaptive questions about one model.

  Attributes:
    cache: the opened cache.
    target_width: the session ends when the 95% interval of the accuracy is no wider.
    budget: largest number of questions.
  """

  def __init__(self, cache: api.Cache | api.Reference, target_width: float | None = None,
               budget: int | None = None, *, state: str | os.PathLike[str] | None = None,
               seed: int | None = None, groups: Sequence[np.ndarray] = ()):
    """Starts a session, or resumes the one in `state`.

    Args:
      cache: a cache of two models at least, or a `Reference` of one.
      target_width: width to end at, between 0 and 1; 0.02, or as the session was started.
      budget: largest number of questions; all samples, or as the session was started.
      state: folder to keep the session in; None: it is in memory only.
      seed: of the draws; 0, or as the session was started.
      groups: of `Reference`.
    """
    self._reference = cache if isinstance(cache, api.Reference) else api.Reference(
        cache, groups=groups)
    self.cache = self._reference.cache
    self._folder = None if state is None else pathlib.Path(state)
    total = self._reference.num_samples
    given = {"target_width": target_width, "budget": budget, "seed": seed}
    low, high = self._reference.bounds
    self._low, self._span = low, high - low
    settings: dict[str, Any] = {"format": _FORMAT, "num_samples": total, "target_width":
                                TARGET_WIDTH * self._span, "budget": total, "seed": 0}
    if (low, high) != (0.0, 1.0):
      settings["range"] = [low, high]
    kept = None if self._folder is None else _read(self._folder / _SETTINGS)
    if kept is None:
      settings.update({key: value for key, value in given.items() if value is not None})
    else:
      self._check(kept, given)
      settings = kept
    self.target_width, self.budget = float(settings["target_width"]), int(settings["budget"])
    self._seed = int(settings["seed"])
    if not 0.0 < self.target_width < self._span:
      raise api.CacheError(f"Got a target width of {self.target_width:g}; expected a width between "
                           f"0 and {self._span:g}, such as {TARGET_WIDTH * self._span:g} for an "
                           "interval of +-1 point.")
    if not 1 <= self.budget <= total:
      raise api.CacheError(f"Got a budget of {self.budget:,} questions; expected 1 to the "
                           f"{total:,} samples of the cache.")
    if self._folder is not None and kept is None:
      self._folder.mkdir(parents=True, exist_ok=True)
      self._write(_SETTINGS, settings)
    self._pool = active_sampling.pool(total, self.target_width / self._span, self._seed)
    self._rounds: list[active_sampling.Round] = []
    self._answers: list[np.ndarray] = []
    self._load()

  @property
  def num_answers(self) -> int:
    return sum(map(len, self._answers))

  def answers(self) -> dict[str, float]:
    """id -> score of all answers so far."""
    return {name: score for one, given in zip(self._rounds, self._answers)
            for name, score in zip(self._ids(one), given.tolist())}

  @property
  def is_done(self) -> bool:
    """Whether the interval is narrow enough, or the budget is spent."""
    if len(self._rounds) > len(self._answers) or not self._answers:
      return False
    return self.num_answers >= min(self.budget, len(self._pool)) or (
        self.accuracy().width <= self.target_width)

  def questions(self) -> np.ndarray:
    """Ids of the pending round, str [n]; chooses and stores it first; [0] if the session ended."""
    if len(self._rounds) == len(self._answers):
      if self.is_done:
        return np.zeros(0, str)
      self._rounds.append(self._drawn())
      one = self._rounds[-1]
      self._write(f"round_{len(self._rounds):04d}.json", {
          "ids": self._ids(one), "chances": one.chances.tolist(),
          "predicted": one.predicted.tolist(), "mean": one.mean, "variance": one.variance})
    return np.array(self._ids(self._rounds[-1]), str)

  def answer(self, scores: Mapping[str, float] | np.ndarray) -> int:
    """Takes the answers to `questions`: scores [n] in their order, or id -> score.

    A mapping may hold other ids, which are ignored. Returns the number of these.
    """
    ids = self.questions().tolist()
    if not ids:
      raise api.CacheError("The session has ended: nothing is asked.")
    ignored = 0
    if isinstance(scores, Mapping):
      missing = [one for one in ids if one not in scores]
      if missing:
        raise api.CacheError(
            f"{len(missing):,} of the {len(ids):,} questions of round {len(self._rounds)} have no "
            f"answer, such as {missing[0]!r}. Evaluate the model on all of them: which answers are "
            "missing must not depend on what they are.")
      ignored = len(scores) - len(ids)
      scores = np.array([scores[one] for one in ids], np.float64)
    values = self._reference.checked(scores, ids)
    self._reference.shares(values, widen=False)  # Those outside of the range are refused.
    self._write(f"answers_{len(self._rounds):04d}.json", dict(zip(ids, values.tolist())))
    self._answers.append(values)
    return ignored

  def accuracy(self) -> intervals.Interval:
    """Estimated accuracy and its interval, from the rounds that were answered."""
    if not self._answers:
      raise api.CacheError("No round is answered yet: `questions` and `answer` first.")
    found = active_sampling.estimate(
        self._rounds[:len(self._answers)], [(one - self._low) / self._span
                                            for one in self._answers],
        len(self._pool), self._reference.num_samples)
    if self._span == 1.0 and not self._low:
      return found
    return intervals.Interval(*(self._low + self._span * one
                                for one in (found.value, found.low, found.high)))

  def estimate(self) -> estimator.Estimate:
    """The estimate with predictions of all answers; `sample` is None (`compare` refuses it)."""
    found = self.accuracy()
    return dataclasses.replace(
        self._reference.fit(*self._asked(), None).estimate().in_range(*self._reference.bounds),
        accuracy=found.value, interval=(found.low, found.high))

  def _asked(self) -> tuple[np.ndarray, np.ndarray]:
    """Samples that were answered, and their scores as shares of the range."""
    done = self._rounds[:len(self._answers)]
    return (np.concatenate([one.samples for one in done]),
            (np.concatenate(self._answers) - self._low) / self._span)

  def _drawn(self) -> active_sampling.Round:
    size, rng = len(self._pool), np.random.default_rng([self._seed, len(self._rounds)])
    if not self._answers:
      models = len(self._reference.models)
      solved = self._reference.known_answers()[0][self._pool]
      left, answered, width = self._pool, 0.0, 1.0
      predicted = (solved + 0.5) / (models + 1.0)
    else:
      samples, values = self._asked()
      left = np.setdiff1d(self._pool, samples, assume_unique=True)
      predicted = self._reference.fit(samples, values, None).probabilities(left)
      answered, width = float(values.sum()), self.accuracy().width / self._span
    num = active_sampling.next_size(predicted, self.num_answers, width,
                                    self.target_width / self._span, size)
    return active_sampling.draw(left, predicted, answered, size,
                                min(num, self.budget - self.num_answers), rng)

  def _ids(self, one: active_sampling.Round) -> list[str]:
    return self.cache.sample_ids.at(one.samples)

  def _check(self, kept: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raises if a session is of another cache, or was started with other settings."""
    if kept.get("format") != _FORMAT:
      raise api.CacheError(f"{self._folder} has a session of format {kept.get('format')}; this "
                           f"version reads format {_FORMAT}. Start a new one in another folder.")
    if kept["num_samples"] != self._reference.num_samples:
      raise api.CacheError(
          f"{self._folder} was started with {kept['num_samples']:,} samples; the cache has "
          f"{self._reference.num_samples:,}. Start a new session in another folder; answers that "
          "are there serve `suite lifelong estimate --answers`.")
    if tuple(kept.get("range", (0.0, 1.0))) != self._reference.bounds:
      raise api.CacheError(f"{self._folder} was started with scores of another range than those of "
                           "the cache. Start a new session in another folder.")
    for key, value in given.items():
      if value is not None and value != kept[key]:
        raise api.CacheError(f"{self._folder} was started with {key}={kept[key]}; got {value}. "
                             "A rule that changes after answers are known biases the interval: "
                             "leave it out to resume, or start a session in another folder.")

  def _load(self) -> None:
    """Reads the rounds and answers of a state folder, up to the first that is not there."""
    while self._folder is not None:
      number = len(self._rounds) + 1
      one = _read(self._folder / f"round_{number:04d}.json")
      if one is None:
        return
      samples = self.cache.sample_ids.find(one["ids"])
      if np.any(samples < 0):
        raise api.CacheError(f"{self._folder} asks {one['ids'][int(np.argmin(samples))]!r}, which "
                             "is not in the cache. Give the cache that it was started with.")
      self._rounds.append(active_sampling.Round(
          samples, np.array(one["chances"]), np.array(one["predicted"]), one["mean"],
          one["variance"]))
      given = _read(self._folder / f"answers_{number:04d}.json")
      if given is None:
        return
      self._answers.append(np.array([given[name] for name in one["ids"]], np.float64))

  def _write(self, name: str, record: Mapping[str, Any]) -> None:
    if self._folder is not None:
      atomic_files.write(self._folder / name, (json.dumps(record) + "\n").encode())


def session(cache: api.Cache | api.Reference, target_width: float | None = None,
            budget: int | None = None, *, state: str | os.PathLike[str] | None = None,
            seed: int | None = None, groups: Sequence[np.ndarray] = ()
            ) -> Generator[np.ndarray, np.ndarray | Mapping[str, float], estimator.Estimate]:
  """Yields ids str [n] to ask, takes their scores by `send`, returns the `Estimate` at the end.

  Arguments as of `Session`.
  """
  asking = Session(cache, target_width, budget, state=state, seed=seed, groups=groups)
  while len(ids := asking.questions()):
    asking.answer((yield ids))
  return asking.estimate()


def _read(path: pathlib.Path) -> dict[str, Any] | None:
  """The object of a file of a session; None if there is no file."""
  try:
    return json.loads(path.read_text(encoding="utf-8"))
  except FileNotFoundError:
    return None
  except ValueError as error:
    raise api.CacheError(f"{path} is no file of a session ({error}). Remove the folder to start "
                         "again, or restore the file.") from error
