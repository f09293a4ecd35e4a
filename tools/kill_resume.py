# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Kills a run at random moments, resumes it and compares its records with an uninterrupted run's.

  python tools/kill_resume.py quickstart --kills 10 --seed 0 [--gin_param X=Y ...] [--keep DIR]

Every kill is a SIGKILL of the whole process, after which the same command is run again. The
uninterrupted run gives the duration of each event; its length is divided into as many parts as
there are kills, and each kill falls at a random moment of its part. A moment is an event and a time
within it, so the work that a kill loses (start-up, tracing, the steps since the last save) does not
shift later kills. Records must be byte-equal without wall-clock times (keys that start with
"seconds"). The exit code is 0 if they are and all kills were made.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from suite.reporting import records

_MAX_SECONDS = 3600
_POLL_SECONDS = 0.01
_LAST = 0.98  # Share of the run in which kills fall: it must not end before the last one.


class Timeline(NamedTuple):
  """Seconds until the first event of an uninterrupted run, and of each event, in order."""

  startup: float
  events: list[float]


class Moment(NamedTuple):
  """A moment of a run: `seconds` after it has `records` records (-1: after its start)."""

  num_records: int
  seconds: float


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("run")
  parser.add_argument("--kills", type=int, default=10)
  parser.add_argument("--seed", type=int, default=0, help="seed of the moments of the kills")
  parser.add_argument("--gin_param", action="append", default=[])
  parser.add_argument("--keep", help="keep both work directories and logs in this new folder")
  args = parser.parse_args()
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(args.keep or scratch)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
      parser.error(f"--keep {folder} is not empty; give a new folder.")
    command = [sys.executable, "-m", "suite", "run", args.run]
    command += [part for p in args.gin_param for part in ("--gin_param", p)]
    whole, killed = (Run(command, folder / name) for name in ("whole", "killed"))
    timeline = whole.finish()
    seconds = timeline.startup + sum(timeline.events)
    print(f"undisturbed: {seconds:.1f} s, {len(timeline.events)} events", flush=True)
    kills = 0
    for moment in moments(timeline, args.kills, random.Random(args.seed)):
      kills += killed.kill_at(moment, timeline.startup)
    killed.finish()
    differences = compare(whole.workdir, killed.workdir)
  print(f"{kills} of {args.kills} kills in a run of {seconds:.0f} s: "
        + ("RECORDS DIFFER" if differences else "records identical"))
  print("\n".join(differences[:20]))
  return 0 if kills == args.kills and not differences else 1


def moments(timeline: Timeline, kills: int, draw: random.Random) -> list[Moment]:
  """Draws one random moment in each of `kills` equal parts of the run."""
  out = []
  total = _LAST * (timeline.startup + sum(timeline.events))
  for number in range(kills):
    left = (number + draw.random()) / kills * total - timeline.startup
    if left < 0:
      out.append(Moment(-1, left + timeline.startup))
      continue
    done = 0
    while done < len(timeline.events) - 1 and left >= timeline.events[done]:
      left -= timeline.events[done]
      done += 1
    out.append(Moment(done, left))
  return out


class Run:
  """One work directory and its command."""

  def __init__(self, command: list[str], workdir: pathlib.Path):
    self.workdir, self._log = workdir, workdir.with_suffix(".log")
    self._command = [*command, "--workdir", str(workdir)]
    self._kills = 0

  def finish(self) -> Timeline:
    """Runs to the end; the returned timeline is valid for a run that was never killed."""
    start = time.monotonic()
    process = self._start()
    self._wait_for(process, lambda: self._num_records() is not None)
    startup = time.monotonic() - start
    self._check(process.wait(timeout=_MAX_SECONDS))
    files = sorted(self._files(), key=lambda path: path.stat().st_mtime_ns)
    return Timeline(startup, [r["seconds_event"] for path in files for r in records.read(path)])

  def kill_at(self, moment: Moment, startup: float) -> bool:
    """Resumes until the moment and kills the process; False if the run ended before."""
    start = time.monotonic()
    process = self._start()
    if moment.num_records >= 0:
      # A resumed run has its records at once; its event continues when TensorFlow is loaded.
      self._wait_for(process, lambda: (time.monotonic() - start >= startup
                                       and (self._num_records() or 0) >= moment.num_records))
    try:
      self._check(process.wait(timeout=moment.seconds))
      return False
    except subprocess.TimeoutExpired:
      process.kill()
      process.wait()
    self._kills += 1
    print(f"kill {self._kills}: {time.monotonic() - start:.1f} s after its start, "
          f"{position(self.workdir)}", flush=True)
    return True

  def _start(self) -> subprocess.Popen:
    with open(self._log, "a", encoding="utf-8") as log:
      return subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)

  def _wait_for(self, process: subprocess.Popen, is_time) -> None:
    while process.poll() is None and not is_time():
      time.sleep(_POLL_SECONDS)

  def _check(self, code: int) -> None:
    if code:
      sys.exit(f"The run failed ({self._log}):\n"
               + "\n".join(self._log.read_text().splitlines()[-20:]))

  def _files(self) -> list[pathlib.Path]:
    return sorted(self.workdir.glob("*/records.jsonl"))

  def _num_records(self) -> int | None:
    """Number of records of all learners; None before the first one has begun."""
    files = self._files()
    return sum(path.read_bytes().count(b"\n") for path in files) if files else None


def position(workdir: pathlib.Path) -> str:
  """Describes the state of a run: records by learner, and the saved part of the current event."""
  found = sorted(workdir.glob("*/records.jsonl"))
  if not found:
    return "before its first event"
  current = max(found, key=lambda path: path.stat().st_mtime_ns).parent
  counts = []
  for path in found:
    counts.append(f"{path.parent.name} {len(path.read_bytes().splitlines())} records")
  if (current / "summary.json").exists():
    return f"{', '.join(counts)}; between two learners"
  inside = progress(current) or "with nothing saved inside its event"
  return f"{', '.join(counts)}; {current.name} {inside}"


def progress(folder: pathlib.Path) -> str | None:
  """Describes the saved part of a learner's current event; None if there is none."""
  for path in sorted((folder / "state" / "progress").glob("[0-9]*.json"), reverse=True):
    try:
      saved = json.loads(path.read_text().splitlines()[0])["values"]
    except (OSError, ValueError, IndexError):  # The running process replaces the file.
      continue
    inside = saved["partial"]
    step = f", step {inside['values'].get('step')} of {inside['key']}" if inside else ""
    return f"in event {saved['event']} with {len(saved['done'])} finished parts{step}"
  return None


def compare(first: pathlib.Path, second: pathlib.Path) -> list[str]:
  """Lists the differences between the records of two work directories, without times."""
  differences = []
  names = sorted(p.parent.name for p in first.glob("*/records.jsonl"))
  others = sorted(p.parent.name for p in second.glob("*/records.jsonl"))
  if names != others or not names:
    return [f"learners {names} and {others}"]
  for name in names:
    a, b = (records.strip_times(records.read(d / name / "records.jsonl")) for d in (first, second))
    # The text is compared, not the values: 1 and 1.0 are different bytes.
    if json.dumps(a) != json.dumps(b):
      found = records.diff(a, b) or ["order of keys"]
      differences += [f"{name}: {line}" for line in found]
  return differences


if __name__ == "__main__":
  sys.exit(main())
