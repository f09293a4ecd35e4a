# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Recomputes and replays a submitted run.

`rehearse` goes through all events of a run without a step of training (see
`suite/contracts/rehearsal.py`): the protocol's own lines charge what the run charged, and score the
answers that were handed in on the data of this machine. What takes steps of training is in
`replaying`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import pathlib
import tempfile
from typing import Any

import numpy as np

from suite.beside.submissions import bundle
from suite.compute import distribution as distribution_lib
from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import planning
from suite.contracts import rehearsal
from suite.metrics import schema
from suite.protocols import run_state
from suite.reporting import records as records_lib
from suite.reporting import run_dir
from suite.state import predictions
from suite.state import snapshots
from suite.state import state_log

# What a record says of its event, whatever is learned and answered.
_ABOUT = (
    schema.PROTOCOL, schema.KIND, schema.TASK, schema.TASK_KEY, schema.NUM_CLASSES,
    schema.TRAINED_BUCKET, schema.BUCKET, schema.BUCKET_NAME, schema.TRAIN_SIZE,
    schema.VALIDATION_SIZE, schema.DEV_SIZE, schema.MODE, schema.SCENARIO, schema.OUTPUTS,
    schema.SPLIT, schema.ROLE, schema.YEAR, schema.OCCURRENCE, schema.DATASET,
    schema.DATASET_VERSION, schema.METRIC, schema.SEEN, schema.FIRST_STEP, schema.LABELS,
    schema.UNKNOWN, schema.WAY, schema.SHOT, schema.NUM_SUPPORT_SETS, schema.NUM_TASKS,
    schema.UPDATES)
COSTS = ("flops", "macs", "examples", "steps")


@dataclasses.dataclass(frozen=True)
class Opened:
  """A run that is opened: the arguments of `experiment.run`'s `instead`."""

  protocol: Callable[..., Any]
  learners: Mapping[str, Callable[[], Any]]
  seed: int
  distribution: distribution_lib.Distribution
  budget: ledger.Budget | None = None


@dataclasses.dataclass
class Rehearsed:
  """The outcome of a rehearsal: lines that say what differs, and what was not compared and why.

  `skipped` has reasons by kind of check; "missing" and "all" are for all kinds.
  """

  scores: list[str] = dataclasses.field(default_factory=list)
  costs: list[str] = dataclasses.field(default_factory=list)
  data: list[str] = dataclasses.field(default_factory=list)
  skipped: dict[str, str] = dataclasses.field(default_factory=dict)
  num_scored: int = 0
  num_charged: int = 0


class _Substituting:
  """Writer of a rehearsal: compares each record, and puts that of the run in its place.

  Later events, and the summary, read the records of the run that was handed in.
  """

  def __init__(self, run: run_dir.Run):
    self._run = run
    self.state: run_state.RunState | None = None
    self.found: list[tuple[dict[str, Any], bool]] = []
    self.is_answered = False

  def write(self, record: Mapping[str, Any]) -> list[Any]:
    number = len(self.found)
    self.found.append((dict(record), self.is_answered))
    self.is_answered = False
    assert self.state is not None
    if number < len(self._run.records):
      self.state.records[-1] = dict(self._run.records[number])
    return [0, ""]

  def answers(self, ids: np.ndarray, labels: np.ndarray, num_outputs: int) -> np.ndarray | None:
    """The logits by which a Predict event gives the answers of the run; see `rehearsal.begun`."""
    number = len(self.found)
    record = self._run.records[number] if number < len(self._run.records) else {}
    if (current := rehearsal.current()) is not None and current.missing:
      return None  # Of data that is not here: other images stand for some.
    if record.get(schema.KIND) != deliveries.PREDICT or not record.get(schema.PREDICTIONS):
      return None
    saved = predictions.load(self._run.folder / record[schema.PREDICTIONS])
    if list(saved.id) != list(map(str, ids)):
      raise ValueError(f"event {number}: its answers are not to the test images of "
                       f"{record.get(schema.BUCKET_NAME) or record.get(schema.TASK_KEY)}")
    given = saved.multi_hot() if saved.is_multi_label else saved.label
    if not np.array_equal(given, labels):
      raise ValueError(f"event {number}: its labels are not those of the data")
    self.is_answered = True
    if saved.scores is not None:
      return saved.scores
    logits = np.zeros([len(ids), num_outputs], np.float32)
    logits[np.arange(len(ids)), np.maximum(saved.top1, 0)] = 1
    logits[saved.top1 < 0] = np.nan
    return logits

  def truncate(self, position: Any, check: Callable[[list[Any]], None] = lambda records: None
               ) -> list[Any]:
    del position, check
    return []

  def files(self) -> list[pathlib.Path]:
    return []

  def report(self, **values: Any) -> None:
    del values

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    del done, total, unit, what


def rehearse(run: run_dir.Run, opened: Opened) -> Rehearsed:
  """Compares all records and the summary of a run with a rehearsal of its configuration.

  Args:
    run: of an unpacked bundle.
    opened: its configuration.
  """
  found, writer = Rehearsed(), _Substituting(run)
  learner = opened.learners[run.learner]()
  if planning.takes_plans(opened.protocol) and isinstance(learner, planning.Planner):
    return _plan(run, opened, learner)
  with tempfile.TemporaryDirectory(prefix="lifelong-verify-") as root:
    folder = pathlib.Path(root) / run.folder.name
    with rehearsal.begun(measures=False, answers=writer.answers) as rehearsed:
      writer.state = run_state.RunState(
          folder, writer, name=run.learner, seed=opened.seed, budget=opened.budget,
          distribution=opened.distribution, keep_every=1)
      try:
        summary = opened.protocol(learner, state=writer.state)
      except planning.NoEstimateError as error:
        found.skipped["all"] = str(error)
        return found
      except Exception as error:  # Of records that no run could have, in the protocol's lines.
        if not run.records:
          found.skipped["all"] = f"it cannot be rehearsed: {snapshots.reason(error)}"
          return found
        own = rehearse(dataclasses.replace(run, records=[]), opened)
        if "all" in own.skipped:  # Whatever its records are.
          return own
        found.scores.append(snapshots.reason(error))
        return found
      _compare_answers(run, writer, folder, found)
  if rehearsed.missing:
    found.skipped["missing"] = f"data is not prepared here: {', '.join(sorted(rehearsed.missing))}"
  if rehearsed.notes:
    found.skipped["costs"] = "; ".join(rehearsed.notes)
  _compare_events(run, writer, found)
  said = {} if "missing" in found.skipped else state_log.read_data(run.folder)
  for name, digests in (writer.state.data_digests or {}).items():
    if name in said and said[name].get("examples") != digests["examples"]:
      found.data.append(f"the images of {name!r}, or their labels, are not those of the data here")
  lacking = {name for name in set(writer.state.data_digests or {}) - set(said)
             if not state_log.is_trained(name)}
  if said and lacking:
    found.data.append(f"it has no digest of the images of {', '.join(sorted(lacking))}")
  return _compare_summary(run, summary, found)


def _compare_events(run: run_dir.Run, writer: _Substituting, found: Rehearsed) -> None:
  if "costs" not in found.skipped and len(writer.found) != len(run.records):
    found.scores.append(f"it has {len(run.records)} events, and its configuration "
                        f"{len(writer.found)}")
  for (record, is_answered), said in zip(writer.found, run.records):
    number = said.get("event")
    for name, value in bundle.strip(record).items():
      first = name.removeprefix("budget_").split("_")[0]
      if first in COSTS:
        if not found.skipped and (name not in said or said[name] != value):
          found.costs.append(f"event {number}, {name}: {said.get(name)} there, {value} here")
      elif name == "predictions":
        if name not in said:
          found.scores.append(f"event {number} has no answers")
      elif is_answered or (name in _ABOUT and not found.skipped):
        found.scores += records_lib.diff(
            {name: said.get(name)}, {name: value}, f"event {number}")
    found.num_scored += is_answered
    found.num_charged += not found.skipped


def _compare_answers(run: run_dir.Run, writer: _Substituting, folder: pathlib.Path,
                     found: Rehearsed) -> None:
  """Whether the answers that were scored are those that were handed in, to the last one."""
  for (record, is_answered), said in zip(writer.found, run.records):
    if is_answered and record.get(schema.PREDICTIONS) and said.get("predictions"):
      made = predictions.load(folder / record[schema.PREDICTIONS])
      saved = predictions.load(run.folder / said["predictions"])
      wrong = int(np.sum((made.top1 != saved.top1) | (made.correct != saved.correct)))
      if wrong:
        found.scores.append(f"event {said.get('event')}: {wrong} answers are of classes that may "
                            "not be answered, or not correct as they say")


def _plan(run: run_dir.Run, opened: Opened, learner: Any) -> Rehearsed:
  """Compares the FLOPs of a run whose learner plans them (NEVIS'22), and the summary."""
  found = Rehearsed(skipped={"data": "this learner is planned, not rehearsed: replays compare it"})
  plan = planning.PlannedRun(run.learner, seed=opened.seed, distribution=opened.distribution,
                             shared={}, budget=opened.budget)
  try:
    opened.protocol(learner, state=plan)
    if plan.num_events != len(run.records):
      found.scores.append(f"it has {len(run.records)} events, and its configuration "
                          f"{plan.num_events}")
    if plan.facts.get("estimated"):
      found.skipped["costs"] = "sizes of data that is not prepared here are estimated"
    else:
      last, found.num_charged = run.records[-1], len(run.records)
      found.costs += [f"{name}: {last.get(name)} there, {value} planned here"
                      for name, value in plan.ledger.totals().items()
                      if name.split("_")[0] == "flops" and last.get(name) != value]
  except (planning.NoEstimateError, OSError) as error:
    found.skipped["costs"] = str(error)
  with tempfile.TemporaryDirectory(prefix="lifelong-verify-") as root, rehearsal.begun(
      measures=False):
    writer = _Substituting(run)
    state = run_state.RunState(
        pathlib.Path(root) / run.folder.name, writer, name=run.learner, seed=opened.seed,
        budget=opened.budget, distribution=opened.distribution)
    state.done, state.records = len(run.records), [dict(record) for record in run.records]
    try:
      summary = opened.protocol(opened.learners[run.learner](), state=state)
    except Exception as error:  # As in `rehearse`.
      found.scores.append(snapshots.reason(error))
      return found
  return _compare_summary(run, summary, found)


def _compare_summary(run: run_dir.Run, summary: Mapping[str, Any], found: Rehearsed) -> Rehearsed:
  again = bundle.strip(records_lib.to_plain({**summary, "run": run.learner}))
  found.scores += [f"summary, {line}"
                   for line in records_lib.diff(bundle.strip(run.summary), again)]
  return found
