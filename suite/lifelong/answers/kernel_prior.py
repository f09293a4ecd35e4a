# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A prior with a component at each known model, for regressions on few answers.

With few answers the prior decides much, and the weights of models are not normal: there are
families, and models of hardly any skill. Here the prior of `hierarchical_logistic` is replaced by a
kernel density estimate of the S known models' weights w_s: components N(c_s, h C) of equal share,
where C is the covariance of the normal prior, and centers c_s = mean + sqrt(1 - h) (w_s - mean)
keep the covariance of the whole (West, 1993, "Approximating posterior distributions by mixtures").
A component's share after the answers is proportional to its evidence.

The likelihood is replaced by its quadratic expansion at the optimum under the normal prior, so all
components have one Hessian, and fits and evidences are closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from suite.lifelong.answers import hierarchical_logistic


def mix(features: np.ndarray, answers: np.ndarray,
        candidates: Sequence[hierarchical_logistic.PriorCandidate], bandwidths: Sequence[float],
        scales: Sequence[float] = ()) -> tuple[list[hierarchical_logistic.Fitted], float]:
  """Fits each candidate with each bandwidth h in (0, 1], and at each scale of the normal prior.

  Wide normal priors are for models that are unlike all known ones. The components of one bandwidth
  are replaced by one: the mean of their weights, and the normal prior of the mean and covariance of
  the components as weighted by the answers. The share of each is proportional to its evidence.
  Returns as `hierarchical_logistic.mix`.
  """
  found, evidence = [], []
  for columns, prior in candidates:
    narrow = features[:, columns]
    start = hierarchical_logistic.fit(narrow, answers, prior)
    for bandwidth in bandwidths:
      around, precision = centers(prior, bandwidth), prior.precision / bandwidth
      weights, each = components(narrow, answers, start, around, precision)
      together = float(special.logsumexp(each))
      shares = np.exp(each - together)
      mean = shares @ around
      spread = (around - mean).T @ ((around - mean) * shares[:, None])
      whole = hierarchical_logistic.Prior(
          mean, np.linalg.inv(np.linalg.inv(precision) + spread), prior.weights)
      found.append(hierarchical_logistic.Fitted(1.0, columns, whole, shares @ weights))
      evidence.append(together - float(np.log(len(around))))
    for scale in scales:
      wide = hierarchical_logistic.Prior(prior.mean, prior.precision / scale)
      weights = hierarchical_logistic.fit(narrow, answers, wide, start)
      found.append(hierarchical_logistic.Fitted(1.0, columns, wide, weights))
      evidence.append(hierarchical_logistic.log_evidence(narrow, answers, wide, weights))
  return (hierarchical_logistic.shared(found, evidence),
          hierarchical_logistic.mean_evidence(evidence))


def held_out(features: np.ndarray, answers: np.ndarray,
             candidates: Sequence[hierarchical_logistic.PriorCandidate],
             bandwidths: Sequence[float], scales: Sequence[float] = (),
             folds: int = 5, pool: np.ndarray | None = None) -> tuple[np.ndarray, float]:
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
    mixture = mix(features[left], answers[left], candidates, bandwidths, scales)[0]
    found[out] = hierarchical_logistic.predict(features[out], mixture)
    if len(pool):
      mean += float(np.mean(out)) * float(hierarchical_logistic.predict(pool, mixture).mean(
          dtype=np.float64))
  return found, mean


def centers(prior: hierarchical_logistic.Prior, bandwidth: float) -> np.ndarray:
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
  expected = hierarchical_logistic.probabilities(features, start)
  slope = features.T @ (answers - expected)
  bend = (features * (expected * (1.0 - expected))[:, None]).T @ features
  away = around - start
  moved = np.linalg.solve(bend + precision, (slope + away @ precision).T).T  # From `start`.
  off = moved - away
  likelihood = (-len(answers) * hierarchical_logistic.log_loss(answers, expected)
                if len(answers) else 0.0)
  evidence = likelihood + moved @ slope - (
      np.sum((moved @ bend) * moved, axis=1) + np.sum((off @ precision) * off, axis=1)) / 2.0 + (
          np.linalg.slogdet(precision)[1] - np.linalg.slogdet(bend + precision)[1]) / 2.0
  return start + moved, evidence
