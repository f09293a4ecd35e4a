# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression of accuracies, by brute force; what it adds to estimates from few answers."""

from __future__ import annotations

import numpy as np
import pytest

from suite import lifelong
from suite.lifelong.answers import accuracy_regression
from suite.lifelong.cache import accuracy_cache


def _models(num, seed=0):
  """Models of two skills in families of four, on 1,500 samples: uint8 [num, 1500]."""
  rng = np.random.default_rng(seed)
  skills = np.repeat(rng.normal(0.3, 1.2, (num // 4, 2)), 4, axis=0) + rng.normal(0, 0.2, (num, 2))
  chance = 1 / (1 + np.exp(rng.normal(0, 1.5, 1500) - skills[:, np.arange(1500) % 2]))
  return (rng.random((num, 1500)) < chance).astype(np.uint8)


def _ridge(answers, accuracies, row, strength):
  """With an intercept, from its definition."""
  middle, mean = answers.mean(axis=0), accuracies.mean()
  away = answers - middle
  weights = np.linalg.solve(away.T @ away + strength * np.eye(away.shape[1]),
                            away.T @ (accuracies - mean))
  return mean + (row - middle) @ weights


def test_leaving_one_out_in_closed_form_is_leaving_one_out():
  known = _models(20)
  answers, accuracies = known[:, :12].astype(float), known.mean(axis=1)
  found = accuracy_regression.AccuracyRegression(answers, accuracies)
  away = answers - answers.mean(axis=0)
  trace = np.sum(away**2) / 20
  errors = {}
  for strength in accuracy_regression._STRENGTHS:
    errors[strength] = np.sqrt(np.mean([(_ridge(
        np.delete(answers, i, 0), np.delete(accuracies, i), answers[i], strength * trace)
                                         - accuracies[i])**2 for i in range(20)]))
  best = min(errors, key=errors.get)
  assert found.error == pytest.approx(errors[best], rel=1e-6)
  new = _models(20, seed=1)[0, :12]
  assert found.predict(new).value == pytest.approx(
      _ridge(answers, accuracies, new, best * trace), abs=1e-9)
  # What is unlike all known models is less certain than what is like one.
  assert found.predict(1 - answers[0]).error > found.predict(answers[0]).error


def test_questions_are_the_draw_that_tells_most_of_known_models():
  known = _models(24)
  good = np.arange(64)
  poor = np.full(64, 3)  # One question again and again.
  assert accuracy_regression.best([poor, good, poor], lambda s: known[:, s], known.mean(1)) == 1
  assert accuracy_regression.best([poor, good], lambda s: known[:5, s], known[:5].mean(1)) == 0


def test_few_answers_are_better_than_their_mean_and_intervals_stay_honest(tmp_path):
  answers = _models(48)
  errors, inside = [], []
  for first in (0, 16, 32):  # Whole families are left out.
    rest = np.setdiff1d(np.arange(48), np.arange(first, first + 8))
    cache = accuracy_cache.AccuracyCache(tmp_path / str(first), create=True)
    cache.add_models([f"m{i}" for i in rest], answers[rest], range(1500))
    reference = lifelong.Reference(cache, num_factors=[4], save=False)
    for row in answers[first:first + 8]:
      for budget in (8, 32):
        found = reference.estimate(lambda ids, row=row: row[ids.astype(int)], budget)
        plain = found.observed_answers.mean()
        errors.append([abs(found.accuracy - row.mean()), abs(plain - row.mean())])
        inside.append(found.interval[0] <= row.mean() <= found.interval[1])
        assert found.interval[0] <= found.accuracy <= found.interval[1]
  combined, plain = np.mean(errors, axis=0)
  assert combined < 0.8 * plain
  assert np.mean(inside) >= 0.9
