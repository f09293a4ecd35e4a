# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The resources of a learner during one event: ledger, seeds, devices, a store, a report."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.state import journal as journal_lib
from suite.state import trial_queue
from suite.state import weight_store


def _silent(**values: Any) -> None:
  del values


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
  """

  event: int
  ledger: ledger_lib.Ledger
  seeds: seeds_lib.Seeds
  distribution: distribution_lib.Distribution
  store: weight_store.WeightStore
  journal: journal_lib.Journal
  report: Callable[..., None] = _silent
  trials: trial_queue.InTurn | trial_queue.TrialQueue = trial_queue.InTurn()
  phase: str = "train"
  delivery: str = ""
