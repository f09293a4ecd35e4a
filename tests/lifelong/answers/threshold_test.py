# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The quick search is the slow one: every cut tried, every sample ranked."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking


def _slow(counts, ranks, answers):
  """(cut, wrong, probabilities [N]) the long way."""
  size = len(counts)
  order = ranking.order_by_count(counts)
  rank = np.empty(size, int)
  rank[order] = np.arange(size)
  pairs = sorted(zip(ranks.tolist(), answers.tolist()))
  wrong = [sum(a == 0 for _, a in pairs[:k]) + sum(a == 1 for _, a in pairs[k:])
           for k in range(len(pairs) + 1)]
  first = wrong.index(min(wrong))
  if 0 < first < len(pairs):
    cut = (pairs[first - 1][0] + pairs[first][0] + 1) // 2
  else:
    cut = size if first else 0
  share = [(sum(a for _, a in part) + 1) / (len(part) + 2)
           for part in (pairs[:first], pairs[first:])]
  found = np.where(rank < cut, share[0], share[1])
  found[order[ranks]] = answers
  return cut, min(wrong), found


@pytest.mark.parametrize("seed", range(40))
def test_it_equals_the_slow_one(seed, monkeypatch):
  monkeypatch.setattr(rank_order, "RUN", 16)
  monkeypatch.setattr(rank_order, "PER_BUCKET", 1)
  rng = np.random.default_rng(seed)
  size = int(rng.integers(1, 200))
  budget = int(rng.integers(1, size + 1))
  counts = rng.integers(0, 9, size).astype(np.uint8)
  questions = ranking.OrderQuestions(rank_order.RankOrder(counts),
                                  rank_order.nested_ranks(size, budget, seed))
  rows = (rng.random((5, budget)) < rng.random((5, 1)) * 1.4 - 0.2).astype(np.uint8)
  for answers, cut in zip(rows, questions.cuts(rows)):
    found = questions.threshold(answers)
    slow_cut, slow_wrong, slow = _slow(counts, questions.ranks, answers)
    assert (found.cut, found.wrong) == (slow_cut, slow_wrong) and cut == slow_cut
    np.testing.assert_array_equal(found.probabilities(np.arange(size)), slow)
    some = rng.integers(0, size, 7)
    np.testing.assert_array_equal(found.probabilities(some), slow[some])


def test_every_short_row_is_cut_as_well_as_can_be():
  order = rank_order.RankOrder(np.ones(8, np.uint8))
  questions = ranking.OrderQuestions(order, np.arange(8))
  rows = (np.arange(256)[:, None] >> np.arange(8)) & 1
  cuts = questions.cuts(rows)
  for row, cut in zip(rows, cuts):
    wrong = [int((row[:k] == 0).sum() + row[k:].sum()) for k in range(9)]
    found = questions.threshold(row)
    assert found.cut == cut == wrong.index(min(wrong))
    assert found.wrong == min(wrong)


def test_by_hand():
  # From easy to hard: samples 3, 0, 4, 1, 5, 2. Asked are ranks 4, 0 and 2: samples 5, 3 and 4.
  order = rank_order.RankOrder(np.array([2, 1, 0, 3, 2, 1], np.uint8))
  questions = ranking.OrderQuestions(order, np.array([4, 0, 2]))
  assert questions.samples.tolist() == [5, 3, 4]
  found = questions.threshold(np.array([0, 1, 1]))
  assert found.cut == 3  # Between ranks 2 and 4.
  assert (found.wrong, found.solved, found.failed) == (0, 0.75, 1 / 3)
  assert found.probabilities(np.array([3, 0, 1, 5])).tolist() == [1.0, 0.75, 1 / 3, 0.0]
  assert found.predictions(np.arange(6)).tolist() == [1, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("value, cut", [(0, 0), (1, 50)])
def test_a_model_that_solves_nothing_or_everything(value, cut):
  order = rank_order.RankOrder(np.arange(50).astype(np.uint8))
  found = ranking.OrderQuestions(order, np.arange(5) * 9).threshold(np.full(5, value))
  assert (found.cut, found.wrong) == (cut, 0)
  assert set(found.predictions(np.arange(50))) == {value}


def test_bad_input():
  order = rank_order.RankOrder(np.array([1, 2], np.uint8))
  questions = ranking.OrderQuestions(order, np.array([1]))
  with pytest.raises(ValueError, match=r"shape \[2\]"):
    questions.threshold(np.array([0, 1]))
  with pytest.raises(ValueError, match="1 \\(correct\\) or 0"):
    questions.threshold(np.array([-1]))
  with pytest.raises(ValueError, match=r"expected \[S models, 1 questions\]"):
    questions.cuts(np.zeros([2, 2]))
  with pytest.raises(ValueError, match="Samples run from 0 to 1; got 0 to 2"):
    questions.threshold(np.array([1])).probabilities(np.array([0, 2]))


def test_it_says_what_the_estimator_of_one_order_says():
  order_search = pytest.importorskip("suite.learners.estimators.paper_estimators")
  rng = np.random.default_rng(0)
  ease = rng.random(500)
  known = (rng.random((30, 500)) < ease).astype(np.uint8)
  truth = (rng.random(500) < ease).astype(np.uint8)
  estimate = order_search.OrderSearch(num_groups=0).estimate(
      known, lambda wanted: truth[wanted], 64)
  order = rank_order.RankOrder(ranking.checked_counts(known))
  questions = ranking.OrderQuestions(order, rank_order.nested_ranks(500, 64))
  found = questions.threshold(truth[questions.samples])
  np.testing.assert_array_equal(questions.samples, estimate.observed)
  np.testing.assert_array_equal(found.probabilities(np.arange(500)),
                                estimate.probabilities(np.arange(500)))
  np.testing.assert_array_equal(found.predictions(np.arange(500)), estimate.answers)
