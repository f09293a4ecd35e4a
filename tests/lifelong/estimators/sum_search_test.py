# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.lifelong.estimators import paper_estimators

# Solved by 0 1 3 2 of three models: from easy to hard the samples are 2, 3, 1, 0.
KNOWN = np.array([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]])


def _estimate(truth, budget, known=KNOWN):
  asked = []

  def ask(indices):
    asked.extend(indices.tolist())
    return np.asarray(truth)[indices]

  return paper_estimators.SumSearch().estimate(known, ask, budget), asked


def test_all_answers_asked_for_in_the_order_of_difficulty():
  estimate, asked = _estimate([0, 0, 1, 1], 4)
  assert asked == [2, 3, 1, 0]
  assert estimate.answers.tolist() == [0, 0, 1, 1]
  assert estimate.cut == 2 and estimate.accuracy == 0.5


def test_two_of_four_answers_are_asked_for_in_the_middles_of_the_halves_and_stretched():
  # Ranks 1 and 3 are samples 3 and 0: solved, failed. Cut 1 of 2 sampled is cut 2 of 4.
  estimate, asked = _estimate([0, 1, 0, 1], 2)
  assert asked == [3, 0]
  assert estimate.cut == 2 and estimate.answers.tolist() == [0, 0, 1, 1]
  assert estimate.accuracy == 0.5


def test_the_accuracy_is_the_mean_of_what_was_observed_and_not_the_cut():
  # In rank order the model answers 0 1 1 1: sums -1 0 1 2, so the best cut says "all".
  estimate, _ = _estimate([1, 1, 0, 1], 4)
  assert estimate.cut == 4 and estimate.answers.tolist() == [1, 1, 1, 1]
  assert estimate.accuracy == 0.75


def test_a_budget_beyond_the_samples_is_refused():
  with pytest.raises(ValueError, match="budget of 5 for 4 samples"):
    _estimate([0, 0, 1, 1], 5)


def test_a_single_known_model_and_a_single_question_will_do():
  # Order 1 2 0; the middle rank is sample 2; solved, so all three are.
  estimate, asked = _estimate([0, 0, 1], 1, known=np.array([[0, 1, 1]]))
  assert asked == [2]
  assert estimate.answers.tolist() == [1, 1, 1] and estimate.accuracy == 1.0
