# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Questions that are chosen from a model's answers so far, with an interval that stays honest.

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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from suite.lifelong.answers import intervals

FIRST = 64  # Number of questions of the first round.
_POOL = 1 << 17  # Largest number of samples that all questions are chosen from, for usual widths.
_POOL_PER_WIDTH = 38.0  # Times 1 / width^2: the pool adds at most a tenth to the variance.
_UNIFORM = 0.2  # Share of the probability that does not depend on predictions.
_LEAST, _LEAST_SHARE = 32, 8  # A round has 32 questions, and an eighth of the answers, at least.
_EXPECTED = 16.0  # Number of answers that the expected variance counts for.


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
  chances = _chances(np.sqrt(spread), num)
  order = np.lexsort((left, predicted))
  ends = np.cumsum(chances[order])
  # The last end is `num` but for rounding.
  places = np.searchsorted(ends / ends[-1] * num, rng.random() + np.arange(num), side="right")
  chosen = order[np.unique(np.minimum(places, len(left) - 1))]
  variance = float(np.sum(spread * (1.0 / chances - 1.0))) / size**2
  return Round(left[chosen], chances[chosen], predicted[chosen],
               (answered + float(predicted.sum())) / size, variance)


def _chances(scores: np.ndarray, num: int) -> np.ndarray:
  """Probabilities [n] of sum `num`, at most 1, nearly in proportion to scores [n]."""
  share = np.full(len(scores), 1.0 / len(scores))
  if scores.sum() > 0:
    share = _UNIFORM * share + (1.0 - _UNIFORM) * scores / scores.sum()
  sure = np.zeros(len(scores), bool)
  while True:
    free = num - int(sure.sum())
    chances = np.where(sure, 1.0, free * share / max(float(share[~sure].sum()), 1e-300))
    if not np.any(over := chances > 1.0):
      return chances
    sure |= over


def estimate(rounds: Sequence[Round], answers: Sequence[np.ndarray], size: int, num_samples: int
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
