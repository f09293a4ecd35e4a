# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Logistic regressions with a common normal prior, estimated from earlier ones (empirical Bayes).

Weights w of one response (a model's answers) given features: w ~ N(mean, scale * covariance), where
mean and covariance are those of earlier responses' weights. With few answers the weights remain
close to the prior mean; with many they follow the data. Which features and which `scale` is not
chosen: predictions are averaged (`mix`), since a few answers cannot tell which is best. Each is
weighted by the probability that it gives to every answer after the others (pseudo-BMA weights, Yao
et al., 2018); the evidence, which also counts how surprising an answer is *before* most others,
prefers too few features when there are thousands of answers.

With few answers the prior decides much, and the weights of models are not normal: there are
families, and models of hardly any skill. In `mix_kernels` the normal prior is replaced by a kernel
density estimate of the S known models' weights w_s: components N(c_s, h C) of equal share, where C
is the covariance of the normal prior, and centers c_s = mean + sqrt(1 - h) (w_s - mean) keep the
covariance of the whole (West, 1993, "Approximating posterior distributions by mixtures"). A
component's share after the answers is proportional to its evidence. The likelihood is replaced by
its quadratic expansion at the optimum under the normal prior, so all components have one Hessian,
and fits and evidences are closed forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import NamedTuple

import numpy as np
from scipy import special

_MAX_NEWTON = 25
_ALMOST = 1e-3  # Tolerance of the largest step, in logits: steps shrink quadratically.
_LEAST_SHARE = 0.01  # Candidates of a mixture that have less are left out.


@dataclasses.dataclass(frozen=True)
class Prior:
  """Normal prior of weights [D].

  Attributes:
    mean: [D].
    precision: inverse covariance [D, D].
    weights: [S, D], those of the earlier responses that it was estimated from.
  """

  mean: np.ndarray
  precision: np.ndarray
  weights: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros([0, 0]))


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


class PriorCandidate(NamedTuple):
  """Weights of some columns int [D] of the features, and their prior."""

  columns: np.ndarray
  prior: Prior


class Fitted(NamedTuple):
  """A fitted candidate: its share of a mixture, columns int [D], prior and weights [D]."""

  share: float
  columns: np.ndarray
  prior: Prior
  weights: np.ndarray


def learn_prior(features: Callable[[int], np.ndarray], responses: np.ndarray, ridge: float
                ) -> Prior:
  """Estimates the prior from S earlier responses [S, n].

  Features [n, D] are a function of the index of the response. Each response is fitted under
  N(0, 1 / ridge). The covariance is shrunk towards its diagonal by D / (S + D), and the diagonal
  towards its mean by 2 / (S + 2), since few responses estimate it poorly.
  """
  num, size = len(responses), features(0).shape[1]
  wide = Prior(np.zeros(size), ridge * np.eye(size))
  weights = np.stack([fit(features(index), response, wide)
                      for index, response in enumerate(responses)])
  centered = weights - weights.mean(axis=0)
  covariance = centered.T @ centered / max(1, num - 1)
  share = 2.0 / (num + 2.0)
  diagonal = np.diag(covariance)
  diagonal = (1 - share) * diagonal + share * (diagonal.mean() if num > 1 else 1.0) + 1e-4
  share = size / (num + size)
  covariance = (1.0 - share) * covariance
  covariance[np.diag_indices(size)] = diagonal
  return Prior(weights.mean(axis=0), np.linalg.inv(covariance), weights)


def log_evidence(features: np.ndarray, answers: np.ndarray, prior: Prior, weights: np.ndarray
                 ) -> float:
  """Laplace's approximation of the log probability of the answers, `weights` being their fit."""
  expected = probabilities(features, weights)
  likelihood = -len(answers) * log_loss(answers, expected) if len(answers) else 0.0
  bend = (features * (expected * (1.0 - expected))[:, None]).T @ features + prior.precision
  off = weights - prior.mean
  return float(likelihood - off @ prior.precision @ off / 2.0 + (
      np.linalg.slogdet(prior.precision)[1] - np.linalg.slogdet(bend)[1]) / 2.0)


def leave_one_out(features: np.ndarray, answers: np.ndarray, prior: Prior, weights: np.ndarray
                  ) -> np.ndarray:
  """Predicts each of n answers from the others: probabilities [n].

  One Newton step from the fit takes an answer out (Rad and Maleki, 2020): its logit changes by
  -l (a - p) / (1 - l p (1 - p)), where l is x' H^-1 x and H is the Hessian at the fit.
  """
  expected = probabilities(features, weights)
  spread = expected * (1.0 - expected)
  bend = (features * spread[:, None]).T @ features + prior.precision
  leverage = np.sum((features @ np.linalg.inv(bend)) * features, axis=1)
  away = leverage * (answers - expected) / np.maximum(1.0 - leverage * spread, 1e-6)
  return 1.0 / (1.0 + np.exp(-np.clip(features @ weights - away, -30.0, 30.0)))


def covariance(features: np.ndarray, fitted: Fitted) -> np.ndarray:
  """Posterior covariance [D, D] of fitted weights, given their features [n, D] of the answers."""
  expected = probabilities(features, fitted.weights)
  return np.linalg.inv((features * (expected * (1.0 - expected))[:, None]).T @ features +
                       fitted.prior.precision)


def mix(features: np.ndarray, answers: np.ndarray, candidates: Sequence[PriorCandidate],
        scales: Sequence[float]) -> tuple[list[Fitted], float]:
  """Fits each candidate at each scale of its prior; returns those that the answers support.

  The share of each is proportional to the product of `leave_one_out`; shares below 1% are left out.

  Returns:
    (fitted candidates, log of the mean evidence of all).
  """
  found, evidence, loo = [], [], []
  for columns, prior in candidates:
    narrow, start = features[:, columns], prior.mean
    for scale in scales:
      scaled = Prior(prior.mean, prior.precision / scale)
      start = fit(narrow, answers, scaled, start)
      found.append(Fitted(1.0, columns, scaled, start))
      evidence.append(log_evidence(narrow, answers, scaled, start))
      loo.append(-len(answers) * log_loss(
          answers, leave_one_out(narrow, answers, scaled, start)) if len(answers) else 0.0)
  return shared(found, loo), mean_evidence(evidence)


def shared(found: Sequence[Fitted], log_weights: Sequence[float]) -> list[Fitted]:
  """Gives fitted candidates shares in proportion to their weights, and leaves out small ones."""
  shares = np.exp(np.array(log_weights) - max(log_weights))
  shares = np.where(shares >= _LEAST_SHARE * shares.sum(), shares, 0.0)
  shares = shares / shares.sum()
  return [one._replace(share=float(share)) for one, share in zip(found, shares) if share]


def mean_evidence(evidence: Sequence[float]) -> float:
  """Log of the mean of some evidences, which are given as logs."""
  return float(special.logsumexp(evidence)) - float(np.log(len(evidence)))


def constant_evidence(answers: np.ndarray) -> float:
  """Log evidence of one unknown probability, uniform in [0, 1], for all answers [n]."""
  right = float(np.sum(answers))
  return float(special.betaln(right + 1.0, len(answers) - right + 1.0))


def predict(features: np.ndarray, mixture: Sequence[Fitted]) -> np.ndarray:
  """Mean probabilities [n] of a mixture."""
  found = np.zeros(len(features), features.dtype)
  for share, columns, _, weights in mixture:
    is_prefix = columns[-1] == len(columns) - 1  # Columns ascend: a view instead of a copy.
    narrow = features[:, :len(columns)] if is_prefix else features[:, columns]
    found += share * probabilities(narrow, weights.astype(features.dtype))
  return found


def held_out(features: np.ndarray, answers: np.ndarray, mixture: Sequence[Fitted]) -> np.ndarray:
  """Predicts each answer from the others, with the shares of a mixture: probabilities [n]."""
  found = np.zeros(len(answers))
  for share, columns, prior, weights in mixture:
    found += share * leave_one_out(features[:, columns], answers, prior, weights)
  return found


def log_loss(answers: np.ndarray, predicted: np.ndarray) -> float:
  """Mean of -log(probability of the observed answer); probabilities are clipped off 0 and 1.

  A graded answer a is a times right and 1 - a times wrong.
  """
  answers = np.asarray(answers, np.float64)
  predicted = np.clip(predicted, 1e-6, 1.0 - 1e-6)
  return float(-np.mean(answers * np.log(predicted) + (1.0 - answers) * np.log1p(-predicted)))


def mix_kernels(features: np.ndarray, answers: np.ndarray, candidates: Sequence[PriorCandidate],
                bandwidths: Sequence[float], scales: Sequence[float] = ()
                ) -> tuple[list[Fitted], float]:
  """Fits each candidate with each bandwidth h in (0, 1], and at each scale of the normal prior.

  Wide normal priors are for models that are unlike all known ones. The components of one bandwidth
  are replaced by one: the mean of their weights, and the normal prior of the mean and covariance of
  the components as weighted by the answers. The share of each is proportional to its evidence.
  Returns as `mix`.
  """
  found, evidence = [], []
  for columns, prior in candidates:
    narrow = features[:, columns]
    start = fit(narrow, answers, prior)
    for bandwidth in bandwidths:
      around, precision = centers(prior, bandwidth), prior.precision / bandwidth
      weights, each = components(narrow, answers, start, around, precision)
      together = float(special.logsumexp(each))
      shares = np.exp(each - together)
      mean = shares @ around
      spread = (around - mean).T @ ((around - mean) * shares[:, None])
      whole = Prior(mean, np.linalg.inv(np.linalg.inv(precision) + spread), prior.weights)
      found.append(Fitted(1.0, columns, whole, shares @ weights))
      evidence.append(together - float(np.log(len(around))))
    for scale in scales:
      wide = Prior(prior.mean, prior.precision / scale)
      weights = fit(narrow, answers, wide, start)
      found.append(Fitted(1.0, columns, wide, weights))
      evidence.append(log_evidence(narrow, answers, wide, weights))
  return shared(found, evidence), mean_evidence(evidence)


def held_out_kernels(features: np.ndarray, answers: np.ndarray,
                     candidates: Sequence[PriorCandidate], bandwidths: Sequence[float],
                     scales: Sequence[float] = (), folds: int = 5, pool: np.ndarray | None = None
                     ) -> tuple[np.ndarray, float]:
  """Predicts each answer from the others, and the mean answer to a pool from the same fits.

  Answer j is in fold j % folds; with fewer than four answers the prior predicts. A fit to four
  fifths of the answers is closer to the prior than one to all: its residuals belong to its mean.

  Returns:
    (probabilities [n], mean over the answers of the mean prediction for features [m, D] of a pool;
    0 without one).
  """
  pool = np.zeros([0, features.shape[1]]) if pool is None else pool
  folds = min(folds, len(answers) // 2)
  fold, found = np.arange(len(answers)) % max(folds, 1), np.zeros(len(answers))
  mean = 0.0
  for index in range(max(folds, 1)):
    out = fold == index
    left = ~out if folds > 1 else np.zeros(len(answers), bool)
    mixture = mix_kernels(features[left], answers[left], candidates, bandwidths, scales)[0]
    found[out] = predict(features[out], mixture)
    if len(pool):
      mean += float(np.mean(out)) * float(predict(pool, mixture).mean(dtype=np.float64))
  return found, mean


def centers(prior: Prior, bandwidth: float) -> np.ndarray:
  """Centers of the components: [S, D]."""
  return prior.mean + np.sqrt(1.0 - bandwidth) * (prior.weights - prior.mean)


def components(features: np.ndarray, answers: np.ndarray, start: np.ndarray, around: np.ndarray,
               precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Fits S weights under the priors N(around[s], 1 / precision) to answers [n].

  Args:
    features: [n, D].
    answers: [n].
    start: weights [D] at which the log likelihood is expanded.
    around: [S, D].
    precision: [D, D].

  Returns:
    (weights [S, D], log evidence [S]).
  """
  expected = probabilities(features, start)
  slope = features.T @ (answers - expected)
  bend = (features * (expected * (1.0 - expected))[:, None]).T @ features
  away = around - start
  moved = np.linalg.solve(bend + precision, (slope + away @ precision).T).T  # From `start`.
  off = moved - away
  likelihood = -len(answers) * log_loss(answers, expected) if len(answers) else 0.0
  evidence = likelihood + moved @ slope - (
      np.sum((moved @ bend) * moved, axis=1) + np.sum((off @ precision) * off, axis=1)) / 2.0 + (
          np.linalg.slogdet(precision)[1] - np.linalg.slogdet(bend + precision)[1]) / 2.0
  return start + moved, evidence
