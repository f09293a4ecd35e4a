# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Intervals: by hand, at 0% and 100%, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from suite.lifelong.answers import intervals
from suite.lifelong.answers import random_sample
from suite.lifelong.answers import rank_order


def test_wilson_by_hand():
  # z^2 = 4, n = 100, p = 1/2: scale 1.04, half 2 sqrt(0.0025 + 0.0001) / 1.04.
  low, high = intervals.wilson(0.5, 100, z=2.0)
  half = 2 * 0.0026 ** 0.5 / 1.04
  assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))
  # p = 0: 0 to z^2 / (n + z^2).
  assert intervals.wilson(0.0, 12, z=2.0) == pytest.approx((0.0, 0.25))
  assert intervals.wilson(1.0, 12, z=2.0) == pytest.approx((0.75, 1.0))
  assert intervals.wilson(0.3, float("inf")) == (0.3, 0.3)
  # One of 12: Poisson's lower limit -log(0.95) = 0.0513, below Wilson's.
  assert intervals.wilson(1 / 12, 12)[0] == pytest.approx(0.0512933 / 12)
  assert intervals.wilson(11 / 12, 12)[1] == pytest.approx(1 - 0.0512933 / 12)
  with pytest.raises(ValueError, match="share of 1.5"):
    intervals.wilson(1.5, 3)


def test_paired_variance_by_hand():
  # Differences 1, -1, 0: 2 / (2 * 4 * 3).
  assert intervals.paired_variance(np.array([0, 1, 0, 0])) == pytest.approx(2 / 24)
  with pytest.raises(ValueError, match="1 values; a variance needs 2"):
    intervals.paired_variance(np.array([1]))


def test_design_effect():
  assert intervals.design_effect(np.ones(8)) == 1.0
  ordered = np.repeat([1, 0], 500)
  # One change of 999: ratio (1 / 1998) / (0.25 * 1000 / 999); 16 in 1016 pairs are random.
  ratio = (1 / 1998) / (250 / 999)
  assert intervals.design_effect(ordered) == pytest.approx((1000 * ratio + 16) / 1016)
  assert intervals.design_effect(np.tile([0, 1], 50)) == 1.25


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("m", [1, 8, 100])
def test_models_at_0_and_100_percent_have_a_width(value, m):
  found = intervals.accuracy(np.full(m, value), 1000)
  assert found.value == value and found.low <= value <= found.high and found.width > 0
  # Samples left: with m of 1000 observed, n = m / (1 - m / 1000).
  n = m / (1 - m / 1000)
  width = intervals.Z_95 ** 2 / (n + intervals.Z_95 ** 2)
  # One answer is a few successes and a few failures at once: Poisson's limit is the wider one.
  assert found.width == pytest.approx(width) if m > 1 else width < found.width < 1.0


def test_all_observed_is_all_known():
  found = intervals.accuracy(np.array([1, 0, 0, 1]), 4)
  assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)
  found = intervals.difference(np.array([1, 1]), np.array([0, 1]), 2)
  assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("m, level", [
    (32, 0.002), (32, 0.5), (32, 0.998), (100, 0.05), (100, 0.95),
    (512, 0.002), (512, 0.5), (512, 0.998)])
def test_coverage_of_sampled_ranks(m, level):
  num, trials = 20_000, 400
  slope = np.linspace(2, -2, num) + np.log(level / (1 - level))
  truth = np.random.default_rng(0).random(num) < 1 / (1 + np.exp(-slope))
  hits = 0
  for seed in range(trials):
    found = intervals.accuracy(truth[np.sort(rank_order.nested_ranks(num, m, seed))], num)
    hits += found.low <= truth.mean() <= found.high
  # 3 standard errors below 95%; a few steps of a rare answer make it more than 95%.
  assert hits / trials >= 0.95 - 3 * (0.95 * 0.05 / trials) ** 0.5


def test_regression_takes_what_the_model_explains():
  rng = np.random.default_rng(0)
  chance = np.where(np.arange(1000) % 2, 0.9, 0.1)
  answers = (rng.random(1000) < chance).astype(int)
  plain = intervals.accuracy(answers, 10 ** 6)
  found = intervals.regression(answers, chance, 0.5, 10 ** 6)
  assert found.value == pytest.approx(0.5 + np.mean(answers - chance))
  assert found.width < 0.75 * plain.width  # sqrt(0.09 / 0.25) = 0.6.


def test_regression_falls_back_to_the_mean():
  answers = np.array([1] * 5 + [0] * 95)
  plain = intervals.accuracy(answers, 1000)
  assert intervals.regression(answers, np.full(100, 0.05), 0.5, 1000) == plain  # Five ones only.
  noise = np.random.default_rng(0).random(100)
  answers = np.repeat([1, 0], 50)
  assert intervals.regression(answers, noise, 0.5, 1000) == intervals.accuracy(answers, 1000)
  with pytest.raises(ValueError, match="answers of shape"):
    intervals.regression(np.zeros(5), np.zeros(5), 0.0, 4)


def test_difference_by_hand_and_far_narrower_than_two_intervals():
  rng = np.random.default_rng(0)
  first = rng.integers(0, 2, 400)
  second = first.copy()
  second[::40] = 0
  found = intervals.difference(first, second, 10 ** 6)
  assert found.value == pytest.approx(np.mean(first - second))
  assert found.low <= found.value <= found.high
  assert found.width < 0.4 * intervals.accuracy(first, 10 ** 6).width
  alike = intervals.difference(first, first, 10 ** 6)
  # spread 1 / 402 and middle 0.
  assert alike.value == 0 and alike.high == pytest.approx(
      intervals.Z_95 * (1 / 402 / (402 / (1 - 402 / 1_000_002))) ** 0.5)
  with pytest.raises(ValueError, match="both models' answers"):
    intervals.difference(first, first[:3], 1000)


def test_coverage_of_a_difference():
  rng = np.random.default_rng(1)
  truth = (rng.random([2, 20_000]) < np.array([[0.5], [0.45]])).astype(int)
  truth[1] = np.where(rng.random(20_000) < 0.7, truth[0], truth[1])
  true = truth[0].mean() - truth[1].mean()
  hits = []
  for seed in range(400):
    ranks = np.sort(rank_order.nested_ranks(20_000, 128, seed))
    found = intervals.difference(truth[0, ranks], truth[1, ranks], 20_000)
    hits.append(found.low <= true <= found.high)
  assert 0.917 <= np.mean(hits) <= 0.983


def test_sign_test_by_hand():
  assert intervals.sign_test(np.ones(5), np.zeros(5)) == pytest.approx(2 / 32)
  assert intervals.sign_test(np.ones(3), np.ones(3)) == 1.0


def test_whole_clusters_are_what_was_drawn():
  clusters = np.array([0, 0, 1, 1, 2, 2])
  one_by_one = random_sample.of_all(np.array([0, 2, 4]), 6, clusters)
  assert one_by_one.together == 0.0 and one_by_one.clusters.tolist() == [0, 1, 2]
  # Of 3 pairs of a cluster 2 were asked, q = 2/3; p = 4 x 3 / (6 x 5): (1 - 0.6) x 3 > 1.
  assert random_sample.of_all(np.arange(4), 6, clusters).together == 1.0
  # q = 1/3, p = 3 x 2 / 30: (1 - 0.6) x 2.
  assert random_sample.of_all(np.arange(3), 6, clusters).together == pytest.approx(0.8)
  assert random_sample.of_all(np.arange(6), 6, clusters).together == 0.0  # Nothing is drawn.
  # Sums 1 and -1 of deviations: 2 x 2 / 1, over 4 / 4 of independent answers.
  wide = (stats.t.ppf(0.975, 1) / intervals.Z_95) ** 2
  values, pairs = np.array([1, 1, 0, 0]), np.array([7, 7, 3, 3])
  assert intervals.clustered_effect(values, pairs, 1.0) == pytest.approx(4 * wide)
  assert intervals.clustered_effect(values, pairs, 0.5) == pytest.approx(2.5 * (1 + wide) / 2)
  assert intervals.clustered_effect(np.ones(4), pairs, 1.0) == pytest.approx(2 * wide)
  assert intervals.clustered_effect(values, np.zeros(4), 1.0) == 4.0
  assert intervals.clustered_effect(values, pairs, 0.0) == 1.0


def test_coverage_of_whole_clusters():
  rng, inside = np.random.default_rng(0), np.zeros(2)
  clusters = np.repeat(np.arange(120), 10)
  for _ in range(200):
    chance = 1 / (1 + np.exp(-rng.normal(0, 1.5, 120)[clusters]))
    answers = (rng.random(1200) < chance).astype(float)
    samples = np.flatnonzero(np.isin(clusters, rng.permutation(120)[:30]))
    for place, known in enumerate((None, clusters)):
      found = intervals.accuracy(answers[samples], 1200,
                                 random_sample.of_all(samples, 1200, known))
      inside[place] += found.low <= answers.mean() <= found.high
  assert inside[0] < 160 and 182 <= inside[1] <= 198


def test_a_clustered_difference_is_students_of_the_clusters():
  rng = np.random.default_rng(1)
  clusters = rng.permutation(np.repeat(np.arange(20), 5))
  first, second = rng.random([2, 100]) < 0.5 + 0.3 * rng.normal(0, 1, [2, 20])[:, clusters]
  sample = random_sample.of_all(np.arange(100), 500)
  found, p = intervals.clustered_difference(first, second, clusters, sample)
  means = np.bincount(clusters, first * 1.0 - second) / 5
  plain = stats.ttest_1samp(means, 0.0)
  assert found.value == pytest.approx(means.mean()) and p == pytest.approx(plain.pvalue)
  assert (found.low, found.high) == pytest.approx(tuple(plain.confidence_interval()))
  # Parts that were asked at different rates: weights 3/4 of 40 answers, 1/4 of 60.
  parts = np.repeat([0, 1], [40, 60])
  sample = random_sample.RandomSample(np.arange(100), np.arange(100), np.arange(100), parts,
                                      np.array([300, 100]), np.zeros(2), 400)
  found, p = intervals.clustered_difference(first, second, clusters, sample)
  weights = np.where(parts == 0, 0.75 / 40, 0.25 / 60)
  assert sample.weights() == pytest.approx(weights)
  change = first * 1.0 - second
  away = [sum(weights[i] * (change[i] - weights @ change) for i in range(100) if clusters[i] == one)
          for one in range(20)]
  spread = np.sqrt(np.sum(np.square(away)) * 20 / 19)
  assert found.value == pytest.approx(weights @ change)
  assert p == pytest.approx(2 * stats.t.sf(abs(found.value) / spread, 19))
  assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 19) * spread)
