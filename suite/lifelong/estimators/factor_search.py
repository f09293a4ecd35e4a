# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The default estimator: logistic regression on low-rank factors of the known models' answers.

A single order of difficulty does not distinguish models that are good at different things. Here the
features of a sample are K factors of the known models' answers and, where they are given, its
class, domain or other groups; a model is a logistic regression on these. Its weights have a normal
prior, estimated from the weights of the known models: with few answers a new model is close to the
prior mean, whose leading factor is the single order of difficulty, and with many answers the data
dominate. The number of factors and the width of the prior are chosen by cross-validation on the
answers asked.

The accuracy is the mean of the predictions, corrected by the mean held-out residual (a regression
estimate); its interval follows from the held-out residuals, in Wilson's form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

import numpy as np
import tensorflow as tf

from suite.lifelong.answers import answer_factors
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.answers import intervals
from suite.lifelong.answers import nested_ranks
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib

# Largest number of samples for moments, for priors and for averaging predictions; of more samples
# an evenly spaced subset is used. The mean of 65,536 samples is accurate to 0.1 points.
_MOMENTS, _PRIOR, _POOL = 1 << 20, 1 << 13, 1 << 16
# Largest number of answers to choose settings on: with more answers the settings matter less.
_CHOICE = 1 << 11
_SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)
_RIDGE = 3.0


class FactorModel:
  """Factors and priors of M known models on N samples; shared by any number of new models.

  Attributes:
    num_samples: N.
    order: order of the samples from easy to hard.
  """

  def __init__(self, counts: np.ndarray, columns: answer_factors.Columns, *,
               groups: Sequence[np.ndarray] = (), num_factors: Sequence[int] = (4, 8, 16)):
    """Takes two passes over the known answers and one over the counts.

    Args:
      counts: uint8 or uint16 [N], number of known models that solve each sample.
      columns: samples [n] -> answers of the known models uint8 [M, n].
      groups: int [N] each: class, domain or another attribute of every sample.
      num_factors: numbers of factors to choose from for each model.
    """
    self.num_samples = len(counts)
    self.order = rank_order.RankOrder(counts)
    self._columns = columns
    self._groups = [_Group(group, self.num_samples) for group in groups]
    some = self._even(_MOMENTS)
    self._factors = answer_factors.build(columns, some, max(num_factors))
    found = self._factors.loadings.shape[1]
    self._sizes = sorted({min(size, found) for size in num_factors})
    sample = self._even(_PRIOR)
    features, answers = self.features(sample), columns(sample)
    self._priors = {size: hierarchical_logistic.learn_prior(self._narrow(features, size), answers,
                                                            _RIDGE) for size in self._sizes}
    self._pool: np.ndarray | None = None

  def features(self, samples: np.ndarray) -> np.ndarray:
    """Features of samples [n]: 1, one-hot groups, factors; float64 [n, D]."""
    parts: list[np.ndarray] = [np.ones([len(samples), 1])]
    parts += [group.one_hot(samples) for group in self._groups]
    parts.append(self._factors.scores(self._columns(samples)))
    return np.concatenate(parts, axis=1, dtype=np.float64)

  def fit(self, asked: answer_sampling.Asked) -> Fit:
    """Fits a model to its answers; reads only the samples that were asked."""
    samples, answers = asked.by_rank()
    features = self.features(samples)
    step = max(1, len(samples) // _CHOICE)
    chosen = slice(step // 2, None, step)
    best = (np.inf, self._sizes[0], 1.0)
    for size in self._sizes:
      narrow = self._narrow(features[chosen], size)
      scale, held_out = hierarchical_logistic.choose(narrow, answers[chosen], self._priors[size],
                                                     _SCALES)
      loss = hierarchical_logistic.log_loss(answers[chosen], held_out)
      if loss < best[0]:
        best = (loss, size, scale)
    _, size, scale = best
    prior = self._priors[size]
    scaled = hierarchical_logistic.Prior(prior.mean, prior.precision / scale)
    narrow = self._narrow(features, size)
    weights = hierarchical_logistic.fit(narrow, answers, scaled)
    _, held_out = hierarchical_logistic.choose(narrow, answers, prior, [scale], start=weights)
    return Fit(self, asked, weights, answers, held_out)

  def pool(self) -> np.ndarray:
    """Features of the samples that predictions are averaged over; computed once."""
    if self._pool is None:
      self._pool = self.features(self._even(_POOL))
    return self._pool

  def _even(self, num: int) -> np.ndarray:
    if self.num_samples <= num:
      return np.arange(self.num_samples)
    return np.sort(self.order.samples_at(nested_ranks.nested_ranks(self.num_samples, num)))

  def _narrow(self, features: np.ndarray, size: int) -> np.ndarray:
    return features[:, :features.shape[1] - self._factors.loadings.shape[1] + size]


class Fit:
  """A fitted new model."""

  def __init__(self, reference: FactorModel, asked: answer_sampling.Asked, weights: np.ndarray,
               answers: np.ndarray, held_out: np.ndarray):
    self._reference, self._asked, self._weights = reference, asked, weights
    self.supported, self.reason = answer_sampling.check_predictions(answers, held_out)
    mean = float(np.mean(self._predict(reference.pool())))
    self.accuracy = intervals.regression(answers, held_out, mean, reference.num_samples)

  def probabilities(self, samples: np.ndarray) -> np.ndarray:
    """Probabilities of correct answers to samples [n]: float64 [n]; 0 or 1 where observed."""
    samples = np.asarray(samples, np.int64)
    return self._asked.keep(samples, self._predict(self._reference.features(samples)))

  def answers(self) -> np.ndarray:
    """More probable answer to every sample: uint8 [N]."""
    size, block = self._reference.num_samples, _POOL
    if size <= block:  # The pool holds all features.
      likely = self._predict(self._reference.pool()) > 0.5
      return self._asked.keep(np.arange(size), likely).astype(np.uint8)
    found = np.empty(size, np.uint8)
    for start in range(0, size, block):
      samples = np.arange(start, min(size, start + block))
      found[samples] = self.probabilities(samples) > 0.5
    return found

  def _predict(self, features: np.ndarray) -> np.ndarray:
    # Factors are last: a model that uses fewer has fewer weights.
    return hierarchical_logistic.probabilities(features[:, :len(self._weights)], self._weights)


class FactorSearch(tf.Module):
  """Estimator by factors. It has no weights: its data are in the cache."""

  def __init__(self, num_factors: Sequence[int] = (4, 8, 16), seed: int = 0,
               target_width: float | None = None):
    """`target_width`: stop asking when the 95% interval of the accuracy is no wider."""
    super().__init__()
    self.seed = seed
    self._num_factors, self._target_width = tuple(num_factors), target_width
    self._last = estimator_lib.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int,
      groups: Sequence[np.ndarray] = (),
  ) -> estimator_lib.Estimate:
    """See `estimator_lib.Estimator`; `groups` (class, domain, ...) are int [N] each."""
    def prepare() -> FactorModel:
      counts = ranking.checked_counts(known)
      return FactorModel(counts, lambda samples: known[:, samples], groups=groups,
                       num_factors=self._num_factors)

    reference = self._last.get((known, *groups), prepare)
    asked = answer_sampling.ask_nested(reference.order.samples_at, reference.num_samples, ask,
                                       budget, seed=self.seed,
                                       target_width=self._target_width)
    fit = reference.fit(asked)
    return estimator_lib.make_estimate(fit.answers(), asked, fit.accuracy, fit.probabilities,
                            (fit.supported, fit.reason))


class _Group:
  """One-hot columns of a grouping of all samples, minus their mean."""

  def __init__(self, values: np.ndarray, num_samples: int):
    values = np.asarray(values)
    if values.shape != (num_samples,) or values.dtype.kind not in "iu":
      raise ValueError(f"Got a grouping {values.dtype} {list(values.shape)} for {num_samples} "
                       f"samples; expected one whole number each, [{num_samples}].")
    numbers, sizes = np.unique(values, return_counts=True)
    if len(numbers) > 1000:
      raise ValueError(f"Got a grouping with {len(numbers)} different values; expected classes or "
                       "domains, 1000 at most.")
    self._values, self._numbers, self._shares = values, numbers, sizes / num_samples

  def one_hot(self, samples: np.ndarray) -> np.ndarray:
    return (self._values[samples][:, None] == self._numbers) - self._shares


