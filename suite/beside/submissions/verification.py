# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a verifier finds out about a bundle.

    whole      members, manifest, chains of digests, who runs and how: read
    answers    every record's counts and error, from the saved answers
    scores     every score and the summary, by the protocol's lines, on the data here
    costs      FLOPs, MACs, examples and steps of every event, from graphs
    data       the images that were tested on
    seeds      those that the leaderboard prescribes, each there and no other
    board      what else it prescribes: values, budget, data, interval of states, environments
    replay     K events of all, drawn with a number that is chosen after the bundle was handed in

What each kind finds, and what none can, is measured in docs/results/tampering.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import pathlib
import secrets
import tempfile
from typing import Any

import numpy as np

from suite.beside.submissions import board as board_lib
from suite.beside.submissions import bundle
from suite.beside.submissions import recomputation
from suite.beside.submissions import replaying
from suite.compute import seeds as seeds_lib
from suite.contracts import deliveries
from suite.metrics import classification
from suite.metrics import episodic
from suite.metrics import schema
from suite.metrics import sequence_log
from suite.reporting import records
from suite.reporting import run_check
from suite.reporting import run_dir
from suite.running import launch
from suite.state import predictions
from suite.state import run_identity
from suite.state import snapshots
from suite.state import state_log
from suite.system import atomic_files

OK, FAILED, SKIPPED = bundle.OK, bundle.FAILED, bundle.SKIPPED
KINDS = ("whole", "answers", "scores", "costs", "data", "seeds", "board", "replay")
_MOST = 20  # Lines of a check.


@dataclasses.dataclass(frozen=True)
class Check:
  """One check of one run.

  Attributes:
    kind: of `KINDS`.
    run: its folder in the bundle; "": of the whole bundle.
    state: OK, FAILED or SKIPPED.
    text: in words.
    what: of a replay, `bundle.kind_of` its event.
    distance: of a replay, see `replaying.Outcome`.
  """

  kind: str
  run: str
  state: str
  text: str
  what: str = ""
  distance: float | None = None


@dataclasses.dataclass
class Drawn:
  """An event that is executed again.

  Attributes:
    run: its folder in the bundle.
    event: its number.
    states: folders of the submitter's with the states that are needed and not there.
  """

  run: str
  event: int
  states: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Report:
  """All that was found out.

  Attributes:
    bundle: its SHA-256.
    about: content of its submission.json.
    checks: in the order in which they were made.
    draw: the number with which events were drawn; None: none were.
    drawn: these events.
    num_events: of all runs by kind, from which they were drawn.
  """

  bundle: str
  about: Mapping[str, Any]
  checks: list[Check] = dataclasses.field(default_factory=list)
  draw: int | None = None
  drawn: list[Drawn] = dataclasses.field(default_factory=list)
  num_events: Mapping[str, int] = dataclasses.field(default_factory=dict)

  @property
  def failed(self) -> list[Check]:
    return [check for check in self.checks if check.state == FAILED]

  @property
  def badge(self) -> str:
    """In words, see `bundle.badge`."""
    return bundle.badge(map(dataclasses.asdict, self.checks), self.num_events)

  @property
  def waits(self) -> bool:
    """Whether drawn events were not executed, since their states are not there."""
    return len(self.drawn) > sum(check.kind == "replay" for check in self.checks)

  def values(self) -> dict[str, Any]:
    """Plain values for JSON."""
    return {"bundle": self.bundle, "about": dict(self.about), "badge": self.badge,
            "draw": self.draw, "num_events": dict(self.num_events),
            "drawn": [dataclasses.asdict(one) for one in self.drawn],
            "checks": [dataclasses.asdict(one) for one in self.checks]}


def verify(path: pathlib.Path, *, replay: int = 0, states: pathlib.Path | None = None,
           draw: int | None = None, seeds: Sequence[int] = (), recompute: bool = True,
           board: board_lib.Board | None = None) -> Report:
  """Verifies a bundle.

  Args:
    path: the zip.
    replay: number of events to execute again, of all.
    states: folder of the submitter's kept states, at any depth; None: events that need one wait.
    draw: by which these are drawn; None: a new random number.
    seeds: that the leaderboard prescribes; (): any.
    recompute: whether scores and costs are computed again.
    board: what the leaderboard prescribes, its seeds in place of `seeds`; None: nothing else.

  Raises:
    bundle.BundleError: it is no bundle.
  """
  with tempfile.TemporaryDirectory(prefix="lifelong-bundle-") as folder:
    root = pathlib.Path(folder)
    about = bundle.unpack(path, root)
    report = Report(atomic_files.sha256(path), about)
    runs: dict[str, run_dir.Run] = {}
    for said in about["runs"]:
      if (run := _whole(report, root, said)) is not None:
        runs[said["folder"]] = run
        _check_answers(report, said["folder"], run)
        if board is not None:
          _check_board(report, said, run, board)
    _check_seeds(report, seeds if board is None else board.seeds)
    if replay and runs:  # Whatever the submitter says of kept states: of all events.
      every = [Drawn(name, event) for name, run in sorted(runs.items())
               for event in range(len(run.records))]
      report.draw = secrets.randbits(31) if draw is None else draw
      report.num_events = bundle.num_events(runs.values())
      chosen = seeds_lib.generator(report.draw, report.bundle).permutation(len(every))[:replay]
      report.drawn = [every[i] for i in sorted(chosen.tolist())]
    if recompute or report.drawn:
      by_workdir: dict[pathlib.Path, dict[str, run_dir.Run]] = {}
      for name, run in runs.items():
        by_workdir.setdefault(run.folder.parent, {})[name] = run
      for workdir, those in by_workdir.items():
        _open(report, workdir, those, states, recompute=recompute)
    return report


def _add(report: Report, kind: str, run: str, problems: Sequence[str], text: str,
         what: str = "", distance: float | None = None) -> None:
  """Adds a check: failed with the problems, or fine with a text."""
  more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
  report.checks.append(Check(
      kind, run, FAILED if problems else OK, "; ".join([*problems[:_MOST], *more]) or text, what,
      distance))


def _whole(report: Report, root: pathlib.Path, said: Mapping[str, Any]) -> run_dir.Run | None:
  """A run that is as the suite writes it; None, and a failed check, if it is not."""
  name, folder = said["folder"], root / said["folder"]
  try:
    method = bundle.of_method(folder.parent / run_dir.CONFIG, run_identity.label(folder))
    problems = [one.text for one in run_check.check(folder.parent)
                if one.state != run_check.WHOLE and folder.name in (one.path.name, *(
                    part.name for part in one.path.parents), folder.parent.name)]
    run = next(one for one in run_dir.load([folder.parent], every=True)
               if one.folder.name == folder.name)
    if not run.is_finished or not run.records:
      problems.append("it has not finished")
    seed = run.environment.get("seed", 0)
    bound = bundle.bound_value(folder.parent / run_dir.CONFIG, "seed")
    if bound is not None and bound != seed:
      seed = f"{bound} and {seed}"
    for key, value in (("method", method), ("protocol", run.protocol),
                       ("seed", seed), ("learner", run.learner)):
      if said[key] != value:
        problems.append(f"{bundle.ABOUT} says {key} {said[key]!r:.60}, and the run {value!r:.60}")
    if [record.get(schema.EVENT) for record in run.records] != list(range(len(run.records))):
      problems.append("its events are not numbered in order")
    problems += bundle.other_description(run)
    if any(record.get(schema.RUN) != run.learner for record in run.records):
      problems.append("its records are of another learner")
    state_log.check_run(folder, run_identity.of(folder), len(run.records))
  except Exception as error:  # Of files that are not what they should be.
    problems, run = [snapshots.reason(error)], None
  _add(report, "whole", name, problems,
       f"{len(run.records) if run else 0} records, {said['method']}")
  return run if not problems else None


def _check_answers(report: Report, name: str, run: run_dir.Run) -> None:
  """Compares what each record counts with the saved answers."""
  problems: list[str] = []
  num = 0
  for record in run.records:
    if record.get(schema.KIND) != deliveries.PREDICT or not record.get(schema.SEEN):
      continue
    try:
      saved = predictions.load(run.folder / str(record.get(schema.PREDICTIONS)),
                               run=run_identity.of(run.folder), event=record[schema.EVENT])
      labels = np.asarray(saved.multi_hot() if saved.is_multi_label else saved.label)
      correct = classification.is_correct(saved.top1, labels)
      again: dict[str, Any] = {}
      if schema.FIRST_STEP in record:  # A record of a sequence holds its answers, too.
        log = sequence_log.from_record(record)
        correct = log.correct(record[schema.NUM_CLASSES])
        again = {schema.CLOSED_CORRECT: int(log.closed_correct().sum()),
                 schema.NEW: int(log.unknown.sum())}
        if not (np.array_equal(log.answers, saved.top1) and np.array_equal(log.labels, labels)):
          problems.append(f"event {record['event']}: its answers are not those of its record")
      again.update(seen=len(saved), correct=int(correct.sum()))
      if episodes := episodic.num_episodes(record):  # Each with as many images.
        again.update(records.to_plain(episodic.over_tasks(
            correct.reshape(episodes, -1).mean(axis=1))))
      elif not record.get(schema.ESTIMATED):  # Estimates are made again by a rehearsal.
        again["accuracy"] = again["correct"] / again["seen"]
      if record.get(schema.ESTIMATED):
        if record[schema.SEEN] >= record[schema.TEST_SIZE]:
          problems.append(f"event {record['event']}: an estimate from all answers")
      elif record.get(schema.METRIC, "error") == "error":
        again["error"] = classification.error(again["correct"], again["seen"])
      elif saved.scores is not None:
        again["error"] = 1.0 - classification.mean_average_precision(saved.scores, labels)
      if not np.array_equal(correct, saved.correct):
        problems.append(f"event {record['event']}: what its answers say of themselves is wrong")
      if len(set(saved.id.tolist())) < len(saved):
        problems.append(f"event {record['event']}: an image is answered twice")
      problems += [f"event {record['event']}: {key} is {record[key]}, and {value} by its answers"
                   for key, value in again.items() if key in record and record[key] != value]
      num += len(saved)
    except Exception as error:  # Of a file that is not what it should be.
      problems.append(f"event {record.get('event')}: {snapshots.reason(error)}")
  _add(report, "answers", name, problems, f"{num:,} answers")


def _check_board(report: Report, said: Mapping[str, Any], run: run_dir.Run,
                 board: board_lib.Board) -> None:
  """Whether a run is as the board prescribes."""
  try:
    problems = board.problems(run, said["method"])
  except Exception as error:  # Of files that are not what they should be.
    problems = [snapshots.reason(error)]
  _add(report, "board", said["folder"], problems, f"{board.run}, as prescribed")


def _check_seeds(report: Report, seeds: Sequence[int]) -> None:
  """Whether each method and protocol has the prescribed seeds, each once, and no other."""
  if not seeds:
    report.checks.append(Check("seeds", "", SKIPPED, "none are prescribed, so that chosen seeds "
                               "and runs left out are not found"))
    return
  problems: list[str] = []
  there: dict[tuple[str, str, str], list[int]] = {}
  for run in report.about["runs"]:  # Refusals are not verified: they stand for no seed.
    there.setdefault((run["protocol"], run["method"], run["learner"]), []).append(run["seed"])
  for (protocol, method, _), found in there.items():
    if missing := sorted(set(seeds) - set(found)):
      problems.append(f"{method} ({protocol}) has no run of seed {', '.join(map(str, missing))}")
    if other := sorted(set(found) - set(seeds)):
      problems.append(f"{method} ({protocol}) has runs of seed {', '.join(map(str, other))}")
    if len(set(found)) < len(found):
      problems.append(f"{method} ({protocol}) has two runs of one seed")
  _add(report, "seeds", "", problems, ", ".join(map(str, seeds)))


def _open(report: Report, workdir: pathlib.Path, runs: Mapping[str, run_dir.Run],
          states: pathlib.Path | None, *, recompute: bool) -> None:
  """Opens the configuration of runs of one work directory, and does what needs it."""
  opened = [False]

  def inside(protocol: Any, learners: Any, seed: int, distribution: Any, budget: Any = None) -> str:
    opened[0] = True
    one = recomputation.Opened(protocol, learners, seed, distribution, budget)
    for name, run in runs.items():
      if recompute:
        _recompute(report, name, recomputation.rehearse(run, one))
      for drawn in report.drawn:
        if drawn.run == name:
          _replay(report, run, one, drawn, states)
    return ""

  try:
    launch.open_stored(workdir, inside, names=("shipped",))
  except Exception as error:  # A configuration that cannot be run here.
    for name in runs:
      _add(report, "scores", name, [snapshots.reason(error)], "")
  if not opened[0] and not report.failed:
    _add(report, "scores", next(iter(runs)), ["its configuration was not opened"], "")


def _recompute(report: Report, name: str, found: recomputation.Rehearsed) -> None:
  """Adds the checks of a rehearsal."""
  for kind, problems, text in (
      ("scores", found.scores, f"summary, and {found.num_scored} events on the data here"
       if found.num_scored else "summary, from records that were compared with their answers"),
      ("costs", found.costs, f"{found.num_charged} events"),
      ("data", found.data, "the images here")):
    reasons = [reason for what, reason in found.skipped.items()
               if what in (kind, "all", "missing")]
    if reasons and not problems:
      report.checks.append(Check(kind, name, SKIPPED, "; ".join(reasons)))
    else:
      _add(report, kind, name, problems, text)


def _replay(report: Report, run: run_dir.Run, opened: recomputation.Opened, drawn: Drawn,
            states: pathlib.Path | None) -> None:
  """Executes an event that was drawn, and adds the check, unless a state has to be asked for."""
  what = bundle.kind_of(run.records[drawn.event])
  mark, other = replaying.fingerprint(opened, run.environment)
  of = replaying.span(run, drawn.event)
  fail = functools.partial(_add, report, "replay", drawn.run, text="", what=what)

  def name_of(event: int) -> str:
    return f"{run.folder.name}/state/kept/{event:08d}"

  if of.start and states is None:
    drawn.states = [name_of(of.start), *([name_of(of.goal)] if other and of.has_goal else [])]
    return
  if of.start and _state_before(run, states, of.start) is None:
    fail([f"event {drawn.event}: {_lacking(run, states, of.start, name_of(of.start))}"])
    return
  try:
    found = replaying.replay(run, opened, drawn.event, functools.partial(
        _state_before, run, states), is_exact=not other)
  except Exception as error:  # Of a state or records that no run could have.
    fail([f"event {drawn.event}: {snapshots.reason(error)}"])
    return
  if found.needs_goal and states is None:
    drawn.states = [name_of(of.goal)]
  elif found.needs_goal:
    fail([f"event {drawn.event}: {_lacking(run, states, of.goal, name_of(of.goal))}"])
  else:
    _add(report, "replay", drawn.run, found.problems, f"event {drawn.event}: " + (
        f"the same bytes ({mark})" if found.distance is None else
        f"within {found.distance:.2g} ({replaying.ARRAYS:.2g} of what a training changes and "
        f"{replaying.ANSWERS:.0%} of the answers after it are allowed): this machine differs "
        f"({'; '.join(other)})"), what, found.distance)


def _lacking(run: run_dir.Run, states: pathlib.Path | None, event: int, name: str) -> str:
  """Says why a state of the submitter's cannot be used."""
  there = _called(run, states, event)
  return (f"{len(there)} states are called {name}, and none has the digest that was handed in"
          if there else f"its state, {name}, is not in {states}")


def _called(run: run_dir.Run, states: pathlib.Path | None, event: int) -> list[pathlib.Path]:
  """The folders with the name of a run's state."""
  return [] if states is None else [
      path for path in sorted(states.rglob(f"state/kept/{event:08d}"))
      if path.parents[2].name == run.folder.name and path.is_dir()]


def _state_before(run: run_dir.Run, states: pathlib.Path | None, event: int
                  ) -> pathlib.Path | None:
  """The folder of the state before an event that has the digest that was handed in."""
  identity = run_identity.of(run.folder)
  digest = state_log.read(run.folder / state_log.FILE)[1][event]
  return next((path for path in _called(run, states, event)
               if _digest_of(path, identity) == digest), None)


def _digest_of(folder: pathlib.Path, identity: str) -> str:
  try:
    return state_log.load_kept(folder, identity)[1]
  except Exception as error:  # Of a file that is not what it should be.
    return snapshots.reason(error)


def text(report: Report) -> str:
  """The report for a terminal."""
  about = report.about
  lines = [f"{about['title'] or 'A submission'}: {len(about['runs'])} runs, license "
           f"{about['license']}, contact {about['contact']}", f"bundle {report.bundle}", ""]
  width = max((len(check.run) for check in report.checks), default=0)
  lines += [f"  {check.state:8}  {check.kind:7}  {check.run.ljust(width)}  {check.text}".rstrip()
            for check in report.checks]
  if report.draw is not None:
    lines += ["", f"{len(report.drawn)} of all {sum(report.num_events.values())} events were drawn "
              f"with {report.draw}, a number chosen after the bundle was handed in."]
    if report.waits:
      lines += ["These states are needed. Ask for them, and give the same command with "
                f"--draw {report.draw} --states DIR:",
                *(f"  {one.run}, event {one.event}: {', '.join(one.states)}"
                  for one in report.drawn if one.states)]
  return "\n".join([*lines, "", f"verdict: {report.badge}"
                    + (", waiting for states" if report.waits else "")])
