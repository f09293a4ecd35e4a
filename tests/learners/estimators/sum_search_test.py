# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.learners.estimators import paper_estimators
from suite.lifelong.answers import known_answers
from suite.lifelong.answers import ranking

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


def _found(method, truth, budget, known=KNOWN):
  truth, asked = np.asarray(truth), []
  return method.estimate(known, lambda samples: asked.extend(samples.tolist()) or truth[samples],
                         budget), asked


def test_the_confidence_order_follows_the_sums_of_confidences():
  # Sums 1.0, 1.5, 0.5, 1.25: from easy to hard 1 3 0 2.
  known = known_answers.pack(KNOWN[:2], {0: np.array([0.5, 1.0, 0.25, 1.0]),
                                         1: np.array([0.5, 0.5, 0.25, 0.25])})
  found, asked = _found(paper_estimators.SumSearch(sort="confidence"), [0, 1, 0, 0], 4, known)
  assert asked == [1, 3, 0, 2] and found.order.tolist() == asked
  assert found.cut == 1 and found.answers.tolist() == [0, 1, 0, 0]
  with pytest.raises(ValueError, match="sort=\"confidence\" needs known models with"):
    _found(paper_estimators.SumSearch(sort="confidence"), [0, 1, 0, 0], 4)
  with pytest.raises(ValueError, match="sort='size'; expected one of sum, recursive, confidence"):
    paper_estimators.SumSearch(sort="size")


def test_random_ranks_differ_from_model_to_model_and_are_repeated_from_the_saved_number():
  known = np.tril(np.ones((40, 40), np.uint8))[:, ::-1]
  method = paper_estimators.SumSearch(sampling="random", seed=3)
  first, second = (_found(method, np.ones(40), 6, known)[1] for _ in range(2))
  rank = np.argsort(ranking.sum_order(known))
  assert len(set(first)) == 6 and np.all(np.diff(rank[first]) > 0) and first != second
  again = paper_estimators.SumSearch(sampling="random", seed=3)
  variable, = again.variables
  variable.assign(1)
  assert _found(again, np.ones(40), 6, known)[1] == second
  with pytest.raises(ValueError, match="sampling='nested'; expected one of uniform, random"):
    paper_estimators.SumSearch(sampling="nested")


def test_the_papers_baseline_copies_the_nearest_model_of_a_random_sample():
  known = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
  found, asked = _found(paper_estimators.CopyNearest(sampling="random"), [1, 1, 0, 0, 0, 0], 4,
                        known)
  assert len(set(asked)) == 4
  expected = np.array([1, 1, 1, 0, 0, 0])
  if 2 in asked:
    expected[2] = 0  # Its observed answers are kept.
  assert found.answers.tolist() == expected.tolist()
