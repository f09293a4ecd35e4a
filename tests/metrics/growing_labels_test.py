# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of series whose classes appear over time."""

import numpy as np

from suite.metrics import matrix


def test_a_class_is_known_from_its_first_training_set_on():
  known = matrix.known_classes([np.array([0, 0]), np.array([2]), np.array([0, 1])], 4)
  assert known.tolist() == [[True, False, False, False], [True, False, True, False],
                            [True, True, True, False]]


def test_a_series_grows_if_its_first_training_set_lacks_a_class_that_occurs():
  known = matrix.known_classes([np.array([0, 1]), np.array([1])], 3)
  assert not matrix.grows(known, [np.array([0, 1])])  # Class 2 occurs nowhere.
  assert matrix.grows(known, [np.array([0, 1]), np.array([2])])
  assert matrix.grows(matrix.known_classes([np.array([0]), np.array([1])], 2), [])


def test_images_of_unknown_classes_are_left_out_of_the_accuracy_on_known_ones():
  labels, correct = np.array([0, 0, 1, 2, 2]), np.array([1, 0, 1, 0, 0], bool)
  assert matrix.of_known(labels, correct, np.array([True, True, False])) == {
      "num_known_classes": 2, "seen_unknown": 2, "accuracy_known": 2 / 3}
  assert matrix.of_known(labels[3:], correct[3:], np.array([True, True, False])) == {
      "num_known_classes": 2, "seen_unknown": 2, "accuracy_known": None}
