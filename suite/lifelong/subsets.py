# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Fixed small benchmarks: samples with weights, so that a weighted mean estimates the accuracy.

Samples are spread over the order of difficulty. Their weights are calibrated: the weighted means of
the factors of the known models' answers are those of all samples (a ridge-regularized regression
estimator). Of some draws, the one that estimates held-out known models best is taken. Its error
bars are honest: the draw is chosen by one half of the models and judged by the other, and no model
is among those that its factors come from.
"""

from __future__ import annotations

import dataclasses
from typing import Callable

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
    plain_error: error of the plain mean of the same answers.
  """

  samples: np.ndarray
  weights: np.ndarray
  solved: np.ndarray
  error: float
  largest: float
  plain_error: float


def choose(counts: np.ndarray, columns: Callable[[np.ndarray], np.ndarray], num_models: int,
           size: int, *, draws: int = 32, seed: int = 0) -> Subset:
  """Chooses `size` samples.

  Args:
    counts: uint8 or uint16 [N], number of known models that solve each sample.
    columns: samples [n] -> answers of the M known models uint8 [M, n].
    num_models: M, ten at least.
    size: m.
    draws: number of draws to choose from.
    seed: of the draws.
  """
  total = len(counts)
  if not 2 <= size <= total or num_models < 10:
    raise ValueError(f"Got size {size} of {total} samples and {num_models} models; expected 2 to "
                     f"{total} samples, and 10 models whose answers are known.")
  order = rank_order.RankOrder(counts)
  every = (np.arange(total) if total <= _MOMENTS else
           np.sort(order.samples_at(rank_order.nested_ranks(total, _MOMENTS))))
  answers = columns(every).astype(np.float32)
  truth = answers.mean(axis=1)
  rng = np.random.default_rng(seed)
  seeds = rng.integers(0, 1 << 31, draws).tolist()
  drawn = [np.sort(order.samples_at(rank_order.nested_ranks(total, size, one))) for one in seeds]
  inside = [columns(one).astype(np.float32) for one in drawn]
  number = min(_MOST_FACTORS, max(1, size // 16))
  fold = rng.permutation(num_models) % _FOLDS
  errors = np.zeros([draws, num_models])
  for index in range(_FOLDS):
    out = fold == index
    factors = _factors(answers[~out], number)
    for place, chosen in enumerate(inside):
      errors[place, out] = chosen[out] @ _weights(factors, chosen[~out]) - truth[out]
  half = rng.permutation(num_models) % 2 == 0
  honest = np.concatenate([errors[np.argmin(np.mean(errors[:, part] ** 2, axis=1)), ~part]
                           for part in (half, ~half)])
  plain = [one.mean(axis=1) - truth for one in inside]
  best = int(np.argmin(np.mean(errors ** 2, axis=1)))
  return Subset(
      drawn[best], _weights(_factors(answers, number), inside[best]).astype(np.float64),
      inside[best].mean(axis=0), float(np.sqrt(np.mean(honest ** 2))),
      float(np.quantile(np.abs(honest), 0.95)), float(np.sqrt(np.mean(np.square(plain)))))


def _factors(answers: np.ndarray, number: int) -> answer_factors.Factors:
  return answer_factors.build(lambda samples: answers[:, samples], np.arange(answers.shape[1]),
                              number)


def _weights(factors: answer_factors.Factors, inside: np.ndarray) -> np.ndarray:
  """Calibrated weights [m] of samples, from the answers [M, m] of the models of the factors."""
  scores = factors.scores(inside).astype(np.float64)  # Their mean over all samples is 0.
  num, mean = len(scores), scores.mean(axis=0)
  centered = scores - mean
  bend = centered.T @ centered / num + _RIDGE * np.eye(scores.shape[1])
  return 1.0 / num - centered @ np.linalg.solve(bend, mean) / num
