# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a learner may use during one event: ledger, seeds, devices, a store, a place to report."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.state import journal as journal_lib
from suite.state import weight_store

TASKS, BUCKETS, SEQUENCE, EPISODES = "tasks", "buckets", "sequence", "episodes"


def _silent(**values: Any) -> None:
  del values


@dataclasses.dataclass(frozen=True)
class Context:
  """One event, seen from a learner.

  Attributes:
    event: the event's position in the run.
    ledger: every cost is charged here.
    seeds: the seed tree's node of this event.
    distribution: where variables live and steps run.
    store: weights of past models, on disk.
    journal: steps of this event that are done already; wrap costly ones in `journal.once`.
    report: report(**values) shows progress on the terminal and live in TensorBoard; never recorded.
    phase: the ledger's phase for the training of this event: "train", or "pretrain" for what is
      learned before the stream begins.
    delivery: what the learner is given: "tasks", each with classes of its own; "buckets" of one
      task; a "sequence" of single samples with offline phases, after base classes; "episodes".
  """

  event: int
  ledger: ledger_lib.Ledger
  seeds: seeds_lib.Seeds
  distribution: distribution_lib.Distribution
  store: weight_store.WeightStore
  journal: journal_lib.Journal
  report: Callable[..., None] = _silent
  phase: str = "train"
  delivery: str = TASKS
