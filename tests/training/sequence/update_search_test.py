# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The search for update times against all plans one by one, and rounds and moves by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from suite.training.sequence import update_search

CANDIDATES = (10, 20, 30, 40, 50, 60)


def every_plan(budget):
  plans = [plan for size in range(len(CANDIDATES) + 1)
           for plan in itertools.combinations(CANDIDATES, size)]
  return [plan for plan in plans if sum(plan) <= budget]


def made_up(seed):
  """Scores with few values, so that many plans are equal."""
  rng = np.random.default_rng(seed)
  scores = {plan: float(rng.integers(4)) for plan in every_plan(1000)}
  return scores.__getitem__


def of_each(evaluate):
  return lambda plans: [evaluate(plan) for plan in plans]


@pytest.mark.parametrize("budget", [0, 55, 110, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_without_a_width_it_is_the_best_of_all_plans(seed, budget):
  evaluate, plans = made_up(seed), every_plan(budget)
  found = update_search.search(CANDIDATES, budget, of_each(evaluate), width=None)
  assert sorted(found.scores) == sorted(plans)
  assert found.score == evaluate(found.plan) == max(map(evaluate, plans))
  best = [plan for plan in plans if evaluate(plan) == found.score]
  assert found.plan == min(best, key=lambda plan: (sum(plan), plan))


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_a_beam_finds_a_plan_that_no_single_move_improves(seed, width):
  evaluate = made_up(seed)
  found = update_search.search(CANDIDATES, 90, of_each(evaluate), width=width)
  assert found.score == max(found.scores.values()) <= max(map(evaluate, every_plan(90)))
  assert all(sum(plan) <= 90 for plan in found.scores)
  for time in found.plan:
    assert evaluate(tuple(t for t in found.plan if t != time)) <= found.score


def test_a_score_that_adds_up_is_maximized_by_the_beam():
  """Scores are sums over times: each round adds the largest time that still fits."""
  worth = {10: 1.0, 20: 5.0, 30: 2.0, 40: 4.0, 50: 0.5, 60: -1.0}
  calls = []

  def evaluate(plan):
    calls.append(plan)
    return sum(worth[time] for time in plan)

  found = update_search.search(CANDIDATES, 100, of_each(evaluate))
  # Rounds: 20; 20 and 40; 20, 30 and 40; 10, 20, 30 and 40. Nothing else fits into 100.
  assert found.plan == (10, 20, 30, 40) and found.score == 12.0
  assert calls[:8] == [(), (10,), (20,), (30,), (40,), (50,), (60,), (10, 20)]
  assert len(calls) == len(set(calls)) == len(found.scores)


def test_a_move_leaves_what_the_beam_cannot_leave():
  """The first round takes 20; with 40 there, 30 is better than 20, which only a move finds."""
  scores = {(20,): 1.0, (20, 40): 2.0, (30, 40): 3.0}
  found = update_search.search(CANDIDATES, 1000, of_each(lambda plan: scores.get(plan, 0.0)))
  assert found.plan == (30, 40)


def test_the_result_is_no_worse_than_a_plan_to_start_from_and_moves_on_from_it():
  scores = {(20,): 1.0, (10, 30, 60): 4.0, (10, 30, 50): 5.0, (10, 30, 50, 60): 6.0}
  evaluate = of_each(lambda plan: scores.get(plan, 0.0))
  assert update_search.search(CANDIDATES, 1000, evaluate).plan == (20,)
  found = update_search.search(CANDIDATES, 1000, evaluate, starts=[(10, 30, 60)])
  assert found.plan == (10, 30, 50, 60)  # A time is added to the start; or moved, then added.
  within = update_search.search(CANDIDATES, 99, evaluate, starts=[(10, 30, 60)])
  assert within.plan == (20,)  # The start and what it leads to are above the budget.
  with pytest.raises(ValueError, match=r"starts has \[15\]; a plan consists of candidates: \[10"):
    update_search.search(CANDIDATES, 99, evaluate, starts=[(15,)])


@pytest.mark.parametrize("arguments, message", [
    (((20, 10), 50), r"candidates is \[20, 10\]; give .* in rising order"),
    (((10,), -1), "budget is -1"), (((10,), 5, 0), "width 0; .* at least 1, or None")])
def test_arguments_that_make_no_sense_are_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    candidates, budget, *width = arguments
    update_search.search(candidates, budget, lambda plans: [], **dict(zip(["width"], width)))
