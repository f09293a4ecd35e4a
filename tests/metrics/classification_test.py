# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of one Predict event, worked by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from suite.metrics import classification


def test_error_divides_counts():
  assert classification.error(3, 4) == 0.25
  assert classification.error(0, 7) == 1.0
  assert classification.error(np.int64(7), np.int64(7)) == 0.0


@pytest.mark.parametrize("correct, seen", [(0, 0), (5, 4), (-1, 4)])
def test_error_refuses_impossible_counts(correct, seen):
  with pytest.raises(ValueError, match=f"correct={correct} of seen={seen}"):
    classification.error(correct, seen)


def test_error_of_arrays():
  assert classification.error_of(np.array([0, 1, 2, 0]), np.array([0, 1, 1, 1])) == 0.5


def test_top1_takes_the_first_of_equals_and_minus_one_for_nan():
  logits = np.array([[0.0, 2.0, 2.0], [5.0, np.nan, 1.0], [-1.0, -3.0, -2.0]])
  assert classification.top1(logits).tolist() == [1, -1, 0]


def test_nan_is_a_wrong_answer():
  assert classification.is_correct(np.array([-1, 1]), np.array([-1, 1])).tolist() == [False, True]
  multi_hot = np.array([[0, 1], [0, 1]])
  assert classification.is_correct(np.array([-1, 1]), multi_hot).tolist() == [False, True]


def test_multi_label_top1_is_correct_if_it_is_one_of_the_labels():
  multi_hot = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]])
  assert classification.is_correct(np.array([1, 0, 2]), multi_hot).tolist() == [True, False, False]


def test_is_correct_names_wrong_shapes():
  with pytest.raises(ValueError, match=r"predicted classes \[2\] and labels \[3\]"):
    classification.is_correct(np.zeros(2), np.zeros(3))


def test_mean_average_precision_worked_by_hand():
  # Class 0 ranks +, -, +: (1/1 + 2/3) / 2 = 5/6. Class 1 ranks -, -, +: 1/3.
  scores = np.array([[0.9, 0.8], [0.5, 0.7], [0.1, 0.2]])
  labels = np.array([[1, 0], [0, 0], [1, 1]])
  expected = (5 / 6 + 1 / 3) / 2
  assert classification.mean_average_precision(scores, labels) == pytest.approx(expected)


def test_tied_scores_share_one_precision():
  # All four tied: a single threshold, precision 1/4 at recall 1.
  assert classification.mean_average_precision(
      np.ones([4, 1]), np.array([[1], [0], [0], [0]])) == pytest.approx(0.25)


def test_mean_average_precision_is_scikit_learns_macro_mean():
  generator = np.random.default_rng(0)
  scores = generator.normal(size=[50, 6])
  labels = (generator.random([50, 6]) < 0.3).astype(np.uint8)
  assert classification.mean_average_precision(scores, labels) == pytest.approx(
      sklearn_metrics.average_precision_score(labels, scores, average="macro"))


def test_a_class_without_positives_counts_zero_or_is_skipped_and_nothing_warns():
  scores = np.array([[0.9, 0.5], [0.1, 0.5]])
  labels = np.array([[1, 0], [0, 0]])
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert classification.mean_average_precision(scores, labels) == 0.5
    assert classification.mean_average_precision(scores, labels, absent="skip") == 1.0
    assert classification.mean_average_precision(scores, labels * 0) == 0.0
    assert math.isnan(classification.mean_average_precision(scores, labels * 0, absent="skip"))


def test_nan_ranks_last_and_infinity_is_a_score():
  labels = np.array([[1], [0], [0]])
  assert classification.mean_average_precision(
      np.array([[np.nan], [-5.0], [np.inf]]), labels) == pytest.approx(1 / 3)
  assert classification.mean_average_precision(
      np.array([[np.inf], [np.nan], [0.0]]), labels) == 1.0


def test_mean_average_precision_says_what_it_got():
  with pytest.raises(ValueError, match="absent='none'; allowed are zero, skip"):
    classification.mean_average_precision(np.ones([1, 1]), np.ones([1, 1]), absent="none")
  with pytest.raises(ValueError, match=r"scores \[2, 3\] and labels \[2\]"):
    classification.mean_average_precision(np.ones([2, 3]), np.ones([2]))


def test_softmax_probability_of_the_true_class():
  logits = np.log(np.array([[1.0, 2.0, 1.0], [6.0, 3.0, 1.0]]))
  np.testing.assert_allclose(
      classification.true_class_probability(logits, np.array([1, 2])), [0.5, 0.1])


def test_sigmoid_probabilities_of_the_positive_classes():
  logits = np.array([[0.0, np.log(3.0), -np.log(3.0)], [1.0, 2.0, 3.0]])
  found = classification.true_class_probability(logits, np.array([[1, 1, 1], [0, 0, 0]]))
  np.testing.assert_allclose(found[0], [0.5, 0.75, 0.25])
  assert found[1].shape == (0,)


def test_huge_logits_neither_overflow_nor_warn():
  logits = np.array([[1e4, -1e4], [-1e4, 1e4]], np.float32)
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert classification.true_class_probability(logits, np.array([0, 0])).tolist() == [1.0, 0.0]
    found = classification.true_class_probability(logits, np.ones([2, 2]))
  assert np.concatenate(found).tolist() == [1.0, 0.0, 0.0, 1.0]


def test_probability_of_a_diverged_answer_is_zero():
  logits = np.array([[np.nan, 0.0], [np.inf, 0.0]])
  assert classification.true_class_probability(logits, np.array([1, 0])).tolist() == [0.0, 0.0]
