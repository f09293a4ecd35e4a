# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Paired comparison of many models on the samples that both of a pair have answered.

Test and interval are about the same population: samples like those of the cache. (About the very
samples of the cache there is nothing to test once all are answered.) Of 0/1 answers to samples of
one weight the test is McNemar's, exact; of a mean of tasks it is a normal one of the differences
within tasks, and of scores that are kept as values a normal one, too. Intervals have Agresti and
Min's (2005) form. The p-values of all pairs are corrected by Holm's (1979) method: the chance that
any difference is called one by mistake is at most the level.

A cluster ends where every model above differs from every model below. The ranks of a model go from
one more than the number of models that are better to the number of those that are not worse.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import itertools

import numpy as np

from suite.lifelong import standings
from suite.lifelong.answers import intervals
from suite.lifelong.cache import accuracy_cache
from suite.metrics import paired_tests

_BLOCK = 1 << 14
_MOST = 200  # Largest number of models: there are 19,900 pairs of them.


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
    by: "tasks" or "samples".
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
            models: Sequence[str] = (), top: int = 20, level: float = 0.05) -> Comparison:
  """Compares models of a cache.

  Args:
    cache: the cache.
    scale: what a score is; None: the mean of tasks if there are two, else of samples.
    models: their names; (): the `top` best ones.
    top: number of models if none are named.
    level: of the tests, all pairs together.
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
  wins, common, is_graded = _counted(cache, [one.name for one in ranked], found)
  places = list(itertools.combinations(range(len(ranked)), 2))
  raw = [_pair(wins[:, a, b], wins[:, b, a], common[:, a, b], found.factors, found.by,
               bool(scale.chance), is_graded)
         for a, b in places]
  span = found.bounds[1] - found.bounds[0]
  raw = [(value * span, (low * span, high * span), p) for value, (low, high), p in raw]
  tested = [index for index, one in enumerate(raw) if one[2] is not None]
  corrected: list[float | None] = [None] * len(raw)
  for index, value in zip(tested, paired_tests.holm([raw[index][2] or 0.0 for index in tested])):
    corrected[index] = float(value)
  pairs = [Pair(ranked[a].name, ranked[b].name, *one, fixed, int(common[:, a, b].sum()))
           for (a, b), one, fixed in zip(places, raw, corrected)]
  better = np.zeros([len(ranked), len(ranked)], bool)
  for (a, b), one in zip(places, pairs):
    if one.corrected is not None and one.corrected < level:
      better[(a, b) if one.difference > 0 else (b, a)] = True
  clusters = [1]
  for place in range(1, len(ranked)):
    clusters.append(clusters[-1] + bool(better[:place, place:].all()))
  ranks = [(1 + int(better[:, place].sum()), len(ranked) - int(better[place].sum()))
           for place in range(len(ranked))]
  return Comparison(ranked, clusters, ranks, pairs, level, found.by, found.bounds)


def _counted(cache: accuracy_cache.AccuracyCache, names: Sequence[str],
             found: standings.Standings) -> tuple[np.ndarray, np.ndarray, bool]:
  """([T, M, M] samples that one is right on and the other wrong, [T, M, M] that both answered,
  whether answers are graded).

  Of graded answers, with differences d, the first is the sum of (d^2 + d) / 2, so that the sum of
  both directions is that of d^2, and their difference that of d, as of right and wrong answers.
  """
  num_tasks = len(found.tasks)
  wins, common = (np.zeros([num_tasks, len(names), len(names)]) for _ in range(2))
  whole, is_graded = cache.value_range, False
  for task, samples in found.samples_of_tasks():
    for start in range(0, len(samples), _BLOCK):
      here = samples[start:start + _BLOCK]
      if whole is not None:
        shares = whole.shares(cache.values(here, names).astype(np.float64))
        seen, shares = (~np.isnan(shares)).astype(np.float64), np.nan_to_num(shares)
        is_graded |= bool(np.any((shares != 0) & (shares != 1)))
        sums, squares = shares @ seen.T, shares**2 @ seen.T
        changes = squares + squares.T - 2.0 * shares @ shares.T
        wins[task] += (changes + sums - sums.T) / 2.0
        common[task] += seen @ seen.T
        continue
      right = cache.columns(here, names).astype(np.float32)
      seen = cache.columns(here, names, seen=True).astype(np.float32)
      wins[task] += right @ (seen - right).T
      common[task] += seen @ seen.T
  return wins, common, is_graded


def _pair(wins: np.ndarray, losses: np.ndarray, common: np.ndarray, factors: np.ndarray, by: str,
          is_normalized: bool, is_graded: bool) -> tuple[float, tuple[float, float], float | None]:
  """(difference, interval, p) from the numbers [T] of one pair."""
  if by == standings.SAMPLES and not is_normalized:
    wins, losses, common = (one.sum(keepdims=True) for one in (wins, losses, common))
    factors = np.ones(1)
  used = factors > 0
  if np.any(common[used] == 0):
    return 0.0, (-1.0, 1.0), None
  wins, losses, common, factors = wins[used], losses[used], common[used], factors[used]
  value = float(factors @ ((wins - losses) / common))
  num = common + 2.0
  middle = (wins - losses) / num
  variance = ((wins + losses + 1.0) / num - middle**2) / num
  center, width = float(factors @ middle), float(np.sqrt(factors**2 @ variance))
  half = intervals.Z_95 * width
  from scipy import stats  # pylint: disable=import-outside-toplevel
  if len(wins) > 1 or is_graded:
    p = 2.0 * float(stats.norm.sf(abs(center) / width))
  else:
    differing = int(wins[0] + losses[0])
    p = float(stats.binomtest(int(wins[0]), differing).pvalue) if differing else 1.0
  return value, (min(value, center - half), max(value, center + half)), p
