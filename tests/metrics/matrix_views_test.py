# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Views of three buckets and two classes, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from suite.metrics import matrix

NAN = float("nan")
ACC = np.array([[0.8, 0.6, 0.4],
                [0.7, 0.9, 0.5],
                [0.5, 0.8, 1.0]])
STREAMING = np.array([[NAN, 0.6, 0.4], [NAN, NAN, 0.5], [NAN, NAN, NAN]])


def test_accuracy_by_distance():
  np.testing.assert_allclose(matrix.by_distance(ACC), [0.5, 0.75, 0.9, 0.55, 0.4])
  np.testing.assert_allclose(matrix.by_distance(STREAMING), [NAN, NAN, NAN, 0.55, 0.4])
  found = matrix.by_distance(ACC)
  assert found[2] == matrix.in_domain(ACC) and found[3] == matrix.next_domain(ACC)


def test_plasticity_and_stability():
  np.testing.assert_allclose(matrix.plasticity(ACC), [NAN, 0.3, 0.5])
  # 0.7 - 0.8; the mean of 0.5 - 0.7 and 0.8 - 0.9.
  np.testing.assert_allclose(matrix.stability(ACC), [NAN, -0.1, -0.15])
  assert np.isnan(matrix.plasticity(STREAMING)).all()
  assert np.isnan(matrix.stability(STREAMING)).all()


def test_anytime_accuracy():
  now, mean = matrix.anytime(ACC)
  np.testing.assert_allclose(now, [0.8, 0.8, 2.3 / 3])
  np.testing.assert_allclose(mean, [0.8, 0.8, (1.6 + 2.3 / 3) / 3])
  assert mean[-1] != matrix.accuracy(ACC)


def test_confusion_and_accuracy_of_classes():
  labels, predicted = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 1, -1])
  counts = matrix.confusion(labels, predicted, 3)
  assert counts.tolist() == [[1, 2, 0], [0, 1, 0], [0, 0, 0]]
  np.testing.assert_allclose(
      matrix.class_accuracy(labels, labels == predicted, 3), [1 / 3, 0.5, NAN])


def test_drift_of_each_class():
  # Class 0 as ACC; class 1 has no example in the last bucket.
  other = np.array([[1.0, 0.5, NAN], [0.9, 0.6, NAN], [0.8, 0.7, NAN]])
  np.testing.assert_allclose(matrix.class_drift(np.stack([ACC, other], -1)),
                             [[0.9, 0.55, 0.4], [0.8, 0.5, NAN]])


def test_the_most_frequent_confusions():
  counts = np.array([[9, 2, 0], [5, 9, 2], [0, 0, 9]])
  assert matrix.top_confusions(counts, 2) == [(1, 0), (0, 1)]
  assert matrix.top_confusions(counts, 9) == [(1, 0), (0, 1), (1, 2)]
  assert counts[0, 0] == 9  # As it was.


def test_other_shapes_are_refused():
  with pytest.raises(ValueError, match=r"shape \[2, 3\]; expected \[T, T\]"):
    matrix.by_distance(ACC[:2])
