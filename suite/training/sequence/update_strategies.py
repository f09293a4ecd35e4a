# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""When to train on what is stored, in a sequence of single samples (FLUID).

After each step, once the label is revealed, `decide` returns whether to update now, and why; an
update that was made is reported to `updated`:

  strategy = update_strategies.OnError(threshold=20)
  decision = strategy.decide(update_strategies.Observed(step=1, correct=False, is_new=True))
  if decision.update:
    ...
    strategy.updated(step=1)

A strategy uses only what is known by then. Its state is plain numbers (`state`, `restore`), so a
resumed run makes the same decisions. `steps_until_possible_update` returns how many steps can be
answered ahead; answers to later steps are discarded if there is an update before them. `Either`,
`named` and `WithinBudget` are made of other strategies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, NamedTuple

FOREVER = 2**62
REFUSED = ": refused"  # The end of the reason if a budget forbids an update.


class Observed(NamedTuple):
  """A step of the sequence, as a strategy sees it.

  Attributes:
    step: the number of samples that have been answered and revealed, this one included; 1 at first.
    correct: whether the answer was right.
    is_new: whether the class was seen for the first time.
    update_macs: the MACs of an update now; None if unknown, or if the strategy does not read them.
    spent_macs: the MACs of the run until now; None likewise.
  """

  step: int
  correct: bool
  is_new: bool
  update_macs: int | None = None
  spent_macs: int | None = None


class Decision(NamedTuple):
  """A decision whether to update now, and its reason in words and numbers."""

  update: bool
  reason: str

  @property
  def is_refused(self) -> bool:
    """Whether a strategy asked for an update that a budget forbids."""
    return not self.update and self.reason.endswith(REFUSED)


class Strategy:
  """Decides after each step, in order. This one never updates.

  Attributes:
    reads_macs: whether `decide` reads the MACs of `Observed`. They are counted only for a strategy
      that does, since counting them after every label takes longer than a small model's answer.
    reads_answers: whether updates depend on answers, so that nobody can say how many there will be.
    is_planned: whether decisions depend on `Observed.step` and earlier updates alone, and `decide`
      changes nothing. It is then asked only where an update is possible, and at the end of a block.
  """

  reads_macs = reads_answers = is_planned = False

  def decide(self, observed: Observed) -> Decision:
    """Returns the decision after a step."""
    del observed
    return Decision(False, "never")

  def updated(self, step: int) -> None:
    """Notes an update after this step, whether this strategy or another asked for it."""

  def steps_until_possible_update(self, step: int) -> int:
    """Returns the number of steps after `step` that cannot lead to an update."""
    del step
    return FOREVER

  def state(self) -> dict[str, Any]:
    """Returns the state for JSON: numbers, and lists of such dicts."""
    return {}

  def restore(self, state: Mapping[str, Any]) -> None:
    """Restores a `state` of a strategy with the same arguments."""


class Never(Strategy):
  """No update at all."""

  is_planned = True


class Every(Strategy):
  """Updates after every `interval` samples, as in the paper (5000).

  Args:
    interval: samples between two updates.
    last: the last sample after which there may be an update; None: no limit.
  """

  is_planned = True

  def __init__(self, interval: int, last: int | None = None):
    self._interval, self._last = _positive("Every.interval", interval), last

  def decide(self, observed: Observed) -> Decision:
    if self._last is not None and observed.step > self._last:
      return Decision(False, f"none after sample {self._last}")
    since = observed.step % self._interval
    return Decision(since == 0, f"{since or self._interval} of {self._interval} samples")

  def steps_until_possible_update(self, step: int) -> int:
    due = step - step % self._interval + self._interval
    return FOREVER if self._last is not None and due > self._last else due - step - 1


class Geometric(Strategy):
  """Updates after `first` samples, then whenever their number has grown by `factor`."""

  is_planned = True

  def __init__(self, first: int, factor: float = 2.0):
    if not factor > 1.0:
      raise ValueError(f"Geometric.factor is {factor}; it must be above 1. For equal distances "
                       "take Every.")
    self._due, self._factor = _positive("Geometric.first", first), factor

  def decide(self, observed: Observed) -> Decision:
    return Decision(observed.step >= self._due, f"{observed.step} of {self._due} samples")

  def updated(self, step: int) -> None:
    """Plans the next update after `step`; an update before the planned one changes nothing."""
    while self._due <= step:
      self._due = max(self._due + 1, math.floor(self._due * self._factor))

  def steps_until_possible_update(self, step: int) -> int:
    return max(self._due - step - 1, 0)

  def state(self) -> dict[str, Any]:
    return {"due": self._due}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._due = int(state["due"])


class OnNewClasses(Strategy):
  """Updates once `count` new classes have been seen since the last update."""

  def __init__(self, count: int):
    self._count, self._met = _positive("OnNewClasses.count", count), 0

  def decide(self, observed: Observed) -> Decision:
    self._met += int(observed.is_new)
    return Decision(self._met >= self._count, f"{self._met} of {self._count} new classes")

  def updated(self, step: int) -> None:
    self._met = 0

  def steps_until_possible_update(self, step: int) -> int:
    return max(self._count - self._met - 1, 0)  # A step shows one class.

  def state(self) -> dict[str, Any]:
    return {"met": self._met}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._met = int(state["met"])


class AfterErrors(Strategy):
  """Updates once `count` answers have been wrong since the last update.

  So it updates often while errors are frequent, as at the start of a sequence, and rarely when they
  have become rare. `OnError` waits for a rise of the error rate instead, which in a sequence of
  ever better known classes may never come.
  """

  reads_answers = True

  def __init__(self, count: int):
    self._count, self._errors = _positive("AfterErrors.count", count), 0

  def decide(self, observed: Observed) -> Decision:
    self._errors += int(not observed.correct)
    return Decision(self._errors >= self._count, f"{self._errors} of {self._count} errors")

  def updated(self, step: int) -> None:
    self._errors = 0

  def steps_until_possible_update(self, step: int) -> int:
    return max(self._count - self._errors - 1, 0)

  def state(self) -> dict[str, Any]:
    return {"errors": self._errors}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._errors = int(state["errors"])


class OnError(Strategy):
  """Updates when errors have become more frequent: the test of Page (1954) and Hinkley (1971).

  With errors x_t in {0, 1} since the last update and their mean m_t so far, x_t included,

      u_0 = 0    u_t = u_(t-1) + x_t - m_t - tolerance    update if  u_t - min(u_0..u_t) > threshold

  That is the number of errors above the mean, less a tolerance, since its minimum. A constant error
  rate causes no update, however high it is: combine this strategy with a schedule to learn from
  such errors.

  Args:
    threshold: in errors; a larger one means fewer and later updates.
    tolerance: subtracted at each step, and so the smallest rise of the error rate that is detected.
      Much below 0.05, chance alone causes updates within thousands of steps.
    warm_up: steps after an update without another one.
  """

  reads_answers = True

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

  def steps_until_possible_update(self, step: int) -> int:
    # A step adds less than 1.
    missing = math.floor(self._threshold - (self._sum - self._least))
    return max(self._warm_up - self._steps, missing, 0)

  def state(self) -> dict[str, Any]:
    return {"steps": self._steps, "errors": self._errors, "sum": self._sum, "least": self._least}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._steps, self._errors = int(state["steps"]), int(state["errors"])
    self._sum, self._least = float(state["sum"]), float(state["least"])


def _positive(name: str, value: int) -> int:
  if isinstance(value, bool) or value < 1 or int(value) != value:
    raise ValueError(f"{name} is {value}; it must be a whole number of at least 1.")
  return int(value)


class Either(Strategy):
  """Updates when at least one of several strategies does; all see every step and every update."""

  def __init__(self, strategies: Sequence[Strategy]):
    if not strategies:
      raise ValueError("Either has no strategies; give at least one, or take Never.")
    self._strategies = tuple(strategies)
    self.reads_macs = any(one.reads_macs for one in self._strategies)
    self.reads_answers = any(one.reads_answers for one in self._strategies)
    self.is_planned = all(one.is_planned for one in self._strategies)

  def decide(self, observed: Observed) -> Decision:
    decisions = [one.decide(observed) for one in self._strategies]
    wishes = [d.reason for d in decisions if d.update]
    return Decision(
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


def named(name: str, strategies: Mapping[str, Strategy]
          ) -> Strategy:
  """Returns one of several strategies by its name, so that a table's rows can set a name."""
  if name not in strategies:
    raise ValueError(f"Unknown update strategy {name!r}; allowed are {', '.join(strategies)}. "
                     "Choose one of these, or add it to the strategies.")
  return strategies[name]


class WithinBudget(Strategy):
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

  def __init__(self, wish: Strategy, total: float | None = None,
               per_sample: float | None = None):
    if total is None and per_sample is None:
      raise ValueError("WithinBudget has no budget; give total, per_sample or both, in MACs.")
    self._wish, self._total, self._per_sample = wish, total, per_sample
    self.reads_answers = wish.reads_answers

  def decide(self, observed: Observed) -> Decision:
    wish = self._wish.decide(observed)
    if not wish.update:
      return wish
    if observed.update_macs is None or observed.spent_macs is None:
      raise ValueError(
          f"The MACs {'of an update' if observed.update_macs is None else 'spent'} are unknown at "
          f"step {observed.step}, and there is a budget. Take a model whose operations can all be "
          "counted, or a strategy without a budget.")
    limits = [self._total, None if self._per_sample is None else self._per_sample * observed.step]
    budget = min(limit for limit in limits if limit is not None)
    after = observed.spent_macs + observed.update_macs
    return Decision(
        after <= budget,
        f"{wish.reason}; {after:.4g} of {budget:.4g} MACs"
        f"{'' if after <= budget else REFUSED}")

  def updated(self, step: int) -> None:
    self._wish.updated(step)

  def steps_until_possible_update(self, step: int) -> int:
    return self._wish.steps_until_possible_update(step)

  def state(self) -> dict[str, Any]:
    return {"wish": self._wish.state()}

  def restore(self, state: Mapping[str, Any]) -> None:
    self._wish.restore(state["wish"])
