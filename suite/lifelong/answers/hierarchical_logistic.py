# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Logistic regressions with a common normal prior, estimated from earlier ones (empirical Bayes).

Weights w of one response (a model's answers) given features: w ~ N(mean, scale * covariance), where
mean and covariance are those of earlier responses' weights. With few answers the weights remain
close to the prior mean; with many they follow the data. `scale` is chosen by cross-validation on
the answers of that response alone.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np

_MAX_NEWTON = 25
_ALMOST = 1e-3  # Tolerance of the largest step, in logits: steps shrink quadratically.


@dataclasses.dataclass(frozen=True)
class Prior:
  """Normal prior of weights [D]: mean [D] and precision (inverse covariance) [D, D]."""

  mean: np.ndarray
  precision: np.ndarray


def probabilities(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
  """Probabilities [n] or [n, S] from features [n, D] and weights [D] or [D, S]."""
  return 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30.0, 30.0)))


def fit(features: np.ndarray, answers: np.ndarray, prior: Prior, start: np.ndarray | None = None
        ) -> np.ndarray:
  """Fits the MAP weights [D] to features [n, D] and answers 0/1 [n] by Newton's method."""
  weights = np.array(prior.mean if start is None else start, np.float64)
  answers = np.asarray(answers, np.float64)
  for _ in range(_MAX_NEWTON):
    expected = probabilities(features, weights)
    slope = features.T @ (answers - expected) - prior.precision @ (weights - prior.mean)
    bend = (features * (expected * (1.0 - expected))[:, None]).T @ features + prior.precision
    step = np.linalg.solve(bend, slope)
    # The loss is convex but not quadratic: far from the optimum a full step may overshoot.
    largest = float(np.max(np.abs(features @ step), initial=0.0))
    weights += step * min(1.0, 4.0 / max(largest, 1e-12))
    if largest < _ALMOST:
      break
  return weights


def learn_prior(features: np.ndarray, responses: np.ndarray, ridge: float) -> Prior:
  """Estimates the prior from S earlier responses [S, n] on the same features [n, D].

  Each response is fitted under N(0, 1 / ridge). The covariance is shrunk towards its diagonal by
  D / (S + D), and the diagonal towards its mean by 2 / (S + 2), since few responses estimate it
  poorly.
  """
  num, size = len(responses), features.shape[1]
  wide = Prior(np.zeros(size), ridge * np.eye(size))
  weights = np.stack([fit(features, response, wide) for response in responses])
  centered = weights - weights.mean(axis=0)
  covariance = centered.T @ centered / max(1, num - 1)
  share = 2.0 / (num + 2.0)
  diagonal = np.diag(covariance)
  diagonal = (1 - share) * diagonal + share * (diagonal.mean() if num > 1 else 1.0) + 1e-4
  share = size / (num + size)
  covariance = (1.0 - share) * covariance
  covariance[np.diag_indices(size)] = diagonal
  return Prior(weights.mean(axis=0), np.linalg.inv(covariance))


def choose(features: np.ndarray, answers: np.ndarray, prior: Prior, scales: Sequence[float],
           folds: int = 5, start: np.ndarray | None = None) -> tuple[float, np.ndarray]:
  """Chooses the scale that predicts held-out answers best.

  Answer j is in fold j % folds, which spreads answers in rank order evenly. With fewer than four
  answers the prior is used unscaled. `start`: initial weights [D].

  Returns:
    (scale, cross-fitted probabilities [n]).
  """
  n = len(answers)
  folds = min(folds, n // 2)
  if folds < 2:
    return 1.0, probabilities(features, prior.mean)
  fold = np.arange(n) % folds
  best = (np.inf, 1.0, np.empty(0))
  starts = [prior.mean if start is None else start] * folds
  for scale in scales:
    held_out = np.empty(n)
    scaled = Prior(prior.mean, prior.precision / scale)
    for index in range(folds):
      out = fold == index
      starts[index] = fit(features[~out], answers[~out], scaled, starts[index])
      held_out[out] = probabilities(features[out], starts[index])
    loss = log_loss(answers, held_out)
    if loss < best[0]:
      best = (loss, scale, held_out)
  return best[1], best[2]


def log_loss(answers: np.ndarray, predicted: np.ndarray) -> float:
  """Mean of -log(probability of the observed answer); probabilities are clipped off 0 and 1."""
  predicted = np.clip(predicted, 1e-6, 1.0 - 1e-6)
  return float(-np.mean(np.where(np.asarray(answers) > 0, np.log(predicted),
                                 np.log1p(-predicted))))
