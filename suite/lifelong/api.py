# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong evaluation from Python: estimates of a new model's accuracy from a few of its answers.

    from suite import lifelong
    found = lifelong.estimate("cache", predict, budget=1024)   # predict: ids -> 1 or 0 each
    found.accuracy, found.interval, found.probabilities(np.arange(10))

`predict` is the user's model: it is called for the chosen samples only, with their ids. A second
call with a larger budget asks the same samples first (store their answers, or use
`MemoizedModel`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import os
from typing import Callable, NamedTuple, Union

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import insertion
from suite.lifelong.answers import intervals
from suite.lifelong.answers import ranking
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import sample_counts
from suite.lifelong.estimators import estimator as estimator_lib
from suite.lifelong.estimators import factor_search

Cache = Union[accuracy_cache.AccuracyCache, str, os.PathLike]
Predict = Callable[[np.ndarray], np.ndarray]
CacheError = accuracy_cache.CacheError

DEFAULT_BUDGET = 1024
_MOST = 0.5


class MemoizedModel:
  """A model that is evaluated at most once on each sample.

  Attributes:
    answers: id -> 1 or 0, for all samples asked so far.
  """

  def __init__(self, predict: Predict | None = None, answers: Mapping[str, int] = {}):
    """`predict` None: only the ids in `answers` are known; any other raises a CacheError."""
    self._predict = predict
    self.answers: dict[str, int] = dict(answers)

  def __call__(self, ids: np.ndarray) -> np.ndarray:
    new = [one for one in ids.tolist() if one not in self.answers]
    if new:
      if self._predict is None:
        raise CacheError(f"{len(new)} of the {len(ids)} answers that are needed are missing, such "
                         f"as to {new[0]!r}. Add them to the file or mapping of answers.")
      found = answer_sampling.checked_answers(self._predict(np.array(new)), len(new))
      self.answers.update(zip(new, found.tolist()))
    return np.array([self.answers[one] for one in ids.tolist()], np.uint8)


class Reference:
  """A cache prepared to estimate any number of new models; it takes two passes over the answers.

  Missing answers, for example to samples that were inserted by asking some models only, are filled
  in by Sort & Search: a sample is solved by the most accurate models, and their number follows from
  its known answers. Models without answers to half of the samples are left out.

  Attributes:
    models: names of the models that the estimates are based on.
  """

  def __init__(self, cache: Cache, *, groups: Sequence[np.ndarray] = (), seed: int = 0):
    """`groups`: class, domain or another attribute of every sample, int [N] each."""
    self.cache = _opened(cache)
    totals = self.cache.totals()
    known = totals[:, 1] >= max(1, _MOST * self.cache.num_samples)
    self.models = [name for name, good in zip(self.cache.models, known) if good]
    if len(self.models) < 2:
      raise CacheError(f"{self.cache.folder} has {len(self.models)} models that were evaluated on "
                       f"half of its {self.cache.num_samples:,} samples; an estimate needs 2. Add "
                       "some: suite lifelong add-models.")
    self._seed = seed
    self._counts, self._is_whole = self._count(totals[known])
    accuracies = totals[known, 0] / totals[known, 1]
    self._rank = np.argsort(np.argsort(-accuracies, kind="stable"), kind="stable")
    self._factors = factor_search.FactorModel(self._counts, self._columns, groups=groups)

  def _count(self, totals: np.ndarray) -> tuple[np.ndarray, bool]:
    """Returns (number of models that solve each sample [N], whether all answers are known)."""
    correct, seen = self.cache.counts(self.models)
    if seen is None:
      return correct, True
    mean = sample_counts.mean_answer(int(totals[:, 0].sum()), int(totals[:, 1].sum()))
    found = sample_counts.expected(correct, seen, len(self.models), mean)
    return found.astype(correct.dtype), False

  def _columns(self, samples: np.ndarray) -> np.ndarray:
    """Answers uint8 [M, n] of the models to samples [n]; missing ones are filled in."""
    answers = self.cache.columns(samples, self.models)
    if self._is_whole:
      return answers
    seen = self.cache.columns(samples, self.models, seen=True)
    likely = self._rank[:, None] < self._counts[samples]
    return np.where(seen == 1, answers, likely).astype(np.uint8)

  @property
  def num_samples(self) -> int:
    return self._factors.num_samples

  def questions(self, budget: int) -> np.ndarray:
    """Ids of the samples to ask, in order: str [budget]; a prefix of those of a larger budget."""
    nothing: list[np.ndarray] = []

    def ask(samples: np.ndarray) -> np.ndarray:
      nothing.append(samples)
      return np.zeros(len(samples), np.uint8)

    self._ask(ask, budget, None)
    return self.cache.ids[np.concatenate(nothing)]

  def estimate(self, predict: Predict, budget: int = DEFAULT_BUDGET, *,
               target_width: float | None = None) -> estimator_lib.Estimate:
    """Estimates the answers of a new model.

    Args:
      predict: ids str [n] -> 1 (correct) or 0 (wrong) for each, [n].
      budget: largest number of samples to ask.
      target_width: stop when the 95% interval of the accuracy is no wider.
    """
    asked = self._ask(lambda samples: predict(self.cache.ids[samples]), budget, target_width)
    fit = self._factors.fit(asked)
    return estimator_lib.make_estimate(fit.answers(), asked, fit.accuracy, fit.probabilities,
                            (fit.supported, fit.reason))

  def _ask(self, ask: Predict, budget: int, target_width: float | None) -> answer_sampling.Asked:
    if not 1 <= budget <= self.num_samples:
      raise CacheError(f"A budget of {budget} answers of {self.num_samples:,} samples; expected 1 "
                       f"to {self.num_samples}.")
    return answer_sampling.ask_nested(self._factors.order.samples_at, self.num_samples, ask, budget,
                                      seed=self._seed, target_width=target_width)


def estimate(cache: Cache, predict: Predict, budget: int = DEFAULT_BUDGET, *,
             target_width: float | None = None, groups: Sequence[np.ndarray] = (), seed: int = 0
             ) -> estimator_lib.Estimate:
  """Calls `Reference(cache, ...).estimate(predict, ...)`; for several models, use a `Reference`."""
  return Reference(cache, groups=groups, seed=seed).estimate(predict, budget,
                                                             target_width=target_width)


def add_estimated(cache: Cache, name: str, predict: MemoizedModel) -> None:
  """Adds a model with its observed answers to the cache; all others are "not evaluated"."""
  opened = _opened(cache)
  row = np.full(opened.num_samples, accuracy_cache.NOT_EVALUATED, np.int8)
  for place in np.flatnonzero(np.isin(opened.ids, list(predict.answers))):
    row[place] = predict.answers[str(opened.ids[place])]
  opened.add_models([name], [row])


def insert_models(cache: Cache, models: Mapping[str, Predict], budget: int = DEFAULT_BUDGET
                  ) -> dict[str, estimator_lib.Estimate]:
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
                   budget: int) -> insertion.Inserted:
  """Estimates the difficulty of new samples by a few models, and adds the samples to the cache.

  Args:
    cache: a cache of at least two models.
    ids: ids of the K new samples.
    ask: names of models [m] -> their answers 0/1 [m, K].
    budget: m, number of models to ask; they are evenly spaced from the best to the worst.
  """
  opened = _opened(cache)
  totals = opened.totals()
  found = insertion.insert_samples(
      totals[:, 0] / np.maximum(1, totals[:, 1]),
      lambda models: ask([opened.models[model] for model in models]), budget)
  opened.add_samples(list(ids), found.answers, [opened.models[model] for model in found.models])
  return found


def metrics(truth: np.ndarray, found: estimator_lib.Estimate, cache: Cache) -> dict[str, float]:
  """Errors of an estimate, given all answers 0/1 [N] of the model.

  "total", "aleatoric" and "epistemic" errors of single answers (section 3.3 of the paper, against
  the order of all models of the cache), and the error of the accuracy.
  """
  truth = np.asarray(truth)
  counts = sample_counts.SampleCounts(_opened(cache), keep=False).ranked()
  return {**ranking.decompose(truth, found.answers, ranking.order_by_count(counts)),
          "accuracy_error": ranking.aggregate_error(truth, found.accuracy)}


def compare(first: estimator_lib.Estimate, second: estimator_lib.Estimate, num_samples: int
            ) -> tuple[intervals.Interval, float]:
  """Compares two estimates: (difference of the accuracies, p-value of equal accuracy).

  Both must have asked the same samples, as all estimates of one `Reference` and budget do; the
  longer one is truncated to the length of the other.
  """
  num = min(_asked(first), _asked(second))
  assert first.observed is not None and second.observed is not None
  assert first.observed_answers is not None and second.observed_answers is not None
  if not np.array_equal(first.observed[:num], second.observed[:num]):
    raise CacheError("The two models were asked different samples; a paired comparison needs the "
                     "same. Estimate both with one Reference.")
  pair = first.observed_answers[:num], second.observed_answers[:num]
  return intervals.difference(*pair, num_samples), intervals.sign_test(*pair)


class RankedModel(NamedTuple):
  """A model in a ranking; the interval is a point if all samples were evaluated."""

  name: str
  accuracy: float
  interval: tuple[float, float]
  num_evaluated: int


def rank(cache: Cache) -> list[RankedModel]:
  """Ranks the models of a cache by accuracy; ties keep the order in which they were added.

  The evaluated samples of a partly evaluated model are treated as a random choice.
  """
  opened = _opened(cache)
  found = []
  for name, (correct, seen) in zip(opened.models, opened.totals().tolist()):
    if seen:
      share = correct / seen
      effective = (float("inf") if seen == opened.num_samples else
                   seen / (1.0 - seen / opened.num_samples))
      found.append(RankedModel(name, share, intervals.wilson(share, effective), seen))
  return sorted(found, key=lambda one: -one.accuracy)


def _asked(found: estimator_lib.Estimate) -> int:
  if found.observed is None:
    raise CacheError("The estimate does not say which samples it asked; use lifelong.estimate.")
  return len(found.observed)


def _opened(cache: Cache) -> accuracy_cache.AccuracyCache:
  return (cache if isinstance(cache, accuracy_cache.AccuracyCache) else
          accuracy_cache.AccuracyCache(cache))
