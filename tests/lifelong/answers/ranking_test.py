# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search: order, cut, sampling and errors; the cut against every other cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from suite.lifelong.answers import ranking

# Column sums 1, 3, 2, 3, 0.
ANSWERS = np.array([
    [0, 1, 1, 1, 0],
    [1, 1, 0, 1, 0],
    [0, 1, 1, 1, 0],
])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32])
def test_sum_order_is_descending_and_stable_for_any_type(dtype):
  assert ranking.sum_order(ANSWERS.astype(dtype)).tolist() == [1, 3, 2, 0, 4]


def test_counts_do_not_wrap_in_small_types():
  answers = np.ones([300, 2], np.uint8)
  answers[:44, 0] = 0  # 256 of 300: 0 in 8 bits.
  assert ranking.sum_order(answers).tolist() == [1, 0]
  assert ranking.order_by_count(np.array([0, 200], np.uint8)).tolist() == [1, 0]


def test_ties_go_by_id():
  order = ranking.order_by_count(np.array([1, 2, 1, 2]), np.array(["d", "c", "b", "a"]))
  assert order.tolist() == [3, 1, 2, 0]


def test_dp_threshold_worked_by_hand():
  assert ranking.dp_threshold(np.array([1, 1, 0, 1, 0])) == 2  # Gains 0 1 2 1 2 1: the first 2.
  assert ranking.dp_threshold(np.array([0, 1, 1, 0])) == 3  # Gains 0 -1 0 1 0.
  assert ranking.dp_threshold(np.array([0, 1])) == 0  # Gains 0 -1 0: nothing is as good.
  assert ranking.dp_threshold(np.array([1, 1])) == 2
  assert ranking.dp_threshold(np.array([])) == 0


def test_dp_threshold_is_the_smallest_best_cut_of_every_short_row():
  for length in range(1, 13):
    steps = np.tril(np.ones([length + 1, length], np.int64), k=-1)  # Row k: ones at ranks < k.
    for row in itertools.product([0, 1], repeat=length):
      wrong = np.sum(np.abs(steps - np.array(row)), axis=1)
      assert ranking.dp_threshold(np.array(row)) == np.argmin(wrong), row


def test_thresholds_of_many_rows_are_those_of_each():
  for length in range(1, 13):
    rows = np.array(list(itertools.product([0, 1], repeat=length)), np.uint8)
    expected = [ranking.dp_threshold(row) for row in rows]
    assert ranking.dp_thresholds(rows).tolist() == expected
  assert ranking.dp_thresholds(np.zeros([3, 0])).tolist() == [0, 0, 0]
  assert ranking.dp_thresholds(np.eye(2, dtype=bool)).tolist() == [1, 0]


@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_dp_threshold_of_unsigned_rows(dtype):
  assert ranking.dp_threshold(np.array([1, 0, 0, 1], dtype)) == 1
  assert ranking.dp_threshold(np.array([0, 0], dtype)) == 0


def test_sample_positions_are_the_middles_of_equal_strata():
  assert ranking.sample_positions(8, 2).tolist() == [2, 6]
  assert ranking.sample_positions(10, 3).tolist() == [1, 5, 8]  # 1.67, 5, 8.33.
  assert ranking.sample_positions(5, 5).tolist() == [0, 1, 2, 3, 4]


def test_sample_positions_are_different_and_reach_both_ends():
  for n in range(1, 60):
    for m in range(1, n + 1):
      positions = ranking.sample_positions(n, m)
      assert len(set(positions)) == m and positions[0] >= 0 and positions[-1] < n
      assert positions[0] <= n / (2 * m) and n - positions[-1] <= n / (2 * m) + 1


@pytest.mark.parametrize("n, m", [(5, 0), (5, 6)])
def test_sample_positions_refuse_an_impossible_budget(n, m):
  with pytest.raises(ValueError, match=f"budget of {m} for {n} samples"):
    ranking.sample_positions(n, m)


def test_extrapolated_cut_reaches_none_and_all():
  assert [ranking.extrapolate_cut(k, 8, 800) for k in (0, 4, 8)] == [0, 400, 800]
  assert ranking.extrapolate_cut(1, 3, 10) == 3
  assert ranking.extrapolate_cut(1, 2, 5) == 3  # 2.5 goes up.


def test_extrapolated_cut_refuses_what_cannot_be():
  with pytest.raises(ValueError, match="cut=9, budget=8"):
    ranking.extrapolate_cut(9, 8, 800)


def test_step_predictions_are_by_sample():
  assert ranking.step_predictions(np.array([1, 3, 2, 0, 4]), 2).tolist() == [0, 1, 0, 1, 0]
  with pytest.raises(ValueError, match="cut=6 for 5 samples"):
    ranking.step_predictions(np.arange(5), 6)


def test_errors_worked_by_hand():
  answers, predicted = np.array([1, 1, 0, 0]), np.array([1, 0, 0, 1], np.uint8)
  assert ranking.per_sample_error(answers, predicted) == 0.5
  assert ranking.per_sample_error(answers, [0.75, 0.5, 0.0, 0.25]) == 0.25
  assert ranking.aggregate_error(answers, 0.75) == 0.25


def test_a_whole_search_of_a_perfectly_ordered_model_is_exact():
  order = np.array([4, 0, 3, 1, 2, 7, 6, 5])
  truth = ranking.step_predictions(order, 6)
  positions = ranking.sample_positions(8, 4)
  cut = ranking.extrapolate_cut(ranking.dp_threshold(truth[order[positions]]), 4, 8)
  assert ranking.per_sample_error(truth, ranking.step_predictions(order, cut)) == 0.0


@pytest.mark.parametrize("function", [ranking.sum_order, lambda a: ranking.dp_threshold(a[0])])
def test_a_missing_answer_is_not_a_wrong_one(function):
  with pytest.raises(ValueError, match=r"0 or 1; got \[-1"):
    function(np.array([[1, -1, 0]]))


def test_wrong_shapes_are_named():
  with pytest.raises(ValueError, match=r"shape \[3\]; expected \[M models"):
    ranking.sum_order(np.zeros(3))
  with pytest.raises(ValueError, match=r"answers of shape \[2\] and predictions of shape \[3\]"):
    ranking.per_sample_error(np.zeros(2), np.zeros(3))


def test_recursive_order_by_hand():
  # All four samples are solved by two of four models. In order 0 1 2 3 the cuts are 2, 0, 1, 4.
  answers = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]])
  assert ranking.dp_thresholds(answers).tolist() == [2, 0, 1, 3]
  # Models 0, 2 and 3 cut inside the run: they solve 2, 2, 1, 1 of it.
  assert ranking.recursive_order(answers).tolist() == [0, 1, 2, 3]
  # Behind other models' eyes: 3 leads when its own cutting models solve it.
  answers = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
  # Cuts 2? sums -1 0 -1 0: 0; 1 0 1 0: 1 - models 1 and 3 part the run, and solve 0 and 2.
  assert ranking.recursive_order(answers).tolist() == [0, 2, 1, 3]


def test_recursive_order_leaves_runs_alone_where_nobody_cuts():
  answers = np.array([[1, 1, 0, 0], [1, 1, 0, 0]])
  assert ranking.recursive_order(answers).tolist() == [0, 1, 2, 3]


def test_recursive_order_keeps_counts_descending():
  answers = np.random.default_rng(0).integers(0, 2, [9, 200])
  for passes in (1, 3):
    order = ranking.recursive_order(answers, passes)
    assert sorted(order) == list(range(200))
    assert np.all(np.diff(answers.sum(axis=0)[order]) <= 0)


def test_samples_are_placed_by_the_mean_of_models_spaced_in_accuracy():
  assert ranking.spaced_models(np.array([0.1, 0.9, 0.5, 0.7]), 2).tolist() == [3, 0]
  answers = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])  # Means 1/3, 0, 2/3, 1.
  assert ranking.place_samples(answers, 10).tolist() == [3, 0, 7, 10]
  assert ranking.place_samples(np.array([[1], [0]]), 5).tolist() == [3]  # 2.5 goes up.


def test_decomposition_by_hand():
  answers = np.array([1, 1, 0, 1, 0])  # In its own order; the best cut is 2, one wrong.
  parts = ranking.decompose(answers, ranking.step_predictions(np.arange(5), 3), np.arange(5))
  assert parts == {"total": 0.4, "aleatoric": 0.2, "epistemic": 0.2}


def test_counts_want_two_models():
  with pytest.raises(ValueError, match=r"shape \[1, 3\]; expected \[M, N\] of 2 models"):
    ranking.checked_counts(np.ones([1, 3]))
  assert ranking.checked_counts(np.ones([300, 1], np.uint8)).tolist() == [300]
