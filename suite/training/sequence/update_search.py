# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A search for the best update times within a budget: the oracle of update strategies.

FLUID leaves update strategies open (its section 5.6 compares frequencies). How far a strategy is
from the best times at the same cost takes a search over times, with the score of whole runs:

  1. A beam grows from the empty plan: each round adds one candidate time to each plan of the beam,
     scores all plans within the budget that are new, and keeps the `width` best of the round. It
     ends when no plan of a round is better than the best of the round before.
  2. The best plan so far, or one of the plans to start from, such as those of strategies, moves:
     one time to the candidate before or after it, left out, or added. The best move is made as
     long as it is better.

Among equal scores the cheaper plan is better, then the one whose times come first. So the result
depends on nothing but the arguments. With `width=None` all plans within the budget are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import itertools
from typing import NamedTuple

from suite.training.sequence import update_plans

Evaluate = Callable[[Sequence[update_plans.Plan]], Sequence[float]]


class Found(NamedTuple):
  """The best plan, its score, and the scores of all plans that were tried, in order."""

  plan: update_plans.Plan
  score: float
  scores: dict[update_plans.Plan, float]


def search(candidates: Sequence[int], budget: int, evaluate: Evaluate, *, width: int | None = 1,
           starts: Sequence[update_plans.Plan] = ()) -> Found:
  """Searches plans of candidate times whose sum is at most the budget.

  Args:
    candidates: times, in rising order.
    budget: greatest sum of the times of a plan, see `update_plans.cost`.
    evaluate: the scores of several plans, higher is better; it is given each plan once.
    width: plans that a round keeps; None: all plans are tried.
    starts: plans of candidates; the result is no worse than any of them within the budget.
  """
  candidates = update_plans.check("candidates", candidates)
  if budget < 0 or (width is not None and width < 1):
    raise ValueError(f"budget is {budget} and width {width}; the budget is at least 0 samples, the "
                     "width at least 1, or None for all plans.")
  for start in starts:
    if not set(update_plans.check("starts", start)) <= set(candidates):
      raise ValueError(f"starts has {list(start)}; a plan consists of candidates: "
                       f"{list(candidates)}.")
  tried = _Tried(evaluate, budget)
  tried.best_of([(), *starts])
  if width is None:
    tried.best_of(itertools.chain.from_iterable(
        itertools.combinations(candidates, size) for size in range(1, len(candidates) + 1)))
  else:
    _grow(tried, candidates, width)
    _move(tried, candidates)
  best = tried.best
  return Found(best, tried.scores[best], tried.scores)


class _Tried:
  """Plans with their scores."""

  def __init__(self, evaluate: Evaluate, budget: int):
    self._evaluate, self._budget = evaluate, budget
    self.scores: dict[update_plans.Plan, float] = {}

  def best_of(self, plans: Iterable[update_plans.Plan]) -> list[update_plans.Plan]:
    """Scores the plans within the budget; returns them, the best first."""
    within = sorted({plan for plan in plans if update_plans.cost(plan) <= self._budget})
    new = [plan for plan in within if plan not in self.scores]
    self.scores.update(zip(new, self._evaluate(new)))
    return sorted(within, key=self._rank)

  @property
  def best(self) -> update_plans.Plan:
    """The best plan so far."""
    return min(self.scores, key=self._rank)

  def _rank(self, plan: update_plans.Plan) -> tuple[float, int, update_plans.Plan]:
    return -self.scores[plan], update_plans.cost(plan), plan


def _grow(tried: _Tried, candidates: update_plans.Plan, width: int) -> None:
  beam: list[update_plans.Plan] = [()]
  best = tried.scores[()]
  while beam:
    beam = tried.best_of(tuple(sorted((*plan, time))) for plan in beam for time in candidates
                         if time not in plan)[:width]
    if not beam or tried.scores[beam[0]] <= best:
      return
    best = tried.scores[beam[0]]


def _move(tried: _Tried, candidates: update_plans.Plan) -> None:
  while True:
    before = tried.best
    tried.best_of(_neighbors(before, candidates))
    if tried.best == before:
      return


def _neighbors(plan: update_plans.Plan, candidates: update_plans.Plan
               ) -> Iterable[update_plans.Plan]:
  """Plans with one time moved by one place among the candidates, left out, or added."""
  for new in candidates:
    if new not in plan:
      yield tuple(sorted((*plan, new)))
  for time in plan:
    others = tuple(t for t in plan if t != time)
    yield others
    place = candidates.index(time)
    for new in candidates[max(0, place - 1):place + 2]:
      if new not in plan:
        yield tuple(sorted((*others, new)))
