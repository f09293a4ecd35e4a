# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Novelty scores by hand, and their directions."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from suite.metrics import novelty_scores
from suite.metrics import sequence_log

LOGITS = np.array([[0.0, math.log(3), 9.0], [2.0, 1.0, 9.0], [0.0, 0.0, 9.0]])
KNOWN = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]], bool)


def test_scores_look_at_known_classes_only():
  np.testing.assert_allclose(novelty_scores.max_logit(LOGITS, KNOWN), [math.log(3), 2, -np.inf])
  np.testing.assert_allclose(
      novelty_scores.minimum_distance(LOGITS, KNOWN), [-math.log(3), -2, np.inf])
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    np.testing.assert_allclose(novelty_scores.energy(LOGITS, KNOWN), [math.log(4), 2, -np.inf])
    np.testing.assert_allclose(novelty_scores.max_softmax(LOGITS, KNOWN), [3 / 4, 1, -np.inf])


def test_one_mask_for_all_steps():
  np.testing.assert_allclose(novelty_scores.max_logit(LOGITS, np.array([1, 0, 0])), [0, 2, 0])


def test_whole_numbers_and_float32():
  assert novelty_scores.max_logit(np.array([[1, 5]]), np.array([1, 0])) == [1.0]
  logits = np.array([[0.5, 0.25]], np.float32)
  assert novelty_scores.energy(logits, np.ones(2, bool))[0] == pytest.approx(
      math.log(math.exp(0.5) + math.exp(0.25)), rel=1e-6)


def test_temperature():
  # Logits 0 and log 3 at T = 2: 1 and sqrt 3.
  total = 1 + 3 ** 0.5
  assert novelty_scores.energy(LOGITS[:1], KNOWN[0], 2.0)[0] == pytest.approx(2 * math.log(total))
  assert novelty_scores.max_softmax(LOGITS[:1], KNOWN[0], 2.0)[0] == pytest.approx(3 ** 0.5 / total)


def test_large_logits_do_not_overflow():
  found = novelty_scores.energy(np.array([[-1e6, -1e6], [1e6, -np.inf]]), np.ones(2, bool))
  np.testing.assert_allclose(found, [-1e6 + math.log(2), 1e6])


@pytest.mark.parametrize("name", list(novelty_scores.SCORES))
def test_every_score_says_known_next_to_a_mean_and_new_far_from_all(name):
  means, rng = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]), np.random.default_rng(0)
  near = means[rng.integers(0, 3, 200)] + 0.3 * rng.normal(size=[200, 2])
  between = np.array([2.0, 2.0]) + 0.3 * rng.normal(size=[20, 2])  # As far from all three.
  features = np.concatenate([near, between])
  logits = -np.sum((features[:, None] - means) ** 2, axis=2)
  scores, high_means = novelty_scores.score(name, logits, np.ones(3, bool))
  found = sequence_log.pairs(scores, np.arange(220) >= 200, high_means=high_means)
  assert found.auroc > 0.99


def test_an_unknown_score_is_named():
  with pytest.raises(ValueError, match="score 'entropy'; allowed are max_softmax, max_logit"):
    novelty_scores.score("entropy", LOGITS, KNOWN)


def test_a_nan_of_a_known_class_is_refused_and_others_are_not_looked_at():
  logits = np.array([[1.0, np.nan]])
  assert novelty_scores.max_logit(logits, np.array([True, False])) == [1.0]
  with pytest.raises(ValueError, match="1 of 1 samples have NaN"):
    novelty_scores.max_logit(logits, np.array([True, True]))
  with pytest.raises(ValueError, match=r"known of shape \[3\]"):
    novelty_scores.max_logit(logits, np.ones(3, bool))


def test_threshold_by_hand():
  # d = 2, s = 1/2, r = 1/2 (e^2 - 1): s d log(1 + r/s) = 2; a = e: minus 1.
  within, between = 0.5, 0.5 * (math.e ** 2 - 1)
  assert novelty_scores.dp_means_threshold(within, between, 1.0, 2) == pytest.approx(2.0)
  assert novelty_scores.dp_means_threshold(within, between, math.e, 2) == pytest.approx(1.0)


def test_threshold_is_where_both_weights_are_equal():
  # One class of one sample at m, x so that the prior's |x|^2 term is nothing: x = 0.
  s, r, a, d = 0.3, 2.0, 0.7, 5
  t = novelty_scores.dp_means_threshold(s, r, a, d)
  new = a * (2 * math.pi * (s + r)) ** (-d / 2)
  old = (2 * math.pi * s) ** (-d / 2) * math.exp(-t / (2 * s))
  assert new == pytest.approx(old)


def test_threshold_falls_with_the_concentration_and_rises_with_the_spread():
  base = novelty_scores.dp_means_threshold(1.0, 2.0, 1.0, 8)
  assert base > 0
  assert novelty_scores.dp_means_threshold(1.0, 2.0, 5.0, 8) < base
  assert novelty_scores.dp_means_threshold(1.0, 4.0, 1.0, 8) > base
  with pytest.raises(ValueError, match="within=0"):
    novelty_scores.dp_means_threshold(0, 1.0, 1.0, 8)


def test_variances_of_a_drawn_sample():
  rng = np.random.default_rng(0)
  means = 2.0 * rng.normal(size=[200, 50])
  labels = np.repeat(np.arange(200), 5)
  within, between = novelty_scores.variances(means[labels] + rng.normal(size=[1000, 50]), labels)
  assert within == pytest.approx(1.0, rel=0.03) and between == pytest.approx(4.0, rel=0.05)


def test_variances_by_hand():
  # Means 1 and 4, one free sample each: within (1 + 1 + 0 + 0) / 2; between 4.5 - 1 / 2.
  found = novelty_scores.variances(np.array([[0.], [2.], [4.], [4.]]), np.array([3, 3, 5, 5]))
  assert found == pytest.approx((1.0, 4.0))
  with pytest.raises(ValueError, match="2 samples of 2 classes"):
    novelty_scores.variances(np.zeros([2, 1]), np.array([0, 1]))


def test_margin_and_distance_ratio_look_at_the_two_best_known_classes():
  np.testing.assert_allclose(novelty_scores.margin(LOGITS, KNOWN), [math.log(3), np.inf, -np.inf])
  squared = -np.array([[1.0, 4.0, 0.5], [2.0, 2.0, 9.0], [0.0, 0.0, 3.0], [3.0, 1.0, 1.0]])
  known = np.array([[1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 0, 0]], bool)
  # 1 / 4; halfway; at two means at once; a single class; and none at all.
  np.testing.assert_allclose(novelty_scores.distance_ratio(squared, known), [0.25, 1, 1, 0])
  assert novelty_scores.distance_ratio(squared[:1], np.zeros(3, bool)) == [np.inf]
  with pytest.raises(ValueError, match="got a logit of 2; .* Take margin"):
    novelty_scores.distance_ratio(LOGITS, KNOWN)


def test_class_wise_scores_by_hand():
  scores = [-np.inf, 2.0, 4.0, 10.0, 6.0, 8.0, 3.0]
  answers, labels = [0, 0, 0, 1, 2, 1, 0], [0, 0, 0, 1, 0, 1, 0]
  found = novelty_scores.class_wise(np.array(scores), np.array(answers), np.array(labels))
  # Right so far, from step 3 on: 2 and 4 in class 0, whose mean is 3 and squared deviations are 2.
  np.testing.assert_allclose(found[:4], [-np.inf, 0, 0, (10 - 3) / 1.0])
  # Step 3 was right: 10 in class 1. All classes: mean 16 / 3, variance 2 / 3. Class 2 is empty.
  assert found[4] == pytest.approx((6 - 16 / 3) / math.sqrt(2 / 3))
  # Class 1: one sample of 10 beside five of 16 / 3; its deviation is 0.
  assert found[5] == pytest.approx((8 - (5 * 16 / 3 + 10) / 6) / math.sqrt(5 * 2 / 3 / 6))
  # Step 5 was right: 8 and 10 in class 1. All classes: mean 6, variance (2 + 2) / 4.
  assert found[6] == pytest.approx((3 - (5 * 6 + 2 * 3) / 7) / math.sqrt((5 * 1 + 2) / 7))


def test_class_wise_scores_find_what_one_threshold_does_not():
  """Two classes at distances 1 and 100: a new one at 50 from the first is not the farthest."""
  rng = np.random.default_rng(0)
  labels = np.arange(400) % 2
  answers, is_new = labels.copy(), np.zeros(400, bool)
  scores = -np.where(labels == 0, 1.0, 100.0) * rng.uniform(0.9, 1.1, 400)
  is_new[100::20] = True
  scores[is_new], answers[is_new], labels[is_new] = -50.0, 0, 2
  plain = sequence_log.pairs(scores, is_new, high_means="known").auroc
  found = sequence_log.pairs(
      novelty_scores.class_wise(scores, answers, labels), is_new, high_means="known").auroc
  assert 0.4 < plain < 0.6 and found > 0.99


def test_distances_to_the_nearest_earlier_samples_by_hand():
  features = np.array([[0.0, 0], [3, 4], [0, 1], [3, 4]], np.float32)
  nearest = novelty_scores.neighbor_distances(features, 0, 1)
  np.testing.assert_allclose(nearest, [np.inf, 25, 1, 0])  # 25 to the first; 1; the same point.
  second = novelty_scores.neighbor_distances(features, 1, 2)
  np.testing.assert_allclose(second, [np.inf, 9 + 9, 9 + 9])
  assert np.isinf(novelty_scores.neighbor_distances(features[:2], 0, 3)).all()
  with pytest.raises(ValueError, match=r"shape \[4\] and k=1; expected \[n, D\]"):
    novelty_scores.neighbor_distances(features[:, 0], 0, 1)


def test_neighbors_are_the_same_in_parts_and_by_sorting_all():
  features = np.random.default_rng(0).normal(size=[40, 3])
  whole = novelty_scores.neighbor_distances(features, 0, 3)
  parts = [novelty_scores.neighbor_distances(features[:i + 8], i, 3) for i in range(0, 40, 8)]
  expected = [np.inf if i < 3 else np.sort(np.sum((features[:i] - features[i]) ** 2, axis=1))[2]
              for i in range(40)]
  np.testing.assert_allclose(whole, expected, rtol=1e-9)
  np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-9)
