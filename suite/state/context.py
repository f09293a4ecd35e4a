# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The resources of a learner during one event: ledger, seeds, devices, a store, a report."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import time
from typing import Any
import weakref

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.state import journal as journal_lib
from suite.state import trial_queue
from suite.state import weight_store

_costs: Any = weakref.WeakKeyDictionary()  # {concrete function: its cost}.


def silent(**values: Any) -> None:
  """Reports nothing."""
  del values


@dataclasses.dataclass
class Steps:
  """The steps of an event within a budget: one sequence, whichever loops they belong to.

  Attributes:
    most: that are granted, the first ones; None: all.
    asked: so far.
  """

  most: int | None = None
  asked: int = 0


@dataclasses.dataclass(frozen=True)
class Context:
  """One event, as a learner sees it.

  Attributes:
    event: the event's position in the run.
    ledger: every cost is charged here.
    seeds: the seed tree's node of this event.
    distribution: the devices of variables and steps.
    store: weights of past models, on disk.
    journal: steps of this event that are done already; wrap expensive ones in `journal.once`.
    report: report(**values) shows progress on the terminal and live in TensorBoard; never recorded.
    trials: trains the trials of a search, in this process or in several.
    phase: the ledger's phase for the training of this event: "train", or "pretrain" for what is
      learned before the stream or sequence begins.
    delivery: how the data of this run is delivered, a name of `suite.contracts.deliveries`:
      "tasks" (separate tasks, each with its classes), "buckets" (portions of one task),
      "sequence" (single samples with offline phases), "episodes" or "portions" (of a pretraining).
      A learner refuses in `begin` what it cannot serve. "": not known; nothing is refused.
    call: call(graph, run) makes a call of a counted graph, run(); a rehearsal may leave it out.
    steps: of an event that a budget may end, see `suite.contracts.spending`; None: it does not.
  """

  event: int
  ledger: ledger_lib.Ledger
  seeds: seeds_lib.Seeds
  distribution: distribution_lib.Distribution
  store: weight_store.WeightStore
  journal: journal_lib.Journal
  report: Callable[..., None] = silent
  trials: trial_queue.InTurn | trial_queue.TrialQueue = trial_queue.InTurn()
  phase: str = "train"
  delivery: str = ""
  call: Callable[[Any, Callable[[], Any]], Any] = lambda graph, run: run()
  steps: Steps | None = None

  def grant(self, wanted: int) -> int:
    """Returns how many of the next steps of this event may be taken, of `wanted`."""
    if self.steps is None:
      return wanted
    before = self.steps.asked
    self.steps.asked += wanted
    return wanted if self.steps.most is None else min(wanted, max(0, self.steps.most - before))

  @property
  def is_over(self) -> bool:
    """Whether the budget covers no further step of this event: the learner stays as it is."""
    return self.steps is not None and self.steps.most is not None and (
        self.steps.asked >= self.steps.most)

  def counted(self, function: Any, *arguments: Any, examples: int = 0, steps: int = 0) -> Any:
    """Calls a `tf.function` and charges what its graph costs to `phase`.

    In a dry run the call is made a few times, or, with a rate, not at all: zeros stand for what it
    returns.

    Args:
      function: counted once for each shape of its arguments.
      *arguments: tensors or arrays.
      examples, steps: images that it processes, and gradient steps that it takes.

    Returns:
      What the function returns; None where the budget of the run does not cover the call, which is
      then not made: learning has ended.
    """
    began, graph = time.monotonic(), function.get_concrete_function(*arguments)
    if graph not in _costs:
      _costs[graph] = flops.count(graph)
    cost = _costs[graph]
    if not self.ledger.grant(1, lambda _: cost):
      return None
    found = self.call(graph, lambda: function(*arguments))
    self.charge(cost, examples=examples, steps=steps, began=began)
    return found

  def charge(self, cost: flops.Cost, *, phase: str = "", began: float | None = None, **more: Any
             ) -> None:
    """Charges a cost to the ledger.

    Args:
      cost: to charge.
      phase: of the ledger; "": this event's.
      began: `time.monotonic()` when the work began, to charge the seconds since; None: no seconds.
      **more: examples, steps and peak_bytes, see `Ledger.charge`.
    """
    if began is not None:
      more["seconds"] = time.monotonic() - began
    self.ledger.charge(phase or self.phase, flops=cost.flops, macs=cost.macs, **more)
