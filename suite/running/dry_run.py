# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite run RUN --dry_run`: what a run, or a table of runs, will cost.

Costs come from the run's events and the counted costs of steps. FLOPs are those that the run's
ledger will have. A learner of NEVIS'22 that has a plan charges it (`suite/contracts/planning.py`);
any other is rehearsed (`suite/contracts/rehearsal.py`): its own code charges what it would do, and
takes a step or two of each kind.

Time is that of the rehearsal and of the steps it left out, or that of planned FLOPs at the rate of
a step that is measured on this machine; or of all FLOPs at a rate that the user gives.

The costs of a table are those of its unfinished cells, one by one and in total. The cells of a row
and column differ in their seed, so one of them is planned and stands for all. Where time is
measured each is planned in a separate process, as it would run, and as many at once as `--jobs`
says. With a rate nothing is measured: processes plan one row after the other, on all cores, and
cells whose learners are made by the same settings share what was counted (`rehearsal.counted`; of
plans `PlanContext.shared`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import contextlib
import functools
import json
import multiprocessing
import os
import pathlib
import resource
import tempfile
import time
from typing import Any, NamedTuple

from absl import logging

from suite.compute import distribution as distribution_lib
from suite.compute import flops as flops_lib
from suite.compute import ledger
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_settings
from suite.contracts import planning
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import quantities
from suite.reporting import run_writer
from suite.running import launch
from suite.running import this_process
from suite.system import atomic_files
from suite.system import host_memory
from suite.tables import table as table_lib

_MAX_SECONDS = 10
# To launch an op on a GPU; and images of 500 x 400 pixels that a core decodes, crops and resizes.
_LAUNCH_SECONDS, _PREPARED_A_SECOND = 5e-6, 480
# Of a process that plans, the cells that it plans before another one takes its place, and the cells
# below which another process takes longer to start than it saves.
_PROCESS_BYTES, _KEPT, _WORTH_A_PROCESS = 1_200_000_000, 24, 3
_MAX_NAMED = 12  # Data sets that are missing.
_HEADER = ("in all", "time", "disk", "weights")
_MEANING = (
    "disk: of a run directory; of NEVIS'22's learners the weights of all tasks and the most that "
    "one event keeps beside them, to which predictions and records come.",
    "weights: memory of weights and optimizer, in NEVIS'22 with gradients.")


# Of the plans of this process; see `PlanContext.shared`.
_SHARED: dict[Any, Any] = {"networks": [], "kept": {}}
_DATA: dict[str, Any] = {}  # Of the rehearsals of this process; see `rehearsal.shared`.


def report(protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], seed: int,
           distribution: distribution_lib.Distribution, *, budget: ledger.Budget | None = None,
           rate: float | None = None, as_json: bool = False, shares: bool = False) -> str:
  """The costs of a run by learner, as text; arguments as of `experiment.run`.

  Args:
    protocol, learners, seed, distribution, budget: see above.
    rate: FLOPs a second, of the machine that the run is for; None: this one is measured.
    as_json: the facts behind the text, see `run_text`.
    shares: whether runs of this process share the costs of graphs of equal learners.

  Raises:
    NoEstimateError: no learner of the run, or not its protocol, can say what it will cost.
    ConfigError: the protocol refuses all learners.
  """
  facts: dict[str, Any] = {"learners": {}, "refused": {}, "missing": {}, "estimated": [],
                           "left_out": [], "rates": [], "stream": "", "data_bytes": 0,
                           "array_bytes": 0, "followed": 0, "misfits": 0}
  rest = dict(learners)
  settings, read = (_learner_settings(learners), _DATA) if shares else ({}, {})
  with flops_lib.watched() as graphs, (
      contextlib.nullcontext() if rate is None else rehearsal.blank_variables()):
    if planning.takes_plans(protocol):
      rest = _plan(protocol, learners, seed, distribution, budget, rate, facts, settings)
    for name, make in rest.items():
      logging.info("%s: rehearsing its events", name)
      with rehearsal.begun(measures=rate is None, alike=settings.get(name), data=read) as found:
        _rehearse(protocol, name, make, seed, distribution, budget, rate, facts, found)
      host_memory.collect()  # The learner's nets and graphs: a process plans many.
      facts["followed"] += found.num_followed
      facts["array_bytes"] = max(facts["array_bytes"], found.array_bytes)
  largest = max(graphs, key=lambda cost: (cost.ops, cost.flops or 0), default=flops_lib.ZERO)
  facts.update(rate=rate, ops=largest.ops, ops_flops=largest.flops,
               graph_bytes=max((cost.peak_bytes for cost in graphs), default=0))
  if not facts["learners"]:
    lines = ["There is no estimate: " + "; ".join(
        f"{name}: {reason}" for name, reason in facts["refused"].items())]
    is_refused = facts["misfits"] == len(facts["refused"])
    raise (gin_files.ConfigError if is_refused else planning.NoEstimateError)("\n".join([
        *lines, *(data(facts) if facts["missing"] else [])]))
  peak, where = distribution.peak_bytes(), "the device's memory"
  if peak is None:
    peak, where = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "this process"
  facts.update(peak_bytes=peak, peak_of=where, machine=distribution.describe())
  if rate is not None:
    facts["rates"] = [f"all: {quantities.si(rate, 'FLOP/s')}, as given"]
  return json.dumps(facts) if as_json else run_text(facts)


def _plan(protocol: Callable[..., Any], learners: Mapping[str, Callable[[], Any]], seed: int,
          distribution: distribution_lib.Distribution, budget: ledger.Budget | None,
          rate: float | None, facts: dict[str, Any], settings: Mapping[str, rehearsal.Settings]
          ) -> dict[str, Callable[[], Any]]:
  """Adds the learners that have a plan to the facts; returns the others."""
  shared: dict[Any, Any] = {**(_SHARED if settings else {}), "settings": settings}
  plans: dict[str, planning.PlannedRun] = {}
  rest: dict[str, Callable[[], Any]] = {}
  for name, make in learners.items():
    plan = planning.PlannedRun(name, seed=seed, distribution=distribution, shared=shared,
                               planned_before=list(plans), budget=budget)
    learner = make()
    if not isinstance(learner, planning.Planner):
      rest[name] = make
      continue
    try:
      logging.info("%s: counting the costs of its steps", name)
      protocol(learner, state=plan)
      plans[name] = plan
    # Some streams must read their data, and some learners do not fit the budget.
    except (planning.NoEstimateError, ledger.BudgetError, OSError) as error:
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
        "held": {} if budget is None else dict(plan.held), "notes": []}
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
              distribution: distribution_lib.Distribution, budget: ledger.Budget | None,
              rate: float | None, facts: dict[str, Any], found: rehearsal.Rehearsal) -> None:
  """Adds the estimated cost of a learner to the facts, or the reason why there is none."""
  with tempfile.TemporaryDirectory(prefix="lifelong-dry-run-") as root, (
      contextlib.nullcontext() if rate is None else atomic_files.unflushed()):
    began, folder = time.monotonic(), pathlib.Path(root) / name
    writer = run_writer.RunWriter(folder, None, progress.Silent())
    try:
      state = run_state.RunState(folder, writer, name=name, seed=seed, distribution=distribution,
                                 budget=budget)
      learner = make()
      summary = protocol(learner, state=state)
      state.flush()
      seconds = time.monotonic() - began + found.skipped_seconds
      totals = {**state.ledger.totals(), "seconds": seconds}
      facts["learners"][name] = {
          "events": len(state.records), "totals": totals,
          "seconds": seconds if rate is None else _seconds(totals, rate),
          "disk_bytes": found.disk_bytes + sum(
              os.lstat(path).st_size for path in folder.rglob("*") if path.is_file()),
          "memory_bytes": sum(map(run_state.bytes_of, getattr(learner, "variables", ()))),
          "held": {} if budget is None else state.ledger.check_bytes(),
          "notes": list(found.notes)}
      facts["stream"] = facts["stream"] or str((summary or {}).get("stream", "")) or (
          (state.records[-1] if state.records else {}).get("protocol", "the run"))
    except (ValueError, OSError, ArithmeticError) as error:
      is_misfit = isinstance(error, refusals.RefusedError)
      logging.info("%s: no estimate", name, exc_info=not is_misfit)
      facts["misfits"] += is_misfit
      facts["refused"][name] = str(error).partition("\n  In call to configurable")[0]
    finally:
      writer.close()
  facts["missing"].update({key: list(value) for key, value in found.missing.items()})
  facts["estimated"] = sorted({*facts["estimated"], *found.missing})


def _learner_settings(learners: Iterable[str]) -> dict[str, rehearsal.Settings]:
  """All that decides what each learner of this process's configuration is, by its name."""
  history = gin_files.scan_text(gin_parse.config_text()).history
  found = {name: gin_bindings.settings_of(history, name) for name in learners}
  return {name: tuple(((scope, function), argument, repr(value))
                      for (scope, function, argument), value in one.items())
          for name, one in found.items() if one is not None}


def _seconds(totals: Mapping[str, Any], rate: float) -> float | None:
  return None if totals["flops"] is None else totals["flops"] / rate


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
    self.probe = probe
    probe.run()  # Traced and warmed up.
    # The least time of one call, of 2 to 20 calls that take a second together.
    self.seconds, spent, calls = float("inf"), 0.0, 0
    while calls < 20 and (spent < 1.0 or calls < 2):
      began = time.monotonic()
      probe.run()
      took = time.monotonic() - began
      self.seconds, spent, calls = min(self.seconds, took), spent + took, calls + 1
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
  for phase in ledger.PHASES:
    amount = totals.get(f"flops_{phase}", 0)
    rate = rates.get(phase, other)
    if amount is None or (amount and rate is None):
      return None
    seconds += amount / rate.flops_per_second if amount and rate is not None else 0.0
  return seconds / 3600


def run_text(facts: Mapping[str, Any]) -> str:
  """The text of a run.

  Args:
    facts: "learners": {name: {"events", "totals" (of a ledger), "seconds", "disk_bytes",
      "memory_bytes", "notes"}}; "refused": {name: reason}; "missing": {data set: (reason,
      command)}; "estimated", "left_out": names; "rates": lines; "stream", "machine", "peak_of":
      text; "peak_bytes", "data_bytes".
  """
  learners = facts["learners"]
  phases = phases_of([one["totals"] for one in learners.values()])
  rows = [[name, f"{one['events']:,}", f"{one['totals']['steps']:,}",
           *costs(one["totals"], phases), *rest(one)] for name, one in learners.items()]
  table = quantities.TextTable(
      f"Dry run of {facts['stream']}", ["learner", "events", "steps", *phases, *_HEADER], rows)
  totals = [one["totals"] for one in learners.values()]
  weights = max(one["memory_bytes"] for one in learners.values())
  lines = [table.text(), _in_all(totals), *times(facts),
           *limits({**facts, "weight_bytes": weights}, totals), *_MEANING]
  lines.append(f"memory: {quantities.si(facts['peak_bytes'], 'B')} of {facts['peak_of']} after "
               "these steps" + (f", and images of two tasks, "
                                f"{quantities.si(facts['data_bytes'], 'B')} at most as pixels."
                                if facts["data_bytes"] != 0 else "."))
  lines += [line for name, one in learners.items() for line in _of_budget(name, one)]
  lines += [f"{name}: {note}." for name, one in learners.items() for note in one["notes"]]
  lines += [f"{name}: no estimate, {reason}" for name, reason in facts["refused"].items()]
  return "\n".join([*lines, *data(facts)])


def _of_budget(name: str, one: Mapping[str, Any]) -> list[str]:
  """Lines on the remaining budget and the bytes in use; [] without a budget."""
  totals = one["totals"]
  if "budget_cut" not in totals:
    return []
  left = [f"{quantities.si(totals[f'budget_{unit}_left'], text)} of "
          f"{quantities.si(totals[f'budget_{unit}'], text)} left"
          for unit, text in (("flops", "FLOP"), ("macs", "MAC")) if f"budget_{unit}" in totals]
  held = ", ".join(f"{quantities.si(size, 'B')} {kind.removesuffix('_bytes')}"
                   for kind, size in one["held"].items())
  ends = "learning ends before the last event" if totals["budget_cut"] else "all of it fits"
  return [f"{name}, budget: {'; '.join([ends, *left, f'holds {held}'])}."]


def times(facts: Mapping[str, Any]) -> list[str]:
  """What time means."""
  if facts["rates"]:
    return [f"time: of all FLOPs at these rates ({facts['machine']}), without input pipelines:",
            *(f"  {line}" for line in facts["rates"])]
  return [f"time: of all events on {facts['machine']}, a step of each kind having been measured."]


def limits(facts: Mapping[str, Any], totals: Sequence[Mapping[str, Any]]) -> list[str]:
  """What a fast device waits for: launches of ops, and images; estimates.

  Args:
    facts: as of `run_text`, with "ops" and "ops_flops" of the graph of most ops, "rate", and the
      most "graph_bytes", "weight_bytes" and "array_bytes".
    totals: of the learners' ledgers.
  """
  lines, ops = [], facts.get("ops", 0)
  if ops:
    launched, steps = ops * _LAUNCH_SECONDS, sum(one.get("steps", 0) for one in totals)
    lines.append(
        f"launches (an estimate): the largest graph of a step has {ops:,} arithmetic ops, which a "
        f"GPU takes {1000 * launched:,.3g} ms to launch at "
        f"{1e6 * _LAUNCH_SECONDS:.0f} us each")
    if facts.get("rate") and facts["ops_flops"] is not None:
      computed = facts["ops_flops"] / facts["rate"]
      lines[-1] += (f", and {1000 * computed:,.3g} ms to compute at the rate: launches "
                    f"{'bind' if launched > computed else 'do not bind'}")
    lines[-1] += "."
    if steps:
      lines[-1] += (f" They bind wherever such a step computes for less than that; {steps:,} steps "
                    f"would then take {quantities.duration(steps * launched)}.")
  if facts.get("graph_bytes"):
    weights = facts.get("weight_bytes", 0)
    lines.append(
        f"device memory (an estimate): {quantities.si(facts['graph_bytes'] + weights, 'B')}, of "
        f"which {quantities.si(facts['graph_bytes'], 'B')} are tensors that live at a time in the "
        "largest graph, the rest weights and optimizer; data on the device comes to it.")
  if facts.get("array_bytes"):
    lines.append(f"host memory (an estimate): {quantities.si(facts['array_bytes'], 'B')} of images "
                 "as arrays at most, beside the process, about 1 GB.")
  shown = sum(amount or 0 for one in totals for name, amount in one.items()
              if name.startswith("examples_"))
  if shown:
    lines.append(
        f"images (an estimate): {shown:,} are prepared at most, each as often as it is shown, "
        f"{shown / _PREPARED_A_SECOND / 3600:,.1f} core-hours of the host if all are JPEG files of "
        f"500 x 400 pixels ({_PREPARED_A_SECOND} a second); sets in memory are decoded once.")
  return lines


def _in_all(totals: Sequence[Mapping[str, Any]]) -> str:
  """The line of all FLOPs, which `tools/plans.py` reads."""
  return f"FLOPs: {flops(_sum(totals)['flops'])} in all."


def phases_of(totals: Sequence[Mapping[str, Any]]) -> list[str]:
  """The phases in which something was charged."""
  return [phase for phase in ledger.PHASES
          if any(f"flops_{phase}" in found for found in totals)]


def costs(totals: Mapping[str, Any], phases: Sequence[str]) -> list[str]:
  """FLOPs by phase."""
  return [flops(totals.get(f"flops_{phase}", 0)) for phase in phases]


def rest(one: Mapping[str, Any]) -> list[str]:
  """FLOPs in all, time, disk and memory."""
  return [flops(one["totals"]["flops"]), quantities.duration(one["seconds"]),
          quantities.si(one["disk_bytes"], "B"), quantities.si(one["memory_bytes"], "B")]


def flops(amount: int | None) -> str:
  """FLOPs, "-" for 0."""
  return quantities.NOTHING if amount == 0 else quantities.si(amount, "FLOP")


def data(facts: Mapping[str, Any]) -> list[str]:
  """What data is missing, and which sizes are therefore estimated."""
  lines, missing, estimated = [], facts["missing"], facts["estimated"]
  if facts["left_out"]:
    lines.append(f"left out: {', '.join(facts['left_out'])}.")
  if estimated:
    lines.append(f"{len(estimated)} tasks or data sets have sizes estimated from what is "
                 "published, since their data is not prepared; batch sizes and validations depend "
                 "on them.")
  if not missing:
    return [*lines, "data: all of it is prepared."]
  lines.append(f"data: {len(missing)} data sets are not prepared (suite data doctor):")
  for dataset, (reason, command) in list(missing.items())[:_MAX_NAMED]:
    lines.append(f"  {dataset}: {reason}{' Run: ' + command if command else ''}")
  if len(missing) > _MAX_NAMED:
    lines.append(f"  and {len(missing) - _MAX_NAMED} more: "
                 + ", ".join(list(missing)[_MAX_NAMED:]))
  return lines


class _CellOrder(NamedTuple):
  """A cell to plan, in another process."""

  cell: table_lib.TableCell
  settings: run_settings.RunSettings
  rate: float | None


def of_run(file: run_settings.RunFile, settings: run_settings.RunSettings, *,
           rate: float | None = None, as_json: bool = False, shares: bool = False) -> str:
  """Returns what a run would cost; nothing runs and nothing is written.

  Args:
    file, settings: see `launch.experiment_run`.
    rate, as_json, shares: see `report`.
  """
  return launch.experiment_run(file, settings, own_process=True, instead=functools.partial(
      report, rate=rate, as_json=as_json, shares=shares))()


def of_table(file: run_settings.RunFile, settings: run_settings.RunSettings, *,
             rate: float | None = None, **order: Any) -> str:
  """Returns what the cells of a table that are not finished would cost.

  Args:
    file, settings, order: see `launch.table_run`.
    rate: FLOPs a second; None: measured.
  """
  jobs = order.get("jobs", table_lib.TableOrder.jobs)
  table_lib.check_memory(jobs, jobs, "plans", _PROCESS_BYTES)

  def report_cells(chosen: Sequence[table_lib.TableCell], waiting: Sequence[table_lib.TableCell]
                   ) -> str:
    if not waiting:
      return f"All of the {len(chosen)} cells are finished: nothing is left to run."
    seeds: dict[tuple[str, str], list[table_lib.TableCell]] = {}
    for cell in waiting:
      seeds.setdefault((cell.row, cell.column), []).append(cell)
    orders = [_CellOrder(cells[0], settings, rate) for cells in seeds.values()]
    parts, num_processes, kept = [[one] for one in orders], jobs, 1
    if rate is not None:
      num_processes = _processes(jobs, len(orders))
      parts = _alike(orders, -(-len(orders) // num_processes))
      kept = max(1, _KEPT * len(parts) // len(orders))
    found: list[dict[str, Any]] = []
    # Forks of a server that has imported what they need; new processes where there are no forks.
    has_forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if has_forks else "spawn")
    if has_forks:
      context.set_forkserver_preload(["suite.running.plan_processes"])
    # A new process for each cell that is measured: what others leave would be measured, too.
    with context.Pool(
        num_processes, this_process.import_tensorflow, maxtasksperchild=kept) as pool:
      for part, planned in zip(parts, pool.imap(_planned_cells, parts)):
        found += planned
        logging.info("%s: planned; %d of %d.", part[-1].cell.name, len(found), len(seeds))
    of_cell = {(one.cell.row, one.cell.column): facts for one, facts in zip(
        (one for part in parts for one in part), found)}
    return _table_text(len(chosen), [(cells, of_cell[key]) for key, cells in seeds.items()],
                       jobs if rate is None else 1)

  return launch.table_run(file, settings, **order, instead=report_cells)()


def _alike(orders: Sequence[_CellOrder], most: int) -> list[list[_CellOrder]]:
  """Cells of one run file that set the same parameters together, for one process, as their learners
  may be alike; whole rows, up to `most`."""
  rows: dict[str, list[_CellOrder]] = {}
  for one in orders:
    rows.setdefault(one.cell.row, []).append(one)
  groups: dict[Any, list[list[_CellOrder]]] = {}
  for row in rows.values():
    cell = row[0].cell
    groups.setdefault((cell.run, cell.extra_files, cell.methods, *(
        one.partition("=")[0].strip() for one in cell.params)), []).append(row)
  parts: list[list[_CellOrder]] = []
  for group in groups.values():
    parts.append([])
    for row in group:
      if parts[-1] and len(parts[-1]) + len(row) > most:
        parts.append([])
      parts[-1] += row
  return parts


def _processes(jobs: int, num_cells: int) -> int:
  """The processes that plan without measuring: `jobs`, or as many as cores and memory allow."""
  if jobs > 1:
    return jobs
  fit = host_memory.available_bytes() // _PROCESS_BYTES
  return max(1, min(len(os.sched_getaffinity(0)), fit, num_cells // _WORTH_A_PROCESS))


def _planned_cells(orders: Sequence[_CellOrder]) -> list[dict[str, Any]]:
  return [_planned_cell(order) for order in orders]


def _planned_cell(order: _CellOrder) -> dict[str, Any]:
  cell = order.cell
  try:
    # Each cell's own notes would hide those of the table.
    logging.set_verbosity(logging.ERROR)
    file = cell.file()
    settings = order.settings.replaced(workdir=str(cell.folder))
    return json.loads(of_run(file, settings, rate=order.rate, as_json=True,
                             shares=order.rate is not None))
  except Exception as error:  # Of any cell: the others have their estimate.
    return {"error": str(error) or type(error).__name__}


def _table_text(num_chosen: int,
                planned: Sequence[tuple[Sequence[table_lib.TableCell], Mapping[str, Any]]],
                jobs: int) -> str:
  known = [(cells, facts) for cells, facts in planned if "error" not in facts]
  num_waiting = sum(len(cells) for cells, _ in planned)
  lines = [f"Dry run of a table: {num_waiting} of {num_chosen} cells are to run."]
  if known:
    totals = {id(facts): _sum([one["totals"] for one in facts["learners"].values()])
              for _, facts in known}
    phases = phases_of(list(totals.values()))
    rows, every = [], []
    for cells, facts in known:
      one = _of_cell(totals[id(facts)], facts)
      rows.append([f"{cells[0].row}/{cells[0].column}", str(len(cells)),
                   *costs(one["totals"], phases), *rest(one)])
      every += [one] * len(cells)
    # All cells, one after the other.
    whole = _of_cell(_sum([one["totals"] for one in every]), {"learners": dict(enumerate(every))})
    rows.append(["in all", str(len(every)), *costs(whole["totals"], phases), *rest(whole)])
    table = quantities.TextTable("Each line is one cell of that many, which differ in their seed",
                                 ["row/column", "cells", *phases, "in all", "time", "disk",
                                  "weights"], rows)
    largest = max((facts for _, facts in known), key=lambda facts: facts.get("ops", 0))
    widest = {**largest, "weight_bytes": whole["memory_bytes"], **{
        name: max(facts.get(name, 0) for _, facts in known)
        for name in ("graph_bytes", "array_bytes")}}
    lines += [table.text(), _in_all([whole["totals"]]), *times(known[0][1]), *limits(widest, [
        one["totals"] for cells, facts in known for _ in cells
        for one in facts["learners"].values()])]
    followed = sum(1 for _, facts in known if facts.get("followed"))
    if followed:
      lines.append(f"{followed} cells have graphs whose cost follows from those of other cells of "
                   "their row, exactly as far as was counted.")
    if jobs > 1:
      lines.append(f"time in all is that of cells one after the other, not of {jobs} at once; "
                   f"each was measured beside {jobs - 1} others.")
    lines += dict.fromkeys(
        f"{cells[0].row}/{cells[0].column}, {name}: {note}." for cells, facts in known
        for name, one in facts["learners"].items() for note in one["notes"])
    lines += dict.fromkeys(
        f"{cells[0].row}/{cells[0].column}, {name}: no estimate, {reason}"
        for cells, facts in known for name, reason in facts["refused"].items())
    peak = max(facts["peak_bytes"] for _, facts in known)
    lines.append(f"memory: {quantities.si(peak, 'B')} of a cell's process at most.")
    lines += data({
        "left_out": [], "estimated": sorted({e for _, f in known for e in f["estimated"]}),
        "missing": {name: why for _, f in known for name, why in f["missing"].items()}})
  refused: dict[str, list[str]] = {}  # Cells by the reason, without gin's trail of calls.
  for cells, facts in planned:
    if "error" in facts:
      reason = "\n".join(line for line in facts["error"].splitlines()
                         if not line.startswith("  In call to configurable"))
      refused.setdefault(reason, []).append(f"{cells[0].row}/{cells[0].column}")
  lines += [f"{', '.join(names)}: {reason}" for reason, names in refused.items()]
  if not known:
    raise planning.NoEstimateError("\n".join(["There is no estimate of any cell.", *lines]))
  return "\n".join(lines)


def _of_cell(totals: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
  """The learners of a cell together."""
  learners = list(facts["learners"].values())
  seconds = [one["seconds"] for one in learners]
  return {"totals": totals, "seconds": None if None in seconds else sum(seconds),
          "disk_bytes": sum(one["disk_bytes"] for one in learners),
          "memory_bytes": max(one["memory_bytes"] for one in learners)}


def _sum(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """The sum of ledgers' FLOPs; one that is unknown makes the sum unknown."""
  found: dict[str, Any] = {}
  for one in totals:
    for name, amount in one.items():
      if name.split("_")[0] == "flops":
        found[name] = ledger.add(found.get(name, 0), amount)
  return found
