# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sections of a FLUID sequence, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suite.data.sequences import fluid_sequences
from suite.metrics import sequence_accuracy

# Class 0 is a base class; 1 is new at step 1, 2 at step 3. Three classes: "new" is 3.
LABELS = np.array([0, 1, 1, 2, 0, 1, 2])
OPEN = np.array([0, 3, 1, 0, 3, 1, 2])
CLOSED = np.array([0, 0, 1, 0, 0, 1, 2])
ANSWERS = sequence_accuracy.SequenceAnswers(LABELS, OPEN, CLOSED)


def test_open_answers_are_right_if_new_is_said_at_a_first_sight():
  right = sequence_accuracy.open_correct(ANSWERS, [0], 3)
  assert right.tolist() == [True, True, True, False, False, True, True]


def test_without_base_classes_their_first_sight_is_new_too():
  assert not sequence_accuracy.open_correct(ANSWERS, [], 3)[0]


def test_closed_answers_are_wrong_at_every_first_sight():
  right = sequence_accuracy.closed_correct(ANSWERS)
  assert right.tolist() == [True, False, True, False, True, True, True]


def test_occurrences_count_from_zero():
  assert sequence_accuracy.occurrences(LABELS).tolist() == [0, 0, 1, 0, 1, 2, 1]
  assert sequence_accuracy.occurrences(np.array([], int)).tolist() == []


def test_occurrences_are_those_of_a_loop():
  labels = np.random.default_rng(0).integers(0, 30, 500)
  seen: dict = {}
  for label, times in zip(labels.tolist(), sequence_accuracy.occurrences(labels)):
    assert times == seen.get(label, 0)
    seen[label] = times + 1


def test_accuracy_by_occurrence_is_of_novel_classes():
  # First times: steps 1 and 3; second: 2 and 6; third: 5; nothing comes four times.
  accuracies, counts = sequence_accuracy.by_occurrence(
      sequence_accuracy.open_correct(ANSWERS, [0], 3), LABELS, [0], num=4)
  np.testing.assert_allclose(accuracies, [0.5, 1.0, 1.0, np.nan])
  assert counts.tolist() == [2, 2, 1, 0]


def test_first_sight():
  assert sequence_accuracy.first_sight(sequence_accuracy.open_correct(ANSWERS, [0], 3), LABELS,
                                     [0]) == 0.5
  assert math.isnan(sequence_accuracy.first_sight(np.ones(2, bool), np.array([0, 0]), [0]))


def test_a_window_slides_and_grows_at_first():
  correct = np.array([1, 0, 1, 1, 0, 1, 0], bool)
  np.testing.assert_allclose(sequence_accuracy.sliding(correct, 4),
                             [1, 1 / 2, 2 / 3, 3 / 4, 2 / 4, 3 / 4, 2 / 4])
  np.testing.assert_allclose(sequence_accuracy.sliding(correct, 4, every=3), [2 / 3, 3 / 4])
  np.testing.assert_allclose(sequence_accuracy.sliding(np.ones(7, bool), 3), np.ones(7))
  assert not len(sequence_accuracy.sliding(correct, 4, every=8))
  with pytest.raises(ValueError, match="window=0 and every=1"):
    sequence_accuracy.sliding(correct, 0)


def test_the_threshold_is_tail_or_head():
  correct = sequence_accuracy.closed_correct(ANSWERS)  # Class 1, 3 samples: 2/3. Class 2: 1/2.
  found = sequence_accuracy.cross_sections(correct, LABELS, [0], threshold=3)
  assert found["novel_tail"] == pytest.approx((2 / 3 + 1 / 2) / 2)
  assert math.isnan(found["novel_head"])
  found = sequence_accuracy.cross_sections(correct, LABELS, [0], threshold=3, head_is=">=")
  assert found["novel_head"] == pytest.approx(2 / 3) and found["novel_tail"] == 0.5
  with pytest.raises(ValueError, match="head_is='<'; allowed are >, >="):
    sequence_accuracy.cross_sections(correct, LABELS, [0], head_is="<")


def test_report_holds_open_and_closed_scores():
  found = sequence_accuracy.report(ANSWERS, [0], 3, threshold=2, num_occurrences=2)
  assert found["overall"] == pytest.approx(5 / 7)
  assert found["mean_per_class"] == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)
  assert found["first_sight"] == 0.5 and found["closed"]["first_sight"] == 0.0
  assert found["closed"]["overall"] == pytest.approx(5 / 7)
  assert found["closed"]["mean_per_class"] == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
  assert found["by_occurrence"] == [0.5, 1.0] and found["samples_by_occurrence"] == [2, 2]
  assert found["novel_head"] == 1.0 and found["pretrain_tail"] == 0.5


def _section_sizes(labels, known, head_is):
  """(classes, samples) of each section at the threshold of 50 samples."""
  counts = np.bincount(labels)
  is_known = np.isin(np.arange(len(counts)), known)
  is_head = counts >= 50 if head_is == ">=" else counts > 50
  members = {"novel_head": ~is_known & is_head, "pretrain_head": is_known & is_head,
             "novel_tail": ~is_known & ~is_head, "pretrain_tail": is_known & ~is_head}
  return {name: (int(np.sum(member)), int(np.sum(counts[member])))
          for name, member in members.items()}


def test_the_papers_counts_make_its_sections_and_these_make_the_mean_per_class():
  # A sequence of the paper's law: 961 to 24 samples a class, ten of them with 50.
  counts = fluid_sequences.PAPER.counts()
  assert counts[0] == 961 and counts[-1] == 24 and counts.sum() == 91_858
  assert np.sum(counts == 50) == 10
  rng = np.random.default_rng(0)
  labels = rng.permutation(np.repeat(rng.permutation(1000), counts))
  correct, known = rng.random(len(labels)) < 0.4, range(250)
  for head_is in sequence_accuracy.COMPARISONS:
    sizes = _section_sizes(labels, known, head_is)
    found = sequence_accuracy.cross_sections(correct, labels, known, head_is=head_is)
    assert sum(classes for classes, _ in sizes.values()) == 1000
    assert sum(samples for _, samples in sizes.values()) == len(labels)
    weighted = sum(found[name] * classes for name, (classes, _) in sizes.items()) / 1000
    assert weighted == pytest.approx(sequence_accuracy.mean_per_class(correct, labels))
  heads = []
  for head_is in sequence_accuracy.COMPARISONS:
    sizes = _section_sizes(labels, known, head_is)
    heads.append(sizes["novel_head"][0] + sizes["pretrain_head"][0])
  assert heads[1] - heads[0] == 10


def test_wrong_shapes_are_named():
  with pytest.raises(ValueError, match=r"correct of shape \[2\] and labels of shape \[3\]"):
    sequence_accuracy.first_sight(np.ones(2), np.zeros(3))
