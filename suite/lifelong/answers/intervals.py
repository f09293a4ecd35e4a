# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""95% intervals of an accuracy from some of its answers, and of the difference of two models.

Answers are in the order of the ranks they were sampled at. Such a sample is stratified: its
variance is lower than that of a random one, the more neighbors agree. All intervals have Wilson's
form, whose width is not 0 when all answers are equal, and shrink to a point when all are observed.
A `RandomSample` describes answers of other origins: weights, independent runs, gaps. Answers may be
graded, in [0, 1]; their variance is compared with that of 0/1 answers of the same mean.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from suite.lifelong.answers import random_sample

Z_95 = 1.959963984540054
# Number of pairs of a random sample that are mixed in: the ratio of variances is noisy otherwise.
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
  """Wilson's (1927) interval (low, high) of a share that was observed in `num` trials.

  `num` may be fractional (an effective number of trials); infinity gives a point. Near 0% and 100%,
  where Wilson's limit is too close, Poisson's is used (Brown, Cai and DasGupta, 2001).
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
  # The interval contains the share despite rounding.
  return float(min(share, max(0.0, low))), float(max(share, min(1.0, high)))


def _fewest(count: float) -> float:
  """The lowest mean of a Poisson variable that is compatible with observing `count`."""
  from scipy import stats  # pylint: disable=import-outside-toplevel
  return float(stats.chi2.ppf(0.05, 2.0 * count)) / 2.0 if count > 0 else 0.0


def paired_variance(values: np.ndarray, runs: np.ndarray | None = None) -> float:
  """Variance of the mean of values [n] in the order of their strata, one value from each.

  Neighbors are treated as two draws of one stratum: the mean of (v_j - v_{j+1})^2 / 2, over n.
  `runs` int [n]: neighbors of different runs are no pair.
  """
  values = np.asarray(values, np.float64)
  n = len(values)
  pairs = np.diff(values) if runs is None else np.diff(values)[np.diff(runs) == 0]
  if not len(pairs):
    raise ValueError(f"Got {n} values; a variance needs 2 neighbors.")
  return float(np.sum(pairs ** 2) / (2.0 * n * len(pairs)))


def design_effect(values: np.ndarray, runs: np.ndarray | None = None) -> float:
  """Paired variance of values [n] in rank order over that of a random sample, shrunk towards 1.

  1 if all values are equal or have no neighbors; at most 1.25: a larger ratio is chance.
  """
  values = np.asarray(values, np.float64)
  n = len(values)
  if n < 2 or np.ptp(values) == 0 or (runs is not None and not np.any(np.diff(runs) == 0)):
    return 1.0
  ratio = paired_variance(values, runs) / (np.var(values, ddof=1) / n)
  return float(min(1.25, (n * ratio + _PRIOR_PAIRS) / (n + _PRIOR_PAIRS)))


def clustered_effect(values: np.ndarray, clusters: np.ndarray, together: float) -> float:
  """Variance of the mean of values [n] over the variance for independent ones, 1 at least.

  Deviations are summed within clusters before they are squared (Miller, 2024), as far as clusters
  were drawn `together` (`random_sample.of_all`). It is times the square of what Student's t of as
  many clusters has beyond the normal distribution.
  """
  codes, sizes = np.unique(clusters, return_inverse=True, return_counts=True)[1:]
  if not together or len(sizes) < 2:
    return float(len(values)) if together else 1.0
  away = values - np.mean(values)
  alone, num = float(away @ away), len(sizes)
  # Answers that are all the same say nothing of clusters, which may be alike within.
  ratio = (float(np.sum(np.bincount(codes, away) ** 2)) * num / (num - 1) / alone if alone > 0 else
           float(np.sum(sizes**2)) / len(values))
  from scipy import stats  # pylint: disable=import-outside-toplevel
  wide = (float(stats.t.ppf(0.975, num - 1)) / Z_95) ** 2
  return max(1.0, 1.0 + together * (ratio - 1.0)) * (1.0 + together * (wide - 1.0))


def _design(values: np.ndarray, sample: random_sample.RandomSample) -> float:
  """The effect of how a sample was drawn on the variance of the mean of values [m]."""
  if sample.clusters is None:
    return design_effect(values, sample.runs)
  return clustered_effect(values, sample.clusters, sample.together)


def accuracy(answers: np.ndarray, num_samples: int,
             sample: random_sample.RandomSample | None = None) -> Interval:
  """Estimates the accuracy on all N samples by the mean of answers [m] in rank order.

  `sample` says what random sample the answers are; None: of one order.
  """
  answers = np.asarray(answers, np.float64)
  m = _checked(answers, num_samples)
  sample = sample or random_sample.in_order(m, num_samples)
  share = float(np.clip(sample.mean(answers), 0.0, 1.0))
  return _interval(share, _effect(answers, share, sample), sample)


def regression(answers: np.ndarray, predicted: np.ndarray, mean_predicted: float,
               num_samples: int, sample: random_sample.RandomSample | None = None) -> Interval:
  """Estimates the accuracy by predicted answers, corrected by the residuals on the sample.

  Args:
    answers: 0/1 or graded [m] in rank order.
    predicted: probabilities [m] of these answers by a model that was *not* fitted to them
      (cross-fitted); residuals of fitted answers are too small.
    mean_predicted: mean prediction over all N samples.
    num_samples: N.
    sample: as of `accuracy`.

  With few answers of one kind the residuals carry little information, and the plain mean is used.
  """
  answers, predicted = np.asarray(answers, np.float64), np.asarray(predicted, np.float64)
  m = _checked(answers, num_samples)
  sample = sample or random_sample.in_order(m, num_samples)
  share = float(np.clip(sample.mean(answers), 0.0, 1.0))
  effect = _effect(answers, share, sample)
  plain = _interval(share, effect, sample)
  if m < 2 or min(share, 1.0 - share) * m < 8:
    return plain
  residuals = answers - predicted
  value = float(np.clip(mean_predicted + sample.mean(residuals), 0.0, 1.0))
  random = share * (1.0 - share)
  ratio = float(np.var(residuals, ddof=1)) * _design(residuals, sample) / random
  if ratio >= effect or not 0.0 < value < 1.0 or m == num_samples:
    return plain  # The predictions do not reduce the variance.
  return _interval(value, ratio, sample)


def difference(first: np.ndarray, second: np.ndarray, num_samples: int,
               sample: random_sample.RandomSample | None = None, *, is_finite: bool = True
               ) -> Interval:
  """Difference in accuracy of two models, from their answers [m] to the same samples.

  With `is_finite` the difference is that on the N samples, which is known once all are answered.
  Otherwise it is about samples like these, as `sign_test` is, and order and N do not matter.

  Agresti and Min's (2005) interval: half an answer is added to each of the four cells, so the width
  is not 0 when the models always agree. It is far narrower than a comparison of two intervals.
  """
  first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
  if first.shape != second.shape:
    raise ValueError(f"Got {len(first)} and {len(second)} answers; a paired comparison needs both "
                     "models' answers to the same samples.")
  m = _checked(first, num_samples)
  sample = sample or random_sample.in_order(m, num_samples)
  changes = first - second
  value = sample.mean(changes)
  if m == num_samples and is_finite:
    return Interval(value, value, value)
  n = m + 2.0
  middle = value * m / n
  spread = (sample.mean(changes ** 2) * m + 1.0) / n - middle ** 2
  effective = (sample.effective(design_effect(changes, sample.runs)) if is_finite else
               sample.draws()) * n / m
  half = Z_95 * np.sqrt(spread / effective)
  known = 1.0 - sample.unknown
  low = max(-1.0, known * (middle - half) - sample.unknown)
  high = min(1.0, known * (middle + half) + sample.unknown)
  return Interval(value, float(min(value, low)), float(max(value, high)))


def clustered_difference(first: np.ndarray, second: np.ndarray, clusters: np.ndarray,
                         sample: random_sample.RandomSample) -> tuple[Interval, float]:
  """(difference, p) as by `difference` about samples like these, which come in clusters [m].

  Differences are weighted and summed within clusters; answers that do not all differ alike.
  """
  changes, num = np.asarray(first, np.float64) - second, len(first)
  value = sample.mean(changes)
  codes = np.unique(clusters, return_inverse=True)[1]
  sums = np.bincount(codes, sample.weights() * num * (changes - value))
  _, (low, high), p = student(value, np.array([sums @ sums]), np.array([num]), np.array(
      [len(sums)], np.float64), np.ones(1))
  known = 1.0 - sample.unknown
  return Interval(value, float(max(-1.0, known * low - sample.unknown)),
                  float(min(1.0, known * high + sample.unknown))), 1.0 if p is None else p


def student(value: float, deviations: np.ndarray, common: np.ndarray, num: np.ndarray,
            factors: np.ndarray) -> tuple[float, tuple[float, float], float | None]:
  """Student's paired t of a mean of tasks with Satterthwaite's degrees of freedom.

  Nothing in it depends on the range of the scores, or on other models.

  Args:
    value: the mean difference.
    deviations: [T], sums over clusters of squares of what each adds beyond the mean.
    common, num, factors: [T], samples and clusters of each task, and its factor in the mean.

  Returns:
    (value, interval, p); no p where no task has two clusters.
  """
  free = num - 1.0
  if not np.any(free > 0):
    return value, (-1.0, 1.0), None
  deviations = np.maximum(deviations, 0.0)
  # A task of one cluster varies as the others do within, by sample.
  each = np.where(free > 0, deviations * num / np.maximum(free, 1.0) / common,
                  (deviations * (free > 0)).sum() / free.sum())
  parts = factors**2 * each / common
  variance = float(parts.sum())
  if variance <= (1e-9 * value) ** 2:  # Rounding alone.
    return value, (value, value), 1.0 if value == 0.0 else 0.0
  freedom = variance**2 / float(np.sum(parts**2 / np.where(free > 0, free, free.sum())))
  from scipy import stats  # pylint: disable=import-outside-toplevel
  half = float(stats.t.ppf(0.975, freedom)) * np.sqrt(variance)
  return value, (value - half, value + half), 2.0 * float(
      stats.t.sf(abs(value) / np.sqrt(variance), freedom))


def sign_test(first: np.ndarray, second: np.ndarray) -> float:
  """Exact p-value of equal accuracy, from the samples where two models differ (McNemar)."""
  first, second = np.asarray(first), np.asarray(second)
  wins, losses = int(np.sum(first > second)), int(np.sum(first < second))
  from scipy import stats  # pylint: disable=import-outside-toplevel
  return float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def normal_test(gap: Interval) -> float:
  """p-value of no difference, from its 95% interval."""
  from scipy import stats  # pylint: disable=import-outside-toplevel
  half = gap.width / 2.0
  return 2.0 * float(stats.norm.sf(Z_95 * abs(gap.low + gap.high) / 2.0 / half)) if half else 1.0


def _effect(answers: np.ndarray, share: float, sample: random_sample.RandomSample) -> float:
  """Design effect of answers, times the variance of graded ones over that of 0/1 answers."""
  effect = _design(answers, sample)
  if np.all((answers == 0) | (answers == 1)) or not 0.0 < share < 1.0:
    return effect
  return effect * max(float(np.var(answers)), 1e-12) / (share * (1.0 - share))


def _interval(value: float, effect: float, sample: random_sample.RandomSample) -> Interval:
  """Wilson's interval, widened by what the sample does not cover."""
  return Interval(value, *sample.widened(*wilson(value, sample.effective(effect))))


def _checked(answers: np.ndarray, num_samples: int) -> int:
  if answers.ndim != 1 or not 1 <= len(answers) <= num_samples:
    raise ValueError(f"Got answers of shape {list(answers.shape)} of {num_samples} samples; "
                     f"expected [m], 1 <= m <= {num_samples}.")
  return len(answers)
