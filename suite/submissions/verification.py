# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a verifier finds out about a bundle.

    whole      members, manifest, chains of digests, who runs and how: read
    answers    every record's counts and error, from the saved answers
    scores     every score and the summary, by the protocol's lines, on the data here
    costs      FLOPs, MACs, examples and steps of every event, from graphs
    data       the images that were tested on
    seeds      those that the leaderboard prescribes, each there and no other
    replay     K events, drawn with a number that is chosen after the bundle was handed in

What each kind finds, and what none can, is measured in docs/results/tampering.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import pathlib
import secrets
import tempfile
from typing import Any

import numpy as np

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
from suite.submissions import bundle
from suite.submissions import recomputation
from suite.system import atomic_files

OK, FAILED, SKIPPED = bundle.OK, bundle.FAILED, bundle.SKIPPED
KINDS = ("whole", "answers", "scores", "costs", "data", "seeds", "replay")
_MOST = 20  # Lines of a check.


@dataclasses.dataclass(frozen=True)
class Check:
  """One check of one run; "" as `run`: of the whole bundle."""

  kind: str
  run: str
  state: str
  text: str


@dataclasses.dataclass(frozen=True)
class Drawn:
  """An event that is executed again.

  Attributes:
    run: its folder in the bundle.
    event: its number.
    state: which state is needed, as a folder of the submitter's; "" for the first event.
  """

  run: str
  event: int
  state: str


@dataclasses.dataclass
class Report:
  """All that was found out.

  Attributes:
    bundle: its SHA-256.
    about: content of its submission.json.
    checks: in the order in which they were made.
    draw: the number with which events were drawn; None: none were.
    drawn: these events.
    num_kept: the events from which they were drawn.
  """

  bundle: str
  about: Mapping[str, Any]
  checks: list[Check] = dataclasses.field(default_factory=list)
  draw: int | None = None
  drawn: list[Drawn] = dataclasses.field(default_factory=list)
  num_kept: int = 0

  @property
  def failed(self) -> list[Check]:
    return [check for check in self.checks if check.state == FAILED]

  @property
  def badge(self) -> str:
    """In words, see `bundle.badge`."""
    return bundle.badge(map(dataclasses.asdict, self.checks), self.num_kept)

  @property
  def waits(self) -> bool:
    """Whether drawn events were not executed, since their states are not there."""
    return len(self.drawn) > sum(check.kind == "replay" for check in self.checks)

  def values(self) -> dict[str, Any]:
    """Plain values for JSON."""
    return {"bundle": self.bundle, "about": dict(self.about), "badge": self.badge,
            "draw": self.draw, "num_kept": self.num_kept,
            "drawn": [dataclasses.asdict(one) for one in self.drawn],
            "checks": [dataclasses.asdict(one) for one in self.checks]}


def verify(path: pathlib.Path, *, replay: int = 0, states: pathlib.Path | None = None,
           draw: int | None = None, seeds: Sequence[int] = (), recompute: bool = True) -> Report:
  """Verifies a bundle.

  Args:
    path: the zip.
    replay: number of events to execute again, of those whose states were kept.
    states: folder of the submitter's kept states, at any depth; None: events that need one wait.
    draw: by which these are drawn; None: a new random number.
    seeds: that the leaderboard prescribes; (): any.
    recompute: whether scores and costs are computed again.

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
    _check_seeds(report, seeds)
    if replay and runs:  # Of all events whose states are committed to and kept.
      kept = [Drawn(name, event, f"{run.folder.name}/state/kept/{event:08d}" if event else "")
              for name, run in sorted(runs.items()) for event in bundle.kept_events(run)]
      report.draw = secrets.randbits(31) if draw is None else draw
      report.num_kept = len(kept)
      chosen = seeds_lib.generator(report.draw, report.bundle).permutation(len(kept))[:replay]
      report.drawn = [kept[i] for i in sorted(chosen.tolist())]
    if recompute or report.drawn:
      by_workdir: dict[pathlib.Path, dict[str, run_dir.Run]] = {}
      for name, run in runs.items():
        by_workdir.setdefault(run.folder.parent, {})[name] = run
      for workdir, those in by_workdir.items():
        _open(report, workdir, those, states, recompute=recompute)
    return report


def _add(report: Report, kind: str, run: str, problems: Sequence[str], text: str) -> None:
  """Adds a check: failed with the problems, or fine with a text."""
  more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
  report.checks.append(Check(
      kind, run, FAILED if problems else OK, "; ".join([*problems[:_MOST], *more]) or text))


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
        problems.append(f"{bundle.ABOUT} says {key} {said[key]!r}, and the run {value!r}")
    if [record.get(schema.EVENT) for record in run.records] != list(range(len(run.records))):
      problems.append("its events are not numbered in order")
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
  identity = run_identity.of(run.folder)
  digest = state_log.read(run.folder / state_log.FILE)[1][drawn.event]
  kept = None
  if drawn.event:
    if states is None:
      return  # The report waits for it.
    found = [path for path in sorted(states.rglob(f"state/kept/{drawn.event:08d}"))
             if path.parents[2].name == run.folder.name and path.is_dir()]
    fitting = [path for path in found if _digest_of(path, identity) == digest]
    if not fitting:
      _add(report, "replay", drawn.run, [
          f"event {drawn.event}: {len(found)} states are called {drawn.state}, and none has the "
          "digest that was handed in" if found else
          f"event {drawn.event}: its state, {drawn.state}, is not in {states}"], "")
      return
    kept = fitting[0]
  mark, other = recomputation.fingerprint(opened, run.environment)
  try:
    problems = recomputation.replay(run, opened, drawn.event, kept, is_exact=not other)
  except Exception as error:  # Of a state or records that no run could have.
    problems = [f"event {drawn.event}: {snapshots.reason(error)}"]
  _add(report, "replay", drawn.run, problems,
       f"event {drawn.event}: " + (f"the same bytes ({mark})" if not other else (
           f"within {recomputation.SHARE:.0%} and {recomputation.ANSWERS:.0%} of its answers: this "
           f"machine differs ({'; '.join(other)})")))


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
    lines += ["", f"{len(report.drawn)} of {report.num_kept} events whose states were kept were "
              f"drawn with {report.draw}, a number chosen after the bundle was handed in."]
    if report.waits:
      waiting = [f"  {one.run}, before event {one.event}: {one.state}" for one in report.drawn
                 if one.state and not any(
                     check.kind == "replay" and check.run == one.run
                     and check.text.startswith(f"event {one.event}:") for check in report.checks)]
      lines += ["These states are needed. Ask for them, and give the same command with "
                f"--draw {report.draw} --states DIR:", *waiting]
  return "\n".join([*lines, "", f"verdict: {report.badge}"
                    + (", waiting for states" if report.waits else "")])
