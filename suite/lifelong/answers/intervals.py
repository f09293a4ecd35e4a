# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""95% intervals of an accuracy from some of its answers, and of the difference of two models.

Answers stand in the order of the ranks they were sampled at. Such a sample is stratified: it is
surer than a random one of its size, by how much neighbours agree. All intervals are of Wilson's
form, whose width is not 0 when all answers are alike, and shrink to a point when all are observed.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import stats

Z_95 = 1.959963984540054
# The ratio of variances is noisy in a small sample: so many pairs of a random sample are mixed in.
_PRIOR_PAIRS = 16.0
_FEW = 3.5  # Successes, or failures.


@dataclasses.dataclass(frozen=True)
class Interval:
  """An estimate and its 95% interval."""

  value: float
  low: float
  high: float

  @property
  def width(self) -> float:
    return self.high - self.low


def wilson(share: float, num: float, z: float = Z_95) -> tuple[float, float]:
  """Wilson's (1927) interval of a share that was seen in `num` trials, (low, high).

  `num` need not be whole: an effective number of trials. Infinite gives a point. Next to 0% and
  100%, where Wilson's limit is too close, it is Poisson's (Brown, Cai and DasGupta, 2001).
  """
  if not 0 <= share <= 1 or not num > 0:
    raise ValueError(f"Got a share of {share} in {num} trials; expected 0..1 and more than 0.")
  if np.isinf(num):
    return share, share
  scale = 1.0 + z * z / num
  middle = (share + z * z / (2.0 * num)) / scale
  half = z * np.sqrt(share * (1.0 - share) / num + z * z / (4.0 * num * num)) / scale
  low, high = middle - half, middle + half
  if share * num <= _FEW:
    low = min(low, _fewest(share * num) / num)
  if (1.0 - share) * num <= _FEW:
    high = max(high, 1.0 - _fewest((1.0 - share) * num) / num)
  # Rounding must not part the interval from the share it is of.
  return float(min(share, max(0.0, low))), float(max(share, min(1.0, high)))


def _fewest(count: float) -> float:
  """The lowest mean of a Poisson count that is compatible with having seen `count`."""
  return float(stats.chi2.ppf(0.05, 2.0 * count)) / 2.0 if count > 0 else 0.0


def paired_variance(values: np.ndarray) -> float:
  """Variance of the mean of values [n] that stand in the order of their strata, one from each.

  Neighbours are taken for two draws of one stratum: sum of (v_j - v_{j+1})^2 / (2 n (n - 1)).
  """
  values = np.asarray(values, np.float64)
  n = len(values)
  if n < 2:
    raise ValueError(f"Got {n} values; a variance needs 2.")
  return float(np.sum(np.diff(values) ** 2) / (2.0 * n * (n - 1)))


def design_effect(values: np.ndarray) -> float:
  """Paired variance of values [n] in rank order over that of a random sample, drawn towards 1.

  1 where all are alike; never above 1.25: ranks cannot do harm, beyond chance.
  """
  values = np.asarray(values, np.float64)
  n = len(values)
  if n < 2 or np.ptp(values) == 0:
    return 1.0
  ratio = paired_variance(values) / (np.var(values, ddof=1) / n)
  return float(min(1.25, (n * ratio + _PRIOR_PAIRS) / (n + _PRIOR_PAIRS)))


def accuracy(answers: np.ndarray, num_samples: int) -> Interval:
  """The mean of answers [m] in rank order, for all N samples, with its interval."""
  answers = np.asarray(answers)
  m = _checked(answers, num_samples)
  share = float(np.mean(answers, dtype=np.float64))
  return Interval(share, *wilson(share, _effective(m, num_samples, design_effect(answers))))


def regression(answers: np.ndarray, predicted: np.ndarray, mean_predicted: float,
               num_samples: int) -> Interval:
  """The accuracy by a model of the answers: what it predicts of all, put right by the sample.

  Args:
    answers: 0/1 [m] in rank order.
    predicted: probabilities [m] of the same, by a model that was *not* fitted to them
      (cross-fitted): fitted ones look too good.
    mean_predicted: their mean over all N samples.
    num_samples: N.

  With few answers of one kind the residuals say little: the plain mean is taken then.
  """
  answers, predicted = np.asarray(answers, np.float64), np.asarray(predicted, np.float64)
  m = _checked(answers, num_samples)
  plain = accuracy(answers, num_samples)
  share = plain.value
  if m < 2 or min(share, 1.0 - share) * m < 8:
    return plain
  residuals = answers - predicted
  value = float(np.clip(mean_predicted + residuals.mean(), 0.0, 1.0))
  random = share * (1.0 - share)
  ratio = float(np.var(residuals, ddof=1)) * design_effect(residuals) / random
  if ratio >= design_effect(answers) or not 0.0 < value < 1.0 or m == num_samples:
    return plain  # The model does not help.
  return Interval(value, *wilson(value, _effective(m, num_samples, ratio)))


def difference(first: np.ndarray, second: np.ndarray, num_samples: int) -> Interval:
  """By how much the first of two models is more accurate, from both answers [m] to one sample.

  Agresti and Min's (2005) interval: half an answer is added to each of the four cells, so that the
  width is not 0 when the models agree throughout. It is far narrower than two intervals compared.
  """
  first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
  if first.shape != second.shape:
    raise ValueError(f"Got {len(first)} and {len(second)} answers; a paired comparison needs both "
                     "models' answers to the same samples.")
  m = _checked(first, num_samples)
  changes = first - second
  value = float(changes.mean())
  if m == num_samples:
    return Interval(value, value, value)
  n = m + 2.0
  middle = float(changes.sum()) / n
  spread = (float(np.sum(changes ** 2)) + 1.0) / n - middle ** 2
  half = Z_95 * np.sqrt(spread / _effective(n, num_samples + 2.0, design_effect(changes)))
  low, high = max(-1.0, middle - half), min(1.0, middle + half)
  return Interval(value, float(min(value, low)), float(max(value, high)))


def sign_test(first: np.ndarray, second: np.ndarray) -> float:
  """Exact p-value that two models are alike, from the samples where they differ (McNemar)."""
  first, second = np.asarray(first), np.asarray(second)
  wins, losses = int(np.sum(first > second)), int(np.sum(first < second))
  return float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def _effective(num: float, num_samples: float, effect: float) -> float:
  """How many random draws with replacement say as much: all that is observed is known."""
  left = 1.0 - num / num_samples
  return float("inf") if left <= 0 else num / (effect * left)


def _checked(answers: np.ndarray, num_samples: int) -> int:
  if answers.ndim != 1 or not 1 <= len(answers) <= num_samples:
    raise ValueError(f"Got answers of shape {list(answers.shape)} of {num_samples} samples; "
                     f"expected [m], 1 <= m <= {num_samples}.")
  return len(answers)
