# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Curves of an error against the number of answers asked (Prabhu et al., 2024, section 4).

Also the correlations of models' answers (appendix D) and of rankings (appendix E).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Values = Sequence[float] | np.ndarray


class Decay(NamedTuple):
  """error = a exp(-b budget) + c by least squares, and the share of variance that it explains."""

  a: float
  b: float
  c: float
  explained: float


def fit_decay(budgets: Sequence[float], errors: Values) -> Decay:
  """Fits an exponential decay to at least four points.

  For each b the best a and c follow from a linear regression, so only b is searched, between a
  decay over the whole range and one within the smallest budget.
  """
  x, y = np.asarray(budgets, float), np.asarray(errors, float)
  if x.shape != y.shape or len(x) < 4:
    raise ValueError(f"Got {len(x)} budgets and {len(y)} errors; expected 4 of each at least.")

  from scipy import optimize  # pylint: disable=import-outside-toplevel

  def solved(log_b: float) -> tuple[np.ndarray, float]:
    inputs = np.stack([np.exp(-np.exp(log_b) * x), np.ones_like(x)], axis=1)
    found, _, _, _ = np.linalg.lstsq(inputs, y, rcond=None)
    return found, float(np.sum((inputs @ found - y) ** 2))

  grid = np.linspace(np.log(0.1 / x.max()), np.log(5.0 / x.min()), 200)
  best = int(np.argmin([solved(one)[1] for one in grid]))
  log_b = float(optimize.minimize_scalar(
      lambda one: solved(one)[1], method="bounded",
      bounds=(grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)])).x)
  (a, c), rest = solved(log_b)
  total = float(np.sum((y - y.mean()) ** 2))
  return Decay(float(a), float(np.exp(log_b)), float(c), 1.0 - rest / total if total else 1.0)


def flattens_at(budgets: Sequence[int], errors: Values, tolerance: float) -> int:
  """The smallest budget from which on no error is more than `tolerance` above the last one."""
  above = np.asarray(errors, float) > float(errors[-1]) + tolerance
  return int(budgets[int(np.flatnonzero(above)[-1]) + 1 if above.any() else 0])


def rank_correlation(first: Values, second: Values) -> float:
  """Spearman's correlation, ties at their mean rank; NaN where one has no two different values."""
  if np.ptp(first) == 0 or np.ptp(second) == 0:
    return float("nan")
  from scipy import stats  # pylint: disable=import-outside-toplevel
  return float(stats.spearmanr(first, second).statistic)


def correlations(sums: np.ndarray, products: np.ndarray, num: int) -> np.ndarray:
  """Correlations [M, M] of 0/1 answers: Pearson's, which are Spearman's for two values.

  Args:
    sums: [M], number of correct answers.
    products: [M, M], number of samples that both models solve.
    num: N samples.

  Returns:
    [M, M]; NaN for models whose answers are all equal.
  """
  means = np.asarray(sums, float) / num
  covariance = np.asarray(products, float) / num - np.outer(means, means)
  deviations = np.sqrt(means * (1.0 - means))
  with np.errstate(divide="ignore", invalid="ignore"):
    return covariance / np.outer(deviations, deviations)
