# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's scores, worked by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from suite.metrics import sequence_accuracy

# Class 0: 3 samples, 2 right; class 1: 2, 1 right; class 7: 1, 0 right; class 9: 2, 2 right.
LABELS = np.array([0, 1, 0, 9, 7, 1, 0, 9])
CORRECT = np.array([1, 0, 1, 1, 0, 1, 0, 1], bool)


def test_overall_and_mean_per_class():
  assert sequence_accuracy.overall(CORRECT) == 5 / 8
  assert sequence_accuracy.per_class(CORRECT, LABELS) == {0: 2 / 3, 1: 1 / 2, 7: 0.0, 9: 1.0}
  mean = sequence_accuracy.mean_per_class(CORRECT, LABELS)
  assert mean == pytest.approx((2 / 3 + 1 / 2 + 0 + 1) / 4)


def test_cross_sections_put_the_threshold_itself_into_the_tail():
  found = sequence_accuracy.cross_sections(CORRECT, LABELS, known=[0, 7], threshold=2)
  assert found["pretrain_head"] == pytest.approx(2 / 3)  # Class 0.
  assert found["pretrain_tail"] == 0.0  # Class 7.
  assert found["novel_tail"] == 0.75  # Classes 1 and 9.
  assert math.isnan(found["novel_head"])


def test_cross_sections_can_put_the_threshold_into_the_head():
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    found = sequence_accuracy.cross_sections(
        CORRECT, LABELS, known=[0, 7], threshold=2, threshold_is_head=True)
  assert found["novel_head"] == 0.75 and math.isnan(found["novel_tail"])


def test_sections_weighted_by_their_classes_give_the_mean_per_class():
  found = sequence_accuracy.cross_sections(CORRECT, LABELS, known=[0, 7], threshold=2)
  weighted = (found["pretrain_head"] + found["pretrain_tail"] + 2 * found["novel_tail"]) / 4
  assert weighted == pytest.approx(sequence_accuracy.mean_per_class(CORRECT, LABELS))


def test_windows_follow_one_another_and_the_last_may_be_short():
  np.testing.assert_allclose(sequence_accuracy.windowed(CORRECT, 3), [2 / 3, 2 / 3, 1 / 2])
  np.testing.assert_allclose(sequence_accuracy.windowed(CORRECT, 100), [5 / 8])
  with pytest.raises(ValueError, match="window=0"):
    sequence_accuracy.windowed(CORRECT, 0)


def test_first_sights_leave_known_classes_out():
  assert np.flatnonzero(sequence_accuracy.first_sights(LABELS)).tolist() == [0, 1, 3, 4]
  assert np.flatnonzero(sequence_accuracy.first_sights(LABELS, known=[0, 7])).tolist() == [1, 3]


def test_detection_worked_by_hand():
  # By falling score: new, rest, new, rest. Pairs ordered rightly: 3 of 4.
  # F1 after 1, 2, 3, 4: 2/3, 1/2, 4/5, 2/3.
  scores, is_new = np.array([0.9, 0.7, 0.5, 0.3]), np.array([1, 0, 1, 0])
  found = sequence_accuracy.new_class_detection(scores, is_new, high_means="new")
  assert found == pytest.approx({"new_class_auroc": 0.75, "new_class_f1": 0.8})


def test_the_direction_of_the_score_is_named():
  scores, is_new = np.array([0.9, 0.7, 0.5, 0.3]), np.array([1, 0, 1, 0])
  found = sequence_accuracy.new_class_detection(-scores, is_new, high_means="known")
  assert found == pytest.approx({"new_class_auroc": 0.75, "new_class_f1": 0.8})
  found = sequence_accuracy.new_class_detection(scores, is_new, high_means="known")
  assert found["new_class_auroc"] == pytest.approx(0.25)
  with pytest.raises(ValueError, match="high_means='high'; allowed are new, known"):
    sequence_accuracy.new_class_detection(scores, is_new, high_means="high")


def test_tied_scores_are_half_right():
  found = sequence_accuracy.new_class_detection(
      np.zeros(4), np.array([1, 0, 0, 0]), high_means="new")
  assert found == pytest.approx({"new_class_auroc": 0.5, "new_class_f1": 2 * 0.25 / 1.25})


def test_detection_without_new_classes_is_unknown_and_nothing_warns():
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    found = sequence_accuracy.new_class_detection(np.ones(3), np.zeros(3), high_means="new")
  assert all(math.isnan(value) for value in found.values())


def test_majority_baseline_keeps_its_answer_on_a_tie():
  # Answers: none, 3, 3 (tied with 4), 4, 4, 4.
  assert sequence_accuracy.majority_baseline(np.array([3, 4, 4, 3, 4, 4])).tolist() == [
      False, False, False, False, True, True]


def test_summary_holds_all_by_name():
  found = sequence_accuracy.summary(CORRECT, LABELS, [0, 7], threshold=2)
  assert list(found) == [
      "overall", "mean_per_class", *sequence_accuracy.SECTIONS, "majority_baseline"]
  assert found["majority_baseline"] == 2 / 8  # Class 0 at steps 2 and 6.


@pytest.mark.parametrize("correct, labels", [([], []), ([1], [0, 1]), ([[1]], [[1]])])
def test_wrong_shapes_are_named(correct, labels):
  with pytest.raises(ValueError, match=r"correct of shape .* expected \[n\] twice"):
    sequence_accuracy.mean_per_class(np.array(correct), np.array(labels))
