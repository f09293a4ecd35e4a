# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What of a run directory is whole, what is damaged, and what can be made again.

All that was written with a digest or a checksum is read and verified: records, snapshots, weights,
predictions, summaries. `repair` removes only what the same command makes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import functools
import pathlib
from typing import Any, NamedTuple

from suite.contracts import descriptions
from suite.metrics import schema
from suite.reporting import records as records_lib
from suite.reporting import run_dir
from suite.state import predictions
from suite.state import run_identity
from suite.state import snapshots
from suite.state import state_log
from suite.state import weight_store
from suite.system import atomic_files

WHOLE, DAMAGED, AGAIN = "whole", "damaged", "can be made again"
_ENCODER = "encoder.json"  # encoder_file.ABOUT, which imports TensorFlow.
_MADE_AGAIN = ("report.txt", run_dir.SUMS)  # By the same command.
_START_AGAIN = "restore it from a copy, or run the same command in a new work directory"


class Finding(NamedTuple):
  """One thing that was verified.

  Attributes:
    path: the file or folder.
    state: WHOLE, DAMAGED or AGAIN.
    text: what it holds if whole; else what is wrong with it, and what to do.
    in_the_way: files that `repair` may remove, since the same command makes them again.
  """

  path: pathlib.Path
  state: str
  text: str
  in_the_way: tuple[pathlib.Path, ...] = ()


def is_run(folder: pathlib.Path) -> bool:
  """Whether it is a work directory or the folder of one learner in it."""
  return (folder / "config.gin").exists() or (folder / run_dir.RECORDS).exists() or any(
      folder.glob(f"*/{run_dir.RECORDS}"))


def check(folder: pathlib.Path) -> list[Finding]:
  """Verifies a work directory or the folder of one learner."""
  folder = pathlib.Path(folder)
  if (folder / run_dir.RECORDS).exists():
    return list(_check_learner(folder))
  found = [*_check_texts(folder), *_left_over(folder)]
  for path in sorted(folder.iterdir()):
    if (path / run_dir.RECORDS).exists() or (path / "state").is_dir():
      found += [*(_check_texts(path) if run_identity.home(path) == path.absolute() else []),
                *_check_learner(path)]
  return found


def _check_texts(folder: pathlib.Path) -> Iterator[Finding]:
  """Verifies the configuration and the environment of a work directory, or of one run's own."""
  config, environment = folder / run_dir.CONFIG, folder / run_dir.ENVIRONMENT
  if not config.exists():
    yield Finding(config, DAMAGED, "it is missing, so the run cannot be resumed: restore it from a "
                  "copy; reports can still be made")
  try:
    if problem := run_dir.unfit_environment(folder):
      yield Finding(environment, DAMAGED, problem)
  except ValueError as error:
    yield Finding(environment, DAMAGED, f"{snapshots.reason(error)}; restore it from a copy")
  for name, problem in run_dir.changed_texts(folder).items():
    yield Finding(folder / name, *(
        (AGAIN, problem, (folder / name, folder / run_dir.SUMS)) if name in _MADE_AGAIN
        else (DAMAGED, problem)))


def repair(findings: list[Finding]) -> list[pathlib.Path]:
  """Removes what is in the way of making things again; returns what was removed."""
  removed = [path for one in findings if one.state == AGAIN for path in one.in_the_way]
  for path in removed:
    path.unlink(missing_ok=True)
  return removed


def _left_over(folder: pathlib.Path) -> Iterator[Finding]:
  paths = tuple(path for path in sorted(folder.glob(f"{atomic_files.TEMPORARY}*"))
                if path.is_file())
  if paths:
    yield Finding(folder, AGAIN, f"{len(paths)} temporary files of a killed process", paths)


def _check_learner(folder: pathlib.Path) -> Iterator[Finding]:
  records: list[dict[str, Any]] = []
  digests, problem = [""], ""
  try:
    records, digests = records_lib.read_chain(folder / run_dir.RECORDS, tolerate_torn_tail=True)
  except (OSError, ValueError) as error:
    problem = str(error)
  finished = _summary(folder, is_whole=not problem)
  states = snapshots.Snapshots(folder / "state" / "events")
  problems = states.problems()
  intact = [number for number, wrong in problems.items() if not wrong]
  usable = []  # Snapshots up to whose position the records are those that were written.
  for number in intact:
    position = states.values(number)["position"]
    offset, digest = (position, None) if isinstance(position, int) else position
    with contextlib.suppress(OSError, ValueError):
      records_lib.read_until(folder / run_dir.RECORDS, offset, digest)
      usable.append(number)
  if finished.state == WHOLE and not problem:
    problem = run_dir.unfit_summary(folder, len(records), digests[-1])
  # Records and state belong together; without a state, one record is left by a kill.
  begins_again = not intact and len(records) < 2
  fits = intact[-1:] == usable[-1:] if intact else finished.state == WHOLE or begins_again
  if not problem and not fits:
    problem = (f"it has {len(records)} records, which the newest intact snapshot does not belong "
               "to")
  yield _of_records(folder / run_dir.RECORDS, records, digests[0], problem, usable, finished.path)
  for number, wrong in problems.items():
    path = states.path(number)
    if not wrong:
      yield Finding(path, WHOLE, "a snapshot")
    elif usable or finished.state == WHOLE or begins_again:
      why = ("an older one is used" if usable else "nothing needs it"
             if finished.state == WHOLE else "the first event begins again")
      yield Finding(path, AGAIN, f"{wrong}; {why}", (path,) if path.is_file() else ())
    else:
      yield Finding(path, DAMAGED, f"{wrong}; {_START_AGAIN}")
  progress = snapshots.Snapshots(folder / "state" / "progress")
  for number, wrong in progress.problems().items():
    if wrong:
      path = progress.path(number)
      yield Finding(path, AGAIN, f"{wrong}; the event begins again, or at an earlier step",
                    (path,) if path.is_file() else ())
  for path in sorted((folder / "weights").glob("[0-9]*.npz")):
    yield _verified(path, "weights", functools.partial(weight_store.check, path, digests[0]))
  for record in records:
    if relative := record.get(schema.PREDICTIONS):
      yield _verified(folder / relative, "predictions", functools.partial(
          predictions.load, folder / relative, run=digests[0], event=record.get(schema.EVENT)))
  if (path := folder / state_log.FILE).exists():
    yield _verified(path, "digests of states", functools.partial(
        state_log.check_run, folder, digests[0], len(records) if finished.text else None))
    for event, kept in state_log.kept_states(folder).items():
      yield _verified(kept, "a kept state", functools.partial(
          state_log.check_kept, folder, event, digests[0]))
  if finished.text:
    yield finished
  try:
    if run_dir.description(folder) is not None:
      yield Finding(folder / descriptions.FILE, WHOLE, "the description of the protocol")
  except ValueError as error:
    yield Finding(folder / descriptions.FILE, AGAIN, f"{snapshots.reason(error)}; the same command "
                  "writes it again", (folder / descriptions.FILE,))
  if (folder / _ENCODER).exists():
    from suite.state import encoder_file
    yield _verified(folder / encoder_file.WEIGHTS, "an encoder",
                    functools.partial(encoder_file.load, folder))
  for part in ("", "state/events", "state/progress", "weights", "predictions"):
    yield from _left_over(folder / part)


def _of_records(path: pathlib.Path, records: list[dict[str, Any]], identity: str, problem: str,
                usable: list[int], summary: pathlib.Path) -> Finding:
  if problem and usable:  # A run with a summary would not go on.
    return Finding(path, AGAIN, f"{problem.split('. ')[0]}; the same command repeats what comes "
                   "after the last snapshot that is intact", (summary,) if summary.exists() else ())
  if problem:
    return Finding(path, DAMAGED, f"{problem.split('. ')[0]}; {_START_AGAIN}")
  text = f"{len(records)} records"
  if records and b'"digest"' not in path.read_bytes():
    text += " without digests, by an earlier version: a change in them is not found"
  elif records and not identity:
    text += " by an earlier version, which does not say whose they are"
  return Finding(path, WHOLE, text)


def _summary(folder: pathlib.Path, *, is_whole: bool) -> Finding:
  """What `summary.json` holds; without a text if it is not there."""
  path = folder / run_dir.SUMMARY
  try:
    found = run_dir.read_json(path)
    return Finding(path, WHOLE if found else AGAIN, "the run has finished" if found else "")
  except ValueError as error:
    if is_whole:
      return Finding(path, AGAIN, f"{snapshots.reason(error)}; the same command makes it from the "
                     "records", (path,))
    return Finding(path, DAMAGED, f"{snapshots.reason(error)}; {_START_AGAIN}")


def _verified(path: pathlib.Path, what: str, load: Callable[[], Any]) -> Finding:
  try:
    load()
  except Exception as error:  # Decoders raise errors of many kinds on damaged files.
    problem = (str(error).splitlines() or [type(error).__name__])[0].replace(str(path), "it")
    return Finding(path, DAMAGED, problem)
  return Finding(path, WHOLE, what)
