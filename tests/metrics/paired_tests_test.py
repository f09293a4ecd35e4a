# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Paired tests: by hand, by brute force, and against scipy and statsmodels on simulated answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from suite.metrics import paired_tests

ONE_SET = np.zeros(6, int)


def test_mcnemar_by_hand():
  # Only the first: 5 units; only the second: 1. Of 6 fair coins, 0, 1, 5 or 6 heads: 14 of 64.
  first = np.array([1, 1, 1, 1, 1, 0, 1, 0], bool)
  second = np.array([0, 0, 0, 0, 0, 1, 1, 0], bool)
  assert paired_tests.mcnemar(first, second) == (5, 1, pytest.approx(14 / 64))
  assert paired_tests.mcnemar(first, second).p_value == pytest.approx(stats.binomtest(5, 6).pvalue)
  assert paired_tests.mcnemar(first, first).p_value == 1.0
  difference = (first.astype(float) - second) / 8
  assert paired_tests.within_seed(difference, np.zeros(8, int)) == pytest.approx(14 / 64)
  with pytest.raises(ValueError, match=r"\[8\] and \[3\]; expected \[U\]"):
    paired_tests.mcnemar(first, second[:3])


def test_parts_by_hand():
  # Seeds score 3 and 1: variance 2, of their mean 1. Means of units: 1, 1, 0, 0: variance of a
  # unit 1/3, of the sum of 4 units 4/3. Remainders of seed 1: 0, 0, .5, .5 less its mean .25.
  values = np.array([[1., 1., .5, .5], [1., 1., -.5, -.5]])
  found = paired_tests.parts(values, np.zeros(4, int))
  both = 2 * (4 * .25 ** 2) * 4 / 3 / 1 / 2
  assert found == (2.0, pytest.approx(1 - both), pytest.approx(4 / 3), pytest.approx(both), 1.0, 2,
                   3)
  # In two test sets of two units each no unit differs from the others of its set.
  assert paired_tests.parts(values, np.array([0, 0, 1, 1])) == (2.0, 1.0, 0.0, 0.0, 1.0, 2, 2)


def test_one_seed_has_an_interval_of_the_test_images_alone():
  values = np.array([[1., 0., 1., 1., 0., 1.]]) / 6
  found = paired_tests.parts(values, ONE_SET)
  assert math.isnan(found.seeds)
  expected = stats.t.interval(0.95, 5, values.sum(), stats.sem(values[0] * 6))
  assert paired_tests.half_width(found) == pytest.approx((expected[1] - expected[0]) / 2)


def test_equal_units_leave_the_test_of_seeds_alone():
  """Without a part of the units it is the paired t-test of the seeds' scores."""
  scores = np.array([[.9, .7, .8], [.5, .6, .4]])
  values = np.repeat(scores[:, :, None] / 4, 4, axis=2)
  found = paired_tests.compare(list(values), ["012", "012"], np.zeros(4, int))
  expected = stats.ttest_rel(*scores)
  assert found.p_value[0, 1] == pytest.approx(expected.pvalue)
  interval = expected.confidence_interval()
  assert found.margin[0, 1] == pytest.approx((interval.high - interval.low) / 2)


def test_the_bootstrap_is_the_one_by_brute_force():
  """Every draw of 2 seeds and 2 + 2 units, each as likely as the others."""
  values = np.array([[[.1, .4, .2, .3], [.5, .1, .3, .0]], [[.0, .2, .1, .1], [.3, .3, .0, .2]]])
  strata = np.array([0, 0, 1, 1])
  every = []
  for seeds in itertools.product(range(2), repeat=2):
    for units in itertools.product((0, 1), (0, 1), (2, 3), (2, 3)):
      by_seed = values[:, :, units].sum(axis=2)
      mean = by_seed.mean(axis=1)
      every.append(mean + math.sqrt(2) * (by_seed[:, seeds].mean(axis=1) - mean))
  found = paired_tests.two_level_bootstrap(values, strata, num=40_000, seed=0)
  np.testing.assert_allclose(found.mean(axis=0), np.mean(every, axis=0), atol=0.004)
  np.testing.assert_allclose(np.cov(found.T), np.cov(np.array(every).T, bias=True), rtol=0.03,
                             atol=1e-3)


def test_the_bootstrap_of_one_seed_is_that_of_scipy():
  answers = (np.random.default_rng(0).random(60) < 0.7) / 60
  found = paired_tests.two_level_bootstrap(
      answers[None, None], np.zeros(60, int), num=4000, seed=1)[:, 0]
  expected = stats.bootstrap((answers,), np.sum, n_resamples=4000, rng=1, method="percentile")
  np.testing.assert_allclose(np.quantile(found, [.025, .975]), expected.confidence_interval,
                             atol=0.02)


def test_holm_by_hand():
  # Sorted: .01 x 3, .02 x 2 = .04, .03 x 1 = .03, which is at least the one before.
  np.testing.assert_allclose(paired_tests.holm([.02, .03, .01]), [.04, .04, .03])
  assert paired_tests.holm([.5, .9]).tolist() == [1.0, 1.0]
  assert paired_tests.holm([]).tolist() == []


def test_holm_is_that_of_statsmodels():
  multitest = pytest.importorskip(
      "statsmodels.stats.multitest", reason="statsmodels is an extra for this check alone")
  given = np.random.default_rng(0).random(40) ** 3
  np.testing.assert_allclose(
      paired_tests.holm(given), multitest.multipletests(given, method="holm")[1])


def test_mcnemar_is_that_of_statsmodels():
  tables = pytest.importorskip(
      "statsmodels.stats.contingency_tables", reason="statsmodels is an extra for this check alone")
  first, second = np.random.default_rng(0).random([2, 90]) < [[.7], [.6]]
  table = [[np.sum(first & second), np.sum(first & ~second)],
           [np.sum(~first & second), np.sum(~first & ~second)]]
  assert paired_tests.mcnemar(first, second).p_value == pytest.approx(
      tables.mcnemar(table, exact=True).pvalue)


def _found(p_values, scores):
  num = len(scores)
  matrix = np.full([num, num], np.nan)
  for pair, value in p_values.items():
    matrix[pair], matrix[pair[::-1]] = value, value
  blank = np.zeros([num, num])
  return paired_tests.Comparison(
      [], np.zeros(num), np.subtract.outer(scores, scores), blank, matrix, blank, blank)


def test_ranks_and_groups_by_hand():
  """Of 0 > 1 > 2 > 3 the first is apart from the last two, and the second from the last."""
  apart, not_apart = 0.01, 0.5
  found = _found({(0, 1): not_apart, (0, 2): apart, (0, 3): apart, (1, 2): not_apart,
                  (1, 3): apart, (2, 3): not_apart}, [.9, .8, .7, .6])
  assert paired_tests.rank_intervals(found) == [(1, 2), (1, 3), (2, 4), (3, 4)]
  assert paired_tests.rank_intervals(found, lower_is_better=True) == [
      (3, 4), (2, 4), (1, 3), (1, 2)]
  assert paired_tests.groups(found, [0, 1, 2, 3]) == ["a", "a b", "b c", "c"]


def test_without_a_common_seed_nothing_is_apart():
  rng = np.random.default_rng(0)
  values = [rng.random([1, 6]) + i for i in range(2)]
  found = paired_tests.compare(values, [["0"], ["1"]], ONE_SET)
  assert math.isnan(found.p_value[0, 1]) and not found.is_apart(0, 1)
  assert paired_tests.rank_intervals(found) == [(1, 2), (1, 2)]


def test_methods_without_chance_in_training_differ_by_the_images_alone():
  rng = np.random.default_rng(0)
  images = (rng.random([2, 1, 400]) < [[[.8]], [[.6]]]) / 400.
  fixed = np.repeat(images, 3, axis=1)
  noisy = (rng.random([1, 3, 400]) < [[[.9], [.5], [.1]]]) / 400.
  found = paired_tests.compare([*fixed, *noisy], ["012"] * 3, np.zeros(400, int))
  difference = (images[0] - images[1])[0] * 400
  assert found.p_value[0, 1] == pytest.approx(3 * stats.ttest_1samp(difference, 0).pvalue)
  assert found.seeds_apart[0, 1] == 3 and found.num_seeds[0, 1] == 3
  assert paired_tests.rank_intervals(found)[2] == (1, 3)  # Its seeds alone spread from .1 to .9.


def test_friedman_and_the_critical_difference_are_those_of_the_paper():
  """Demsar (2006, section 3.2.4): 4 classifiers on 14 data sets have a CD of 1.25 at 0.05."""
  scores = np.random.default_rng(0).random([14, 4])
  found = paired_tests.friedman(scores)
  assert found.critical_difference == pytest.approx(1.25, abs=0.005)
  assert found.p_value == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue)
  assert math.isnan(paired_tests.friedman(scores[:1]).p_value)


def test_a_method_that_varies_more_hides_no_other_difference():
  """F of 100 with 4 and 8 degrees of freedom is beyond 5%; of 2 it is not."""
  assert paired_tests._alike([1.0, 1.0, 100.0], [4, 4, 4]).tolist() == [0, 0, 3]
  assert paired_tests._alike([1.0, 1.0, 2.0, math.nan], [4, 4, 4, 0]).tolist() == [0, 0, 0, 0]
  assert paired_tests._alike([0.0, 1.0], [4, 4]).tolist() == [0, 0]
  rng = np.random.default_rng(0)
  strata, seeds = np.zeros(300, int), [[str(s) for s in range(5)]] * 3
  able = rng.normal(0.0, 1.5, 300)
  values = [(able + level + deviation * rng.normal(size=[5, 1]) + rng.normal(0.0, 0.6, [5, 300]) > 0
             ) / 300 for level, deviation in ((0.0, 0.1), (0.6, 0.1), (0.0, 2.0))]
  alone = paired_tests.compare(values[:2], seeds[:2], strata)
  beside = paired_tests.compare(values, seeds, strata)
  assert beside.margin[0, 1] == pytest.approx(alone.margin[0, 1])
  assert alone.is_apart(0, 1) and beside.is_apart(0, 1)
  # Its own pairs keep what it varies by.
  assert min(beside.margin[0, 2], beside.margin[1, 2]) > 3 * beside.margin[0, 1]
