# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's scores, worked by hand."""

from __future__ import annotations

import math

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


def test_sections_weighted_by_their_classes_give_the_mean_per_class():
  found = sequence_accuracy.cross_sections(CORRECT, LABELS, known=[0, 7], threshold=2)
  weighted = (found["pretrain_head"] + found["pretrain_tail"] + 2 * found["novel_tail"]) / 4
  assert weighted == pytest.approx(sequence_accuracy.mean_per_class(CORRECT, LABELS))


def test_first_sights_leave_known_classes_out():
  assert np.flatnonzero(sequence_accuracy.first_sights(LABELS)).tolist() == [0, 1, 3, 4]
  assert np.flatnonzero(sequence_accuracy.first_sights(LABELS, known=[0, 7])).tolist() == [1, 3]


def test_majority_baseline_keeps_its_answer_on_a_tie():
  # Answers: none, 3, 3 (tied with 4), 4, 4, 4.
  assert sequence_accuracy.majority_baseline(np.array([3, 4, 4, 3, 4, 4])).tolist() == [
      False, False, False, False, True, True]


@pytest.mark.parametrize("correct, labels", [([], []), ([1], [0, 1]), ([[1]], [[1]])])
def test_wrong_shapes_are_named(correct, labels):
  with pytest.raises(ValueError, match=r"correct of shape .* expected \[n\] twice"):
    sequence_accuracy.mean_per_class(np.array(correct), np.array(labels))
