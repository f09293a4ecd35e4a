# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong evaluation from Python: estimates of a new model's accuracy from a few of its answers.

    from suite import lifelong
    found = lifelong.estimate("cache", predict, budget=1024)   # predict: ids -> 1 or 0 each
    found.accuracy, found.interval, found.probabilities(np.arange(10))

`predict` is the user's model: it is called for the chosen samples only, with their ids. A second
call with a larger budget asks the same samples first (store their answers, or use
`MemoizedModel`), also after models were added. `Reference.estimate_from` takes answers that are
there already.

A cache prepared for estimates: known models, questions, factors.

What the preparation computes is saved in the cache (prepared.npz) if it is large, so that another
process that estimates from the same state reads a few megabytes instead of all answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import hashlib
import logging
import os
from typing import Any
import zipfile

import numpy as np

from suite.lifelong import standings
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.answers import partial_answers
from suite.lifelong.answers import random_sample
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import question_sets
from suite.lifelong.cache import sample_counts
from suite.lifelong.estimators import adaptive_start
from suite.lifelong.estimators import estimator
from suite.lifelong.estimators import factor_model
from suite.system import atomic_files

_LOGGER = logging.getLogger(__name__)
DEFAULT_BUDGET = 1024
_THRESHOLD = 0.5
# Of two models' answers to random questions, so many at least must be to the same samples.
_COMMON = 0.5
FILE = "prepared.npz"
_VERSION = "2"
_MOST = 0.5
_SAVED = 1_000_000  # Of fewer known answers the preparation takes a moment and is not saved.
_FIRST = 64  # Number of answers before the interval's width is checked first.


class MemoizedModel:
  """A model that is evaluated at most once on each sample.

  Attributes:
    answers: id -> 1 or 0, or a score, for all samples asked so far.
  """

  def __init__(self, predict: Predict | None = None, answers: Mapping[str, float] = {}):
    """`predict` None: only the ids in `answers` are known; any other raises a CacheError."""
    self._predict = predict
    self.answers: dict[str, float] = dict(answers)

  def __call__(self, ids: np.ndarray) -> np.ndarray:
    new = [one for one in ids.tolist() if one not in self.answers]
    if new:
      if self._predict is None:
        raise CacheError(f"{len(new)} of the {len(ids)} answers that are needed are missing, such "
                         f"as to {new[0]!r}. Add them to the file or mapping of answers.")
      found = answer_sampling.checked_scores(self._predict(np.array(new)), len(new), new,
                                             any_number=True)
      self.answers.update(zip(new, found.tolist()))
    return np.array([self.answers[one] for one in ids.tolist()])


def estimate(cache: Cache, predict: Predict, budget: int = DEFAULT_BUDGET, *,
             target_width: float | None = None, groups: Sequence[np.ndarray] = (), seed: int = 0
             ) -> estimator.Estimate:
  """Calls `Reference(cache, ...).estimate(predict, ...)`; for several models, use a `Reference`."""
  return Reference(cache, groups=groups, seed=seed).estimate(predict, budget,
                                                             target_width=target_width)


def add_estimated(cache: Cache, name: str, predict: MemoizedModel, threshold: float | None = None
                  ) -> None:
  """Adds a model with its observed answers to the cache; all others are "not evaluated".

  Scores count as correct from the cache's threshold on, or, if it has none, from `threshold` (0.5),
  which the cache then keeps if some are graded. A cache of values keeps them as they are.
  """
  cache = opened_cache(cache)
  ids = [one for one, sample in zip(
      predict.answers, cache.sample_ids.find(list(predict.answers))) if sample >= 0]
  scores = np.array([predict.answers[one] for one in ids], np.float64)
  agreed = cache.agreed_threshold(threshold)
  if cache.value_range is not None:
    cache.add_models([name], [scores], ids, values=True)
    return
  limit = _THRESHOLD if agreed is None else agreed
  is_graded = bool(np.any((scores > 0) & (scores < 1)))
  cache.add_models([name], [(scores >= limit).astype(np.int8)], ids,
                   threshold=limit if is_graded else None)


def insert_models(cache: Cache, models: Mapping[str, Predict], budget: int = DEFAULT_BUDGET
                  ) -> dict[str, estimator.Estimate]:
  """Estimates several new models and adds their observed answers to the cache.

  Predicted answers are never stored, since estimates of other models would then rely on them.
  """
  reference, found = Reference(cache), {}
  for name, predict in models.items():
    remembered = MemoizedModel(predict)
    found[name] = reference.estimate(remembered, budget)
    add_estimated(reference.cache, name, remembered)
  return found


def insert_samples(cache: Cache, ids: Sequence[str], ask: Callable[[list[str]], np.ndarray],
                   budget: int | None = None, *, models: Sequence[str] | None = None,
                   place_by: str = ranking.MEAN, **facts: Any) -> ranking.Inserted:
  """Estimates the difficulty of new samples by a few models, and adds the samples to the cache.

  Args:
    cache: a cache of at least two models.
    ids: ids of the K new samples.
    ask: names of models [m] -> their answers 0/1 [m, K].
    budget: m, number of models to ask; they are evenly spaced from the best to the worst.
    models: names of the models to ask, in place of a budget.
    place_by: how many models solve a sample: "mean" of the answers, or "cut", as in the paper
      (`ranking.insert_samples`). Only observed answers are added, whatever it is.
    **facts: threshold, tasks and hashes, of `AccuracyCache.add_samples`.
  """
  opened = opened_cache(cache)
  if opened.value_range is not None:
    raise CacheError(f"{opened.folder} keeps scores as values; samples are inserted by right and "
                     "wrong answers. Add them with whatever scores there are: suite lifelong "
                     "add-samples.")
  found = ranking.insert_samples(
      _accuracies(opened), lambda asked: ask([opened.models[model] for model in asked]), budget,
      place_by=place_by, models=None if models is None else _places(opened, models))
  opened.add_samples(list(ids), found.answers, [opened.models[model] for model in found.models],
                     **facts)
  return found


def models_to_ask(cache: Cache, budget: int) -> list[str]:
  """Names of the models that `insert_samples` asks for `budget`, from the best to the worst."""
  opened = opened_cache(cache)
  return [opened.models[model] for model in ranking.spaced_models(_accuracies(opened), budget)]


def _accuracies(cache: accuracy_cache.AccuracyCache) -> np.ndarray:
  """Accuracy of each model, as it is ranked by: [M]."""
  return standings.Standings(cache).accuracies()


def _places(cache: accuracy_cache.AccuracyCache, models: Sequence[str]) -> list[int]:
  places = {name: place for place, name in enumerate(cache.models)}
  if unknown := [name for name in models if name not in places]:
    raise CacheError(f"The cache has no model {', '.join(map(repr, unknown[:3]))}; it has "
                     f"{len(places)}, such as {cache.models[:3]}.")
  return [places[name] for name in models]


def metrics(truth: np.ndarray, found: estimator.Estimate, cache: Cache, *,
            sort_models: Sequence[str] | None = None) -> dict[str, float]:
  """Errors of an estimate, given all answers 0/1 [N] of the model.

  "total", "aleatoric" and "epistemic" errors of single answers (section 4.5 of the paper, equations
  3 and 4), and the error of the accuracy.

  Args:
    truth: the answers.
    found: the estimate.
    cache: the cache.
    sort_models: names of the models whose order the two parts refer to: those that the estimate is
      based on. None: the models with answers to at least half of the samples, as of a `Reference`.
      Leave out the model itself if it is among them.
  """
  truth, opened = np.asarray(truth), opened_cache(cache)
  if sort_models is None:
    seen = sample_counts.SampleCounts(opened, save=False).totals[:, 1]
    sort_models = [name for name, num in zip(opened.models, seen.tolist())
                   if num >= max(1, _MOST * opened.num_samples)]
  if not sort_models:
    raise CacheError("No model has answers to half of the samples; name some as sort_models.")
  correct, seen_by = opened.counts(_places(opened, sort_models))
  if seen_by is not None:
    mean = sample_counts.mean_answer(int(correct.sum(dtype=np.int64)),
                                     int(seen_by.sum(dtype=np.int64)))
    correct = sample_counts.expected(correct, seen_by, len(sort_models), mean)
  return {**ranking.decompose(truth, found.answers, ranking.order_by_count(correct)),
          "accuracy_error": ranking.aggregate_error(truth, found.accuracy)}


def compare(first: estimator.Estimate, second: estimator.Estimate, num_samples: int,
            clusters: np.ndarray | None = None) -> tuple[intervals.Interval, float]:
  """Compares two estimates: (difference of the accuracies, p-value of equal accuracy).

  Both are about samples like these; on the very samples of the cache the difference is known once
  all are answered. Graded answers have a normal test, others McNemar's; with `clusters` of all
  samples, int [N], such as those of a `Reference`, both have Student's test of clusters.

  The samples that both were asked at random are compared, also if one was asked before the cache
  grew, or more of them. All estimates of one question set have such samples. The difference is
  between the answers: what questions have in common cancels, and what predictions pull to the
  middle does not. Where answers are no random sample, but have an interval (`adaptive_start`), the
  estimates are compared, as if their errors were independent.
  """
  one, two = first.sample, second.sample
  if (one is None or two is None) and first.interval is not None and second.interval is not None:
    half = float(np.hypot(np.ptp(first.interval), np.ptp(second.interval))) / 2.0
    value = first.accuracy - second.accuracy
    found = intervals.Interval(value, value - half, value + half)
    return found, intervals.normal_test(found)
  if one is None or two is None:
    raise CacheError("A paired comparison needs answers to the same random samples; one of the two "
                     "models has answers that are no random sample.")
  _, places, others = np.intersect1d(one.samples, two.samples, return_indices=True)
  if len(places) < max(1, _COMMON * min(len(one.samples), len(two.samples))):
    raise CacheError(f"The two models were asked different samples: {len(places)} are the same; a "
                     "paired comparison needs half of them. Estimate both with one Reference.")
  by_order = np.argsort(places)
  places, others = places[by_order], others[by_order]
  keep = np.zeros(len(one.samples), bool)
  keep[places] = True
  common = one.only(keep)
  assert first.observed_answers is not None and second.observed_answers is not None
  pair = first.observed_answers[common.members], second.observed_answers[two.members[others]]
  low, high = (end(first.bounds[side], second.bounds[side])
               for side, end in enumerate((min, max)))
  span = high - low
  if (low, high) != (0.0, 1.0):
    pair = (pair[0] - low) / span, (pair[1] - low) / span
  gap = intervals.difference(*pair, num_samples, common, is_finite=False)
  if clusters is not None and np.ptp(pair[0] - pair[1]) > 0:
    gap, p = intervals.clustered_difference(*pair, clusters[common.samples], common)
  elif np.isin(np.concatenate(pair), (0, 1)).all() and len(common.sizes) == 1:
    p = intervals.sign_test(*pair)
  else:
    p = intervals.normal_test(gap)
  return intervals.Interval(gap.value * span, gap.low * span, gap.high * span), p


Cache = accuracy_cache.AccuracyCache | str | os.PathLike
Predict = Callable[[np.ndarray], np.ndarray]
CacheError = accuracy_cache.CacheError


class Reference:
  """A cache prepared to estimate any number of new models.

  Missing answers, for example to samples that were inserted by asking some models only, are filled
  in by Sort & Search: a sample is solved by the most accurate models, and their number follows from
  its known answers. Models without answers to half of the samples are left out.

  Attributes:
    cache: the cache.
    models: names of the models that the estimates are based on.
    num_samples: N.
    families: int [M], number of the family of each model (`active_samples`).
    clusters: int64 [N], of the samples; None: they are independent.
  """

  def __init__(self, cache: Cache, *, groups: Sequence[np.ndarray] = (), seed: int = 0,
               num_factors: Sequence[int] = factor_model.NUM_FACTORS, save: bool = True,
               clusters: np.ndarray | None = None):
    """Args:
      cache: a cache of two models at least.
      groups: class, domain or another attribute of every sample, int [N] each.
      seed: another one asks other questions; each has a question set of its own.
      num_factors: numbers of factors to average over.
      save: save counts, questions and the preparation in the cache.
      clusters: in place of those of the cache.
    """
    self.cache = opened_cache(cache)
    self.num_samples = self.cache.num_samples
    self.clusters = self.cache.clusters if clusters is None else clusters
    self._keeps_values = self.cache.value_range is not None
    self._range = self.cache.value_range or accuracy_cache.ValueRange()
    self._counted = sample_counts.SampleCounts(self.cache, save=save)
    totals = self._counted.totals
    known = totals[:, 1] >= max(1, _MOST * self.num_samples)
    self.models = [name for name, good in zip(self.cache.models, known) if good]
    if len(self.models) < 2:
      raise CacheError(f"{self.cache.folder} has {len(self.models)} models that were evaluated on "
                       f"half of its {self.num_samples:,} samples; an estimate needs 2. Add "
                       "some: suite lifelong add-models.")
    self.families = active_samples.read(self.cache.folder).codes(self.models)
    self._is_whole = bool(np.all(totals[known, 1] == self.num_samples))
    self._mean = sample_counts.mean_answer(*totals[known].sum(axis=0).tolist())
    # What was not evaluated may be harder than what was: accuracies are of all samples.
    accuracies = (totals[known, 0] / totals[known, 1]
                  if self._is_whole and not self._keeps_values else
                  standings.Standings(self.cache, counted=self._counted).accuracies()[known])
    self._rank = np.argsort(np.argsort(-accuracies, kind="stable"), kind="stable")
    self._save, self._seed, self._accuracies = save, seed, accuracies
    self._questions = question_sets.QuestionSet(self.cache, self._order_counts, seed=seed,
                                                save=save, known=(self._columns, accuracies))
    self._groups, self._num_factors = groups, tuple(num_factors)
    self._model = self._prepared()

  @property
  def bounds(self) -> tuple[float, float]:
    """Range of the scores: (0, 1), or of the values that the cache and new models have."""
    return self._range.low, self._range.high

  def questions(self, budget: int) -> np.ndarray:
    """Ids of the samples to ask, in order: str [budget]; a prefix of those of a larger budget.

    They are stored, and stay the same when models are added.
    """
    return np.array(self.cache.sample_ids.at(self._ask(budget)), str)

  def estimate(self, predict: Predict, budget: int = 1024, *, target_width: float | None = None,
               adaptive: float = 0.0) -> estimator.Estimate:
    """Estimates a new model by asking it.

    Up to 64 answers are to questions that follow from the answers before, if such questions tell
    more of the known models (`adaptive_start`). They are asked in rounds, and a larger budget asks
    other ones; the interval is then that of errors of known models, and `sample` is None.

    Args:
      predict: ids str [n] -> 1 (correct) or 0 (wrong), or a score between, for each, [n]; of a
        cache that keeps scores as values, scores of any range.
      budget: largest number of samples to ask.
      target_width: stop when the 95% interval of the accuracy is no wider. It is checked after 64,
        128, 256, ... answers: frequent checks that stop at the first success would make it too
        narrow.
      adaptive: share of the budget that is spent, at the end, on the samples that tell most about
        this model (`informative`). Single samples are predicted better, the accuracy worse.
    """
    if not 0.0 <= adaptive < 1.0 or (adaptive and target_width is not None):
      raise CacheError(f"Got adaptive={adaptive} and target_width={target_width}; expected a share "
                       "from 0 to below 1, and one of the two.")
    if adaptive:
      first = max(1, round(budget * (1.0 - adaptive)))
      samples = self._ask(first)
      answers = self._asked(predict, samples)
      sample = self._sample(samples)
      shares = self.shares(answers)
      samples, shares = factor_model.ask_informative(
          self._model, lambda more: self.shares(self._asked(predict, more), widen=False), samples,
          shares, budget)
      return self._estimated(samples, shares, sample)
    if target_width is None and budget <= adaptive_start.MOST and self._start is not None and (
        self._start.is_better(budget)):
      return self._started(predict, self._start, budget)
    samples = self._ask(budget)
    answers = np.zeros(0)
    wanted = budget if target_width is None else min(budget, _FIRST)
    while True:
      answers = np.concatenate([answers, self._asked(predict, samples[len(answers):wanted])])
      shares = self.shares(answers)
      if wanted == budget:
        break
      sample = self._sample(samples[:wanted])
      width = intervals.accuracy(shares[sample.members], self.num_samples, sample).width
      if width * (self._range.high - self._range.low) <= (target_width or 0.0):
        break
      wanted = min(budget, 2 * wanted)
    return self._estimated(samples[:wanted], shares, self._sample(samples[:wanted]))

  def estimate_from(self, answers: Mapping[str, float], *, budget: int | None = None,
                    is_random: bool = False) -> estimator.Estimate:
    """Estimates a model from whatever answers there are.

    Answers to questions of this or of any earlier time, complete or with gaps, are a random sample,
    from which the accuracy and its interval follow; all others serve the predictions. Without a
    random sample there is no interval.

    Args:
      answers: id -> 1 (correct), 0 (wrong) or a score between, or any score of a cache that keeps
        them as values. Unknown ids are ignored.
      budget: use the answers to the first `budget` questions only.
      is_random: the samples, or their clusters, were chosen at random among all, whatever they are.
    """
    ids = list(answers)
    samples = self.cache.sample_ids.find(ids)
    known = samples >= 0
    if not known.any():
      raise CacheError(f"None of the {len(ids)} ids with an answer is in {self.cache.folder}, such "
                       f"as {ids[:2]}; its ids are like {self.cache.sample_ids.at([0])}.")
    values = self.checked(np.array([answers[one] for one in ids])[known],
                          np.array(ids)[known].tolist())
    samples = samples[known]
    if budget is not None:
      asked = self._ask(budget)
      order = np.argsort(samples)
      place = np.minimum(np.searchsorted(samples[order], asked), len(samples) - 1)
      chosen = order[place][samples[order][place] == asked]
      if not len(chosen):
        raise CacheError(f"None of the first {budget} questions is answered. Ask the samples that "
                         "suite lifelong estimate --ask FILE writes, or leave out --budget.")
      samples, values = samples[chosen], values[chosen]
    sample = (random_sample.of_all(samples, self.num_samples, self.clusters)
              if is_random or len(samples) == self.num_samples else self._questions.drawn(samples))
    return self._estimated(samples, self.shares(values), sample)

  def known_answers(self) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Returns (number of known models that solve each sample [N], samples [n] -> answers [M, n]).

    Missing answers are filled in. Scores that are kept as values are shares of their range.
    """
    return self._order_counts(), self._columns

  def informative(self, answers: Mapping[str, float], num: int) -> np.ndarray:
    """Ids of the `num` samples to ask next, after these answers, to predict single samples."""
    ids = list(answers)
    samples = self.cache.sample_ids.find(ids)
    values = np.array([answers[one] for one in ids], np.float64)[samples >= 0]
    samples = samples[samples >= 0]
    if not len(samples):
      raise CacheError("Informative samples follow from answers: ask the first questions before.")
    chosen = self._model.fit(samples, self.shares(values), None).informative(num)
    return np.array(self.cache.sample_ids.at(chosen), str)

  def fit(self, samples: np.ndarray, answers: np.ndarray,
          sample: random_sample.RandomSample | None) -> factor_model.Fit:
    """Fits a model to its answers [n] to samples int64 [n]; see `FactorModel`.

    Answers are 0/1 or graded; scores of other ranges are to be made `shares` before.
    """
    if np.all((answers == 0) | (answers == 1)):
      answers = answers.astype(np.uint8)
    return self._model.fit(samples, answers, sample)

  def checked(self, scores: np.ndarray, ids: Sequence[str]) -> np.ndarray:
    """Returns a model's scores as float64 [n]; a ValueError names the id of one that is none."""
    return answer_sampling.checked_scores(scores, len(ids), ids, any_number=self._keeps_values)

  def shares(self, scores: np.ndarray, *, widen: bool = True) -> np.ndarray:
    """Scores [n] as shares of the range, which is widened before if some are outside of it.

    Without `widen` such scores are refused: what was computed before would not fit them.
    """
    if not self._keeps_values or not len(scores):
      return scores
    wide = self._range.widened(float(np.min(scores)), float(np.max(scores)))
    if wide != self._range:
      if not widen:
        raise CacheError(f"Got scores from {np.min(scores):g} to {np.max(scores):g}; those of "
                         f"{self.cache.folder} are from {self._range.low:g} to "
                         f"{self._range.high:g}. Put a model with such scores into the cache, or "
                         "see whether they are of the same metric.")
      self._range = wide
      self._model = self._prepared()
    return self._range.shares(scores)

  def first_questions(self, measured: tuple[list[float], ...] | None = None
                     ) -> adaptive_start.AdaptiveStart | None:
    """Adaptive questions of this seed; None: there are too few families, or scores are values.

    Args:
      measured: errors that were measured before; None: they are measured.
    """
    if self._keeps_values:
      return None
    samples = np.arange(self.num_samples)
    if self.num_samples > adaptive_start.POOL:
      samples = np.sort(rank_order.RankOrder(self._order_counts()).samples_at(
          rank_order.nested_ranks(self.num_samples, adaptive_start.POOL, self._seed)))
    models = partial_answers.balanced(self.models, self.families, adaptive_start.MODELS)
    answers = self._columns(samples)[models]
    if measured is None:
      fixed = self._columns(self._ask(min(adaptive_start.MOST, self.num_samples)))[models]
      measured = adaptive_start.measure(answers, fixed, self.num_samples, self.families[models],
                                        self._accuracies[models])
    return None if measured is None else adaptive_start.build(samples, answers, self.num_samples,
                                                              measured)

  @functools.cached_property
  def _start(self) -> adaptive_start.AdaptiveStart | None:
    return self.first_questions()

  def _started(self, predict: Predict, start: adaptive_start.AdaptiveStart, budget: int
               ) -> estimator.Estimate:
    """The estimate of a model that is asked adaptive questions."""
    samples, answers = np.zeros(0, np.int64), np.zeros(0)
    while len(samples) < budget:
      more = start.questions(samples, answers, budget)
      answers = np.concatenate([answers, self._asked(predict, more)])
      samples = np.concatenate([samples, more])
    found = start.accuracy(samples, answers)
    return dataclasses.replace(self._estimated(samples, answers, None), accuracy=found.value,
                               interval=(found.low, found.high))

  def _asked(self, predict: Predict, samples: np.ndarray) -> np.ndarray:
    """A model's scores of samples [n]: float64 [n]."""
    ids = self.cache.sample_ids.at(samples)
    return self.checked(predict(np.array(ids, str)), ids)

  def _estimated(self, samples: np.ndarray, shares: np.ndarray,
                 sample: random_sample.RandomSample | None) -> estimator.Estimate:
    """The estimate of a model, in the range of the scores."""
    found = self.fit(samples, shares, sample).estimate()
    return found.in_range(*self._range) if self._keeps_values else found

  def _ask(self, budget: int) -> np.ndarray:
    if self.cache.num_samples != self.num_samples:
      raise CacheError(f"{self.cache.folder} has grown to {self.cache.num_samples:,} samples since "
                       "it was prepared: make a new Reference.")
    return self._questions.first(budget)

  def _sample(self, samples: np.ndarray) -> random_sample.RandomSample:
    """The random sample that the first questions are."""
    found = self._questions.drawn(samples)
    assert found is not None
    return found

  def _order_counts(self) -> np.ndarray:
    """Number of known models that solve each sample, as estimated where answers are missing."""
    return self._known_counts

  @functools.cached_property
  def _known_counts(self) -> np.ndarray:
    if len(self.models) == self.cache.num_models:
      return self._counted.ranked()
    rest = sorted(set(self.cache.models) - set(self.models))
    correct, seen = (self._counted.without(rest) if len(rest) < len(self.models) else
                     self.cache.counts(self.models))
    if seen is None:
      return correct
    found = sample_counts.expected(correct, seen, len(self.models), self._mean)
    return found.astype(correct.dtype)

  def _columns(self, samples: np.ndarray) -> np.ndarray:
    """Answers [M, n] of the models to samples [n]; missing ones are filled in.

    They are uint8, or, if scores are kept as values, float32 shares of their range; in place of a
    missing one stands the mean of the sample and of two scores with the mean of all.
    """
    if self._keeps_values:
      found = self._range.shares(self.cache.values(samples, self.models)).astype(np.float32)
      missing = np.isnan(found)
      if missing.any():
        seen = np.sum(~missing, axis=0)
        mean = float(np.nanmean(found)) if seen.any() else 0.5
        middle = (np.nansum(found, axis=0) + 2.0 * mean) / (seen + 2.0)
        found = np.where(missing, middle.astype(np.float32), found)
      return found
    answers = self.cache.columns(samples, self.models)
    if self._is_whole:
      return answers
    seen = self.cache.columns(samples, self.models, seen=True)
    counts = sample_counts.expected(answers.sum(axis=0), seen.sum(axis=0), len(self.models),
                                    self._mean)
    return np.where(seen == 1, answers, self._rank[:, None] < counts).astype(np.uint8)

  def _prepared(self) -> factor_model.FactorModel:
    groups, num_factors = self._groups, self._num_factors
    digest = hashlib.sha256("\n".join([_VERSION, self.cache.state, str(num_factors), *self.models,
                                       *([str(self._range)] if self._keeps_values else [])]
                                      ).encode())
    for group in groups:
      digest.update(np.ascontiguousarray(group).tobytes())
    key, path = digest.hexdigest(), self.cache.folder / FILE
    try:
      with np.load(path, allow_pickle=False) as saved:
        if str(saved["key"]) == key:
          arrays = {name: saved[name] for name in saved.files if name != "key"}
          return factor_model.FactorModel(self.num_samples, self._columns, arrays, groups)
    except FileNotFoundError:
      pass
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
      _LOGGER.info("%s is made again: %s.", path, error)
    model = factor_model.build(self._order_counts(), self._columns, groups=groups,
                               num_factors=num_factors)
    if self._save and len(self.models) * self.num_samples >= _SAVED:
      try:
        with atomic_files.opening(path) as file:
          np.savez(file, key=np.array(key), **model.arrays)
      except OSError as error:  # A read-only cache can still be used.
        _LOGGER.info("%s is not saved: %s.", path, error)
    return model


def opened_cache(cache: Cache) -> accuracy_cache.AccuracyCache:
  """Returns the cache, opened without its retired samples if it is given as a folder."""
  return active_samples.opened(cache)
