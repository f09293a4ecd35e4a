# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite run RUN --dry_run`: what a run will cost, from its events and the counted costs of steps.

FLOPs are those that the run's ledger will have. A learner of NEVIS'22 that has a plan charges it
(`suite/contracts/planning.py`); anything else is rehearsed (`suite/contracts/rehearsal.py`): its
own code charges what it would do, and takes a step or two of each kind.

Time is that of the rehearsal and of the steps it left out, or that of planned FLOPs at the rate of
a step that is measured on this machine; or of all FLOPs at a rate that the user gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import json
import os
import pathlib
import resource
import tempfile
import time
from typing import Any

from absl import logging
import numpy as np

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.contracts import planning
from suite.contracts import rehearsal
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import quantities
from suite.reporting import run_writer
from suite.running import cost_text
from suite.training.planning import network_costs

_MAX_SECONDS = 10


def report(protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], seed: int,
           distribution: distribution_lib.Distribution, *, rate: float | None = None,
           as_json: bool = False) -> str:
  """The costs of a run by learner, as text; arguments as of `experiment.run`.

  Args:
    protocol, learners, seed, distribution: see above.
    rate: FLOPs a second, of the machine that the run is for; None: this one is measured.
    as_json: the facts behind the text, see `cost_text.of_run`.

  Raises:
    NoEstimateError: no learner of the run, or not its protocol, can say what it will cost.
  """
  facts: dict[str, Any] = {"learners": {}, "refused": {}, "missing": {}, "estimated": [],
                           "left_out": [], "rates": [], "stream": "", "data_bytes": 0}
  rest = dict(learners)
  if planning.takes_plans(protocol):
    rest = _plan(protocol, learners, seed, distribution, rate, facts)
  for name, make in rest.items():
    logging.info("%s: rehearsing its events", name)
    _rehearse(protocol, name, make, seed, distribution, rate, facts)
  if not facts["learners"]:
    raise planning.NoEstimateError(_no_estimate(facts))
  peak, where = distribution.peak_bytes(), "the device's memory"
  if peak is None:
    peak, where = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "this process"
  facts.update(peak_bytes=peak, peak_of=where, machine=distribution.describe())
  if rate is not None:
    facts["rates"] = [f"all: {quantities.si(rate, 'FLOP/s')}, as given"]
  return json.dumps(facts) if as_json else cost_text.of_run(facts)


def _no_estimate(facts: Mapping[str, Any]) -> str:
  lines = ["There is no estimate: " + "; ".join(
      f"{name}: {reason}" for name, reason in facts["refused"].items())]
  return "\n".join([*lines, *(cost_text.data(facts) if facts["missing"] else [])])


def _plan(protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], seed: int,
          distribution: distribution_lib.Distribution, rate: float | None, facts: dict[str, Any]
          ) -> dict[str, Callable[[], Any]]:
  """Adds the learners that have a plan to the facts; returns the others."""
  plans: dict[str, planning.PlannedRun] = {}
  rest: dict[str, Callable[[], Any]] = {}
  shared: dict[Any, Any] = {}
  for name, make in learners.items():
    plan = planning.PlannedRun(name, seed=seed, distribution=distribution, shared=shared,
                               planned_before=list(plans))
    learner = make()
    if not isinstance(learner, planning.Planner):
      rest[name] = make
      continue
    try:
      logging.info("%s: counting the costs of its steps", name)
      protocol(learner, state=plan)
      plans[name] = plan
    except (planning.NoEstimateError, OSError) as error:  # Some streams must read their data.
      facts["refused"][name] = str(error)
  rates = {} if rate is not None else measured_rates(plans.values())
  for phase, one in rates.items():
    facts["rates"].append(f"{phase}: {quantities.si(one.flops_per_second, 'FLOP/s')} in "
                          f"{one.probe.what} ({1000 * one.seconds:,.3g} ms each)")
  for name, plan in plans.items():
    totals = plan.ledger.totals()
    took = _seconds(totals, rate) if rate is not None else hours(totals, rates)
    facts["learners"][name] = {
        "events": plan.num_events, "totals": totals,
        "seconds": None if took is None else took if rate is not None else 3600 * took,
        "disk_bytes": plan.stored_bytes + plan.scratch_bytes, "memory_bytes": plan.memory_bytes,
        "notes": []}
  if plans:
    known = next(iter(plans.values())).facts
    sizes = [plan.data_bytes for plan in plans.values()]
    facts.update(
        stream=f"{known.get('stream', 'the run')}: {known.get('num_tasks', '?')} tasks",
        estimated=list(known.get("estimated", [])), left_out=list(known.get("left_out", [])),
        missing={dataset: (reason, command) for dataset, reason, command in known.get(
            "missing", [])},
        data_bytes=None if None in sizes else max(size or 0 for size in sizes))
  return rest


def _rehearse(protocol: Callable[..., Any], name: str, make: Callable[[], Any], seed: int,
              distribution: distribution_lib.Distribution, rate: float | None,
              facts: dict[str, Any]) -> None:
  """Adds what one learner's run will cost to the facts, or why nobody can say."""
  with tempfile.TemporaryDirectory(prefix="lifelong-dry-run-") as root, \
      rehearsal.begun(measures=rate is None) as found:
    began, folder = time.monotonic(), pathlib.Path(root) / name
    writer = run_writer.RunWriter(folder, None, progress.Silent())
    try:
      state = run_state.RunState(folder, writer, name=name, seed=seed, distribution=distribution)
      learner = make()
      summary = protocol(learner, state=state)
      state.flush()
      seconds = time.monotonic() - began + found.skipped_seconds
      totals = {**state.ledger.totals(), "seconds": seconds}
      facts["learners"][name] = {
          "events": len(state.records), "totals": totals,
          "seconds": seconds if rate is None else _seconds(totals, rate),
          "disk_bytes": _size(folder),
          "memory_bytes": sum(map(_bytes_of, getattr(learner, "variables", ()))),
          "notes": list(found.notes)}
      facts["stream"] = facts["stream"] or str((summary or {}).get("stream", "")) or (
          (state.records[-1] if state.records else {}).get("protocol", "the run"))
    except (ValueError, OSError, ArithmeticError) as error:
      logging.info("%s: no estimate", name, exc_info=True)
      facts["refused"][name] = str(error)
    finally:
      writer.close()
  facts["missing"].update({key: list(value) for key, value in found.missing.items()})
  facts["estimated"] = sorted({*facts["estimated"], *found.missing})


def _seconds(totals: Mapping[str, Any], rate: float) -> float | None:
  return None if totals["flops"] is None else totals["flops"] / rate


def _bytes_of(variable: Any) -> int:
  """Bytes of a variable as it is now; the number of its rows may be open."""
  fixed = variable.shape.is_fully_defined()
  return variable.dtype.size * int(np.prod(variable.shape if fixed else variable.numpy().shape))


def _size(folder: pathlib.Path) -> int:
  return sum(os.lstat(path).st_size for path in folder.rglob("*") if path.is_file())


class Rate:
  """A measured rate: FLOPs a second, and of what.

  Attributes:
    flops_per_second: the rate.
    probe: the step that was measured, or a smaller one if it would take more than `_MAX_SECONDS`.
    seconds: of the step.
  """

  def __init__(self, probe: planning.Probe):
    if probe.smaller is not None:
      smaller = Rate(probe.smaller)
      if probe.flops / smaller.flops_per_second > _MAX_SECONDS:
        probe = probe.smaller
    self.probe, self.seconds = probe, network_costs.seconds_of(probe.run)
    self.flops_per_second: float = probe.flops / self.seconds


def measured_rates(plans: Any) -> dict[str, Rate]:
  """By phase: the rate of the step of most FLOPs of all learners; each is measured once."""
  largest: dict[str, planning.Probe] = {}
  for plan in plans:
    for phase, probe in plan.probes.items():
      if phase not in largest or probe.flops > largest[phase].flops:
        largest[phase] = probe
  by_step: dict[str, Rate] = {}
  rates = {}
  for phase, probe in largest.items():
    if probe.what not in by_step:
      logging.info("Measuring %s", probe.what)
      by_step[probe.what] = Rate(probe)
    rates[phase] = by_step[probe.what]
  return rates


def hours(totals: Mapping[str, Any], rates: Mapping[str, Rate]) -> float | None:
  """Hours of the planned FLOPs; None if some are unknown.

  Phases without a measured step of their own only predict, or train.
  """
  other = rates.get("predict") or next(iter(rates.values()), None)
  seconds = 0.0
  for phase in ledger_lib.PHASES:
    amount = totals.get(f"flops_{phase}", 0)
    rate = rates.get(phase, other)
    if amount is None or (amount and rate is None):
      return None
    seconds += amount / rate.flops_per_second if amount and rate is not None else 0.0
  return seconds / 3600
