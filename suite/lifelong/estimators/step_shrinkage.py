# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shrinkage of predictions towards Sort & Search, by as much as known models need at a budget.

With few answers the regressions of `factor_model` have the smaller mean error, but for some models
the step of Sort & Search is better: for weak ones, of which it predicts that they solve nothing. A
probability p of a sample becomes (1 - strength) p + strength q, where q is the mean of p on its
side of the cut that Sort & Search finds in the same answers. The mean over all samples, and with it
the estimated accuracy, stay as they are.

The strength at a budget is the smallest for which at most `WORSE` of the known models are predicted
worse than by Sort & Search from the same answers; each is treated as new, without its part in
features, priors and counts. The largest strength is 0.4: more costs mean error and wins little. The
model under estimate has no influence on it.
"""

from __future__ import annotations

import dataclasses
from typing import Callable, NamedTuple

import numpy as np

from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.answers import kernel_prior
from suite.lifelong.answers import nested_ranks

BUDGETS = (8, 32, 128)  # Between them the strength is linear in the logarithm of the budget.
NONE_FROM = 1024  # Budget from which on nothing is shrunk.
WORSE = 0.15
_STRENGTHS = np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])
_MODELS, _DRAWS = 48, 2
_NEVER = 1 << 40  # More than twice any count.


class Cut(NamedTuple):
  """The cut of Sort & Search in terms of counts, so that no rank is needed.

  A sample is easier if twice the number of known models that solve it is more than `double`, or if
  it equals that and its position is at most `position`.
  """

  double: int
  position: int

  def is_easier(self, counts: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Whether samples [n], solved by `counts` [n] of the known models, are easier: bool [n]."""
    twice = 2 * np.asarray(counts, np.int64)
    return (twice > self.double) | ((twice == self.double) & (np.asarray(samples) <= self.position))


def find_cut(counts: np.ndarray, samples: np.ndarray, answers: np.ndarray) -> Cut:
  """Finds the cut with the smallest error on answers [n], 0/1 or graded; ties give the first.

  It is halfway between the counts of the two neighbors; between equal counts, behind the first.

  Args:
    counts: int [n], number of known models that solve each sample.
    samples: int [n], all different.
    answers: [n].
  """
  counts = np.asarray(counts, np.int64)
  order = np.lexsort((samples, -counts))
  gains = np.concatenate([[0.0], np.cumsum(2.0 * np.asarray(answers, np.float64)[order] - 1.0)])
  best = int(np.argmax(gains))
  if best == len(order):
    return Cut(-1, 0)
  if not best:
    return Cut(_NEVER, 0)
  last, following = counts[order[best - 1]], counts[order[best]]
  return Cut(int(last + following), int(np.asarray(samples)[order[best - 1]]))


@dataclasses.dataclass(frozen=True)
class Shrinkage:
  """What is done to the predictions of one model.

  Attributes:
    cut: that of Sort & Search in the model's answers.
    means: mean probability of the easier samples, and of the others.
    strength: 0 changes nothing.
  """

  cut: Cut
  means: tuple[float, float]
  strength: float

  def apply(self, predicted: np.ndarray, counts: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Shrinks the probabilities [n] of samples int [n], solved by `counts` [n] known models."""
    if not self.strength:
      return predicted
    return _shrunk(predicted, self.cut.is_easier(counts, samples), self.means, self.strength)


def fit(cut: Cut, strength: float, predicted: np.ndarray, counts: np.ndarray, samples: np.ndarray
        ) -> Shrinkage:
  """Fits the means to probabilities [n] of samples [n] that stand for all samples."""
  return Shrinkage(cut, _side_means(predicted, cut.is_easier(counts, samples)), strength)


def at(strengths: np.ndarray, num: int) -> float:
  """Strength for a model with `num` answers, from those at `BUDGETS`."""
  places = np.log([*BUDGETS, NONE_FROM])
  return float(np.interp(np.log(max(1, num)), places, [*strengths, 0.0]))


def learn(features: Callable[[int], np.ndarray], responses: np.ndarray, counts: np.ndarray,
          prior: hierarchical_logistic.Prior, bandwidth: float) -> np.ndarray:
  """Finds the strength at each of `BUDGETS`: float64 [3].

  Args:
    features: index of a known model -> features [n, D] of n samples, without its own part.
    responses: 0/1 [S, n], answers of S known models.
    counts: int [n], number of all known models that solve each sample.
    prior: of weights, estimated from these S models.
    bandwidth: of the kernel prior.
  """
  some = np.unique(np.linspace(0, len(responses) - 1, min(len(responses), _MODELS)).astype(int))
  errors: list[list[np.ndarray]] = [[] for _ in BUDGETS]
  if len(responses) < 3:
    return np.zeros(len(BUDGETS))
  for model in some.tolist():
    own = responses[model]
    rest = np.delete(prior.weights, model, axis=0)
    without = hierarchical_logistic.Prior(rest.mean(axis=0), prior.precision, rest)
    inputs, solved = features(model), counts.astype(np.int64) - own
    order = np.argsort(-solved, kind="stable")
    for place, budget in enumerate(BUDGETS):
      for draw in range(_DRAWS if 4 * budget <= len(own) else 0):
        asked = order[np.sort(nested_ranks.nested_ranks(len(own), budget, _DRAWS * model + draw))]
        mixture, _ = kernel_prior.mix(
            inputs[asked], own[asked].astype(np.float64),
            [hierarchical_logistic.Candidate(np.arange(inputs.shape[1]), without)], (bandwidth,))
        left = np.setdiff1d(np.arange(len(own)), asked)
        errors[place].append(_errors(
            hierarchical_logistic.predict(inputs[left], mixture), own[left],
            find_cut(solved[asked], asked, own[asked]).is_easier(solved[left], left)))
  return np.array([_strength(np.array(found)) if found else 0.0 for found in errors])


def _shrunk(predicted: np.ndarray, is_easier: np.ndarray, means: tuple[float, float],
            strength: float) -> np.ndarray:
  return (1.0 - strength) * predicted + strength * np.where(is_easier, *means)


def _side_means(predicted: np.ndarray, is_easier: np.ndarray) -> tuple[float, float]:
  """Mean probability of the easier and of the other samples; of a side without any, 1 or 0."""
  return (float(predicted[is_easier].mean(dtype=np.float64)) if is_easier.any() else 1.0,
          float(predicted[~is_easier].mean(dtype=np.float64)) if not is_easier.all() else 0.0)


def _errors(predicted: np.ndarray, truth: np.ndarray, is_easier: np.ndarray) -> np.ndarray:
  """Share of wrong answers of Sort & Search, then at each strength: [1 + strengths]."""
  means = _side_means(predicted, is_easier)
  right = truth == 1
  return np.array([np.mean(is_easier != right), *(
      np.mean((_shrunk(predicted, is_easier, means, strength) > 0.5) != right)
      for strength in _STRENGTHS)])


def _strength(errors: np.ndarray) -> float:
  """The smallest strength with few worse predictions, of errors [cases, 1 + strengths]."""
  worse = np.mean(errors[:, 1:] > errors[:, :1], axis=0)
  enough = np.flatnonzero(worse <= WORSE)
  return float(_STRENGTHS[enough[0] if len(enough) else -1])
