# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Models of a cache in pairs, on the samples that both of a pair have answered: which differ?

Test and interval are about the same population: samples like those of the cache. (About the very
samples of the cache there is nothing to test once all are answered.) Of 0/1 answers to samples of
one weight the test is McNemar's, exact; of a mean of tasks it is a normal one of the differences
within tasks, and intervals have Agresti and Min's (2005) form. Of scores that are kept as values
test and interval are Student's, paired, with Satterthwaite's degrees of freedom over tasks: they do
not change when scores are rescaled or other models added. So they are where samples come in
clusters, such as questions about one passage, whose differences are then summed before they are
squared (Miller, 2024). The p-values of all pairs are corrected by Holm's (1979) method: the chance
that any difference is called one by mistake is at most the level.

A cluster of models ends where every model above differs from every model below. The ranks of a
model go from one more than the number of models that are better to the number of those that are not
worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import dataclasses
import itertools
from typing import NamedTuple

import numpy as np

from suite.lifelong import standings
from suite.lifelong.answers import intervals
from suite.lifelong.cache import accuracy_cache
from suite.metrics import paired_tests

_BLOCK = 1 << 14
_MOST = 200  # Largest number of models to compare: there are 19,900 pairs of them.


@dataclasses.dataclass(frozen=True)
class Pair:
  """Two models, the first with the higher score.

  Attributes:
    first, second: their names.
    difference: of the scores on the samples that both have answered.
    interval: 95%, about samples like these.
    p: of equal scores; None: some task has no sample that both have answered.
    corrected: p, corrected for all pairs.
    num_samples: number of samples that both have answered.
  """

  first: str
  second: str
  difference: float
  interval: tuple[float, float]
  p: float | None
  corrected: float | None
  num_samples: int


@dataclasses.dataclass(frozen=True)
class Comparison:
  """M models, the best score first.

  Attributes:
    models: their scores.
    clusters: number of the cluster of each, from 1 on.
    ranks: (best, worst) rank of each.
    pairs: all pairs.
    level: a corrected p below it is a difference.
    by: as of `standings.Standings`.
    bounds: range of the scores, as of `standings.Standings`.
  """

  models: list[standings.RankedModel]
  clusters: list[int]
  ranks: list[tuple[int, int]]
  pairs: list[Pair]
  level: float
  by: str
  bounds: tuple[float, float] = (0.0, 1.0)


def compare(cache: accuracy_cache.AccuracyCache, scale: standings.Scale | None = None, *,
            models: Sequence[str] = (), top: int = 20, level: float = 0.05,
            clusters: Sequence[int] | np.ndarray | None = None) -> Comparison:
  """Compares models of a cache.

  Args:
    cache: the cache.
    scale: what a score is; None: the mean of tasks if there are two, else of samples.
    models: their names; (): the `top` best ones.
    top: number of models if none are named.
    level: of the tests, all pairs together.
    clusters: int [N], the cluster of each sample, such as its passage: other clusters would be
      drawn, not other samples (Miller, 2024). None: samples are independent.
  """
  if not 0.0 < level < 1.0:
    raise accuracy_cache.CacheError(f"Got a level of {level:g}; expected one between 0 and 1, such "
                                    "as 0.05.")
  scale = scale or standings.Scale()
  found = standings.Standings(cache, scale)
  ranked = found.ranked()
  unknown = sorted(set(models) - {one.name for one in ranked})
  if unknown:
    raise accuracy_cache.CacheError(f"The cache has no answers of {', '.join(unknown[:3])}; it has "
                                    f"those of {', '.join(one.name for one in ranked[:6])}.")
  ranked = [one for one in ranked if not models or one.name in models]
  ranked = ranked if models else ranked[:top]
  if not 2 <= len(ranked) <= _MOST:
    raise accuracy_cache.CacheError(f"Got {len(ranked)} models to compare; expected 2 to {_MOST}.")
  is_pooled = found.by == standings.SAMPLES and not scale.chance
  counted = _counted(cache, [one.name for one in ranked], [
      (0, np.arange(cache.num_samples))] if is_pooled else list(found.samples_of_tasks()),
      None if clusters is None else np.asarray(clusters))
  places = list(itertools.combinations(range(len(ranked)), 2))
  factors = np.ones(1) if is_pooled else found.factors
  raw = [_pair(_Counts(*(one[:, a, b] for one in counted)), factors,
               cache.value_range is not None or clusters is not None) for a, b in places]
  span = found.bounds[1] - found.bounds[0]
  raw = [(value * span, (low * span, high * span), p) for value, (low, high), p in raw]
  tested = [index for index, one in enumerate(raw) if one[2] is not None]
  corrected: list[float | None] = [None] * len(raw)
  for index, value in zip(tested, paired_tests.holm([raw[index][2] or 0.0 for index in tested])):
    corrected[index] = float(value)
  pairs = [Pair(ranked[a].name, ranked[b].name, *one, fixed, int(counted.common[:, a, b].sum()))
           for (a, b), one, fixed in zip(places, raw, corrected)]
  better = np.zeros([len(ranked), len(ranked)], bool)
  for (a, b), one in zip(places, pairs):
    if one.corrected is not None and one.corrected < level:
      better[(a, b) if one.difference > 0 else (b, a)] = True
  numbers = [1]
  for place in range(1, len(ranked)):
    numbers.append(numbers[-1] + bool(better[:place, place:].all()))
  ranks = [(1 + int(better[:, place].sum()), len(ranked) - int(better[place].sum()))
           for place in range(len(ranked))]
  return Comparison(ranked, numbers, ranks, pairs, level, found.by, found.bounds)


class _Counts(NamedTuple):
  """What is known of the differences of two models in each task, or of all pairs: [T, ...].

  Attributes:
    sums: of the differences. squares: of those of clusters; each sample is one by itself where
      there are none. common: samples that both have answered.
    products: sums of the difference of a cluster times its number of samples; sizes: of the squares
      of these numbers; num: of clusters.
  """

  sums: np.ndarray
  squares: np.ndarray
  common: np.ndarray
  products: np.ndarray
  sizes: np.ndarray
  num: np.ndarray


def _counted(cache: accuracy_cache.AccuracyCache, names: Sequence[str],
             tasks: Sequence[tuple[int, np.ndarray]], clusters: np.ndarray | None) -> _Counts:
  """Counts of all pairs, [T, M, M]: the row's model minus the column's.

  Args:
    tasks: number of each task and its samples.
  """
  counts = _Counts(*np.zeros([6, len(tasks), len(names), len(names)]))
  whole = cache.value_range
  for task, samples in tasks:
    if clusters is not None:  # Each in one block.
      samples = samples[np.argsort(clusters[samples], kind="stable")]
    for here in _blocks(samples, clusters):
      if whole is not None:
        shares = whole.shares(cache.values(here, names).astype(np.float64))
        seen = (~np.isnan(shares)).astype(np.float64)
        # Without the mean of each sample: squares of small differences stay exact.
        shares -= np.nansum(shares, axis=0) / np.maximum(seen.sum(axis=0), 1.0)
        shares = np.nan_to_num(shares)
      else:
        shares = cache.columns(here, names).astype(np.float64)
        seen = cache.columns(here, names, seen=True).astype(np.float64)
      if clusters is None:
        sums, squares = shares @ seen.T, shares**2 @ seen.T
        common = seen @ seen.T
        parts = [sums - sums.T, squares + squares.T - 2.0 * shares @ shares.T, common,
                 sums - sums.T, common, common]
        for total, part in zip(counts, parts):
          total[task] += part
        continue
      ends = np.flatnonzero(np.diff(clusters[here])) + 1
      for inside in np.split(np.arange(len(here)), ends):
        difference = shares[:, inside] @ seen[:, inside].T
        difference = difference - difference.T
        num = seen[:, inside] @ seen[:, inside].T
        for total, part in zip(counts, (difference, difference**2, num, difference * num, num**2,
                                        num > 0)):
          total[task] += part
  return counts


def _blocks(samples: np.ndarray, clusters: np.ndarray | None) -> Iterator[np.ndarray]:
  """Samples in blocks; none ends within a cluster."""
  if clusters is None:
    starts = np.arange(0, len(samples), _BLOCK)
  else:
    begins = np.flatnonzero(np.diff(clusters[samples], prepend=-1))
    starts = begins[np.unique(begins // _BLOCK, return_index=True)[1]] if len(samples) else begins
  for start, end in zip(starts, [*starts[1:], len(samples)]):
    yield samples[start:end]


def _pair(counts: _Counts, factors: np.ndarray, is_graded: bool
          ) -> tuple[float, tuple[float, float], float | None]:
  """(difference, interval, p) from the numbers [T] of one pair, and factors [T] of tasks."""
  used = factors > 0
  if np.any(counts.common[used] == 0):
    return 0.0, (-1.0, 1.0), None
  counts, factors = _Counts(*(one[used] for one in counts)), factors[used]
  sums, squares, common = counts[:3]
  value = float(factors @ (sums / common))
  from scipy import stats  # pylint: disable=import-outside-toplevel
  if is_graded:
    means = sums / common
    # The squares of what each cluster adds to the sum beyond the mean of its samples.
    deviations = squares - 2.0 * means * counts.products + means**2 * counts.sizes
    return intervals.student(value, deviations, common, counts.num, factors)
  num = common + 2.0
  middle = sums / num
  variance = ((squares + 1.0) / num - middle**2) / num
  center, width = float(factors @ middle), float(np.sqrt(factors**2 @ variance))
  half = intervals.Z_95 * width
  if len(sums) > 1:
    p = 2.0 * float(stats.norm.sf(abs(center) / width))
  else:
    differing = int(squares[0])
    p = (float(stats.binomtest(int(squares[0] + sums[0]) // 2, differing).pvalue)
         if differing else 1.0)
  return value, (min(value, center - half), max(value, center + half)), p
