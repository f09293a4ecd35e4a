# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a stream of tasks, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suite.metrics import task_stream


def test_mean_error_is_over_meta_test_only():
  roles = ["meta_train", "meta_test", "meta_train", "meta_test"]
  assert task_stream.mean_error([1.0, 0.25, 1.0, 0.5], roles) == 0.375
  assert task_stream.mean_error([1.0, 0.25, 0.5, 0.5], roles, over="meta_train") == 0.75


def test_mean_error_without_a_meta_test_task_is_nan():
  assert math.isnan(task_stream.mean_error([0.5], ["meta_train"]))


def test_mean_error_says_what_it_got():
  with pytest.raises(ValueError, match="2 errors and 1 roles"):
    task_stream.mean_error([0.1, 0.2], ["meta_test"])
  with pytest.raises(ValueError, match=r"Unknown roles \['test'\]"):
    task_stream.mean_error([0.1], ["test"])


def test_cumulative_error_and_regret():
  np.testing.assert_allclose(task_stream.cumulative_error([0.5, 0.25, 0.0]), [0.5, 0.75, 0.75])
  np.testing.assert_allclose(
      task_stream.regret([0.5, 0.25, 0.0], [0.5, 0.5, 0.5]), [0.0, -0.25, -0.75])


def test_regret_needs_the_same_tasks():
  with pytest.raises(ValueError, match="errors of 1 tasks and 2 of the reference"):
    task_stream.regret([0.5], [0.5, 0.5])


def test_area_under_curve_is_the_mean_height_whatever_the_spacing():
  # 0..1000: mean .5 x 1000; 1000..3000: mean .9 x 2000; together 2300 / 3000.
  curve = [[0, 0.2], [1000, 0.8], [3000, 1.0]]
  assert task_stream.area_under_curve(curve) == pytest.approx(2300 / 3000)
  assert task_stream.area_under_curve([[500, 0.7], [1000, 0.7]]) == pytest.approx(0.7)
  assert task_stream.area_under_curve([[1000, 0.7]]) == 0.7


@pytest.mark.parametrize("totals, expected", [
    # Search and training, validations and the comparison of past models, no test images.
    ({"flops": 111_111, "flops_train": 1, "flops_search": 10, "flops_select": 100,
      "flops_validate": 1_000, "flops_predict": 110_000, "macs_train": 7}, 1_111),
    ({"flops": None, "flops_train": 1, "flops_predict": None}, 1),
    ({"flops": None, "flops_train": None, "flops_predict": 3}, None),
    ({"flops": 5, "flops_predict": 5}, 0), ({"flops": 5}, 5), ({"flops": None}, None), ({}, None)])
def test_answers_are_no_cost_of_learning(totals, expected):
  assert task_stream.cumulative_cost(totals) == expected


def test_cumulative_cost_of_macs():
  assert task_stream.cumulative_cost({"macs": 9, "macs_train": 4, "macs_predict": 5}, "macs") == 4


@pytest.mark.parametrize("curve, message", [
    ([], r"shape \[0\]"),
    ([[1, 2, 3]], r"shape \[1, 3\]"),
    ([[2, 0.1], [2, 0.2]], r"rise strictly; got \[2.0, 2.0\]"),
])
def test_area_under_curve_says_what_it_got(curve, message):
  with pytest.raises(ValueError, match=message):
    task_stream.area_under_curve(curve)


def test_forward_transfer_is_the_share_of_the_possible_gain():
  assert task_stream.forward_transfer(0.6, 0.8) == pytest.approx(0.5)
  assert task_stream.forward_transfer(0.6, 0.6) == 0.0
  assert task_stream.forward_transfer(0.5, 0.25) == -0.5
  assert task_stream.forward_transfer(0.5, 1.0) == 1.0


def test_forward_transfer_is_nan_where_nothing_could_be_gained():
  assert math.isnan(task_stream.forward_transfer(1.0, 1.0))
  assert math.isnan(task_stream.forward_transfer(1.0, 0.5))


def test_forward_transfer_refuses_an_area_that_is_not_normalised():
  with pytest.raises(ValueError, match="auc_second=2000"):
    task_stream.forward_transfer(0.5, 2000)


def test_forward_transfer_by_task_is_of_the_best_trials_curves():
  def trained(task, occurrence, *curves):
    return {"kind": "train", "task": task, "task_key": f"{task}@{occurrence}",
            "occurrence": occurrence, "trials": [{"curve": c} for c in curves],
            "best_trial": len(curves) - 1}

  # Areas under accuracy: (0 + 0.8) / 2 = 0.4, then (0.6 + 0.8) / 2 = 0.7: half of what is possible.
  records = [trained("a", 1, [[0, None, 0.9], [10, 1.0, 0.9]], [[0, None, 1.0], [10, 1.0, 0.2]]),
             {"kind": "predict", "task": "a"}, {"kind": "train", "task": "b", "occurrence": 1},
             trained("c", 2, [[0, None, 0.5]]), trained("a", 2, [[0, None, 0.4], [10, 1.0, 0.2]])]
  assert task_stream.forward_transfer_by_task(records) == {"a@2": pytest.approx(0.5)}


def test_pareto_front_takes_integers_beyond_64_bits():
  assert task_stream.pareto_front([(10**20, 0.2), (10**19, 0.3), (2 * 10**20, 0.25)]) == (
      [1, 0], [])


def test_cumulative_cost_can_leave_out_pretraining():
  totals = {"flops_pretrain": 50, "flops_train": 7, "flops_search": 3, "flops_predict": 1}
  assert task_stream.cumulative_cost(totals) == 60
  assert task_stream.cumulative_cost(totals, without=("pretrain",)) == 10
  assert task_stream.cumulative_cost({**totals, "flops_pretrain": None}) is None


def test_mean_forward_transfer_is_over_the_defined_values():
  assert task_stream.mean_forward_transfer({"a@2": 0.2, "b@2": float("nan"), "c@2": 0.6}) == 0.4
  assert math.isnan(task_stream.mean_forward_transfer({}))


def test_pareto_front_by_rising_flops():
  points = [(4e9, 0.1), (1e9, 0.4), (2e9, 0.2), (3e9, 0.3), (4e9, 0.2)]
  assert task_stream.pareto_front(points) == ([1, 2, 0], [])


def test_equal_points_stay_on_the_front_together():
  assert task_stream.pareto_front([(1.0, 0.5), (1.0, 0.5), (1.0, 0.6)]).indices == [0, 1]


def test_points_without_flops_or_error_are_left_out_and_said():
  front = task_stream.pareto_front([(None, 0.0), (1.0, 0.5), (2.0, None), (3.0, float("nan"))])
  assert front.indices == [1]
  assert front.left_out == [0, 2, 3]


def test_pareto_front_of_nothing():
  assert task_stream.pareto_front([]) == ([], [])
