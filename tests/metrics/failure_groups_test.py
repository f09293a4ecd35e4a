# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Main effects by hand, and planted failures that are found again."""

import numpy as np
import pytest

from suite.metrics import failure_groups


def test_main_effects_reproduce_the_margins():
  errors, counts = np.array([[10, 40], [30, 60]]), np.full([2, 2], 100)
  effects = failure_groups.main_effects(errors, counts)
  # Half an error and half a right answer in each cell; the sums are those of the fit.
  np.testing.assert_allclose(np.sum(101 * effects.rates, axis=1), [51, 91], rtol=1e-6)
  np.testing.assert_allclose(np.sum(101 * effects.rates, axis=0), [41, 101], rtol=1e-6)
  assert np.mean(effects.group) == pytest.approx(0)


def test_no_interaction_leaves_nothing():
  odds = np.array([[1.0], [3.0]]) * np.array([0.2, 1.0, 2.0])
  counts = np.full([2, 3], 100_000)
  errors = np.rint(counts * odds / (1 + odds)).astype(int)
  effects = failure_groups.main_effects(errors, counts)
  assert np.abs(failure_groups.residuals(errors, counts, effects)).max() < 0.05
  assert failure_groups.factors(errors, counts, num_draws=39) == []


def test_planted_failures_are_found():
  """Models 0 and 1 fail in classes 3, 7 and 11, model 5 in 20; class 2 is hard for all."""
  rng = np.random.default_rng(0)
  rates = np.linspace(0.1, 0.3, 6)[:, None] * np.ones(24)
  rates[:, 2] = 0.7
  rates[np.ix_([0, 1], [3, 7, 11])] += 0.4
  rates[5, 20] = 0.9
  labels = np.repeat(np.arange(24), 80)
  wrong = rng.random([6, len(labels)]) < rates[:, labels]
  groups = {str(k): np.flatnonzero(labels == k) for k in range(24)}
  errors = np.stack([wrong[:, places].sum(axis=1) for places in groups.values()], axis=1)
  counts = np.full_like(errors, 80)
  first, second, *rest = failure_groups.factors(errors, counts, num_draws=99)
  assert not rest
  assert set(np.argsort(-first.groups)[:3]) == {3, 7, 11}
  assert set(np.flatnonzero(first.models > 0.3)) == {0, 1}
  assert np.argmax(np.abs(second.groups)) == 20 and np.argmax(np.abs(second.models)) == 5
  assert int(np.argmax([z for _, z in failure_groups.harder(errors, counts)])) == 2
  apart = failure_groups.pairs(wrong, groups)
  # Elsewhere models differ, too: their rates are 0.1 to 0.3.
  assert {"3", "7", "11", "20"} <= {pair.group for pair in apart} and apart[0].group == "20"
  worse = next(pair for pair in apart if pair.group == "20")
  assert 5 in (worse.first, worse.second)
  assert (worse.only_first > worse.only_second) == (worse.first == 5)


def test_chance_gives_no_factor_more_often_than_the_level():
  rng = np.random.default_rng(1)
  counts = np.full([4, 10], 50)
  rates = 1 / (1 + np.exp(-(rng.normal(size=(4, 1)) + rng.normal(size=10))))
  found = [bool(failure_groups.factors(rng.binomial(counts, rates), counts, num_draws=39, seed=i))
           for i in range(60)]
  assert sum(found) <= 8  # 3 expected; more than 8 of 60 has a chance below 0.004.
