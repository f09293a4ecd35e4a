# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Fixed small benchmarks: samples with weights, so that a weighted mean estimates the accuracy.

Samples are spread over the order of difficulty. Their weights are calibrated: the weighted means of
the factors of the known models' answers are those of all samples (a ridge-regularized regression
estimator). Of some draws, the one that estimates held-out known models best is taken. Its error
bars are honest: the draw is chosen by one half of the models and judged by the other, and no model
is among those that its factors come from. If they are not smaller than those of the plain mean of
as many samples, the samples have equal weights.

For the mean of tasks, samples are drawn in each task by its share, over its order of difficulty.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np

from suite.lifelong.answers import answer_factors
from suite.lifelong.answers import rank_order

_FOLDS = 5
_MOMENTS = 1 << 16
_RIDGE = 0.1  # Of the variance of a factor, which is 1.
_MOST_FACTORS = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Subset:
  """A small benchmark.

  Attributes:
    samples: int64 [m].
    weights: float64 [m], of sum 1. Some may be negative.
    solved: float64 [m], share of the known models that solve each.
    error: root mean squared error of the estimated accuracy of models that are not known.
    largest: 95% of these models are estimated with a smaller error.
    plain_error: error of the plain mean of such samples.
    is_calibrated: whether the weights are calibrated; otherwise they are equal (within a task).
  """

  samples: np.ndarray
  weights: np.ndarray
  solved: np.ndarray
  error: float
  largest: float
  plain_error: float
  is_calibrated: bool = True


def choose(counts: np.ndarray, columns: Callable[[np.ndarray], np.ndarray], num_models: int,
           size: int, *, draws: int = 32, seed: int = 0,
           strata: tuple[np.ndarray, np.ndarray] | None = None,
           families: np.ndarray | None = None) -> Subset:
  """Chooses `size` samples.

  Args:
    counts: uint8 or uint16 [N], number of known models that solve each sample.
    columns: samples [n] -> answers of the M known models uint8 [M, n].
    num_models: M, ten at least.
    size: m.
    draws: number of draws to choose from.
    seed: of the draws.
    strata: (int [N], number of the task of each sample; [T], share of each task in the score);
      None: every sample has the same share.
    families: int [M], number of the family of each model: families are held out as a whole. None:
      each model is one.
  """
  total = len(counts)
  families = np.arange(num_models) if families is None else families
  num_families = len(np.unique(families))
  if not 2 <= size <= total or num_families < 10:
    raise ValueError(f"Got size {size} of {total} samples and {num_families} models; expected 2 to "
                     f"{total} samples, and 10 models, of as many families, whose answers are "
                     "known.")
  order = rank_order.RankOrder(counts)
  every = (np.arange(total) if total <= _MOMENTS else
           np.sort(order.samples_at(rank_order.nested_ranks(total, _MOMENTS))))
  rng = np.random.default_rng(seed)
  seeds = rng.integers(0, 1 << 31, draws).tolist()
  if strata is None:
    shares = np.full(len(every), 1.0 / len(every))
    drawn = [np.sort(order.samples_at(rank_order.nested_ranks(total, size, one))) for one in seeds]
    base = [np.full(size, 1.0 / size)] * draws
  else:
    codes, weights = strata
    numbers = _allotted(weights, np.bincount(codes, minlength=len(weights)), size)
    every = np.sort(np.concatenate([_spread(counts, codes == task, min(
        int(np.sum(codes == task)), max(1, _MOMENTS // len(weights))), 0)
                                    for task in range(len(weights))]))
    shares = (weights / np.bincount(codes[every], minlength=len(weights)))[codes[every]]
    drawn = [np.sort(np.concatenate([_spread(counts, codes == task, num, one)
                                     for task, num in enumerate(numbers.tolist())]))
             for one in seeds]
    base = [(weights / np.maximum(1, numbers))[codes[one]] for one in drawn]
  answers = columns(every).astype(np.float32)
  truth = answers @ shares.astype(np.float32)
  inside = [columns(one).astype(np.float32) for one in drawn]
  number = min(_MOST_FACTORS, max(1, size // 16))
  fold = (rng.permutation(num_families) % _FOLDS)[families]
  errors = np.zeros([draws, num_models])
  for index in range(_FOLDS):
    out = fold == index
    factors = _factors(answers[~out], number)
    target = _target(factors, answers[~out], shares, strata is None)
    for place, chosen in enumerate(inside):
      errors[place, out] = chosen[out] @ _weights(
          factors, chosen[~out], base[place], target) - truth[out]
  half = (rng.permutation(num_families) % 2 == 0)[families]
  def honest(found: np.ndarray) -> np.ndarray:
    """Errors of the best draw by one half of the models, of the other half: [M]."""
    return np.concatenate([found[np.argmin(np.mean(found[:, part]**2, axis=1)), ~part]
                           for part in (half, ~half)])

  plain = np.stack([one @ given - truth for one, given in zip(inside, base)])
  plain_error = float(np.sqrt(np.mean(plain**2)))
  judged = [honest(errors), honest(plain)]
  error, equal_error = (float(np.sqrt(np.mean(one**2))) for one in judged)
  # Few errors say little of their 95% bound: as large, at least, as that of a normal distribution.
  from scipy import stats  # pylint: disable=import-outside-toplevel
  wide = float(stats.t.ppf(0.975, num_models - 1)) * float(np.sqrt(1.0 + 1.0 / num_models))

  def largest(judged: np.ndarray, error: float) -> float:
    return max(float(np.quantile(np.abs(judged), 0.95)), wide * error)

  if error >= plain_error:
    best = int(np.argmin(np.mean(plain**2, axis=1)))
    return Subset(drawn[best], base[best], inside[best].mean(axis=0), equal_error,
                  largest(judged[1], equal_error), plain_error, False)
  best = int(np.argmin(np.mean(errors ** 2, axis=1)))
  factors = _factors(answers, number)
  return Subset(
      drawn[best], _weights(factors, inside[best], base[best], _target(
          factors, answers, shares, strata is None)).astype(np.float64),
      inside[best].mean(axis=0), error, largest(judged[0], error), plain_error)


def _allotted(weights: np.ndarray, sizes: np.ndarray, size: int) -> np.ndarray:
  """Number of samples of each task [T], by its share; one at least, of those that have weight."""
  wanted = int(np.sum(weights > 0))
  if size < wanted:
    raise ValueError(f"Got size {size} for {wanted} tasks; expected one sample of each at least.")
  found = np.minimum((weights > 0).astype(np.int64), sizes)
  while found.sum() < size:  # To the task that is furthest below its share.
    lack = np.where(found < sizes, weights * size - found, -np.inf)
    found[int(np.argmax(lack))] += 1
  return found


def _spread(counts: np.ndarray, mine: np.ndarray, num: int, seed: int) -> np.ndarray:
  """`num` of the samples where `mine` [N] is True, spread over their order of difficulty."""
  samples = np.flatnonzero(mine)
  if not num:
    return samples[:0]
  return samples[rank_order.RankOrder(counts[samples]).samples_at(
      rank_order.nested_ranks(len(samples), num, seed))]


def _target(factors: answer_factors.Factors, answers: np.ndarray, shares: np.ndarray,
            is_plain: bool) -> np.ndarray:
  """Weighted mean of the factors over all samples [K]; 0 for equal weights, by construction."""
  if is_plain:
    return np.zeros(factors.loadings.shape[1])
  return shares @ factors.scores(answers).astype(np.float64)


def _factors(answers: np.ndarray, number: int) -> answer_factors.Factors:
  return answer_factors.build(lambda samples: answers[:, samples], np.arange(answers.shape[1]),
                              number)


def _weights(factors: answer_factors.Factors, inside: np.ndarray, base: np.ndarray,
             target: np.ndarray) -> np.ndarray:
  """Calibrated weights [m] of samples, from the answers [M, m] of the models of the factors.

  They are close to the weights `base` [m], and the weighted mean of the factors is nearly `target`.
  """
  scores = factors.scores(inside).astype(np.float64)
  mean = base @ scores
  centered = scores - mean
  bend = (centered * base[:, None]).T @ centered + _RIDGE * np.eye(scores.shape[1])
  return base + base * (centered @ np.linalg.solve(bend, target - mean))
