# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Update strategies made of others: any of several, one by name, or within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Mapping

from suite.training.sequence import update_strategies


class Either(update_strategies.Strategy):
  """Updates when at least one of several strategies does; all see every step and every update."""

  def __init__(self, strategies: Sequence[update_strategies.Strategy]):
    if not strategies:
      raise ValueError("Either has no strategies; give at least one, or take Never.")
    self._strategies = tuple(strategies)
    self.reads_macs = any(one.reads_macs for one in self._strategies)
    self.reads_answers = any(one.reads_answers for one in self._strategies)
    self.is_planned = all(one.is_planned for one in self._strategies)

  def decide(self, observed: update_strategies.Observed) -> update_strategies.Decision:
    decisions = [one.decide(observed) for one in self._strategies]
    wishes = [d.reason for d in decisions if d.update]
    return update_strategies.Decision(
        bool(wishes), "; ".join(wishes or [d.reason for d in decisions]))

  def updated(self, step: int) -> None:
    for one in self._strategies:
      one.updated(step)

  def steps_until_possible_update(self, step: int) -> int:
    return min(one.steps_until_possible_update(step) for one in self._strategies)

  def state(self) -> dict[str, Any]:
    return {"strategies": [one.state() for one in self._strategies]}

  def restore(self, state: Mapping[str, Any]) -> None:
    if len(state["strategies"]) != len(self._strategies):
      raise ValueError(f"The state has {len(state['strategies'])} strategies, but there are "
                       f"{len(self._strategies)}. Resume with the strategies the run began with.")
    for one, its_state in zip(self._strategies, state["strategies"]):
      one.restore(its_state)


def named(name: str, strategies: Mapping[str, update_strategies.Strategy]
          ) -> update_strategies.Strategy:
  """Returns one of several strategies by its name, so that a table's rows can set a name."""
  if name not in strategies:
    raise ValueError(f"Unknown update strategy {name!r}; allowed are {', '.join(strategies)}. "
                     "Choose one of these, or add it to the strategies.")
  return strategies[name]


class WithinBudget(update_strategies.Strategy):
  """The updates of another strategy, within a budget of MACs that predictions use, too.

  An update is made if the run, with its cost, stays within `total`, and within `per_sample` times
  the number of samples so far. After a refusal most strategies ask again at the next step, `Every`
  after its next interval. With `Every(1)` updates come as soon as the budget allows.

  Args:
    wish: the other strategy.
    total: MACs of the whole run.
    per_sample: MACs that each sample adds to the budget.
  """

  reads_macs = True

  def __init__(self, wish: update_strategies.Strategy, total: float | None = None,
               per_sample: float | None = None):
    if total is None and per_sample is None:
      raise ValueError("WithinBudget has no budget; give total, per_sample or both, in MACs.")
    self._wish, self._total, self._per_sample = wish, total, per_sample
    self.reads_answers = wish.reads_answers

  def decide(self, observed: update_strategies.Observed) -> update_strategies.Decision:
    wish = self._wish.decide(observed)
    if not wish.update:
      return wish
    if observed.update_macs is None or observed.spent_macs is None:
      raise ValueError(
          f"The MACs {'of an update' if observed.update_macs is None else 'spent'} are unknown at "
          f"step {observed.step}, and there is a budget. Take a model whose operations can all be "
          "counted, or a strategy without a budget.")
    after, budget = observed.spent_macs + observed.update_macs, self._budget(observed.step)
    return update_strategies.Decision(
        after <= budget,
        f"{wish.reason}; {after:.4g} of {budget:.4g} MACs"
        f"{'' if after <= budget else update_strategies.REFUSED}")

  def _budget(self, step: int) -> float:
    limits = [self._total, None if self._per_sample is None else self._per_sample * step]
    return min(limit for limit in limits if limit is not None)

  def updated(self, step: int) -> None:
    self._wish.updated(step)

  def steps_until_possible_update(self, step: int) -> int:
    return self._wish.steps_until_possible_update(step)

  def state(self) -> dict[str, Any]:
    return {"wish": self._wish.state()}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._wish.restore(state["wish"])
