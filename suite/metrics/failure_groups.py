# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which groups of test images fail together, and for which models: errors beyond two main effects.

Groups are the values of one attribute, such as the classes or the years of a test set. A model m
has k[m, g] errors of n[m, g] answers in group g. Without an interaction

    P(error of m in g) = sigmoid(model[m] + group[g])

so that a bad model is bad, and a hard group hard, everywhere alike. What is left, in units of its
deviation, is an array of residuals z; groups that fail together, for some of the models, are its
singular vectors. A factor counts if its singular value is above those of arrays that are drawn from
the fitted model, at the same place (parallel analysis).

Answers of two models to the same images are compared by pairs (`paired_tests.mcnemar`), since
images that both answer alike say nothing about their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from suite.metrics import paired_tests

_STEPS = 30
_PRIOR = 0.5  # Errors, and right answers, that are added to each cell: rates stay above 0.


class MainEffects(NamedTuple):
  """The additive model of M models and G groups.

  Attributes:
    model: float [..., M], on the scale of log odds.
    group: float [..., G], of mean 0.
    rates: float [..., M, G], the expected share of errors.
  """

  model: np.ndarray
  group: np.ndarray
  rates: np.ndarray


def main_effects(errors: np.ndarray, counts: np.ndarray) -> MainEffects:
  """Fits the additive model by Newton's steps in turns, each cell with `_PRIOR` of both answers.

  Args:
    errors: [..., M, G], wrong answers.
    counts: [M, G], all answers; a cell may have none.
  """
  there = counts > 0
  k, n = np.where(there, errors + _PRIOR, 0.0), np.where(there, counts + 2 * _PRIOR, 0.0)
  model, group = np.zeros([*k.shape[:-1], 1]), np.zeros([*k.shape[:-2], 1, k.shape[-1]])
  for _ in range(_STEPS):
    for axis, effect in ((-1, model), (-2, group)):
      rates = _sigmoid(model + group)
      slope = np.sum(k - n * rates, axis=axis, keepdims=True)
      weight = np.sum(n * rates * (1 - rates), axis=axis, keepdims=True)
      effect += np.clip(slope / np.maximum(weight, 1e-12), -2.0, 2.0)
    mean = np.mean(group, axis=-1, keepdims=True)
    model += mean
    group -= mean
  return MainEffects(model[..., 0], group[..., 0, :], _sigmoid(model + group))


def residuals(errors: np.ndarray, counts: np.ndarray, effects: MainEffects) -> np.ndarray:
  """What the main effects leave, in deviations of a binomial: [..., M, G], 0 without answers."""
  deviation = np.sqrt(np.maximum(counts * effects.rates * (1 - effects.rates), 1e-12))
  return np.where(counts > 0, (errors - counts * effects.rates) / deviation, 0.0)


class Factor(NamedTuple):
  """A pattern of failures.

  Attributes:
    models: float [M], of length 1; a model with a positive value fails more where `groups` is
      positive. The largest value of `groups` is positive.
    groups: float [G], of length 1.
    share: of the sum of squared residuals.
    p_value: share of drawn arrays whose singular value of this place is at least as large.
  """

  models: np.ndarray
  groups: np.ndarray
  share: float
  p_value: float


def factors(errors: np.ndarray, counts: np.ndarray, *, level: float = 0.05, num_draws: int = 199,
            seed: int = 0) -> list[Factor]:
  """Returns the factors beyond chance, the largest first; [] of fewer than two models or groups.

  Args:
    errors, counts: [M, G].
    level: largest p-value; the first factor above it ends the list.
    num_draws: number of arrays drawn from the main effects.
    seed: of the draws.
  """
  if min(errors.shape) < 2:
    return []
  effects = main_effects(errors, counts)
  left, values, right = np.linalg.svd(residuals(errors, counts, effects), full_matrices=False)
  fake = np.random.default_rng(seed).binomial(counts, effects.rates, [num_draws, *errors.shape])
  drawn = np.linalg.svd(residuals(fake, counts, main_effects(fake, counts)), compute_uv=False)
  found = []
  for place, value in enumerate(values[:min(errors.shape) - 1]):  # The main effects take one.
    p_value = (1 + int(np.sum(drawn[:, place] >= value))) / (1 + num_draws)
    if p_value > level:
      break
    sign = np.sign(right[place][np.argmax(np.abs(right[place]))])
    found.append(Factor(sign * left[:, place], sign * right[place],
                        float(value ** 2 / np.sum(values ** 2)), p_value))
  return found


class PairDifference(NamedTuple):
  """Two models in one group: images that only the first, or only the second, answers wrongly."""

  group: str
  first: int
  second: int
  only_first: int
  only_second: int
  p_value: float


def pairs(wrong: np.ndarray, groups: Mapping[str, np.ndarray]) -> list[PairDifference]:
  """Compares all pairs of models in all groups, p-values corrected by Holm for all of them.

  Args:
    wrong: bool [M, N], of the same images.
    groups: name -> places of its images.

  Returns:
    The pairs that differ, the smallest p-value first.
  """
  found: list[PairDifference] = []
  for name, places in groups.items():
    for i in range(len(wrong)):
      for j in range(i):
        test = paired_tests.mcnemar(~wrong[i][places], ~wrong[j][places])
        only = int(np.sum(wrong[i][places] & ~wrong[j][places]))
        other = int(np.sum(wrong[j][places] & ~wrong[i][places]))
        found.append(PairDifference(name, i, j, only, other, test.p_value))
  corrected = paired_tests.holm([pair.p_value for pair in found])
  both = [pair._replace(p_value=float(p)) for pair, p in zip(found, corrected)]
  return sorted((pair for pair in both if pair.p_value < 0.05),
                key=lambda pair: (pair.p_value, pair.group, pair.first, pair.second))


def harder(errors: np.ndarray, counts: np.ndarray) -> Sequence[tuple[float, float]]:
  """Returns by group what it adds to the mean log odds of an error, and its z-value."""
  effects = main_effects(errors, counts)
  information = np.sum(counts * effects.rates * (1 - effects.rates), axis=0)
  deviation = 1 / np.sqrt(np.maximum(information, 1e-12))
  return list(zip(effects.group.tolist(), (effects.group / deviation).tolist()))


def _sigmoid(x: np.ndarray) -> np.ndarray:
  return 1 / (1 + np.exp(-np.clip(x, -40, 40)))
