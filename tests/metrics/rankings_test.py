# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ranks, mean ranks and the best within a budget, worked by hand."""

import pytest

from suite.metrics import rankings


def test_ranks_are_of_those_that_have_a_score_and_ties_share_them():
  found = rankings.ranks({"a": 0.5, "b": 0.9, "c": None, "d": 0.5, "e": float("nan"), "f": 0.1})
  # b is first; a and d share the second and third place; c and e have none and take none.
  assert found == {"a": 2.5, "b": 1.0, "c": None, "d": 2.5, "e": None, "f": 4.0}


def test_the_lowest_error_is_first():
  assert rankings.ranks({"a": 0.5, "b": 0.1}, lower_is_better=True) == {"a": 2.0, "b": 1.0}
  assert rankings.ranks({"a": None}) == {"a": None}


def test_a_mean_rank_is_over_the_protocols_with_a_rank():
  found = rankings.mean_ranks([{"a": 1.0, "b": 2.5, "c": None}, {"a": 3.0, "b": None, "c": None}])
  assert found == {"a": (2.0, 2), "b": (2.5, 1), "c": (None, 0)}


def test_only_methods_with_a_score_everywhere_are_in_common():
  assert rankings.common([{"a": 1.0, "b": 0.0, "c": 1.0}, {"a": 0.0, "b": None, "c": float("nan")}]
                         ) == ["a"]
  assert rankings.common([]) == []


@pytest.mark.parametrize("budget, best", [
    (0.0, ["free"]), (9.9, ["free"]), (10.0, ["cheap", "twin"]), (1e9, ["large"])])
def test_the_best_within_a_budget(budget, best):
  points = [rankings.Point("free", 0.2, 0.0), rankings.Point("cheap", 0.5, 10.0),
            rankings.Point("large", 0.7, 99.0), rankings.Point("unknown", 0.9, None),
            rankings.Point("twin", 0.5, 3.0 + 7.0)]
  assert [p.name for p in rankings.best_within(points, budget)] == best


def test_nothing_is_within_a_budget_below_all_costs_and_errors_are_to_be_low():
  points = [rankings.Point("a", 0.5, 10.0), rankings.Point("b", 0.4, 10.0)]
  assert rankings.best_within(points, 9.0) == []
  assert [p.name for p in rankings.best_within(points, 10.0, lower_is_better=True)] == ["b"]


@pytest.mark.parametrize("costs, expected", [
    ([20.0, None, 0.0, 400.0], [10.0, 30.0, 100.0, 300.0, 1000.0]),
    ([3.0], [3.0]), ([9.0, 12.0], [3.0, 10.0, 30.0]), ([0.0, None], [])])
def test_budgets_enclose_the_costs(costs, expected):
  assert rankings.budgets(costs) == pytest.approx(expected)
