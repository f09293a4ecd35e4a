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

Update times that are given before the sequence begins, such as those of a search.

A plan is a tuple of samples after which to update, in rising order. A learner that trains on all
that is stored goes over t samples in each epoch of an update after t samples, so the cost of a
plan in multiply-adds is proportional to the sum of its times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import itertools
import pathlib
from typing import Any, NamedTuple

from suite.system import atomic_files
from suite.system import sealed_json
from suite.training.sequence import update_strategies

UpdateTimes = tuple[int, ...]
_STEPS = "steps"


class At(update_strategies.Strategy):
  """Updates after given samples; those after the end of the sequence are left out.

  Args:
    steps: a plan; or the JSON file of one, see `write`.
  """

  is_planned = True

  def __init__(self, steps: Sequence[int] | str):
    self._steps = check("At.steps", read(steps) if isinstance(steps, str) else steps)

  def decide(self, observed: update_strategies.Observed) -> update_strategies.Decision:
    due = next((t for t in self._steps if t >= observed.step), None)
    return update_strategies.Decision(
        due == observed.step, "no further update" if due is None else f"sample {observed.step} of "
        f"{due}")

  def steps_until_possible_update(self, step: int) -> int:
    due = next((t for t in self._steps if t > step), None)
    return update_strategies.FOREVER if due is None else due - step - 1


def cost(plan: UpdateTimes) -> int:
  """Samples that one epoch of every update goes over."""
  return sum(plan)


def check(name: str, steps: Sequence[int]) -> UpdateTimes:
  """Returns the steps as a plan; `name` is for the message if they are none."""
  steps = list(steps) if isinstance(steps, tuple) else steps
  whole = isinstance(steps, list) and all(
      isinstance(t, int) and not isinstance(t, bool) and t > 0 for t in steps)
  if not whole or any(a >= b for a, b in zip(steps, steps[1:])):
    raise ValueError(f"{name} is {steps!r:.80}; give whole numbers above 0 in rising order.")
  return tuple(steps)


def write(path: pathlib.Path, plan: UpdateTimes, **about: Any) -> None:
  """Writes a plan and plain values about it as JSON."""
  path.parent.mkdir(parents=True, exist_ok=True)
  text = sealed_json.text({_STEPS: plan, **about})
  atomic_files.write(path, f"{text}\n".encode())


def read(path: str | pathlib.Path) -> UpdateTimes:
  """Reads the plan that `write` wrote."""
  place = pathlib.Path(path)
  if not place.is_file():
    raise FileNotFoundError(f"There is no plan of update times {str(path)!r}. Give the file that "
                            "tools/update_oracle.py wrote, or the times themselves.")
  plan = sealed_json.load(place, "plan of update times", "Make it again with "
                          "tools/update_oracle.py.", [_STEPS])
  return check(str(place), plan[_STEPS])


Evaluate = Callable[[Sequence[UpdateTimes]], Sequence[float]]


class Found(NamedTuple):
  """The best plan, its score, and the scores of all plans that were tried, in order."""

  plan: UpdateTimes
  score: float
  scores: dict[UpdateTimes, float]


def search(candidates: Sequence[int], budget: int, evaluate: Evaluate, *, width: int | None = 1,
           starts: Sequence[UpdateTimes] = ()) -> Found:
  """Searches plans of candidate times whose sum is at most the budget.

  Args:
    candidates: times, in rising order.
    budget: greatest sum of the times of a plan, see `update_search.cost`.
    evaluate: the scores of several plans, higher is better; it is given each plan once.
    width: plans that a round keeps; None: all plans are tried.
    starts: plans of candidates; the result is no worse than any of them within the budget.
  """
  candidates = check("candidates", candidates)
  if budget < 0 or (width is not None and width < 1):
    raise ValueError(f"budget is {budget} and width {width}; the budget is at least 0 samples, the "
                     "width at least 1, or None for all plans.")
  for start in starts:
    if not set(check("starts", start)) <= set(candidates):
      raise ValueError(f"starts has {list(start)}; a plan consists of candidates: "
                       f"{list(candidates)}.")
  tried = _Tried(evaluate, budget)
  tried.best_of([(), *starts])
  if width is None:
    tried.best_of(itertools.chain.from_iterable(
        itertools.combinations(candidates, size) for size in range(1, len(candidates) + 1)))
  else:
    beam: list[UpdateTimes] = [()]
    score = tried.scores[()]
    while beam:
      beam = tried.best_of(tuple(sorted((*plan, time))) for plan in beam for time in candidates
                           if time not in plan)[:width]
      if not beam or tried.scores[beam[0]] <= score:
        break
      score = tried.scores[beam[0]]
    moved = True
    while moved:
      before = tried.best
      tried.best_of(_neighbors(before, candidates))
      moved = tried.best != before
  best = tried.best
  return Found(best, tried.scores[best], tried.scores)


class _Tried:
  """Plans with their scores."""

  def __init__(self, evaluate: Evaluate, budget: int):
    self._evaluate, self._budget = evaluate, budget
    self.scores: dict[UpdateTimes, float] = {}

  def best_of(self, plans: Iterable[UpdateTimes]) -> list[UpdateTimes]:
    """Scores the plans within the budget; returns them, the best first."""
    within = sorted({plan for plan in plans if cost(plan) <= self._budget})
    new = [plan for plan in within if plan not in self.scores]
    self.scores.update(zip(new, self._evaluate(new)))
    return sorted(within, key=self._rank)

  @property
  def best(self) -> UpdateTimes:
    """The best plan so far."""
    return min(self.scores, key=self._rank)

  def _rank(self, plan: UpdateTimes) -> tuple[float, int, UpdateTimes]:
    return -self.scores[plan], cost(plan), plan


def _neighbors(plan: UpdateTimes, candidates: UpdateTimes
               ) -> Iterable[UpdateTimes]:
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
