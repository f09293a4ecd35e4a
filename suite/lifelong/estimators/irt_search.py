# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Item response theory with two parameters (2PL), as tinyBenchmarks uses it.

  P(model m solves sample s) = sigmoid(a_s . t_m + b_s)

Discriminations a_s [D] and easiness b_s of samples and abilities t_m [D] of models are fitted in
alternation, by Newton steps under normal priors. A new model's ability is fitted to the answers
asked. With D = 1 and equal discriminations it equals the single order of Sort & Search, with
probabilities.

It fits N (D + 1) numbers, so the number of known answers is limited by `LIMIT`.

With D = 1 a sample has a curve over the abilities, and information about them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.answers import intervals
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator

LIMIT = 2e9  # Largest number of known answers.
ABILITIES = np.linspace(-3.0, 3.0, 121)  # Of the curves.
_BLOCK = 1 << 13
_PRECISION = 0.3  # Prior precision of a and b: within about 2 of 0.


class IrtSearch:
  """Estimator by 2PL with D-dimensional abilities; the fit is stored for the last known models."""

  def __init__(self, num_dimensions: int = 1, rounds: int = 12, seed: int = 0):
    if num_dimensions < 1 or rounds < 1:
      raise ValueError(f"Got num_dimensions={num_dimensions}, rounds={rounds}; expected 1 or more.")
    self._settings = (num_dimensions, rounds)
    self.seed, self._last = seed, estimator.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """See `estimator.Estimator`."""
    order, items = self._last.get((known,), lambda: _prepare(known, *self._settings))
    num_samples = len(order)
    asked = answer_sampling.ask_nested(lambda ranks: order[ranks], num_samples, ask, budget,
                                       seed=self.seed)
    ability = _ability(items[asked.samples], asked.answers)

    def probabilities(samples: np.ndarray) -> np.ndarray:
      return asked.keep(samples, hierarchical_logistic.probabilities(items[samples], ability))

    answers = asked.keep(np.arange(num_samples), items @ ability > 0.0).astype(np.uint8)
    accuracy = intervals.accuracy(asked.by_rank()[1], num_samples)
    return estimator.make_estimate(answers, asked, accuracy, probabilities)


def _prepare(known: np.ndarray, num_dimensions: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
  """Returns (order [N], items float32 [N, D + 1]: a_s and, last, b_s)."""
  order = ranking.order_by_count(ranking.checked_counts(known))
  if float(known.size) > LIMIT:
    raise ValueError(f"{known.shape[0]} models x {known.shape[1]} samples are more than the limit "
                     f"of {LIMIT:.0e} answers for item response theory; use FactorSearch.")
  return order, fit_items(known, num_dimensions, rounds)


def fit_items(known: np.ndarray, num_dimensions: int, rounds: int) -> np.ndarray:
  """Returns the items of `fit_items_and_abilities`."""
  return fit_items_and_abilities(known, num_dimensions, rounds)[0]


def fit_items_and_abilities(known: np.ndarray, num_dimensions: int, rounds: int,
                            abilities: np.ndarray | None = None
                            ) -> tuple[np.ndarray, np.ndarray]:
  """Alternates between samples and models, from `abilities` or leading principal components.

  Returns:
    (items float32 [N, D + 1]: a_s and, last, b_s; abilities [M, D + 1], the last one 1).
  """
  rows = known.astype(np.float32)
  if abilities is None:
    abilities = _leading(rows, num_dimensions)
  size = abilities.shape[1]
  items = np.zeros([known.shape[1], size], np.float32)
  for _ in range(rounds):
    for start in range(0, len(items), _BLOCK):
      block = slice(start, start + _BLOCK)
      for _ in range(2):  # A Newton step for n samples: items [n, D + 1], answers [n, M].
        expected = hierarchical_logistic.probabilities(items[block], abilities.T)
        weights = expected * (1.0 - expected)
        slope = (rows[:, block].T - expected) @ abilities - _PRECISION * items[block]
        pairs = (abilities[:, :, None] * abilities[:, None, :]).reshape(len(abilities), -1)
        bend = (weights @ pairs).reshape(-1, size, size) + _PRECISION * np.eye(
            size, dtype=np.float32)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        items[block] = items[block] + np.clip(step, -2.0, 2.0)
    abilities = np.stack([_ability(items, row) for row in rows])
    # The scale is arbitrary: abilities have mean 0 and variance 1, as the priors assume.
    free = abilities[:, :-1]
    middle, spread = free.mean(axis=0), np.maximum(free.std(axis=0), 1e-3)
    items[:, -1] += items[:, :-1] @ middle
    items[:, :-1] *= spread
    abilities[:, :-1] = (free - middle) / spread
  return items, abilities


def _leading(rows: np.ndarray, num: int) -> np.ndarray:
  """Leading components of models' answers [M, N], of variance 1: [M, D + 1], the last one 1."""
  centered = rows - rows.mean(axis=0)
  vectors = np.linalg.eigh(centered @ centered.T)[1]
  leading = vectors[:, ::-1][:, :min(num, len(rows) - 1)] * np.sqrt(len(rows))
  # The sign is chosen so that a higher ability solves more samples.
  leading = leading * np.where(leading.T @ rows.sum(axis=1) < 0, -1.0, 1.0)
  return np.concatenate([leading, np.ones([len(rows), 1])], axis=1).astype(np.float32)


def curves(items: np.ndarray) -> np.ndarray:
  """Probability of a correct answer at each ability, of items [n, 2] (a, b): [n, abilities]."""
  return 1.0 / (1.0 + np.exp(-(items[:, :1] * ABILITIES + items[:, 1:])))


def information(items: np.ndarray) -> np.ndarray:
  """Fisher information about the ability, a^2 p (1 - p), of items [n, 2]: [n, abilities]."""
  chance = curves(items)
  return items[:, :1] ** 2 * chance * (1.0 - chance)


def _ability(items: np.ndarray, answers: np.ndarray) -> np.ndarray:
  """Fits the ability [D + 1] to answers [m] to items [m, D + 1] under N(0, 1); the last is 1."""
  size = items.shape[1]
  # A prior of very high precision holds the last weight at 1.
  precision = np.diag(np.append(np.ones(size - 1), 1e9))
  prior = hierarchical_logistic.Prior(np.append(np.zeros(size - 1), 1.0), precision)
  return hierarchical_logistic.fit(items.astype(np.float64), answers, prior)
