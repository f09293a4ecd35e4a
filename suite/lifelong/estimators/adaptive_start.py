# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The first answers of a model: questions that follow from its answers, by item response theory.

Each question is the one that is expected to tell most about the ability of the model, which has
curves of all samples (`irt_search`). Fluid Benchmarking (Hofmann et al., 2025) takes the largest
Fisher information a^2 p (1 - p) at the present ability; here it is the mean gain of log information
over the abilities that are still likely, so that several questions may be asked at once. The
accuracy is the mean of the answers and of the curves of the other samples over these abilities
(p-IRT of tinyBenchmarks, Polo et al., 2024).

Such answers are no random sample, and nothing in them tells how far a new model is from the curves.
So the error is measured: families of known models are left out of the curves in turn, and each of
their models is asked like a new one. If no families are declared, four models that answer alike are
one: errors are then about those of the true families, on the matrices of the results. The interval
is Student's, of these errors, families having equal weights: it holds for models that are no more
unlike the known ones than families are unlike each other.

Where a common ability says little of single samples, as of images, fixed questions are as good, and
their answers are a random sample. So the same models are estimated from the answers to fixed
questions, too, by the mean of p-IRT and a regression on the known models, and `is_better` compares
both at a number of answers.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from suite.lifelong.answers import accuracy_regression
from suite.lifelong.answers import intervals
from suite.lifelong.estimators import irt_search

MOST = 64  # Largest number of answers.
POOL = 2048  # Number of samples that questions are chosen from, and that curves are averaged over.
SIZES = (0, 8, 16, 32, MOST)  # Numbers of answers at which errors are measured.
_ROUNDS = (4, 8, 12, 16, 24, 32, 48, MOST)  # Numbers of answers after each round of questions.
MODELS = 64  # Largest number of known models.
_LEAST = 4  # Least number of families.
_FITS, _AGAIN = 8, 2  # Rounds of fits, and of those that go on without a family.
_ABILITIES = np.linspace(-5.0, 5.0, 61)
_WIDTH = 1.5  # Standard deviation of the prior of abilities, 1 for the known models.
_LIKELY = 1e-3  # Least probability of an ability, of that of the likeliest, that counts.
_TRIED = 256  # Number of samples that the questions of a round are chosen from.


class Curves:
  """Curves of P samples over abilities.

  Attributes:
    num_pool, num_samples: as given.
  """

  def __init__(self, items: np.ndarray, num_pool: int, num_samples: int):
    """Args:
      items: [P, 2] of irt_search. The first `num_pool` stand for all samples, and are asked.
      num_samples: N.
    """
    slopes, middles = items.astype(np.float64).T
    chances = 1.0 / (1.0 + np.exp(-np.clip(
        slopes[:, None] * _ABILITIES + middles[:, None], -30.0, 30.0)))
    self.num_pool, self.num_samples = num_pool, num_samples
    self._pool = chances[:num_pool]
    self._information = slopes[:num_pool, None] ** 2 * self._pool * (1.0 - self._pool)
    self._right, self._wrong = np.log(chances), np.log1p(-chances)

  def likely(self, places: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Probability of each ability after answers [n], 0/1 or graded, to the samples at places."""
    log = answers @ self._right[places] + (1.0 - answers) @ self._wrong[places]
    log -= _ABILITIES**2 / 2.0 / _WIDTH**2
    found = np.exp(log - log.max())
    return found / found.sum()

  def predicted(self, places: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Probabilities of correct answers to the pool: [num_pool]."""
    return self._pool @ self.likely(places, answers)

  def accuracy(self, places: np.ndarray, answers: np.ndarray) -> float:
    """Mean of the answers, and of what is predicted of all other samples."""
    rest = np.delete(self.predicted(places, answers), places[places < self.num_pool])
    left = self.num_samples - len(places)
    return float((answers.sum() + left * (rest.mean() if len(rest) else 0.0)) / self.num_samples)

  def next(self, places: np.ndarray, answers: np.ndarray, num: int) -> np.ndarray:
    """Places of the next `num` questions, one after the other by the most expected gain."""
    likely = self.likely(places, answers)
    here = likely >= _LIKELY * likely.max()
    weights, abilities = likely[here], _ABILITIES[here]
    spread = max(float(weights @ abilities**2 / weights.sum()
                       - (weights @ abilities / weights.sum()) ** 2), 1e-2)
    expected = self._information @ likely
    expected[places] = -1.0
    tried = np.argsort(-expected, kind="stable")[:min(_TRIED, len(expected) - len(places))]
    information, known = self._information[tried][:, here], np.full(len(abilities), 1.0 / spread)
    chosen: list[int] = []
    for _ in range(min(num, len(tried))):
      gains = np.log1p(information / known) @ weights
      gains[chosen] = -1.0
      chosen.append(int(np.argmax(gains)))
      known = known + information[chosen[-1]]
    return tried[chosen]


class AdaptiveStart:
  """The first answers of new models.

  Attributes:
    samples: int64 [P], the pool of samples.
    curves: of these.
    measured: root mean squared errors [2, sizes] at `SIZES`, of adaptive and of fixed questions,
      and the factor [1] that makes an interval of an error.
  """

  def __init__(self, samples: np.ndarray, curves: Curves, measured: tuple[list[float], ...]):
    self.samples, self.curves, self.measured = samples, curves, measured

  def is_better(self, num: int) -> bool:
    """Whether adaptive answers had smaller errors than fixed ones, in known models.

    The errors with `num` and with twice as many answers decide together: of few models, those with
    one number are noisy.
    """
    adaptive, fixed = (np.log(np.maximum(np.interp([num, min(2 * num, MOST)], SIZES, one), 1e-9))
                       for one in self.measured[:2])
    return num <= min(MOST, len(self.samples)) and bool(adaptive.sum() < fixed.sum())

  def questions(self, samples: np.ndarray, answers: np.ndarray, budget: int) -> np.ndarray:
    """The samples of the next round, after answers [n] to samples [n]: int64 [m]."""
    wanted = min(budget, next((one for one in _ROUNDS if one > len(samples)), MOST))
    return self.samples[self.curves.next(self._places(samples), answers, wanted - len(samples))]

  def predicted(self, asked: np.ndarray, answers: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Probabilities of correct answers to some samples of the pool."""
    return self.curves.predicted(self._places(asked), answers)[self._places(samples)]

  def accuracy(self, samples: np.ndarray, answers: np.ndarray) -> intervals.Interval:
    """The accuracy and its interval after answers [n] to samples [n]."""
    value = self.curves.accuracy(self._places(samples), answers)
    half = float(np.interp(len(samples), SIZES, self.measured[0])) * self.measured[2][0]
    right, total = float(np.sum(answers)), self.curves.num_samples
    low, high = right / total, 1.0 - (len(answers) - right) / total
    return intervals.Interval(value, max(low, value - half), min(high, value + half))

  def _places(self, samples: np.ndarray) -> np.ndarray:
    return np.searchsorted(self.samples, samples)


def build(samples: np.ndarray, answers: np.ndarray, num_samples: int,
          measured: tuple[list[float], ...]) -> AdaptiveStart:
  """Builds a start whose errors were `measured` before.

  Args:
    samples: int64 [P], ascending. answers: [M, P] of known models. num_samples: N.
  """
  items = irt_search.fit_items_and_abilities(answers, 1, _FITS)[0]
  return AdaptiveStart(samples, Curves(items, len(samples), num_samples), measured)


def measure(answers: np.ndarray, fixed: np.ndarray, num_samples: int, families: np.ndarray,
            accuracies: np.ndarray) -> tuple[list[float], ...] | None:
  """Errors of known models whose families are left out; None: there are too few families.

  Args:
    answers: [M, P] of known models. fixed: [M, n], to the first fixed questions.
    num_samples: N. families: int [M]. accuracies: [M].
  """
  if len(np.unique(families)) == len(families):
    families = _alike(answers)
  codes = np.unique(families)
  if len(codes) < _LEAST or len(families) <= accuracy_regression.LEAST:
    return None
  every = np.concatenate([answers, fixed], axis=1)
  abilities = irt_search.fit_items_and_abilities(every, 1, _FITS)[1]
  squares = []
  for code in codes:
    rest = families != code
    items = irt_search.fit_items_and_abilities(every[rest], 1, _AGAIN, abilities[rest])[0]
    curves = Curves(items, answers.shape[1], num_samples)
    squares.append(np.mean([
        (_estimates(curves, every[model].astype(np.float64), every[rest], accuracies[rest])
         - accuracies[model]) ** 2 for model in np.flatnonzero(~rest)], axis=0))
  num = len(squares)
  adaptive, even = np.sqrt(np.mean(squares, axis=0)).tolist()
  return adaptive, even, [float(np.sqrt(1.0 + 1.0 / num) * stats.t.ppf(0.975, num - 1))]


def _alike(answers: np.ndarray) -> np.ndarray:
  """Number of the group of each of M models, four of whom answer alike: int [M].

  Models are paired, those with the fewest different answers first, and then the pairs.
  """
  right = answers.sum(axis=1, dtype=np.float64)
  both = answers.astype(np.float32) @ answers.T.astype(np.float32)
  differ, codes = right[:, None] + right - 2.0 * both, np.arange(len(answers))
  for _ in range(2):
    shares = np.eye(codes.max() + 1)[codes]
    shares /= shares.sum(axis=0)
    pairs = _pairs(shares.T @ differ @ shares)
    codes = pairs[codes]
  return codes


def _pairs(away: np.ndarray) -> np.ndarray:
  """Number of the pair of each of n, by their distances [n, n], the nearest first: int [n]."""
  found, number = np.full(len(away), -1), 0
  for one, other in zip(*np.unravel_index(np.argsort(away, axis=None, kind="stable"), away.shape)):
    if one != other and found[one] < 0 and found[other] < 0:
      found[[one, other]] = number
      number += 1
  return np.where(found < 0, number, found)  # Of an odd number, one is left.


def _estimates(curves: Curves, own: np.ndarray, known: np.ndarray, accuracies: np.ndarray
               ) -> np.ndarray:
  """Accuracies of a model by adaptive and by fixed answers: [2, sizes].

  Args:
    curves: of its answers `own` [P + n], without its family. known: [M, P + n]. accuracies: [M].
  """
  found, first = np.zeros([2, len(SIZES)]), curves.num_pool
  places = np.zeros(0, np.int64)
  for place, size in enumerate(SIZES):
    while len(places) < min(size, first):
      wanted = next(one for one in _ROUNDS if one > len(places))
      more = curves.next(places, own[places], min(wanted, first) - len(places))
      places = np.concatenate([places, more])
    found[0, place] = curves.accuracy(places, own[places])
    fixed = np.arange(first, min(first + size, len(own)))
    found[1, place] = curves.accuracy(fixed, own[fixed])
    if len(fixed):
      found[1, place] = (found[1, place] + accuracy_regression.AccuracyRegression(
          known[:, fixed], accuracies).predict(own[fixed]).value) / 2.0
  return found
