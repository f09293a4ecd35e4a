# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a run is going to cost: the contract behind `suite run RUN --dry_run`.

A protocol that is given a `PlannedRun` in place of its run state goes through its events with the
sizes of data instead of the data, and calls `learn` and `predict` of the `PlannedRun`. A learner
that can be planned, a `Planner`, charges what it would spend to the same ledger as in a run. Both
supply what they know: the protocol its events, the learner its steps and their counted cost.

A protocol that does so is `plannable`. All others, and learners that are no `Planner`, are
rehearsed (`suite/contracts/rehearsal.py`), for which data must be there, or known well enough to be
stood in for. A plan costs less: no net is trained for a single step. Why NEVIS'22 needs one, and
nothing else: docs/architecture.md, "What a run will cost".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import inspect
from typing import Any, Protocol, TypeVar, runtime_checkable

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.contracts import tasks

_Function = TypeVar("_Function", bound=Callable[..., Any])


class NoEstimateError(ValueError):
  """A protocol or a learner that cannot say what it will cost; the message names it."""


@dataclasses.dataclass(frozen=True)
class PlannedTask:
  """A Train event to come: the task, and the numbers of images in train and dev."""

  task: tasks.Task
  train: int
  dev: int


@dataclasses.dataclass(frozen=True)
class Probe:
  """One step of the kind that a run takes many of, to measure the rate of this machine.

  Attributes:
    phase: of the ledger, whose time it stands for.
    flops: of one call.
    run: makes the step and waits for its end.
    what: for the report.
    smaller: a step of the same kind on fewer images, measured first: where it shows that this one
      takes long, it stands for it.
  """

  phase: str
  flops: int
  run: Callable[[], Any]
  what: str
  smaller: Probe | None = None


@dataclasses.dataclass(frozen=True)
class Footprint:
  """What a learner keeps.

  Attributes:
    stored_bytes: on disk from this event to the end of the run.
    scratch_bytes: on disk during the event.
    memory_bytes: of weights and optimizer, without activations and data.
    state_bytes: of the variables that the learner has after the event, which a budget limits.
  """

  stored_bytes: int = 0
  scratch_bytes: int = 0
  memory_bytes: int = 0
  state_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class PlanContext:
  """One planned event, as a learner sees it; fields as of `suite.state.context.Context`.

  Attributes:
    past: the Train events before this one, oldest first.
    planned_before: names of the learners of the same run that are planned already.
    name: the learner's own in the run.
    shared: what learners of one command may share, such as the counted costs of equal nets: those
      of a run, or of all runs that this process plans. "settings": all that decides what each
      learner is, by its name, where that is known of all runs.
    offer: offers a `Probe`, or None; of each phase the one of most FLOPs is measured.
  """

  event: int
  ledger: ledger_lib.Ledger
  seeds: seeds_lib.Seeds
  distribution: distribution_lib.Distribution
  past: Sequence[PlannedTask]
  planned_before: Sequence[str]
  name: str
  shared: dict[Any, Any]
  offer: Callable[[Probe | None], None]
  phase: str = "train"


@runtime_checkable
class Planner(Protocol):
  """A learner that can say what it will cost."""

  def plan(self, planned: PlannedTask, context: PlanContext) -> Footprint:
    """Charges what `learn` would; NoEstimateError if some part of it cannot be known."""

  def plan_predict(self, planned: PlannedTask, num: int, batch_size: int, context: PlanContext
                   ) -> None:
    """Charges to "predict" what scoring `num` images of a learned task in batches costs."""


class PlannedRun:
  """One learner's run of one protocol, planned.

  Args:
    name: of the learner.
    seed, distribution, budget: as of the run.
    shared, planned_before: see `PlanContext`.

  Attributes:
    ledger: the planned costs.
    num_events: number of events so far.
    probes: {phase: the probe of most FLOPs}.
    stored_bytes, scratch_bytes, memory_bytes: sum, maximum and maximum of the footprints.
    held: the bytes that a budget limits, by `ledger.HELD`, after the last event.
    data_bytes: greatest size of images in memory that the protocol named.
    facts: what else the protocol reports, {"missing": [...], ...}.
  """

  def __init__(self, name: str, *, seed: int, distribution: distribution_lib.Distribution,
               shared: dict[Any, Any], planned_before: Sequence[str] = (),
               budget: ledger_lib.Budget | None = None):
    self.name, self.distribution = name, distribution
    self.ledger = ledger_lib.Ledger(budget)
    self.num_events = self.stored_bytes = self.scratch_bytes = self.memory_bytes = 0
    self.held = dict.fromkeys(ledger_lib.HELD, 0)
    self.ledger.held = lambda: self.held
    self.data_bytes: int | None = None
    self.probes: dict[str, Probe] = {}
    self.facts: dict[str, Any] = {}
    self._seeds, self._shared = seeds_lib.Seeds(seed), shared
    self._past: list[PlannedTask] = []
    self._planned_before = tuple(planned_before)

  def learn(self, learner: Any, planned: PlannedTask) -> None:
    """Plans a Train event."""
    footprint = _planner(self.name, learner).plan(planned, self._context())
    self.stored_bytes += footprint.stored_bytes
    self.scratch_bytes = max(self.scratch_bytes, footprint.scratch_bytes)
    self.memory_bytes = max(self.memory_bytes, footprint.memory_bytes)
    # What a planner holds of examples is stored with its weights; it has no memory of slots.
    self.held = dict(zip(ledger_lib.HELD, (footprint.state_bytes, 0, self.stored_bytes)))
    self.ledger.check_bytes()
    self._past.append(planned)
    self.num_events += 1

  def predict(self, learner: Any, planned: PlannedTask, num: int, batch_size: int) -> None:
    """Plans a Predict event of `num` images in batches of at most `batch_size`."""
    _planner(self.name, learner).plan_predict(planned, num, batch_size, self._context())
    self.num_events += 1

  def report(self, *, data_bytes: int | None, **facts: Any) -> Mapping[str, Any]:
    """What the protocol knows besides the events; returns the planned costs."""
    self.data_bytes = data_bytes
    self.facts.update(facts)
    return self.ledger.totals()

  def _context(self) -> PlanContext:
    return PlanContext(
        event=self.num_events, ledger=self.ledger,
        seeds=self._seeds.child("event", self.num_events), distribution=self.distribution,
        past=tuple(self._past), planned_before=self._planned_before, name=self.name,
        shared=self._shared, offer=self._offer)

  def _offer(self, probe: Probe | None) -> None:
    if probe is None:
      return
    known = self.probes.get(probe.phase)
    if known is None or probe.flops > known.flops:
      self.probes[probe.phase] = probe

  def __getattr__(self, name: str) -> Any:
    """What only a run state has: the protocol does not know of planning."""
    if name.startswith("_"):
      raise AttributeError(name)
    raise NoEstimateError(
        "this protocol does not say what its events will be; protocols that do handle a "
        "planning.PlannedRun (suite/contracts/planning.py), as suite/protocols/nevis.py does")


def plannable(protocol: _Function) -> _Function:
  """Decorates a protocol that accepts a `PlannedRun`."""
  protocol.takes_plans = True  # type: ignore[attr-defined]
  return protocol


def takes_plans(protocol: Callable[..., Any]) -> bool:
  """Whether a protocol accepts a `PlannedRun`; gin's wrappers keep the attribute."""
  return bool(getattr(inspect.unwrap(protocol), "takes_plans", False))


def _planner(name: str, learner: Any) -> Planner:
  if not isinstance(learner, Planner):
    raise NoEstimateError(
        f"{type(learner).__name__} does not say what its training will cost; learners that do have "
        "`plan` and `plan_predict` (suite/contracts/planning.py), as Finetune does")
  return learner
