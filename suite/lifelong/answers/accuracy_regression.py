# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression of the known models' accuracies on their answers to a few samples.

With few answers, what the known models that answer alike solve in all says more of an accuracy than
the answers alone. How much more is known from leaving out each known model in turn, which a ridge
regression does in closed form. Two uses: the accuracy of a new model (`factor_model` joins it to
its own estimate), and the choice of the questions, by how well they tell the accuracies of known
models (`best`). Neither looks at the new model's other answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

LEAST = 6  # Least number of known models.
SIZES = (8, 16, 32, 64)  # Numbers of answers that questions are chosen for.
_STRENGTHS = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0])  # Times the mean eigenvalue.
_MOST = 256  # Largest number of known models; of more, evenly spaced ones.


class Predicted(NamedTuple):
  """A predicted accuracy and its standard error."""

  value: float
  error: float


class AccuracyRegression:
  """A ridge regression with an intercept, whose strength leaving one out chooses.

  Attributes:
    error: root mean squared error of the known models' accuracies, each predicted without itself.
  """

  def __init__(self, answers: np.ndarray, accuracies: np.ndarray):
    """Args:
      answers: [M, m] of the known models to m samples, 0/1 or graded.
      accuracies: [M], of the same models over all samples.
    """
    num = len(answers)
    if num < LEAST:
      raise ValueError(f"Got {num} known models; a regression needs {LEAST}.")
    self._middle, self._scale = answers.mean(axis=0, dtype=np.float64), answers.shape[1] ** -0.5
    self._rows = (answers - self._middle) * self._scale
    self._mean = float(np.mean(accuracies))
    values, self._vectors = np.linalg.eigh(self._rows @ self._rows.T)
    values = np.maximum(values, 0.0)
    strengths = _STRENGTHS * (values.mean() + 1e-12)
    turned = self._vectors.T @ (accuracies - self._mean)
    kept = values[:, None] / (values[:, None] + strengths)  # [M, S].
    # Without itself, the residual of a model is larger by 1 / (1 - its leverage).
    left = np.maximum(1.0 - self._vectors**2 @ kept - 1.0 / num, 1e-6)
    errors = (self._mean + self._vectors @ (kept * turned[:, None]) - accuracies[:, None]) / left
    squared = np.mean(errors**2, axis=0)
    best = int(np.argmin(squared))
    self.error = float(np.sqrt(squared[best]))
    self._strength, self._inverse = strengths[best], 1.0 / (values + strengths[best])
    self._weights = self._inverse * turned
    # The variance of an error, over that which follows from the distance to the other models.
    self._unit = float(np.mean(errors[:, best]**2 * left[:, best])) / self._strength

  def predict(self, answers: np.ndarray) -> Predicted:
    """Predicts the accuracy of a model from its answers [m] to the same samples.

    The error is that of the known models, times what the model is further away than they are from
    each other (the variance of a Gaussian process of the same kernel).
    """
    row = (answers - self._middle) * self._scale
    own = (self._rows @ row) @ self._vectors
    noise = self._strength * (1.0 + 1.0 / len(self._rows))
    spread = row @ row - own @ (self._inverse * own) + noise
    value = float(np.clip(self._mean + own @ self._weights, 0.0, 1.0))
    return Predicted(value, float(np.sqrt(max(self._unit * spread, 1e-12))))


def some(num_models: int) -> np.ndarray:
  """Which of the known models a regression is of: int [m]."""
  return np.unique(np.linspace(0, num_models - 1, min(num_models, _MOST)).astype(int))


def best(draws: Sequence[np.ndarray], columns: Callable[[np.ndarray], np.ndarray],
         accuracies: np.ndarray) -> int:
  """Index of the draw whose first answers tell the accuracies of the known models best.

  That is by the product of the errors of the regression and of the plain mean: questions that serve
  the regression alone may be too easy or too hard, which its intercept hides.

  Args:
    draws: samples [n] each, in the order of asking.
    columns: samples [n] -> answers [M, n] of the known models.
    accuracies: [M].
  """
  models = some(len(accuracies))
  if len(models) < LEAST:
    return 0
  num, truth = min(len(draws[0]), max(SIZES)), accuracies[models]
  answers = columns(np.concatenate([draw[:num] for draw in draws]))[models]
  errors = np.zeros(len(draws))
  for place in range(len(draws)):
    for size in SIZES:
      if size <= num:
        here = answers[:, place * num:place * num + size]
        plain = np.sqrt(np.mean((here.mean(axis=1) - truth)**2))
        errors[place] += np.log(AccuracyRegression(here, truth).error + 1e-9) + np.log(plain + 1e-9)
  return int(np.argmin(errors))
