# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking


def test_by_hand():
  # From the best: models 2, 0, 3, 5, 1, 4. Of 6 ranks, 3 models are asked at 1, 3 and 5.
  accuracies = np.array([0.8, 0.3, 0.9, 0.7, 0.1, 0.5])
  answers = np.array([[1, 1, 0],  # model 0
                      [1, 0, 0],  # model 5
                      [1, 1, 0]])  # model 4
  asked = []

  def ask(models):
    asked.extend(models.tolist())
    return answers

  by_mean = ranking.insert_samples(accuracies, ask, 3)
  assert asked == by_mean.models.tolist() == [0, 5, 4]
  assert by_mean.counts.tolist() == [6, 4, 0]  # 3/3, 2/3 and 0/3 of 6.
  np.testing.assert_array_equal(by_mean.answers, answers)
  # 1, 0, 1 is cut best behind the first: 1/3 of 6, which are models 2 and 0.
  np.testing.assert_array_equal(by_mean.predicted(accuracies).T, [
      [1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
  by_cut = ranking.insert_samples(accuracies, ask, 3, place_by="cut")
  assert by_cut.counts.tolist() == [6, 2, 0]


def test_chosen_models_stand_for_those_that_are_nearest_by_accuracy():
  # From the best: models 2, 0, 3, 5, 1, 4. Models 0 and 1, at ranks 1 and 4, part them at 3: each
  # stands for three. Models 2 and 0 part them at 1: they stand for one and five.
  accuracies = np.array([0.8, 0.3, 0.9, 0.7, 0.1, 0.5])
  answers = np.array([[1, 1, 0], [0, 1, 1]])
  asked = []

  def ask(models):
    asked.extend(models.tolist())
    return answers

  found = ranking.insert_samples(accuracies, ask, models=[1, 0])
  assert asked == [0, 1] and found.counts.tolist() == [3, 6, 3]
  # 1 0 is cut behind the first; 1 1 behind both; 0 1 is wrong once by any cut: the first.
  assert found.cuts.tolist() == [3, 6, 0]
  found = ranking.insert_samples(accuracies, ask, models=[2, 0], place_by="cut")
  assert found.counts.tolist() == found.cuts.tolist() == [1, 6, 0]
  assert ranking.insert_samples(accuracies, ask, models=[2, 0]).counts.tolist() == [1, 6, 5]
  every = np.random.default_rng(0).integers(0, 2, (6, 9))
  whole = ranking.insert_samples(accuracies, lambda models: every[models], models=range(6))
  np.testing.assert_array_equal(whole.counts, every.sum(axis=0))
  for wrong in ([0, 0], [6], []):
    with pytest.raises(ValueError, match="expected different ones from 0 to 5"):
      ranking.insert_samples(accuracies, ask, models=wrong)
  with pytest.raises(ValueError, match="budget=2 and models=.* expected one of the two"):
    ranking.insert_samples(accuracies, ask, 2, models=[0])


def test_means_are_rounded_a_half_upwards_and_all_models_asked_are_exact():
  accuracies = np.array([0.5, 0.4, 0.3])
  placed = ranking.insert_samples(accuracies, lambda models: np.array([[1], [0]]), 2)
  assert placed.counts.tolist() == [2]  # Half of 3 is 1.5.
  answers = np.random.default_rng(0).integers(0, 2, (3, 8))
  every = ranking.insert_samples(accuracies, lambda models: answers[models], 3)
  np.testing.assert_array_equal(every.counts, answers.sum(0))


def test_the_mean_ranks_new_samples_better_than_the_cut():
  rng = np.random.default_rng(0)
  skill, ease = rng.normal(size=(200, 1)), rng.normal(size=2000)
  answers = (rng.logistic(size=(200, 2000)) < skill + ease).astype(np.uint8)
  truth = answers.sum(0)
  found = {by: ranking.insert_samples(skill[:, 0], lambda models: answers[models], 16,
                                      place_by=by) for by in ("mean", "cut")}
  placed = {by: one.counts for by, one in found.items()}
  correlation = {by: stats.spearmanr(truth, counts).correlation for by, counts in placed.items()}
  assert correlation["mean"] > correlation["cut"] + 0.02
  assert np.abs(truth - placed["mean"]).mean() < 0.8 * np.abs(truth - placed["cut"]).mean()


@pytest.mark.parametrize("seed", range(12))
def test_models_one_by_one_in_the_order_sorted_again(seed):
  rng = np.random.default_rng(seed)
  size, budget = 80, int(rng.integers(1, 30))
  counts = rng.integers(0, 6, size).astype(np.uint8)
  rows = (rng.random((7, size)) < rng.random((7, 1))).astype(np.uint8)
  ranks = rank_order.nested_ranks(size, budget, seed)
  asks = [lambda samples, row=row: row[samples] for row in rows]
  found, after = ranking.consecutive_models(counts, asks, ranks)
  slow = counts.copy()
  for row, one in zip(rows, found):
    order = rank_order.RankOrder(slow)
    questions = ranking.OrderQuestions(order, ranks)
    assert questions.threshold(row[questions.samples]).cut == one.cut
    slow = slow + order.predicted(one.cut)
  np.testing.assert_array_equal(after, slow)
  np.testing.assert_array_equal(ranking.order_by_count(after), ranking.order_by_count(counts))


@pytest.mark.parametrize("seed", range(6))
def test_samples_one_by_one_among_models_sorted_again(seed):
  rng = np.random.default_rng(seed)
  solved, new = rng.integers(0, 40, 12), rng.integers(0, 2, (12, 9))
  together = ranking.insert_samples(solved, lambda models: new[models], 4)
  grown = solved.copy()
  for sample in range(9):
    one = ranking.insert_samples(grown, lambda models, s=sample: new[models, s:s + 1], 4)
    assert one.counts[0] == together.counts[sample]
    grown = grown + one.predicted(grown)[:, 0]
  np.testing.assert_array_equal(grown, solved + together.predicted(solved).sum(1))


def test_counts_widen_when_they_no_longer_fit():
  counts = np.array([255, 3], np.uint8)
  _, after = ranking.consecutive_models(counts, [lambda samples: np.ones(2, int)],
                                        np.array([0, 1]))
  assert after.dtype == np.uint16 and after.tolist() == [256, 4]
  assert counts.tolist() == [255, 3]


def test_bad_input():
  accuracies = np.array([0.5, 0.4, 0.3])
  with pytest.raises(ValueError, match="place_by='median'; expected 'mean' or 'cut'"):
    ranking.insert_samples(accuracies, lambda models: models, 1, place_by="median")
  with pytest.raises(ValueError, match="one finite number for each of 2 models"):
    ranking.insert_samples(accuracies[:1], lambda models: models, 1)
  with pytest.raises(ValueError, match="budget of 4 for 3"):
    ranking.insert_samples(accuracies, lambda models: models, 4)
  with pytest.raises(ValueError, match=r"Asked 2 models and got answers of shape \[1, 3\]"):
    ranking.insert_samples(accuracies, lambda models: np.ones([1, 3]), 2)
  with pytest.raises(ValueError, match=r"got \[-1.0\] too"):
    ranking.insert_samples(accuracies, lambda models: -np.ones([2, 1]), 2)
