# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of models over samples or over tasks, estimated where answers are missing.

A score is a weighted mean of the accuracies of tasks, each perhaps normalized for guessing:
(accuracy - chance) / (1 - chance), which is negative below chance. Over samples, a task has the
weight of its samples.

The answers of a partly evaluated model are seldom a random choice: many reports leave out the hard
tasks. Its missing answers are predicted from those of the models that were evaluated in full
(`answers.partial_answers`), with an interval. With fewer than three such models the interval has
all that the missing answers may be. The model's own family (`active_samples`) has no part in it,
and other families count as one model each.

Scores that a cache keeps as values are used like answers, as shares of their range; what is
returned is in the range again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import os
import pathlib
import re
from typing import NamedTuple

import numpy as np

from suite.lifelong.answers import intervals
from suite.lifelong.answers import partial_answers
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import sample_counts
from suite.lifelong.cache import task_groups
from suite.lifelong.estimators import estimator

SAMPLES, TASKS, GROUPS = BY = ("samples", "tasks", "groups")
NO_TASK = "(no task)"
_BLOCK = 1 << 14
_REFERENCES = 64  # Largest number of models that predictions are tried on.
_TRIED = 1 << 13  # Largest number of samples, answered or not, that they are tried on.
_LOOKED_AT = 8  # Times as many are looked at, to find samples with and without an answer.
_LEAST = 3  # Least number of models to predict from.
_SCENARIO = re.compile("([^:,/=]+):[^:,/=]+=")
_NEARLY = 0.99  # Share of the samples from which on what is missing does not matter.


@dataclasses.dataclass(frozen=True)
class Scale:
  """What a score is.

  Attributes:
    by: "groups", the mean of groups and of tasks without one; "tasks", of tasks; "samples", of
      samples; "": the first of these that there are two of.
    weights: weight of each task, or by groups of each group, 1 for others; not by samples.
    chance: accuracy of guessing of each task, 0 for others.
    groups: of tasks; None: those of the cache.
  """

  by: str = ""
  weights: Mapping[str, float] = dataclasses.field(default_factory=dict)
  chance: Mapping[str, float] = dataclasses.field(default_factory=dict)
  groups: task_groups.Groups | None = None

  def units(self, folder: pathlib.Path, names: Sequence[str], sizes: np.ndarray
            ) -> dict[str, np.ndarray]:
    """Groups and tasks without one, see `task_groups.units`; {} where no task is in a group."""
    groups = groups_of(folder, names) if self.groups is None else self.groups
    found = task_groups.units(groups, names, sizes)
    return found if set(found) - set(names) else {}

  def factors(self, folder: pathlib.Path, names: Sequence[str], sizes: np.ndarray
              ) -> tuple[str, np.ndarray, float]:
    """Returns (by, factors [T], offset): the score is the sum of factors x accuracies, + offset.

    Args:
      folder: of the cache. names: T tasks. sizes: [T], samples of each.
    """
    known = [name for name in names if name != NO_TASK]
    units = self.units(folder, names, sizes)
    by = self.by or (GROUPS if units else TASKS if len(known) > 1 else SAMPLES)
    if by not in BY:
      raise accuracy_cache.CacheError(f"Got by={by!r}; expected one of {', '.join(BY)}.")
    if by == GROUPS and not units:
      raise accuracy_cache.CacheError(
          "Got by='groups', but no task is in a group: logs of lm-evaluation-harness have groups, "
          "or give them by --task-groups FILE.")
    for what, given in (("weight", self.weights), ("chance", self.chance)):
      allowed = units if what == "weight" and by == GROUPS else names
      unknown = sorted(set(given) - set(allowed))
      if unknown:
        raise accuracy_cache.CacheError(
            f"A {what} is given for {unknown[:3]}; the {by if allowed is units else TASKS} are "
            f"{', '.join([one for one in allowed if one != NO_TASK][:8]) or 'not known'}.")
    if by == SAMPLES and self.weights:
      raise accuracy_cache.CacheError("Weights are of tasks: leave them out, or score by tasks.")
    weights = (
        sizes.astype(np.float64) if by == SAMPLES else
        np.array([self.weights.get(name, 1.0) for name in names]) if by == TASKS else
        np.sum([self.weights.get(name, 1.0) * one for name, one in units.items()], axis=0))
    chance = np.array([self.chance.get(name, 0.0) for name in names])
    if not np.all((weights >= 0) & np.isfinite(weights)) or not weights.sum() > 0:
      raise accuracy_cache.CacheError("Weights must be 0 or more, and one of them more than 0.")
    if not np.all((chance >= 0) & (chance < 1)):
      raise accuracy_cache.CacheError("The accuracy of guessing is 0 or more, and less than 1.")
    factors = weights / weights.sum() / (1.0 - chance)
    return by, factors, -float(factors @ chance)


def groups_of(folder: pathlib.Path, names: Sequence[str]) -> dict[str, task_groups.Group]:
  """The groups of a cache, and HELM's scenarios of several tasks, SCENARIO:KEY=VALUE.

  HELM reports the mean of the tasks of a scenario, such as MMLU's subjects, whatever their size.
  """
  tasks: dict[str, list[str]] = {}
  for name in names:
    if found := _SCENARIO.match(name):
      tasks.setdefault(found.group(1), []).append(name)
  return {**{name: task_groups.Group(tuple(sorted(some)), by_size=False)
             for name, some in tasks.items() if len(some) > 1}, **task_groups.read(folder)}


class TaskScore(NamedTuple):
  """Accuracy of a model on a task, estimated if not all samples were evaluated."""

  accuracy: float
  interval: tuple[float, float]
  num_evaluated: int
  num_samples: int


class RankedModel(NamedTuple):
  """A model in a ranking; intervals are points if all samples were evaluated.

  Attributes:
    accuracy, interval: over all samples of the cache, estimated if some were not evaluated.
    num_evaluated: number of samples that were.
    score, score_interval: by which models are ranked, see `Scale`.
    is_estimated: whether answers are missing.
    observed: share of correct answers among those that there are.
    tasks: by task, if the samples have tasks.
    error: standard error of the score about samples like these; None where answers are missing, or
      a task has one sample.
  """

  name: str
  accuracy: float
  interval: tuple[float, float]
  num_evaluated: int
  score: float = 0.0
  score_interval: tuple[float, float] = (0.0, 0.0)
  is_estimated: bool = False
  observed: float = 0.0
  tasks: Mapping[str, TaskScore] = {}
  error: float | None = None


class Standings:
  """Scores of all models of a cache.

  Attributes:
    by: "groups", "tasks" or "samples".
    tasks: T names.
    num_units: groups, and tasks without one; 0 where there is no group.
    single_tasks: the latter.
    factors: float64 [T]: the score is the sum of factors x accuracies, and a constant.
    num_references: number of models that were evaluated in full.
    bounds: range of the scores; (0, 1) but for values of another range.
  """

  def __init__(self, cache: accuracy_cache.AccuracyCache, scale: Scale = Scale(), *,
               counted: sample_counts.SampleCounts | None = None, save: bool = True,
               clusters: np.ndarray | None = None):
    """Args:
      cache: the cache. scale: what a score is.
      counted: counts of the cache, if they are known. save: save those that are not.
      clusters: int [N], the cluster of each sample, such as its passage, for standard errors.
    """
    self._cache = cache
    self._counted = counted or sample_counts.SampleCounts(cache, save=save)
    totals = self._counted.totals
    num = cache.num_samples
    self._values = cache.value_range
    self.bounds = _bounds(cache, scale)
    names, codes = cache.sample_tasks()
    if np.any(codes < 0) and names:
      names, codes = [*names, NO_TASK], np.where(codes < 0, len(names), codes)
    self.tasks = names or [NO_TASK]
    self._codes = codes if names else None
    sizes = np.bincount(codes, minlength=len(names)) if names else np.array([num])
    self._sizes = sizes
    self.by, self.factors, self._offset = scale.factors(cache.folder, self.tasks, sizes)
    units = scale.units(cache.folder, self.tasks, sizes)
    self.num_units, self.single_tasks = len(units), sorted(set(units) & set(self.tasks))
    self._shares = sizes / max(1, num)
    full = np.flatnonzero(totals[:, 1] == num)
    half = np.flatnonzero(2 * totals[:, 1] >= num)
    self._references = full if len(full) >= _LEAST else half
    self.num_references = len(self._references)
    self._squares = None if self._values is None else np.zeros([cache.num_models, len(self.tasks)])
    self._totals = totals[:, None] if not names and self._values is None else self._by_task()
    self._is_whole = len(full) >= _LEAST
    self._deviations = None if clusters is None else self._of_clusters(np.asarray(clusters))
    self._families = active_samples.read(cache.folder).codes(cache.models)

  @property
  def weights(self) -> dict[str, float]:
    """Share of each task in the score, before normalization for guessing."""
    raw = self._shares if self.by == SAMPLES else self.factors
    return dict(zip(self.tasks, (raw / raw.sum()).tolist()))

  @property
  def headline(self) -> str:
    """What the score is the mean of: "mean of 1 group and 2 single tasks, 59 tasks in all"."""
    parts = [f"{self._cache.num_samples:,} samples"]
    if self.by != SAMPLES:
      parts = [f"{len(self.tasks):,} tasks"]
    if self.by == GROUPS:
      num = self.num_units - len(self.single_tasks)
      parts[0] += " in all"
      parts.insert(0, f"{num:,} group{'s' * (num > 1)}" + (
          f" and {len(self.single_tasks):,} single task{'s' * (len(self.single_tasks) > 1)}"
          if self.single_tasks else ""))
    return f"mean of {', '.join(parts)}"

  @property
  def sizes(self) -> dict[str, int]:
    """Number of samples of each task."""
    return dict(zip(self.tasks, self._sizes.tolist()))

  def samples_of_tasks(self) -> Iterator[tuple[int, np.ndarray]]:
    """Number of each task and its samples."""
    for task in range(len(self.tasks)):
      yield task, self._places(task)

  def ranked(self) -> list[RankedModel]:
    """All models with an answer, the best score first; ties keep the order of the cache."""
    found = [self.model(index) for index in range(self._cache.num_models)
             if self._totals[index, :, 1].sum()]
    return sorted(found, key=lambda one: -one.score)

  def accuracies(self) -> np.ndarray:
    """Accuracy over all samples of each model [M], estimated where more than 1% are missing.

    Scores that are kept as values are shares of their range.
    """
    totals = self._totals.sum(axis=1)
    found = totals[:, 0] / np.maximum(1, totals[:, 1])
    some = (totals[:, 1] > 0) & (totals[:, 1] < _NEARLY * self._cache.num_samples)
    for index in np.flatnonzero(some).tolist():
      found[index] = self._model(index).accuracy
    return found

  def model(self, index: int) -> RankedModel:
    """The score of one model."""
    return in_range(self._model(index), self.bounds)

  def of_answers(self, name: str, samples: np.ndarray, answers: np.ndarray) -> RankedModel:
    """The score of a model that is not in the cache, from answers [n] to samples [n]; as `ranked`.

    Graded answers of a cache of right and wrong count by their score; the cache keeps no values.
    """
    every = np.full(self._cache.num_samples, accuracy_cache.NOT_EVALUATED, np.float64)
    every[samples] = answers
    codes = np.zeros(len(every), np.int64) if self._codes is None else self._codes
    totals = np.stack([np.bincount(codes[samples], weights, len(self.tasks))
                       for weights in (answers, np.ones(len(answers)))], axis=1)
    return self._model(-1, name, totals, every)

  def _model(self, index: int, name: str = "", totals: np.ndarray | None = None,
             answers: np.ndarray | None = None) -> RankedModel:
    """The score of one model of the cache, or of one by its answers, as a share of the range."""
    totals = self._totals[index] if totals is None else totals
    correct, seen = totals.T.astype(np.float64)
    total = float(seen.sum())
    observed = float(correct.sum()) / max(1.0, total)
    error = None
    if total == self._cache.num_samples:
      values = correct / self._sizes
      error = self._error(index, correct) if answers is None else None
      low = high = values
      ends = [(float(shares @ values),) * 2 for shares in (self._shares, self.factors)]
    else:
      values, low, high, ends = self._estimated(index, correct, seen, answers)
    (low_all, high_all), (low_score, high_score) = ends
    tasks = {} if self._codes is None else {
        name: TaskScore(value, (a, b), int(n), int(size)) for name, value, a, b, n, size in zip(
            self.tasks, values.tolist(), low.tolist(), high.tolist(), seen, self._sizes)}
    return RankedModel(
        name or self._cache.models[index], float(self._shares @ values), (low_all, high_all),
        int(total), float(self.factors @ values) + self._offset,
        (low_score + self._offset, high_score + self._offset), total < self._cache.num_samples,
        observed, tasks, error)

  def _error(self, index: int, sums: np.ndarray) -> float | None:
    """Standard error of the score of a model with sums [T] of answers to all samples.

    Clusters, if there are any, would be drawn anew, and not samples (Miller, 2024).
    """
    if self._deviations is not None:
      factors = self._shares if self.by == SAMPLES and not self._offset else self.factors
      parts, num = self._deviations
      if np.any(num[factors > 0] < 2):
        return None
      return float(np.sqrt(np.sum((factors / self._sizes) ** 2 * parts[index])))
    squares = sums if self._squares is None else self._squares[index]
    sizes, factors = self._sizes.astype(np.float64), self.factors
    if self.by == SAMPLES and not self._offset:
      sums, squares, sizes, factors = (np.array([one.sum()]) for one in (
          sums, squares, sizes, factors))
    used = factors > 0
    if np.any(sizes[used] < 2):
      return None
    sums, squares, sizes, factors = (one[used] for one in (sums, squares, sizes, factors))
    variances = np.maximum(squares - sums**2 / sizes, 0.0) / (sizes - 1.0) / sizes
    return float(np.sqrt(factors**2 @ variances))

  def _of_clusters(self, clusters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(variances [M, T] of sums of answers, by clusters within tasks; number of clusters [T])."""
    tasks = np.zeros(len(clusters), np.int64) if self._codes is None else self._codes
    keys, which, sizes = np.unique(np.stack([tasks, clusters]), axis=1, return_inverse=True,
                                   return_counts=True)
    which, owner = which.reshape(-1), keys[0]
    sums = np.zeros([len(owner), self._cache.num_models])
    for start in range(0, len(clusters), _BLOCK):
      samples = np.arange(start, min(len(clusters), start + _BLOCK))
      answers = (self._cache.columns(samples) if self._values is None else np.nan_to_num(
          self._values.shares(self._cache.values(samples).astype(np.float64))))
      np.add.at(sums, which[samples], answers.T)
    means = self._totals[:, :, 0].T / self._sizes[:, None]  # Of models with all answers.
    squares = np.zeros([len(self.tasks), sums.shape[1]])
    np.add.at(squares, owner, (sums - sizes[:, None] * means[owner]) ** 2)
    num = np.bincount(owner, minlength=len(self.tasks))
    return squares.T * (num / np.maximum(1, num - 1)), num

  def _by_task(self) -> np.ndarray:
    """Number of correct and of evaluated answers of each model to each task: int64 [M, T, 2].

    Of scores that are kept as values, float64: their sum is in place of the number.
    """
    cache = self._cache
    codes = np.zeros(cache.num_samples, np.int32) if self._codes is None else self._codes
    found: np.ndarray = np.zeros([cache.num_models, len(self.tasks), 2],
                                 np.int64 if self._values is None else np.float64)
    for start in range(0, cache.num_samples, _BLOCK):
      samples = np.arange(start, min(cache.num_samples, start + _BLOCK))
      here = np.zeros([len(samples), len(self.tasks)], np.float32)
      here[np.arange(len(samples)), codes[samples]] = 1.0
      if self._values is not None:
        shares = self._values.shares(cache.values(samples).astype(np.float64))
        assert self._squares is not None
        self._squares += np.nan_to_num(shares) ** 2 @ here
        found[:, :, 0] += np.nan_to_num(shares) @ here
        found[:, :, 1] += ~np.isnan(shares) @ here
        continue
      for plane, seen in enumerate((False, True)):
        if seen and self._counted.seen is None:
          found[:, :, 1] += here.sum(axis=0).astype(np.int64)
        else:
          found[:, :, plane] += (cache.columns(samples, seen=seen).astype(np.float32) @ here
                                 ).astype(np.int64)
    return found

  def _estimated(self, index: int, correct: np.ndarray, seen: np.ndarray,
                 answers: np.ndarray | None = None
                 ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[float, float]]]:
    """(accuracies, low, high [T], [(low, high) over samples, (low, high) of the score])."""
    sizes, missing = self._sizes, self._sizes - seen
    least, most = correct / sizes, (correct + missing) / sizes
    weights = np.stack([self._shares, self.factors])
    found = self._predicted(index, seen, answers) if len(self._references) >= _LEAST else None
    if found is None:
      # As on the other samples of the task, or of all; the interval has all that may be.
      share = np.where(seen > 0, correct / np.maximum(1, seen), correct.sum() / seen.sum())
      return (correct + missing * share) / sizes, least, most, [
          (float(one @ least), float(one @ most)) for one in weights]
    values = (correct + missing * np.clip(found.means, 0.0, 1.0)) / sizes
    spread = found.errors * (missing / sizes) * np.sqrt(found.factors)
    from scipy import stats  # pylint: disable=import-outside-toplevel
    wide = float(stats.t.ppf(0.975, found.num_families - 1))

    def ends(one: np.ndarray) -> tuple[float, float]:
      half = wide * float(np.sqrt(np.mean((spread @ one) ** 2)))
      middle = float(one @ values)
      return max(float(one @ least), middle - half), min(float(one @ most), middle + half)

    per_task = np.array([ends(one) for one in np.eye(len(sizes))])
    return values, per_task[:, 0], per_task[:, 1], [ends(one) for one in weights]

  def _chosen(self, index: int, seen: np.ndarray, answers: np.ndarray | None
              ) -> tuple[np.ndarray, np.ndarray]:
    """Samples that a model answered and that it did not, at most `_TRIED`, of each task some.

    They are looked for among `_candidates`; where these have too few, among all of the task.
    """
    rng, most = np.random.default_rng(0), self._most
    sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for task, some in self._candidates.items():
      is_missing = np.isnan(self._shares_of(index, some, answers))
      for side, num in enumerate((seen[task], self._sizes[task] - seen[task])):
        places = some[is_missing == side]
        if len(places) < min(most, num):
          every = self._places(task)
          places = rng.permutation(every[np.isnan(self._shares_of(index, every, answers)) == side])
        sides[side].append(np.sort(places[:most]))
    return np.concatenate(sides[0]), np.concatenate(sides[1])

  def _shares_of(self, index: int, samples: np.ndarray, answers: np.ndarray | None) -> np.ndarray:
    """Scores of a model on samples [n], as shares of the range; NaN: not evaluated."""
    if answers is None and self._values is not None:
      return self._values.shares(self._cache.values(samples, [index])[0])
    found = np.asarray(self._cache.answers(index, samples) if answers is None else
                       answers[samples], np.float64)
    return np.where(found == accuracy_cache.NOT_EVALUATED, np.nan, found)

  def _places(self, task: int) -> np.ndarray:
    return (np.arange(self._cache.num_samples) if self._codes is None else
            np.flatnonzero(self._codes == task))

  @property
  def _most(self) -> int:
    return max(64, _TRIED // len(self._sizes))

  @functools.cached_property
  def _candidates(self) -> dict[int, np.ndarray]:
    """Task -> some of its samples in a random order."""
    rng, num = np.random.default_rng(0), _LOOKED_AT * self._most
    return {task: rng.choice(places, min(num, len(places)), replace=False)
            for task in range(len(self._sizes)) for places in [self._places(task)]}

  def _predicted(self, index: int, seen: np.ndarray, answers: np.ndarray | None = None
                 ) -> partial_answers.Prediction | None:
    """What `partial_answers.predict` says of the missing answers of a model."""
    tasks = np.zeros(self._cache.num_samples, np.int32) if self._codes is None else self._codes
    inside, outside = self._chosen(index, seen, answers)
    families = self._families
    others = self._references if index < 0 else self._references[
        families[self._references] != families[index]]
    joined = families[others]
    num_families = len(np.unique(joined))
    if num_families < _LEAST:
      return None
    inner, outer = (partial_answers.Part(
        self._cache.columns(samples, others.tolist()) if self._values is None else np.nan_to_num(
            self._values.shares(self._cache.values(samples, others.tolist()))),
        None if self._is_whole else self._cache.columns(samples, others.tolist(), seen=True),
        tasks[samples], sizes, joined if num_families < len(others) else None)
             for samples, sizes in ((inside, seen), (outside, self._sizes - seen)))
    tried = partial_answers.balanced(
        [self._cache.models[other] for other in others], joined, _REFERENCES)
    return partial_answers.predict(self._shares_of(index, inside, answers), inner, outer, tried)


def in_range(one: RankedModel, bounds: tuple[float, float]) -> RankedModel:
  """A model whose scores are shares of a range, in this range."""
  if bounds == (0.0, 1.0):
    return one
  scores = accuracy_cache.ValueRange(*bounds).values

  def ends(interval: tuple[float, float]) -> tuple[float, float]:
    return scores(interval[0]), scores(interval[1])

  return one._replace(
      error=None if one.error is None else one.error * (bounds[1] - bounds[0]),
      accuracy=scores(one.accuracy), interval=ends(one.interval), score=scores(one.score),
      score_interval=ends(one.score_interval), observed=scores(one.observed), tasks={
          name: task._replace(accuracy=scores(task.accuracy), interval=ends(task.interval))
          for name, task in one.tasks.items()})


def _bounds(cache: accuracy_cache.AccuracyCache, scale: Scale) -> tuple[float, float]:
  """Range of the scores of a cache."""
  low, high = cache.value_range or accuracy_cache.ValueRange()
  if scale.chance and (low, high) != (0.0, 1.0):
    raise accuracy_cache.CacheError(
        f"{cache.folder} keeps scores from {low:g} to {high:g}; those of guessing are known for "
        "accuracies only. Leave out --chance.")
  return low, high


def rank(cache: accuracy_cache.AccuracyCache | str | os.PathLike, scale: Scale = Scale()
         ) -> list[RankedModel]:
  """Ranks the models of a cache by their scores; ties keep the order in which they were added.

  Of a folder, retired samples are left out; an open cache is taken as it is.
  """
  return Standings(active_samples.opened(cache), scale).ranked()


class TaskEstimates:
  """Scores of new models by task, from estimates of their answers.

  Attributes:
    by, tasks, weights: as of `Standings`.
  """

  def __init__(self, cache: accuracy_cache.AccuracyCache, scale: Scale = Scale()):
    _bounds(cache, scale)
    names, codes = cache.sample_tasks()
    if np.any(codes < 0) and names:
      names, codes = [*names, NO_TASK], np.where(codes < 0, len(names), codes)
    self.tasks, self._codes = names or [NO_TASK], codes
    self._num = cache.num_samples
    self._sizes = np.bincount(codes, minlength=len(names)) if names else np.array([self._num])
    self.by, self._factors, self._offset = scale.factors(cache.folder, self.tasks, self._sizes)
    self.weights = dict(zip(self.tasks, (self._factors / self._factors.sum()).tolist()))

  @property
  def strata(self) -> tuple[np.ndarray, np.ndarray]:
    """(number of the task of each sample [N], share of each task in the score [T])."""
    codes = self._codes if len(self._codes) else np.zeros(self._num, np.int32)
    return codes, self._factors / self._factors.sum()

  def scored(self, mean: float) -> float:
    """The score of a mean of tasks that has the weights `strata`."""
    return mean * float(self._factors.sum()) + self._offset

  def score(self, name: str, found: estimator.Estimate) -> RankedModel:
    """The score of a model, by its predicted answers.

    The interval of a task follows from those of its answers that are a random sample, that of the
    score from those of the tasks: the squares of their distances from the estimates are added.
    """
    sums, sample, span = np.zeros(len(self.tasks)), found.sample, found.bounds
    whole = accuracy_cache.ValueRange(*span)
    observed = whole.shares(np.asarray(found.observed_answers, np.float64))
    accuracy = whole.shares(found.accuracy)
    ends_all = None if found.interval is None else (
        whole.shares(found.interval[0]), whole.shares(found.interval[1]))
    if self.tasks == [NO_TASK]:
      values = np.array([accuracy])
      low, high = (np.array([end]) for end in ends_all or (np.nan, np.nan))
    else:
      assert found.probabilities is not None
      for start in range(0, self._num, _BLOCK):
        samples = np.arange(start, min(self._num, start + _BLOCK))
        sums += np.bincount(self._codes[samples], whole.shares(found.probabilities(samples)),
                            len(self.tasks))
      values, low, high = sums / self._sizes, np.zeros(len(sums)), np.ones(len(sums))
      for task in range(len(self.tasks)):
        mine = np.flatnonzero(self._codes[sample.samples] == task) if sample else np.zeros(0)
        if sample is not None and len(mine):
          one = intervals.accuracy(observed[sample.members[mine]], int(self._sizes[task]),
                                   sample.within(mine, int(self._sizes[task])))
          low[task] = (1.0 - sample.unknown) * one.low
          high[task] = (1.0 - sample.unknown) * one.high + sample.unknown
      values = np.clip(values, low, high)
    score = float(self._factors @ values) + self._offset
    ends = (score - float(np.sqrt(np.sum((self._factors * (values - low))**2))),
            score + float(np.sqrt(np.sum((self._factors * (high - values))**2))))
    if self.by == SAMPLES and self._offset == 0.0:
      score, ends = accuracy, ends_all or (np.nan, np.nan)
    if sample is None:
      low[:], high[:], ends = np.nan, np.nan, (np.nan, np.nan)
    seen = (np.bincount(self._codes[found.observed], minlength=len(self.tasks))
            if len(self._codes) else np.array([len(observed)]))
    return in_range(RankedModel(
        name, accuracy, ends_all or (np.nan, np.nan), len(observed), score,
        ends, len(observed) < self._num, float(observed.mean()),
        {task: TaskScore(value, (a, b), int(n), int(size)) for task, value, a, b, n, size in zip(
            self.tasks, values.tolist(), low.tolist(), high.tolist(), seen, self._sizes)
         if task != NO_TASK or len(self.tasks) > 1}), span)
