# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong evaluation from Python: estimates of a new model's accuracy from a few of its answers.

    from suite import lifelong
    found = lifelong.estimate("cache", predict, budget=1024)   # predict: ids -> 1 or 0 each
    found.accuracy, found.interval, found.probabilities(np.arange(10))

`predict` is the user's model: it is called for the chosen samples only, with their ids. A second
call with a larger budget asks the same samples first (store their answers, or use
`MemoizedModel`), also after models were added. `Reference.estimate_from` takes answers that are
there already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple

import numpy as np

from suite.lifelong import reference as reference_lib
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import insertion
from suite.lifelong.answers import intervals
from suite.lifelong.answers import ranking
from suite.lifelong.cache import sample_counts
from suite.lifelong.estimators import estimator as estimator_lib

Cache = reference_lib.Cache
Predict = reference_lib.Predict
CacheError = reference_lib.CacheError
Reference = reference_lib.Reference

DEFAULT_BUDGET = 1024
_THRESHOLD = 0.5
# Of two models' answers to random questions, so many at least must be to the same samples.
_COMMON = 0.5


class MemoizedModel:
  """A model that is evaluated at most once on each sample.

  Attributes:
    answers: id -> 1 or 0, or a score in between, for all samples asked so far.
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
      found = answer_sampling.checked_scores(self._predict(np.array(new)), len(new))
      self.answers.update(zip(new, found.tolist()))
    return np.array([self.answers[one] for one in ids.tolist()])


def estimate(cache: Cache, predict: Predict, budget: int = DEFAULT_BUDGET, *,
             target_width: float | None = None, groups: Sequence[np.ndarray] = (), seed: int = 0
             ) -> estimator_lib.Estimate:
  """Calls `Reference(cache, ...).estimate(predict, ...)`; for several models, use a `Reference`."""
  return Reference(cache, groups=groups, seed=seed).estimate(predict, budget,
                                                             target_width=target_width)


def add_estimated(cache: Cache, name: str, predict: MemoizedModel, threshold: float | None = None
                  ) -> None:
  """Adds a model with its observed answers to the cache; all others are "not evaluated".

  Scores count as correct from the cache's threshold on, or, if it has none, from `threshold` (0.5),
  which the cache then keeps if some are graded.
  """
  cache = reference_lib.opened(cache)
  ids = [one for one, sample in zip(
      predict.answers, cache.sample_ids.find(list(predict.answers))) if sample >= 0]
  scores = np.array([predict.answers[one] for one in ids], np.float64)
  agreed = cache.agreed_threshold(threshold)
  limit = _THRESHOLD if agreed is None else agreed
  is_graded = bool(np.any((scores > 0) & (scores < 1)))
  cache.add_models([name], [(scores >= limit).astype(np.int8)], ids,
                   threshold=limit if is_graded else None)


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
  opened = reference_lib.opened(cache)
  totals = sample_counts.SampleCounts(opened).totals
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
  counts = sample_counts.SampleCounts(reference_lib.opened(cache), save=False).ranked()
  return {**ranking.decompose(truth, found.answers, ranking.order_by_count(counts)),
          "accuracy_error": ranking.aggregate_error(truth, found.accuracy)}


def compare(first: estimator_lib.Estimate, second: estimator_lib.Estimate, num_samples: int
            ) -> tuple[intervals.Interval, float]:
  """Compares two estimates: (difference of the accuracies, p-value of equal accuracy).

  The samples that both were asked at random are compared, also if one was asked before the cache
  grew, or more of them. All estimates of one question set have such samples.
  """
  one, two = first.sample, second.sample
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
  return (intervals.difference(*pair, num_samples, common), intervals.sign_test(*pair))


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
  opened = reference_lib.opened(cache)
  totals, found = sample_counts.SampleCounts(opened).totals, []
  for name, (correct, seen) in zip(opened.models, totals.tolist()):
    if seen:
      share = correct / seen
      effective = (float("inf") if seen == opened.num_samples else
                   seen / (1.0 - seen / opened.num_samples))
      found.append(RankedModel(name, share, intervals.wilson(share, effective), seen))
  return sorted(found, key=lambda one: -one.accuracy)
