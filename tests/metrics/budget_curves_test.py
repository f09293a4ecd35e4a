# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.metrics import budget_curves

BUDGETS = [8, 16, 32, 64, 128, 256, 1024, 32768]


@pytest.mark.parametrize("b", [0.0003, 0.02, 0.3])
def test_the_fit_finds_the_decay_that_made_the_points(b):
  found = budget_curves.fit_decay(BUDGETS, 0.2 * np.exp(-b * np.array(BUDGETS)) + 0.15)
  assert found == pytest.approx((0.2, b, 0.15, 1.0), rel=1e-3)


def test_a_line_up_is_fitted_with_a_negative_amplitude_and_three_points_are_refused():
  found = budget_curves.fit_decay(BUDGETS, 0.3 - 0.1 * np.exp(-0.01 * np.array(BUDGETS)))
  assert found.a == pytest.approx(-0.1, rel=1e-3) and found.c == pytest.approx(0.3)
  with pytest.raises(ValueError, match="3 budgets and 3 errors; expected 4 of each"):
    budget_curves.fit_decay([1, 2, 3], [1, 2, 3])


def test_a_curve_is_flat_after_the_last_point_above_its_end():
  errors = [0.4, 0.31, 0.35, 0.302, 0.3, 0.299, 0.301, 0.3]
  assert budget_curves.flattens_at(BUDGETS, errors, 0.01) == 64  # 0.35 at 32 is above 0.31.
  assert budget_curves.flattens_at(BUDGETS, errors, 0.2) == 8
  assert budget_curves.flattens_at(BUDGETS, [*errors[:-1], 0.2], 0.01) == 32768


def test_rank_correlation_by_hand():
  # Ranks 1 2 3 4 and 2 1 3 4: 1 - 6 (1 + 1) / (4 15).
  assert budget_curves.rank_correlation([1, 2, 3, 9], [5, 4, 6, 7]) == pytest.approx(0.8)
  assert np.isnan(budget_curves.rank_correlation([1, 1], [1, 2]))


def test_correlations_are_those_of_the_rows():
  answers = (np.random.default_rng(0).random((4, 50)) < 0.4).astype(float)
  answers[3] = 1.0  # All right: it has no correlation.
  found = budget_curves.correlations(answers.sum(axis=1), answers @ answers.T, 50)
  np.testing.assert_allclose(found[:3, :3], np.corrcoef(answers[:3]))
  assert np.isnan(found[3]).all()
