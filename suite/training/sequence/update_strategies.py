# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""When to train on what is stored, in a sequence of single samples (FLUID).

After each step, the label being revealed, `decide` says whether to update now, and why; an update
that is made is told to `updated`:

  strategy = update_strategies.OnError(threshold=20)
  decision = strategy.decide(update_strategies.Observed(step=1, correct=False, is_new=True))
  if decision.update:
    ...
    strategy.updated(step=1)

A strategy sees only what is known by then. Its state is plain numbers (`state`, `restore`), so a
run that was stopped goes on with the same decisions. `quiet` tells how far answers can be computed
ahead; beyond that they are a guess, which an update makes void (see `first_update`). Several
strategies at once, and budgets: `update_combinations`.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Iterable, Mapping, NamedTuple, Optional, Tuple

FOREVER = 2**62
REFUSED = ": refused"  # How the reason ends if a budget forbids a wish.


class Observed(NamedTuple):
  """What is known after a step.

  Attributes:
    step: how many samples have been answered and revealed, this one included; 1 at first.
    correct: whether the answer was right.
    is_new: whether the class was seen for the first time.
    update_macs: what an update would cost now, None if unknown.
    spent_macs: what the run has cost until now, None if unknown.
  """

  step: int
  correct: bool
  is_new: bool
  update_macs: Optional[int] = None
  spent_macs: Optional[int] = None


class Decision(NamedTuple):
  """Whether to update now, and the reason in words with its numbers."""

  update: bool
  reason: str

  @property
  def is_refused(self) -> bool:
    """Whether an update was wished for and is not made."""
    return not self.update and self.reason.endswith(REFUSED)


class Strategy:
  """Decides after each step, in order. This one never updates: what was learned before stays."""

  def decide(self, observed: Observed) -> Decision:
    """The decision after a step."""
    del observed
    return Decision(False, "never")

  def updated(self, step: int) -> None:
    """There was an update after this step, asked for by this strategy or another."""

  def quiet(self, step: int) -> int:
    """For how many steps after `step` there will surely be no update, whatever they bring."""
    del step
    return FOREVER

  def state(self) -> Dict[str, Any]:
    """Numbers, and lists of such dicts: ready for JSON."""
    return {}

  def restore(self, state: Mapping[str, Any]) -> None:
    """Goes on where `state` was taken, from a strategy that was built alike."""


class Never(Strategy):
  """No update at all."""


class Every(Strategy):
  """After every `interval` samples, as in the paper (5000).

  Args:
    interval: samples between two updates.
    last: no update after more samples than this, if given.
  """

  def __init__(self, interval: int, last: Optional[int] = None):
    self._interval, self._last = _positive("Every.interval", interval), last

  def decide(self, observed: Observed) -> Decision:
    if self._last is not None and observed.step > self._last:
      return Decision(False, f"none after sample {self._last}")
    since = observed.step % self._interval
    return Decision(since == 0, f"{since or self._interval} of {self._interval} samples")

  def quiet(self, step: int) -> int:
    due = step - step % self._interval + self._interval
    return FOREVER if self._last is not None and due > self._last else due - step - 1


class Geometric(Strategy):
  """After `first` samples, then each time there are `factor` times as many: ever more rarely."""

  def __init__(self, first: int, factor: float = 2.0):
    if not factor > 1.0:
      raise ValueError(f"Geometric.factor is {factor}; it must be above 1. For equal distances "
                       "take Every.")
    self._due, self._factor = _positive("Geometric.first", first), factor

  def decide(self, observed: Observed) -> Decision:
    return Decision(observed.step >= self._due, f"{observed.step} of {self._due} samples")

  def updated(self, step: int) -> None:
    """An update that another strategy wanted earlier moves nothing."""
    while self._due <= step:
      self._due = max(self._due + 1, math.floor(self._due * self._factor))

  def quiet(self, step: int) -> int:
    return max(self._due - step - 1, 0)

  def state(self) -> Dict[str, Any]:
    return {"due": self._due}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._due = int(state["due"])


class OnNewClasses(Strategy):
  """Once `count` classes have been met for the first time since the last update."""

  def __init__(self, count: int):
    self._count, self._met = _positive("OnNewClasses.count", count), 0

  def decide(self, observed: Observed) -> Decision:
    self._met += int(observed.is_new)
    return Decision(self._met >= self._count, f"{self._met} of {self._count} new classes")

  def updated(self, step: int) -> None:
    self._met = 0

  def quiet(self, step: int) -> int:
    return max(self._count - self._met - 1, 0)  # A step shows one class.

  def state(self) -> Dict[str, Any]:
    return {"met": self._met}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._met = int(state["met"])


class OnError(Strategy):
  """When errors have become more frequent: the test of Page (1954) and Hinkley (1971).

  With errors x_t in {0, 1} since the last update and their mean m_t so far, x_t included,

      u_0 = 0    u_t = u_(t-1) + x_t - m_t - tolerance    update if  u_t - min(u_0..u_t) > threshold

  In words: the errors above the mean, less a tolerance, since the best moment. Errors that stay as
  frequent as they are raise no alarm, however many: combine it with a schedule to learn from those,
  too.

  Args:
    threshold: in errors; a larger one means fewer and later updates.
    tolerance: what each step forgives, and so the least rise of the error rate that can be found.
      With much less than 0.05, chance alone raises alarms on thousands of steps.
    warm_up: steps after an update without another one.
  """

  def __init__(self, threshold: float = 20.0, tolerance: float = 0.05, warm_up: int = 30):
    if threshold <= 0 or tolerance < 0 or warm_up < 0:
      raise ValueError(f"OnError has threshold={threshold}, tolerance={tolerance} and "
                       f"warm_up={warm_up}; the first must be above 0, none below 0.")
    self._threshold, self._tolerance, self._warm_up = threshold, tolerance, warm_up
    self.updated(0)

  def updated(self, step: int) -> None:
    self._steps, self._errors, self._sum, self._least = 0, 0, 0.0, 0.0

  def decide(self, observed: Observed) -> Decision:
    error = int(not observed.correct)
    self._steps += 1
    self._errors += error
    self._sum += error - self._errors / self._steps - self._tolerance
    self._least = min(self._least, self._sum)
    rise = self._sum - self._least
    update = rise > self._threshold and self._steps > self._warm_up
    return Decision(update, f"{rise:.4g} of {self._threshold:g} errors above the mean, "
                            f"{self._steps} steps after the last update")

  def quiet(self, step: int) -> int:
    # A step adds less than 1.
    missing = math.floor(self._threshold - (self._sum - self._least))
    return max(self._warm_up - self._steps, missing, 0)

  def state(self) -> Dict[str, Any]:
    return {"steps": self._steps, "errors": self._errors, "sum": self._sum, "least": self._least}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._steps, self._errors = int(state["steps"]), int(state["errors"])
    self._sum, self._least = float(state["sum"]), float(state["least"])


def first_update(strategy: Strategy, steps: Iterable[Observed]) -> Tuple[int, Decision]:
  """Decides step after step up to the first update; that is then to be made and told.

  Returns:
    How many steps were decided, and the last decision. Answers to later steps that were computed
    ahead are void if it is an update; the strategy has not seen them.
  """
  count, decision = 0, Decision(False, "no step")
  for observed in steps:
    count, decision = count + 1, strategy.decide(observed)
    if decision.update:
      break
  return count, decision


def _positive(name: str, value: int) -> int:
  if isinstance(value, bool) or value < 1 or int(value) != value:
    raise ValueError(f"{name} is {value}; it must be a whole number of at least 1.")
  return int(value)
