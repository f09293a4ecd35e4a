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
    round_0001.json  ids, chances, predicted, mean, variance (`Round`)
    answers_0001.json  id -> score

Each has a digest of its values and that of the file before it, so that an answer that was changed,
or a round in another place, is refused. Sessions of earlier versions have none, and go on so.

Models may be added to the cache meanwhile; samples may not, since the estimate is about those that
there were at the start.

In round r, sample i of those that are left is drawn with a probability pi_i that is about
proportional to sqrt(p_i (1 - p_i)): p_i is what the factor model predicts from the answers before,
and p_i (1 - p_i) is the Fisher information of the answer about its log odds and the variance of the
answer. Of all designs this one has the least variance of the estimate (Neyman, 1934); a fifth of
the probability is uniform, since predictions may be wrong.

Choosing questions by answers biases the mean of the answers, and fitted residuals are too small.
Here p_i and pi_i are fixed before a round is asked (`Round`), so that, whatever the predictions
are worth, the estimate of each round

    T_r = (answers before + sum of p_i of the rest + sum over the asked of (a_i - p_i) / pi_i) / N

has no bias given the rounds before (active inference: Zrnic and Candes, 2024). Rounds are averaged
with weights in proportion to the inverse of the variance that was expected of each before it was
asked. Graded answers are values, like 0 and 1. The interval is compared with the wanted width after
each round only; a round is as large as the width is expected to need, and at most doubles the
answers.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
import dataclasses
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np

from suite.lifelong import api
from suite.lifelong import session_files
from suite.lifelong.answers import intervals
from suite.lifelong.estimators import adaptive_start
from suite.lifelong.estimators import estimator
from suite.system import atomic_files

TARGET_WIDTH = 0.02
_SETTINGS = session_files.SETTINGS
_FORMAT = 2
FIRST = 64  # Number of questions of the first round.
_POOL = 1 << 17  # Largest number of samples that all questions are chosen from, for usual widths.
_POOL_PER_WIDTH = 38.0  # Times 1 / width^2: the pool adds at most a tenth to the variance.
_UNIFORM = 0.2  # Share of the probability that does not depend on predictions.
_LEAST, _LEAST_SHARE = 32, 8  # A round has 32 questions, and an eighth of the answers, at least.
_EXPECTED = 16.0  # Number of answers that the expected variance counts for.


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
      seed: of the draws; None: as the session was started, and of a new one by its folder, so that
        each model has draws for itself; 0 in memory.
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
                                TARGET_WIDTH * self._span, "budget": total,
                                "seed": session_files.seed_of(self._folder)}
    if (low, high) != (0.0, 1.0):
      settings["range"] = [low, high]
    self._files = session_files.SessionFiles(self._folder)
    kept, self._start = self._files.read(_SETTINGS), None
    if kept is None:
      settings.update({key: value for key, value in given.items() if value is not None})
      if 0 < settings["budget"] <= adaptive_start.MOST:
        start = self._reference.first_questions()
        if start is not None and start.is_better(settings["budget"]):
          self._start, settings["start"] = start, start.measured
    else:
      self._check(kept, given)
      settings = kept
      if "start" in kept:
        self._start = self._reference.first_questions(kept["start"])
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
      atomic_files.make_folder(self._folder)
      self._files.write(_SETTINGS, settings)
    self._pool = pool(total, self.target_width / self._span, self._seed) if (
        self._start is None) else self._start.samples
    self._rounds: list[Round] = []
    self._answers: list[np.ndarray] = []
    self._load()

  @property
  def is_start(self) -> bool:
    """Whether the questions are those of `adaptive_start`."""
    return self._start is not None

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
      self._files.write(f"round_{len(self._rounds):04d}.json", {
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
    found = dict(zip(ids, values.tolist()))
    self._files.write(f"answers_{len(self._rounds):04d}.json",
                      {"scores": found} if self._files.is_sealed else found)
    self._answers.append(values)
    return ignored

  def accuracy(self) -> intervals.Interval:
    """Estimated accuracy and its interval, from the rounds that were answered."""
    if not self._answers:
      raise api.CacheError("No round is answered yet: `questions` and `answer` first.")
    if self._start is not None:
      return self._start.accuracy(*self._asked())
    found = accuracy_of(self._rounds[:len(self._answers)], [(one - self._low) / self._span
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
    return (np.concatenate([np.zeros(0, np.int64), *(one.samples for one in done)]),
            (np.concatenate([np.zeros(0), *self._answers]) - self._low) / self._span)

  def _of_start(self, start: adaptive_start.AdaptiveStart) -> Round:
    """The next questions of the first answers; each is asked for sure."""
    samples, values = self._asked()
    chosen = start.questions(samples, values, self.budget)
    return Round(chosen, np.ones(len(chosen)), start.predicted(samples, values, chosen),
                 start.accuracy(samples, values).value, 0.0)

  def _drawn(self) -> Round:
    if self._start is not None:
      return self._of_start(self._start)
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
    num = next_size(predicted, self.num_answers, width, self.target_width / self._span, size)
    return draw(left, predicted, answered, size, min(num, self.budget - self.num_answers), rng)

  def _ids(self, one: Round) -> list[str]:
    return self.cache.sample_ids.at(one.samples)

  def _check(self, kept: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raises if a session is of another cache, or was started with other settings."""
    if kept.get("format") not in (1, _FORMAT):
      raise api.CacheError(f"{self._folder} has a session of format {kept.get('format')}; this "
                           f"version reads formats 1 and {_FORMAT}. Start a new one in another "
                           "folder.")
    if any(not isinstance(kept.get(key), (int, float)) for key in (
        "num_samples", "target_width", "budget", "seed")):
      raise self._files.damaged(_SETTINGS, "it has no settings of a session")
    if "start" in kept and not _are_errors(kept["start"]):
      raise self._files.damaged(_SETTINGS, "it has no errors of known models")
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
      name = f"round_{number:04d}.json"
      one = self._files.read(name)
      if one is None:
        return
      self._check_round(name, one)
      samples = self.cache.sample_ids.find(one["ids"])
      if np.any(samples < 0):
        raise api.CacheError(f"{self._folder} asks {one['ids'][int(np.argmin(samples))]!r}, which "
                             "is not in the cache. Give the cache that it was started with.")
      self._rounds.append(Round(
          samples, np.array(one["chances"]), np.array(one["predicted"]), one["mean"],
          one["variance"]))
      name = f"answers_{number:04d}.json"
      given = self._files.read(name)
      if given is None:
        return
      scores = given.get("scores") if self._files.is_sealed else given
      if not isinstance(scores, dict) or set(scores) != set(one["ids"]) or not all(
          _is_number(score) for score in scores.values()):
        raise self._files.damaged(name, "it has not a score for each question of its round")
      self._answers.append(np.array([scores[each] for each in one["ids"]], np.float64))

  def _check_round(self, name: str, one: Mapping[str, Any]) -> None:
    ids = one.get("ids")
    if not (isinstance(ids, list) and ids and all(isinstance(each, str) for each in ids)
            and len(set(ids)) == len(ids)
            and all(_are_shares(one.get(key), len(ids)) for key in ("chances", "predicted"))
            and 0 not in one["chances"]
            and all(_is_number(one.get(key)) for key in ("mean", "variance"))):
      raise self._files.damaged(name, "it has no questions with their chances and predictions")


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


def _is_number(value: Any) -> bool:
  return isinstance(value, (int, float)) and bool(np.isfinite(value))


def _are_shares(values: Any, num: int) -> bool:
  return isinstance(values, list) and len(values) == num and all(
      _is_number(value) and 0 <= value <= 1 for value in values)


def _are_errors(values: Any) -> bool:
  sizes = [len(adaptive_start.SIZES)] * 2 + [1]
  return isinstance(values, list) and len(values) == 3 and all(
      isinstance(each, list) and len(each) == size and all(map(_is_number, each))
      for each, size in zip(values, sizes))


class Round(NamedTuple):
  """n questions, and what was known before they were asked.

  Attributes:
    samples: int64 [n], all new.
    chances: float64 [n], probabilities with which each was drawn.
    predicted: float64 [n], predicted probabilities of correct answers.
    mean: mean over the pool of the answers before and of the predictions for the rest.
    variance: expected variance of the estimate of this round.
  """

  samples: np.ndarray
  chances: np.ndarray
  predicted: np.ndarray
  mean: float
  variance: float


def pool(num_samples: int, target_width: float, seed: int) -> np.ndarray:
  """Samples that questions are chosen from, ascending: all, or a random choice of very many."""
  size = max(_POOL, int(np.ceil(_POOL_PER_WIDTH / target_width**2)))
  if size >= num_samples:
    return np.arange(num_samples)
  return np.sort(np.random.default_rng(seed).choice(num_samples, size, replace=False))


def draw(left: np.ndarray, predicted: np.ndarray, answered: float, size: int, num: int,
         rng: np.random.Generator) -> Round:
  """Draws a round.

  Args:
    left: int64 [n], samples of the pool that were not asked.
    predicted: [n], their predicted probabilities.
    answered: sum of the answers before.
    size: number of samples of the pool.
    num: number of questions, at most n.
    rng: of the draw, systematic in the order of the predictions.
  """
  predicted = np.clip(np.asarray(predicted, np.float64), 0.0, 1.0)
  spread = predicted * (1.0 - predicted)
  # Chances of sum `num`, at most 1, nearly in proportion to the deviations.
  scores, share = np.sqrt(spread), np.full(len(left), 1.0 / len(left))
  if scores.sum() > 0:
    share = _UNIFORM * share + (1.0 - _UNIFORM) * scores / scores.sum()
  sure = np.zeros(len(left), bool)
  while True:
    free = num - int(sure.sum())
    chances = np.where(sure, 1.0, free * share / max(float(share[~sure].sum()), 1e-300))
    if not np.any(over := chances > 1.0):
      break
    sure |= over
  order = np.lexsort((left, predicted))
  ends = np.cumsum(chances[order])
  # The last end is `num` but for rounding.
  places = np.searchsorted(ends / ends[-1] * num, rng.random() + np.arange(num), side="right")
  chosen = order[np.unique(np.minimum(places, len(left) - 1))]
  variance = float(np.sum(spread * (1.0 / chances - 1.0))) / size**2
  return Round(left[chosen], chances[chosen], predicted[chosen],
               (answered + float(predicted.sum())) / size, variance)


def accuracy_of(rounds: Sequence[Round], answers: Sequence[np.ndarray], size: int, num_samples: int
                ) -> intervals.Interval:
  """Estimates the accuracy and its 95% interval.

  Args:
    rounds: the rounds that were answered, one at least.
    answers: of each round, 0/1 or graded [n].
    size: number of samples of the pool.
    num_samples: N.
  """
  if sum(len(one.samples) for one in rounds) == size == num_samples:
    value = float(sum(np.sum(one) for one in answers)) / size
    return intervals.Interval(value, value, value)
  values, variances = [], []
  for one, given in zip(rounds, answers):
    num, rest = len(given), 1.0 - one.chances
    errors = (np.asarray(given, np.float64) - one.predicted) / one.chances / size
    values.append(one.mean + float(errors.sum()))
    middle = float(rest @ errors) / max(float(rest.sum()), 1e-300)  # Hajek's approximation.
    seen = float(rest @ (errors - middle) ** 2) * num / max(1, num - 1)
    variances.append((num * seen + _EXPECTED * one.variance) / (num + _EXPECTED))
  weights = 1.0 / np.maximum([one.variance for one in rounds], 1e-18)
  weights /= weights.sum()
  value = float(np.clip(weights @ values, 0.0, 1.0))
  spread = value * (1.0 - value)
  variance = float(weights**2 @ variances) + spread * (1.0 / size - 1.0 / num_samples)
  # Wilson's interval of as many random answers as have this variance; two right and two wrong are
  # added, since at 0 and 1 the variance of random answers is none.
  asked = sum(map(len, answers))
  share = (value * asked + 2.0) / (asked + 4.0)
  low, high = intervals.wilson(value, share * (1.0 - share) / variance if variance > 0 else np.inf)
  if size == num_samples:  # The answers bound the mean.
    right = sum(float(np.sum(one)) for one in answers)
    low, high = max(low, right / size), min(high, (right + size - asked) / size)
    value = min(max(value, right / size), (right + size - asked) / size)
  return intervals.Interval(value, min(low, value), max(high, value))


def next_size(predicted: np.ndarray, num_asked: int, width: float, target_width: float, size: int
              ) -> int:
  """Number of questions of the next round, from predictions [n] for the samples that are left.

  Args:
    predicted: probabilities of correct answers.
    num_asked: number of answers so far; 0: the first round.
    width: of the interval so far.
    target_width: wanted width.
    size: number of samples of the pool.
  """
  if not num_asked:
    return min(FIRST, len(predicted))
  now, wanted = ((one / 2.0 / intervals.Z_95) ** 2 for one in (width, target_width))
  spread = predicted * (1.0 - predicted)
  added = 1.0 / wanted - 1.0 / now  # Inverse variance that is missing.
  # The variance of n questions is (sum of sqrt(spread))^2 / n - sum of spread, over size^2.
  need = (float(np.sqrt(spread).sum()) / size) ** 2 / (
      1.0 / max(added, 1e-9) + float(spread.sum()) / size**2)
  least = max(_LEAST, num_asked // _LEAST_SHARE)
  return min(len(predicted), max(least, min(num_asked, int(np.ceil(1.05 * need)))))
