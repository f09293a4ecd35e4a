# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How much of an event a budget covers: its price is what a rehearsal of it charges.

A learner acts, and says no price besides. Its `learn` asks `context.grant` before each loop how
many of its steps it may take, and changes nothing once `context.is_over`:

    @spending.event
    def learn(self, experience, context):
      if context.is_over:
        return {"steps_event": 0}
      ...                                    # Whatever comes before the steps.
      for _ in range(context.grant(self.steps)):
        ...
      ...                                    # Whatever follows them: it is paid for, too.

Without a budget all steps are granted, and nothing else happens. Within one the event is first
rehearsed (`contracts/rehearsal.py`): the same lines run with a ledger for themselves, take no step
and write nothing, and the learner's variables are then what they were. If the budget covers the
charges, the event is run. Else the largest number of steps that it covers is searched for with
further rehearsals, the event is run with these, and learning has ended. All steps of an event are
one sequence, whichever loops they belong to: the last ones are cut first.

`within` does the same for a part of an event that cannot be rehearsed as a whole, because answers
decide what follows (`PseudoLabels`), or because it is resumed in between (`ContinuedEncoder`).
`Finetune`, CFSL's updates and single labels of a sequence ask `Ledger.grant` with the cost of a
step, which they charge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import dataclasses
import functools
from typing import Any, TypeVar

import numpy as np

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.contracts import rehearsal
from suite.state import context as context_lib
from suite.state import learner_state
from suite.state import trial_queue
from suite.state import weight_store

_T = TypeVar("_T")
_Method = TypeVar("_Method", bound=Callable[..., Any])


def event(method: _Method) -> _Method:
  """Decorates a method (learner, given, context) that learns; see the module."""
  @functools.wraps(method)
  def act(learner: Any, given: Any, context: context_lib.Context) -> Any:
    if context.ledger.budget is None or context.steps is not None:
      return method(learner, given, context)
    return within(learner, context, functools.partial(method, learner, given))

  return act  # type: ignore[return-value]


def within(learner: Any, context: context_lib.Context, act: Callable[[context_lib.Context], _T]
           ) -> _T:
  """Returns act(context) with as many steps as the budget covers; within an event act(context).

  What asks for no step is done whole, or it is over.

  Args:
    learner: a `tf.Module` whose variables are all that `act` changes.
    context: of the event.
    act: learns with a context that it is given.

  Raises:
    BudgetError: its cost is unknown, or nothing at all could be learned.
  """
  ledger, most = context.ledger, 0
  if ledger.budget is None or context.steps is not None:
    return act(context)
  if not ledger.is_cut:
    ledger.check_bytes()
    asked, whole = _rehearsed(learner, context, act, None)
    wanted = max(asked, 1)
    most = ledger.grant(wanted, lambda num: whole if num == wanted else (
        _rehearsed(learner, context, act, num)[1]))
  return act(dataclasses.replace(
      context, steps=context_lib.Steps(most if ledger.is_cut else None)))


def price(act: Callable[[ledger_lib.Ledger], object]) -> flops.Cost:
  """Returns what act(ledger) charges for learning, by a rehearsal; `act` changes nothing else."""
  ledger = ledger_lib.Ledger()
  with rehearsal.aside(), flops.watched() as counted:
    act(ledger)
  names = dict.fromkeys(name for cost in counted for name in cost.uncounted)
  return flops.Cost(*ledger.spent(), tuple(names))


def _rehearsed(learner: Any, context: context_lib.Context,
               act: Callable[[context_lib.Context], Any], most: int | None
               ) -> tuple[int, flops.Cost]:
  """The steps that an event asks for, and its cost with `most` of them; None: with all."""
  steps, before = context_lib.Steps(most), learner_state.copied(learner)
  try:
    cost = price(lambda ledger: act(dataclasses.replace(
        context, ledger=ledger, steps=steps, journal=context.journal.unwritten(ledger),
        store=_Unwritten(context.store), report=context_lib.silent, trials=trial_queue.InTurn())))
  finally:
    learner_state.restore(learner, before)
  return steps.asked, cost


class _Unwritten(weight_store.WeightStore):
  """What an event would write to a store, in memory, in front of what is there."""

  def __init__(self, store: weight_store.WeightStore):
    super().__init__(store.folder, store.event, store.run)
    self._written: dict[weight_store.Entry, list[np.ndarray]] = {}

  def save(self, name: str, arrays: Sequence[np.ndarray]) -> weight_store.Entry:
    self._written[self.own(name)] = list(arrays)
    return self.own(name)

  def has(self, entry: weight_store.Entry) -> bool:
    return entry in self._written or super().has(entry)

  def _read(self, entry: weight_store.Entry, keys: Sequence[str] | None = None
            ) -> dict[str, np.ndarray]:
    if entry not in self._written:
      return super()._read(entry, keys)
    arrays = {f"{i:04d}": array for i, array in enumerate(self._written[entry])}
    return {key: arrays[key] for key in keys or arrays}

  def _unlink(self, entries: Iterable[weight_store.Entry]) -> None:
    for entry in entries:
      self._written.pop(entry, None)
