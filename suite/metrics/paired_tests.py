# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tests of differences between methods whose runs answered the same test images.

A score is the sum of what each unit adds: a unit is a test image, or an episode of images that
were answered by one adapted model. `values[s, u]` is what unit u adds to the score of seed s. Seeds
and units are two crossed sources of chance: every seed answers the same units. The variance of a
mean over seeds therefore has three parts (Brennan, 2001, "Generalizability Theory", chapter 2):

    seeds         another training run would score otherwise          falls with 1 / seeds
    units         other test images would be answered otherwise       falls with 1 / units
    both          which images a seed gets right                      falls with 1 / (seeds units)

To pool the answers of all seeds and to count them as separate images (S times U of them) leaves out
the first part and counts the second S times: it finds differences where there are none
(`tools/paired_levels.py`). So does a bootstrap over the images of one seed. A percentile interval
of three resampled seeds cannot reach beyond their range, and covers at most 1 - 2 / 2^3 = 75% if
seeds dominate. Here the variance of the parts is estimated, and the interval is Student's t with
Satterthwaite's degrees of freedom.

Pairs of methods are corrected by Holm (1979), as Demsar (2006) and Benavoli et al. (2016) advise in
place of post-hoc tests of mean ranks, which depend on the other methods of the table. A method's
rank is at least 1 + the number of methods that are better beyond chance, and at most the number of
methods - those that are worse: simultaneous intervals (Klein et al., 2020; Mohamad et al., 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math
from typing import NamedTuple

import numpy as np

LEVEL = 0.05
_UNLIKE = 0.05  # Level of the F tests of seed variances of methods, all together.
_AT_ONCE = 100  # Resamples; more would need more memory.


class McNemar(NamedTuple):
  """How many units one of two models alone has right, and the exact two-sided p-value."""

  first_only: int
  second_only: int
  p_value: float


class Parts(NamedTuple):
  """A mean over seeds and the variance of that mean, by source.

  Attributes:
    mean: of the seeds' scores.
    seeds: of training alone, at least 0; NaN for one seed, whose part is unknown.
    units: of the test units, with the part of both sources.
    both: the part of `units` that is of both sources; 0 for one seed.
    spread: variance of the seeds' scores / number of seeds: `seeds` + `both`, as it was measured.
    num_seeds, free_units: number of seeds, degrees of freedom of the units.
  """

  mean: float
  seeds: float
  units: float
  both: float
  spread: float
  num_seeds: int
  free_units: int


class Comparison(NamedTuple):
  """All pairs of M methods.

  Attributes:
    parts: of each method's score.
    half_widths: half of each method's 95% interval, as of `half_width`; NaN for one seed.
    difference: [M, M], the mean of the row's method minus that of the column's, over common seeds.
    margin: [M, M], half of the difference's interval, not corrected.
    p_value: [M, M], corrected by Holm over all pairs; NaN where two methods have no common seed.
    seeds_apart: [M, M], the number of common seeds within which the two models differ by
      `within_seed`, not corrected.
    num_seeds: [M, M], of common seeds.
  """

  parts: list[Parts]
  half_widths: np.ndarray
  difference: np.ndarray
  margin: np.ndarray
  p_value: np.ndarray
  seeds_apart: np.ndarray
  num_seeds: np.ndarray

  def is_apart(self, i: int, j: int, level: float = LEVEL) -> bool:
    return bool(self.p_value[i, j] < level)


class Friedman(NamedTuple):
  """Whether ranks of k methods in n blocks differ at all, and Nemenyi's critical difference."""

  statistic: float
  p_value: float
  critical_difference: float


def mcnemar(first: np.ndarray, second: np.ndarray) -> McNemar:
  """McNemar's exact test of two models' answers to the same units.

  Args:
    first, second: bool [U], True for a correct answer.

  Returns:
    units that only one has right, and the p-value of a fair coin between them: binomial, exact.
  """
  first, second = np.asarray(first, bool), np.asarray(second, bool)
  if first.shape != second.shape or first.ndim != 1:
    raise ValueError(f"Got answers of shapes {list(first.shape)} and {list(second.shape)}; "
                     "expected [U] of the same units in the same order.")
  only, other = int(np.sum(first & ~second)), int(np.sum(second & ~first))
  return McNemar(only, other, _fair_coin(only, other))


def _fair_coin(heads: int, tails: int) -> float:
  """Exact two-sided p-value; that of `scipy.stats.binomtest`, which takes a millisecond."""
  if heads == tails:
    return 1.0
  from scipy import special  # pylint: disable=import-outside-toplevel
  return min(1.0, 2 * float(special.bdtr(min(heads, tails), heads + tails, 0.5)))


def within_seed(difference: np.ndarray, strata: np.ndarray) -> float:
  """p-value of the difference of two models on the units of one seed.

  It is McNemar's exact test where units add 0 or one amount, and else a z-test, as units of several
  test sets or with several answers do not weigh the same.

  Args:
    difference: [U], what each unit adds to the difference of the scores.
    strata: int [U], the test set of each unit.
  """
  amounts = np.abs(difference[difference != 0])
  if not len(amounts):
    return 1.0
  if np.allclose(amounts, amounts[0]):
    only = int(np.sum(difference > 0))
    return _fair_coin(only, len(amounts) - only)
  variance, _ = _of_units(difference, strata)
  return math.erfc(abs(difference.sum()) / math.sqrt(2 * variance)) if variance else 0.0


def parts(values: np.ndarray, strata: np.ndarray) -> Parts:
  """Mean score and the parts of its variance.

  Args:
    values: [S, U], what each unit adds to the score of each seed, or to a difference of scores.
    strata: int [U], the test set of each unit: another draw has as many units of each.
  """
  values = np.asarray(values, np.float64)
  num_seeds = len(values)
  scores = values.sum(axis=1)
  units, free = _of_units(values.mean(axis=0), strata)
  if num_seeds < 2:
    return Parts(float(scores.mean()), math.nan, units, 0.0, math.nan, num_seeds, free)
  if not np.ptp(values, axis=0).any():  # Nothing is drawn in training.
    return Parts(float(scores[0]), 0.0, units, 0.0, 0.0, num_seeds, free)
  # What remains of a unit after its mean over seeds and the seed's mean within the test set.
  remainders = values - values.mean(axis=0)
  num_sets = int(strata.max()) + 1
  rows = strata + num_sets * np.arange(num_seeds)[:, None]  # The sets of every seed by themselves.
  both = _of_units(remainders.ravel(), rows.ravel())[0] / (num_seeds - 1) / num_seeds
  spread = float(np.var(scores, ddof=1)) / num_seeds
  return Parts(float(scores.mean()), max(0.0, spread - both), units, both, spread, num_seeds, free)


def _of_units(values: np.ndarray, strata: np.ndarray) -> tuple[float, int]:
  """Variance of the sum of [U] if each test set's units were drawn again; degrees of freedom.

  A test set of one unit has no variance that could be estimated, and adds none.
  """
  sizes = np.bincount(strata)
  means = np.bincount(strata, values) / np.maximum(sizes, 1)
  squares = np.bincount(strata, np.square(values - means[strata]))
  several = sizes > 1
  return (float(np.sum(squares[several] * sizes[several] / (sizes[several] - 1))),
          int(np.sum(sizes[several] - 1)))


def half_width(found: Parts, level: float = LEVEL) -> float:
  """Half of the interval of a mean over seeds; for one seed that of the test units alone."""
  variance, free = _total(found, 0.0, 0.0)
  if not free:
    return math.nan
  from scipy import stats  # pylint: disable=import-outside-toplevel
  return float(stats.t.isf(level / 2, free)) * math.sqrt(variance)


def _total(found: Parts, floor: float, free_floor: float) -> tuple[float, float]:
  """Variance of a mean and Satterthwaite's degrees of freedom; 0 of them without any variance.

  Args:
    found: parts of the variance.
    floor: the part of the seeds is at least this, of `free_floor` degrees of freedom.
  """
  if found.num_seeds < 2 or not found.spread and not found.both:
    return found.units, found.free_units if found.units else 0
  seeds, spread, free = found.seeds, found.spread, float(found.num_seeds - 1)
  if floor > seeds:
    seeds, spread, free = floor, floor + found.both, free_floor
  variance = seeds + found.units
  below = (spread ** 2 / free + found.units ** 2 / max(found.free_units, 1)
           + found.both ** 2 / max((found.num_seeds - 1) * found.free_units, 1))
  return variance, variance ** 2 / below if below else 0.0


def compare(values: Sequence[np.ndarray], seeds: Sequence[Sequence[str]], strata: np.ndarray,
            level: float = LEVEL) -> Comparison:
  """Compares all pairs of M methods over their common seeds.

  The part of the seeds in the variance of a difference is at least its mean over the pairs of
  methods that vary alike: from two to five seeds it is often found too small by chance, and among
  many pairs one would be found significant for that alone. A method whose scores vary more than
  those of the others has no part in their mean (`_alike`). Two methods without any chance in
  training, whose seeds gave the same answers, have no such part.

  Args:
    values: M arrays [S, U], one row a seed; the units are the same in all.
    seeds: names of the S seeds of each.
    strata: int [U], the test set of each unit.
    level: of the intervals.
  """
  num = len(values)
  found = [parts(of_method, strata) for of_method in values]
  comparison = Comparison(
      found, np.array([half_width(one, level) for one in found]), np.zeros([num, num]),
      np.full([num, num], math.nan), np.full([num, num], math.nan), np.zeros([num, num], int),
      np.zeros([num, num], int))
  pairs: list[tuple[int, int, Parts]] = []
  for i, j in itertools.combinations(range(num), 2):
    common = [name for name in seeds[i] if name in seeds[j]]
    if not common:
      continue
    difference = np.stack([values[i][list(seeds[i]).index(name)]
                           - values[j][list(seeds[j]).index(name)] for name in common])
    pairs.append((i, j, parts(difference, strata)))
    apart = sum(within_seed(row, strata) < level for row in difference)
    comparison.seeds_apart[[i, j], [j, i]] = apart
    comparison.num_seeds[[i, j], [j, i]] = len(common)
  kinds = _alike([one.spread for one in found], [one.num_seeds - 1 for one in found])
  from scipy import stats  # pylint: disable=import-outside-toplevel
  raw = []
  for i, j, one in pairs:
    variance, of_pair = _total(one, *_floor(pairs, found, kinds, i, j))
    scale = math.sqrt(variance)
    comparison.difference[i, j], comparison.difference[j, i] = one.mean, -one.mean
    comparison.margin[[i, j], [j, i]] = (
        float(stats.t.isf(level / 2, of_pair)) * scale if of_pair else 0.0)
    equal = math.isclose(one.mean, 0.0, abs_tol=1e-12)
    raw.append(1.0 if equal else 0.0 if not scale else
               float(2 * stats.t.sf(abs(one.mean) / scale, of_pair)))
  for (i, j, _), p_value in zip(pairs, holm(raw)):
    comparison.p_value[[i, j], [j, i]] = p_value
  return comparison


def _alike(spreads: Sequence[float], free: Sequence[int]) -> np.ndarray:
  """Numbers [M] of methods whose scores vary alike over seeds: 0 for those that vary as most do.

  From the method that varies most on, each that varies more than the mean of those left by an F
  test at `_UNLIKE` over their number is one by itself.

  Args:
    spreads: variance of each method's mean over seeds; NaN for one seed. free: degrees of freedom.
  """
  from scipy import stats  # pylint: disable=import-outside-toplevel
  kinds = np.zeros(len(spreads), int)
  left = sorted((k for k, one in enumerate(spreads) if one > 0), key=lambda k: spreads[k])
  while len(left) > 1:
    most, others = left[-1], left[:-1]
    of_others = sum(free[k] for k in others)
    mean = sum(free[k] * spreads[k] for k in others) / of_others
    if stats.f.sf(spreads[most] / mean, free[most], of_others) * len(left) >= _UNLIKE:
      break
    kinds[most] = most + 1
    left = others
  return kinds


def _floor(pairs: Sequence[tuple[int, int, Parts]], found: Sequence[Parts], kinds: np.ndarray,
           i: int, j: int) -> tuple[float, float]:
  """The least variance by seeds of the difference of two methods, and its degrees of freedom.

  That is the mean over the pairs of methods that vary alike; of a method that does not, the mean
  over its own pairs.
  """
  apart = [k for k in (i, j) if kinds[k]]
  if len(apart) == 2:  # Their own pair alone.
    same, methods = [one for a, b, one in pairs if (a, b) == (i, j)], [i, j]
  elif apart:
    same = [one for a, b, one in pairs if apart[0] in (a, b) and not (kinds[a] and kinds[b])]
    methods = apart
  else:
    same = [one for a, b, one in pairs if not kinds[a] and not kinds[b]]
    methods = [k for k in range(len(found)) if not kinds[k]]
  # Not clipped at 0 before the mean, which would be too large.
  known = [one.spread - one.both for one in same if one.spread > 0]
  spreads = np.array([found[k].spread for k in methods if found[k].num_seeds > 1])
  free = float(np.sum(spreads) ** 2 / np.sum(spreads ** 2)) if np.any(spreads) else 1.0
  return max(0.0, float(np.mean(known))) if known else 0.0, free * (
      max((found[k].num_seeds for k in methods), default=2) - 1)


def holm(p_values: Sequence[float]) -> np.ndarray:
  """p-values corrected for their number, so that the chance of any false one is at most the level.

  Holm (1979): the k-th smallest of m is multiplied by m - k + 1, and is at least the one before.
  """
  given = np.asarray(p_values, np.float64)
  order = np.argsort(given, kind="stable")
  grown = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
  corrected = np.empty(len(given))
  corrected[order] = np.minimum(grown, 1.0)
  return corrected


def rank_intervals(comparison: Comparison, *, lower_is_better: bool = False, level: float = LEVEL
                   ) -> list[tuple[int, int]]:
  """The ranks that each method may have; all of them hold at once with 1 - `level`.

  A method whose first possible rank is 1 is in the group of the best: no method is better than it
  beyond chance.
  """
  sign = -1 if lower_is_better else 1
  apart = np.nan_to_num(comparison.p_value, nan=1.0) < level
  better = apart & (sign * comparison.difference > 0)  # The row's method is better.
  return [(1 + int(better[:, i].sum()), len(better) - int(better[i].sum()))
          for i in range(len(better))]


def groups(comparison: Comparison, order: Sequence[int], level: float = LEVEL) -> list[str]:
  """Letters of each method's groups: of methods that share a letter no two are apart.

  They are the bars of a critical-difference diagram (Demsar, 2006): the longest runs of the order.

  Args:
    comparison: of M methods.
    order: numbers of the methods, best first.
    level: of the corrected p-values.
  """
  runs: list[tuple[int, int]] = []
  for first in range(len(order)):
    last = first
    while last + 1 < len(order) and not any(
        comparison.is_apart(order[last + 1], order[k], level) for k in range(first, last + 1)):
      last += 1
    if not runs or last > runs[-1][1]:
      runs.append((first, last))
  place = {method: k for k, method in enumerate(order)}
  return [" ".join(_letters(n) for n, (first, last) in enumerate(runs)
                   if first <= place[i] <= last) for i in range(len(order))]


def _letters(number: int) -> str:
  """a, b, ..., z, aa, ab, ..."""
  text = ""
  while number >= 0:
    number, rest = divmod(number, 26)
    text, number = chr(ord("a") + rest) + text, number - 1
  return text


def two_level_bootstrap(values: np.ndarray, strata: np.ndarray, *, num: int, seed: int
                        ) -> np.ndarray:
  """Scores of M methods if seeds and test units were drawn again, each from those there are.

  Each resample draws seeds, for all methods the same, and units within each test set, for all seeds
  the same. Deviations of seeds are scaled by sqrt(S / (S - 1)), without which S resampled seeds
  vary too little. Percentiles of it cover less than they say for few seeds; see `compare`.

  Args:
    values: [M, S, U], what each unit adds to the score.
    strata: int [U], the test set of each unit.
    num: number of resamples.
    seed: of the draws.

  Returns:
    [num, M].
  """
  values, rng = np.asarray(values, np.float64), np.random.default_rng(seed)
  num_methods, num_seeds, num_units = values.shape
  places = [np.flatnonzero(strata == one) for one in np.unique(strata)]
  scale = math.sqrt(num_seeds / (num_seeds - 1)) if num_seeds > 1 else 1.0
  found = np.empty([num, num_methods])
  for first in range(0, num, _AT_ONCE):
    size = min(_AT_ONCE, num - first)
    counts = np.zeros([size, num_units])
    for of_set in places:
      drawn = of_set[rng.integers(len(of_set), size=[size, len(of_set)])]
      rows = np.arange(size)[:, None] * num_units
      counts += np.bincount((drawn + rows).ravel(), minlength=counts.size).reshape(counts.shape)
    scores = np.einsum("msu,ku->kms", values, counts, optimize=True)
    seeds = rng.multinomial(num_seeds, np.full(num_seeds, 1 / num_seeds), size) / num_seeds
    mean = scores.mean(axis=2)
    found[first:first + size] = mean + scale * (np.einsum("kms,ks->km", scores, seeds) - mean)
  return found


def friedman(scores: np.ndarray, *, level: float = LEVEL) -> Friedman:
  """Friedman's test of ranks, and Nemenyi's critical difference of two mean ranks.

  Args:
    scores: [N, K], of K methods in N blocks, such as protocols or tasks.
    level: of the critical difference.

  Returns:
    NaN for fewer than three methods or two blocks. Demsar (2006, section 3.2) gives both formulas.
  """
  num, methods = np.shape(scores)
  if num < 2 or methods < 3:
    return Friedman(math.nan, math.nan, math.nan)
  from scipy import stats  # pylint: disable=import-outside-toplevel
  with np.errstate(invalid="ignore", divide="ignore"):  # All methods tie in every block.
    statistic, p_value = stats.friedmanchisquare(*np.asarray(scores, np.float64).T)
  width = float(stats.studentized_range.isf(level, methods, np.inf)) / math.sqrt(2)
  return Friedman(float(statistic), float(p_value),
                  width * math.sqrt(methods * (methods + 1) / (6 * num)))
