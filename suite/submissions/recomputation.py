# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What of a run can be computed again, and what comes out.

`rehearse` goes through all events of a run without a step of training (see
`suite/contracts/rehearsal.py`): the protocol's own lines charge what the run charged, and score the
answers that were handed in on the data of this machine. `replay` executes one event from the state
before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import hashlib
from importlib import metadata
import json
import pathlib
import shutil
import sys
import tempfile
from typing import Any

import numpy as np

from suite.compute import arithmetic
from suite.compute import distribution as distribution_lib
from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import planning
from suite.contracts import rehearsal
from suite.metrics import schema
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records as records_lib
from suite.reporting import run_dir
from suite.reporting import run_writer
from suite.state import predictions
from suite.state import run_identity
from suite.state import snapshots
from suite.state import state_log
from suite.submissions import bundle

# What a record says of its event, whatever is learned and answered.
_ABOUT = (
    schema.PROTOCOL, schema.KIND, schema.TASK, schema.TASK_KEY, schema.NUM_CLASSES,
    schema.TRAINED_BUCKET, schema.BUCKET, schema.BUCKET_NAME, schema.TRAIN_SIZE,
    schema.VALIDATION_SIZE, schema.DEV_SIZE, schema.MODE, schema.SCENARIO, schema.OUTPUTS,
    schema.SPLIT, schema.ROLE, schema.YEAR, schema.OCCURRENCE, schema.DATASET,
    schema.DATASET_VERSION, schema.METRIC, schema.SEEN, schema.FIRST_STEP, schema.LABELS,
    schema.UNKNOWN, schema.WAY, schema.SHOT, schema.NUM_SUPPORT_SETS, schema.NUM_TASKS,
    schema.UPDATES)
_COSTS = ("flops", "macs", "examples", "steps")
# Tolerances of a replay on another machine.
SHARE, RELATIVE, ANSWERS = 0.02, 0.02, 0.02


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


def fingerprint(opened: Opened, environment: Mapping[str, Any]) -> tuple[str, list[str]]:
  """The digest of what decides bytes on this machine, and what differs from a run's environment."""
  packages: dict[str, str | None] = {}
  for name in environment.get("packages") or {}:
    try:
      packages[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
      packages[name] = None
  stored = environment.get("arithmetic") or {}
  own: dict[str, Any] = {
      "instruction_set": arithmetic.instruction_set(),
      "python": ".".join(map(str, sys.version_info[:2])),
      "device": opened.distribution.describe(), "packages": packages,
      "arithmetic": dataclasses.asdict(arithmetic.of_this_process(
          precision=stored.get("precision", "float32"), xla=stored.get("xla", False),
          deterministic=stored.get("deterministic", True)))}
  theirs = {**{name: environment.get(name) for name in own},
            "python": ".".join(str(environment.get("python", "")).split(".")[:2])}
  text = json.dumps(theirs, sort_keys=True)
  return hashlib.sha256(text.encode()).hexdigest()[:16], [
      f"{name}: {theirs[name]!s:.120} there, {own[name]!s:.120} here"
      for name in own if theirs[name] != own[name]]


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
  said = {} if "missing" in found.skipped else _data(run.folder)
  for name, digests in (writer.state.data_digests or {}).items():
    if name in said and said[name].get("examples") != digests["examples"]:
      found.data.append(f"the test images of {name!r}, or their labels, are not those of the data "
                        "here")
  if said and (lacking := set(writer.state.data_digests or {}) - set(said)):
    found.data.append(f"it has no digest of the test images of {', '.join(sorted(lacking))}")
  return _compare_summary(run, summary, found)


def _compare_events(run: run_dir.Run, writer: _Substituting, found: Rehearsed) -> None:
  if "costs" not in found.skipped and len(writer.found) != len(run.records):
    found.scores.append(f"it has {len(run.records)} events, and its configuration "
                        f"{len(writer.found)}")
  for (record, is_answered), said in zip(writer.found, run.records):
    number = said.get("event")
    for name, value in bundle.strip(record).items():
      first = name.removeprefix("budget_").split("_")[0]
      if first in _COSTS:
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


def _data(folder: pathlib.Path) -> dict[str, Any]:
  path = folder / state_log.DATA_FILE
  found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
  return found if isinstance(found, dict) and all(
      isinstance(one, dict) for one in found.values()) else {}


class _Enough(Exception):
  """Ends a replay when the next event begins."""


class _OneEvent:
  """A writer that ends the run after one record."""

  def __init__(self, writer: run_writer.RunWriter):
    self._writer, self._has_written = writer, False
    self.truncate, self.files, self.report = writer.truncate, writer.files, writer.report

  def write(self, record: Mapping[str, Any]) -> list[Any]:
    self._has_written = True
    return self._writer.write(record)

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    del done, total, unit, what
    if self._has_written:
      raise _Enough


def replay(run: run_dir.Run, opened: Opened, event: int, kept: pathlib.Path | None, *,
           is_exact: bool) -> list[str]:
  """Executes one event of a run from the state before it; returns lines that say what differs.

  Args:
    run: of an unpacked bundle.
    opened: its configuration.
    event: its number.
    kept: the folder of the state before it; None for event 0.
    is_exact: whether this machine computes as the run did, so that bytes are compared; otherwise
      numbers within the tolerances.
  """
  header, digests = state_log.read(run.folder / state_log.FILE)
  identity = run_identity.of(run.folder)
  with tempfile.TemporaryDirectory(prefix="lifelong-replay-") as root:
    folder = pathlib.Path(root) / run.folder.name
    folder.mkdir()
    shutil.copyfile(run.home / run_dir.CONFIG, folder.parent / run_dir.CONFIG)
    assert run_identity.of(folder) == identity
    if event:
      assert kept is not None
      saved, digest = state_log.load_kept(kept, identity)
      if digest != digests[event] or saved.values["done"] != event:
        return [f"the state before event {event} is not the one whose digest was handed in"]
      _prepare(run, folder, kept, event, saved.values["position"])
    writer = run_writer.RunWriter(folder, None, progress.Silent())
    try:
      state = run_state.RunState(
          folder, _OneEvent(writer), name=run.learner, seed=opened.seed, budget=opened.budget,
          distribution=opened.distribution, keep_every=None if event else header[state_log.EVERY])
      if state.done != event:
        return [f"the state before event {event} has {state.done} events"]
      try:
        opened.protocol(opened.learners[run.learner](), state=state)
      except _Enough:
        pass
      state.flush()
    finally:
      writer.close()
    made = bundle.strip(state.records[event])
    said = bundle.strip(run.records[event])
    lines = _differences(said, made, is_exact=is_exact)
    if is_exact and state_log.read(folder / state_log.FILE)[1][event + 1] != digests[event + 1]:
      lines.append("the digest of the state after it differs")
    lines += [f"the test images of {name!r} are not those of the data here"
              for name, content in (state.data_digests or {}).items()
              if _data(run.folder).get(name, content) != content]
    if answers := said.get("predictions"):
      lines += _other_answers(run.folder / answers, folder / answers, is_exact=is_exact)
    return [f"event {event}: {line}" for line in lines]


def _prepare(run: run_dir.Run, folder: pathlib.Path, kept: pathlib.Path, event: int,
             position: Sequence[Any]) -> None:
  """Makes the folder of a run that was stopped before an event."""
  content = (run.folder / run_dir.RECORDS).read_bytes()
  (folder / run_dir.RECORDS).write_bytes(content[:int(position[0])])
  lines = (run.folder / state_log.FILE).read_bytes().splitlines(keepends=True)
  (folder / state_log.FILE).write_bytes(b"".join(lines[:event + 2]))
  states = folder / "state" / "events"
  states.mkdir(parents=True)
  for name in ("00000000.json", "00000000.bin"):
    if (kept / name).is_file():
      shutil.copyfile(kept / name, states / name)
  for source in sorted((kept / "weights").rglob("*")):
    if source.is_file() and not source.is_symlink():
      target = folder / "weights" / source.relative_to(kept / "weights")
      target.parent.mkdir(parents=True, exist_ok=True)
      shutil.copyfile(source, target)
  for record in run.records[:event]:
    if answers := record.get(schema.PREDICTIONS):
      (folder / answers).parent.mkdir(exist_ok=True)
      shutil.copyfile(run.folder / answers, folder / answers)


def _differences(said: Mapping[str, Any], made: Mapping[str, Any], *, is_exact: bool) -> list[str]:
  """What differs between two records: all, or what is beyond the tolerances."""
  if is_exact:
    return records_lib.diff(said, made)
  lines = [line for name in {**said, **made} if (name in said) != (name in made)
           for line in records_lib.diff({name: said[name]} if name in said else {},
                                        {name: made[name]} if name in made else {})]
  seen = said.get("seen") or 0
  for name in (name for name in said if name in made):
    a, b = said[name], made[name]
    if isinstance(a, bool) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
      if not isinstance(a, list):
        lines += records_lib.diff({name: a}, {name: b})
    elif isinstance(a, int) and isinstance(b, int) and name.split("_")[0] in (*_COSTS, "seen"):
      lines += records_lib.diff({name: a}, {name: b})
    else:
      most = SHARE * seen if isinstance(a, int) else SHARE
      if abs(a - b) > max(most, RELATIVE * abs(a)):
        lines.append(f"{name}: {a} there, {b} here")
  return lines


def _other_answers(said: pathlib.Path, made: pathlib.Path, *, is_exact: bool) -> list[str]:
  """What differs between two files of answers."""
  if is_exact and said.read_bytes() == made.read_bytes():
    return []
  a, b = predictions.load(said), predictions.load(made)
  if list(a.id) != list(b.id):
    return ["its answers are to other images"]
  wrong = int(np.sum(a.top1 != b.top1))
  if wrong > (0 if is_exact else ANSWERS * len(a)):
    return [f"{wrong} of {len(a)} answers differ"]
  return ["its file of answers differs, in probabilities or labels"] if is_exact else []
