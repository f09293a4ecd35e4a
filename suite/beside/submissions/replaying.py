# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Events of a run, executed again from the last state before them that was kept.

Replays form a chain: from that state on everything follows from the event before, as in the run.
What comes out is compared with what was handed in to the last byte. Where that differs, and the run
says that it was made on another machine, the chain goes on to the next state that was kept and
through the answers that follow, and the two states are compared array by array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import hashlib
from importlib import metadata
import json
import math
import pathlib
import shutil
import sys
import tempfile
from typing import Any

import numpy as np

from suite.beside.submissions import bundle
from suite.beside.submissions import recomputation
from suite.compute import arithmetic
from suite.contracts import deliveries
from suite.metrics import schema
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_dir
from suite.reporting import run_writer
from suite.state import learner_state
from suite.state import predictions
from suite.state import run_identity
from suite.state import state_log

# Bounds of a replay that does not give the same bytes: of shares, and of other numbers;
SHARE, RELATIVE = 0.02, 0.02
# of answers after a training that was executed, too, and of others (one, if that is more): a pass
# through the same weights differs by rounding alone;
ANSWERS, DIRECT = 0.02, 0.002
# and of the arrays of a state, see `distance`. Where it was tried, kernels that round otherwise
# differed by 0.08 at most, and another number of epochs by 1 at least (docs/submissions.md).
ARRAYS = 0.2


@dataclasses.dataclass(frozen=True)
class Span:
  """The events that are executed for one that was drawn.

  Attributes:
    start: the first, before which the state was kept; 0 needs none.
    event: the one that was drawn.
    goal: before which the next state was kept.
    last: where the chain ends at the latest: after the answers that follow a training.
    num_events: of the run.
  """

  start: int
  event: int
  goal: int
  last: int
  num_events: int

  @property
  def has_goal(self) -> bool:
    """Whether the run went on until the next state was kept."""
    return self.goal <= self.num_events


def span(run: run_dir.Run, event: int) -> Span:
  """The events that are executed for one event."""
  every, num = state_log.read(run.folder / state_log.FILE)[0][state_log.EVERY], len(run.records)
  goal = event - event % every + every
  after = next((i for i in range(event + 1, num)
                if run.records[i].get(schema.KIND) == deliveries.TRAIN), num)
  return Span(event - event % every, event, goal, min(max(goal, after), num), num)


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What came out of a replay.

  Attributes:
    problems: lines that say what differs beyond bounds.
    distance: 0.0 to a bound: what the arrays of states and the answers differ by; None: they are
      the same bytes.
    needs_goal: the state after the events is needed for a comparison, and is not there.
  """

  problems: Sequence[str] = ()
  distance: float | None = None
  needs_goal: bool = False


def fingerprint(opened: recomputation.Opened, environment: Mapping[str, Any]
                ) -> tuple[str, list[str]]:
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


class _Enough(Exception):
  """Ends a replay when the next event begins."""


class _Chain:
  """A writer that reads the learner's arrays before some events, and ends the run.

  Args:
    writer: writes the records.
    folder: of the run.
    learner: executes the events.
    start: the first event.
    kept: events before which the arrays are read.
    is_enough: whether the run ends before an event.
  """

  def __init__(self, writer: run_writer.RunWriter, folder: pathlib.Path, learner: Any,
               start: int, kept: set[int], is_enough: Callable[[int], bool]):
    self._writer, self._folder, self._learner, self._done = writer, folder, learner, start
    self._kept, self._is_enough = kept, is_enough
    self.arrays: dict[int, dict[str, np.ndarray]] = {}
    self.truncate, self.files, self.report = writer.truncate, writer.files, writer.report

  def write(self, record: Mapping[str, Any]) -> list[Any]:
    self._done += 1
    return self._writer.write(record)

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    del done, total, unit, what
    self.read()
    if self._is_enough(self._done):
      raise _Enough

  def read(self) -> None:
    """Reads the arrays, if they are asked for."""
    if self._done in self._kept and self._done not in self.arrays:
      self.arrays[self._done] = {**learner_state.copied(self._learner),
                                 **_stored(self._folder / "weights")}


def replay(run: run_dir.Run, opened: recomputation.Opened, event: int,
           state_before: Callable[[int], pathlib.Path | None], *, is_exact: bool) -> Outcome:
  """Executes an event of a run, from the last state before it that was kept.

  Args:
    run: of an unpacked bundle.
    opened: its configuration.
    event: its number.
    state_before: the folder of the submitter's state before an event, with the digest that was
      handed in; None: it is not there.
    is_exact: whether this machine computes as the run says that its machine did, so that other
      bytes are a forgery.
  """
  of, digests = span(run, event), state_log.read(run.folder / state_log.FILE)[1]
  every, identity = of.goal - of.start, run_identity.of(run.folder)
  with tempfile.TemporaryDirectory(prefix="lifelong-replay-") as root:
    folder = pathlib.Path(root) / run.folder.name
    folder.mkdir()
    shutil.copyfile(run.home / run_dir.CONFIG, folder.parent / run_dir.CONFIG)
    assert run_identity.of(folder) == identity
    if of.start:
      kept = state_before(of.start)
      assert kept is not None
      saved, digest = state_log.load_kept(kept, identity)
      if digest != digests[of.start] or saved.values["done"] != of.start:
        return Outcome([f"the state before event {of.start} is not the one whose digest was "
                        "handed in"])
      _prepare(run, folder, kept, of.start, saved.values["position"])

    def are_same(end: int) -> bool:
      return state_log.read(folder / state_log.FILE)[1][:end + 1] == digests[:end + 1]

    def is_enough(done: int) -> bool:
      return done > event and (is_exact or done >= of.last or are_same(done))

    learner = opened.learners[run.learner]()
    writer = run_writer.RunWriter(folder, None, progress.Silent())
    chain = _Chain(writer, folder, learner, of.start,
                   set() if is_exact else {of.start, of.goal}, is_enough)
    try:
      state = run_state.RunState(
          folder, chain, name=run.learner, seed=opened.seed, budget=opened.budget,
          distribution=opened.distribution, keep_every=None if of.start else every)
      if state.done != of.start:
        return Outcome([f"the state before event {of.start} has {state.done} events"])
      try:
        opened.protocol(learner, state=state)
      except _Enough:
        pass
      chain.read()
      state.flush()
    finally:
      writer.close()
    made = state.records[:state.done]
    lines = [f"the test images of {name!r} are not those of the data here"
             for name, content in (state.data_digests or {}).items()
             if state_log.read_data(run.folder).get(name, content) != content]
    exact = _compare(run, folder, made, range(of.start, event + 1), is_exact=True)[0]
    other = next((i for i in range(of.start, event + 1) if not are_same(i + 1)), None)
    if other is not None:
      exact.append(f"event {other}: the digest of the state after it differs")
    if not exact or is_exact:
      return Outcome([*exact, *lines])
    near, share = _compare(run, folder, made, range(of.start, state.done), is_exact=False)
    far = 0.0
    if of.has_goal and other is not None:
      if (goal := state_before(of.goal)) is None:
        return Outcome(needs_goal=True)
      after, _ = state_log.load_kept(goal, identity)
      far, name = distance(chain.arrays.get(of.start, {}),
                           {**after.arrays, **_stored(goal / "weights")},
                           chain.arrays[of.goal])
      if far > ARRAYS:
        near.insert(0, f"the state before event {of.goal} differs: {name} by {far:.2g} of what it "
                    f"changed by since event {of.start}, and {ARRAYS:.2g} is allowed")
    return Outcome([*near, *lines], max(far, share))


def distance(before: Mapping[str, np.ndarray], there: Mapping[str, np.ndarray],
             here: Mapping[str, np.ndarray]) -> tuple[float, str]:
  """What two states differ by, the largest of their arrays, and its name.

  Of an array of floats it is the norm of the difference, as a share of the norm of what the events
  changed here in it (of the array itself, if it is new): 0 if they computed the same, about 1 if
  one has nothing to do with the other. Of other arrays it is the share of places that differ.
  Infinite, if the states do not have the same arrays.

  Args:
    before: the arrays from which both began.
    there: of the run. here: of the replay.
  """
  found: tuple[float, str] = (0.0, "")
  for name in sorted({*there, *here}):
    a, b = (None if name not in one else np.asarray(one[name]) for one in (there, here))
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
      return math.inf, name
    if a.tobytes() == b.tobytes():
      continue
    if a.dtype.kind in "biuSU":
      far = float(np.mean(a != b))
    else:
      a, b = a.astype(np.float64), b.astype(np.float64)
      first = np.asarray(before[name]) if name in before else np.zeros_like(a)
      if first.shape != a.shape:
        first = np.zeros_like(a)
      changed = float(np.linalg.norm(b - first.astype(np.float64)))
      far = float(np.linalg.norm(a - b)) / changed if changed else math.inf
      far = math.inf if math.isnan(far) else far
    found = max(found, (far, name))
  return found


def _stored(folder: pathlib.Path) -> dict[str, np.ndarray]:
  """The arrays of a weight store's files, by file and name; other files as bytes."""
  found: dict[str, np.ndarray] = {}
  for path in sorted(folder.rglob("*")):
    name = path.relative_to(folder).as_posix()
    if path.suffix == ".npz":
      with np.load(path, allow_pickle=False) as archive:
        found.update({f"{name}/{key}": archive[key] for key in archive.files})
    elif path.is_file():
      found[name] = np.fromfile(path, np.uint8)
  return found


def _compare(run: run_dir.Run, folder: pathlib.Path, made: Sequence[Mapping[str, Any]],
             events: Sequence[int], *, is_exact: bool) -> tuple[list[str], float]:
  """What differs in records and answers of events, and the largest share of answers that do."""
  lines: list[str] = []
  most, bound = 0.0, 0.0 if is_exact else DIRECT
  for number in events:
    said = bundle.strip(run.records[number])
    found = _differences(said, bundle.strip(made[number]), is_exact=is_exact)
    if answers := said.get("predictions"):
      more, share = _other_answers(run.folder / answers, folder / answers, bound)
      found, most = found + more, max(most, share)
    lines += [f"event {number}: {line}" for line in found]
    if not is_exact and bundle.kind_of(run.records[number]) == bundle.TRAININGS:
      bound = ANSWERS
  return lines, most


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
    return records.diff(said, made)
  lines = [line for name in {**said, **made} if (name in said) != (name in made)
           for line in records.diff({name: said[name]} if name in said else {},
                                    {name: made[name]} if name in made else {})]
  seen = said.get("seen") or 0
  for name in (name for name in said if name in made):
    a, b = said[name], made[name]
    if isinstance(a, bool) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
      if not isinstance(a, list):
        lines += records.diff({name: a}, {name: b})
    elif isinstance(a, int) and isinstance(b, int) and name.split("_")[0] in (
        *recomputation.COSTS, "seen"):
      lines += records.diff({name: a}, {name: b})
    else:
      most = SHARE * seen if isinstance(a, int) else SHARE
      if abs(a - b) > max(most, RELATIVE * abs(a)):
        lines.append(f"{name}: {a} there, {b} here")
  return lines


def _other_answers(said: pathlib.Path, made: pathlib.Path, bound: float
                   ) -> tuple[list[str], float]:
  """What differs between two files of answers, and the share of answers that do.

  Args:
    bound: the share that may differ, or one answer; 0: no byte may.
  """
  if said.read_bytes() == made.read_bytes():
    return [], 0.0
  a, b = predictions.load(said), predictions.load(made)
  if list(a.id) != list(b.id):
    return ["its answers are to other images"], 1.0
  wrong = int(np.sum(a.top1 != b.top1))
  if wrong > (max(1, bound * len(a)) if bound else 0):
    return [f"{wrong} of {len(a)} answers differ"], wrong / len(a)
  return (["its file of answers differs, in probabilities or labels"] if not bound else [],
          wrong / max(1, len(a)))
