# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Faults of runs: kills, damaged files, two processes, no space, no memory, a clock that jumps."""

from __future__ import annotations

from collections.abc import Iterator
import os
import pathlib
import random
import resource
import shutil
import signal
import time

import forked
import kill_resume
import outcomes

# Small runs: a stream with a search, buckets, a sequence. Their learners are trained in parts.
RUNS = {
    "nevis": ["quickstart", "--gin_param", "experiment.run.only=['ft_d']", "--gin_param",
              "digits.nevis_stream.num_tasks=2", "--gin_param", "STEPS=6", "--gin_param",
              "VALIDATE_EVERY=3", "--gin_param", "trainer.Trainer.save_every=2"],
    "clear": ["digits/clear", "--gin_param", "experiment.run.only=['ncm']"],
    "fluid": ["digits/fluid"],
}
KILLS_A_RUN = 3
DAMAGES = ("truncated", "emptied", "bit", "zeros", "deleted")


class Workload:
  """One small run, and what it gives if nothing happens to it."""

  def __init__(self, name: str, folder: pathlib.Path):
    self.name, self._folder = name, folder
    forked.import_runs()
    self.whole = folder / "whole"
    done = forked.run(self.command(self.whole))
    if done.code:
      raise RuntimeError(f"{name} fails without a fault:\n{done.output[-2000:]}")
    # Stopped in the middle, when a part of an event is saved.
    self.part = folder / "part"
    files = sum(1 for _ in self.whole.rglob("*"))
    child = forked.Child(self.command(self.part))
    while not child.ended() and sum(1 for _ in self.part.rglob("*")) < 0.7 * files:
      time.sleep(0.002)
    child.kill()
    child.finish()

  def command(self, workdir: pathlib.Path) -> list[str]:
    """Arguments of `suite`."""
    return ["run", *RUNS[self.name], "--workdir", str(workdir)]

  def fresh(self, name: str, like: pathlib.Path | None = None) -> pathlib.Path:
    """A new work directory, empty or a copy."""
    path = self._folder / name
    shutil.rmtree(path, ignore_errors=True)
    if like is not None:
      shutil.copytree(like, path, symlinks=True)
    return path

  def differs(self, workdir: pathlib.Path) -> list[str]:
    """Differences from the undisturbed run in records and saved predictions."""
    found = kill_resume.compare(self.whole, workdir)
    for path in sorted(self.whole.glob("*/predictions/*")):
      other = workdir / path.relative_to(self.whole)
      if not other.exists() or other.read_bytes() != path.read_bytes():
        found.append(f"{path.name} differs")
    return found

  def judge(self, kind: str, what: str, workdir: pathlib.Path, done: forked.Result
            ) -> outcomes.Fault:
    """The outcome of a run that was resumed to its end after a fault."""
    what = f"{self.name}: {what}"
    if done.code == 0:
      differences = self.differs(workdir)
      return outcomes.Fault(kind, what, outcomes.SILENT if differences else outcomes.SURVIVED,
                            "; ".join(differences[:3]))
    return outcomes.Fault(kind, what, outcomes.of_failure(done),
                          outcomes.last_line(done.output) or done.output[-300:])


def kills(load: Workload, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Kills one run several times, at the N-th call of a function or at any moment."""
  workdir = load.fresh("killed")
  said = []
  for _ in range(KILLS_A_RUN):
    if draw.random() < 0.75:
      place, owner, name = draw.choice(forked.CALLS)
      number = draw.randint(1, 40 if name in ("fsync", "replace") else 8)
      after = draw.random() < 0.5
      forked.run(load.command(workdir),
                 lambda o=owner, n=name, k=number, a=after: forked.die_at(o, n, k, after=a))
      said.append(f"{place}.{name} #{number} {'after' if after else 'before'}")
    else:
      seconds = draw.uniform(0.05, 4.0)
      child = forked.Child(load.command(workdir))
      time.sleep(seconds)
      child.kill()
      child.finish()
      said.append(f"{seconds:.2f} s")
  fault = load.judge("kills", ", ".join(said), workdir, forked.run(load.command(workdir)))
  yield from [fault] * KILLS_A_RUN


def damages(load: Workload, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Damages one file of a run that was stopped, then goes on with it."""
  workdir = load.fresh("damaged", load.part)
  path = draw.choice(sorted(p for p in workdir.rglob("*") if p.is_file()))
  how, saved = draw.choice(DAMAGES), path.read_bytes()
  spoil(path, how, draw)
  fault = load.judge("damaged file of a run", f"{path.relative_to(workdir)} {how}", workdir,
                     forked.run(load.command(workdir)))
  if fault.outcome == outcomes.REFUSED:  # The file from a copy makes the run whole again.
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(saved)
    again = load.judge("", "", workdir, forked.run(load.command(workdir)))
    if again.outcome != outcomes.SURVIVED:
      fault = fault._replace(outcome=outcomes.LOST, said=f"not put right: {again.said}")
  yield fault


def finished(load: Workload, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Damages one file of a finished run; `suite verify` must find what its report would show."""
  workdir = load.fresh("finished", load.whole)
  files = [p for p in workdir.rglob("*") if p.name in ("records.jsonl", "summary.json")
           or p.suffix == ".parquet"]
  path, how = draw.choice(sorted(files)), draw.choice(DAMAGES)
  spoil(path, how, draw)
  what = f"{load.name}: {path.relative_to(workdir)} {how}"
  done = forked.run(["verify", str(workdir)])
  if done.code == 0:  # Without its summary, say, a run is not finished: the same command ends it.
    yield load.judge("damaged file of a finished run", what, workdir,
                     forked.run(load.command(workdir)))
    return
  found = done.code == 1 and "Traceback" not in done.output
  yield outcomes.Fault("damaged file of a finished run", what,
                       outcomes.REFUSED if found else outcomes.TRACEBACK, done.output[-200:])


def two_processes(load: Workload, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Starts a second process in a work directory that has one."""
  workdir = load.fresh("two")
  first = forked.Child(load.command(workdir))
  time.sleep(draw.uniform(0.0, 2.0))
  running = not first.ended()
  second = forked.run(load.command(workdir))
  done = first.finish()
  fault = load.judge("two processes", "a second one", workdir, done)
  if running and second.code and not outcomes.is_one_line(second.output):
    fault = fault._replace(outcome=outcomes.TRACEBACK, said=second.output[-300:])
  yield fault


def shortages(load: Workload, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Runs with too little space or memory, or with a clock that jumps, then without."""
  kind = draw.choice(["no space", "no memory", "clock jumps"])
  if kind == "no space":
    amount = draw.choice([0, 100, 1_000, 10_000, 100_000])
    before, what = forked.limited(resource.RLIMIT_FSIZE, amount), f"files of {amount} bytes"
  elif kind == "no memory":
    amount = draw.randint(50, 400) << 20
    before, what = _memory(amount), f"{amount >> 20} MB more"
  else:
    seconds = draw.choice([-1e6, -3600.0, 3600.0, 1e6])
    before, what = forked.jumping_clock(seconds), f"by {seconds:.0f} s"
  workdir = load.fresh("short")
  first = forked.run(load.command(workdir), before)
  fault = load.judge(kind, what, workdir, forked.run(load.command(workdir)))
  # TensorFlow aborts where it cannot allocate; what counts is that the run can go on.
  crashed = first.code not in (0, 1, 2) and kind != "no memory"
  if crashed or ("Traceback" in first.output and kind == "no space"):
    fault = fault._replace(outcome=outcomes.TRACEBACK, said=first.output[-300:])
  yield fault


def interrupted(load: Workload, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Asks a run to end by SIGTERM or SIGINT."""
  workdir = load.fresh("interrupted")
  child = forked.Child(load.command(workdir))
  time.sleep(draw.uniform(0.2, 3.0))
  kind = draw.choice([signal.SIGTERM, signal.SIGINT])
  if not child.ended():
    os.kill(child.pid, kind)
  done = child.finish()
  fault = load.judge("asked to end", kind.name, workdir, forked.run(load.command(workdir)))
  if "Traceback" in done.output:
    fault = fault._replace(outcome=outcomes.TRACEBACK, said=done.output[-300:])
  yield fault


def spoil(path: pathlib.Path, how: str, draw: random.Random) -> None:
  """Damages a file."""
  data = bytearray(path.read_bytes())
  if how == "deleted":
    path.unlink()
  elif how == "emptied" or not data:
    path.write_bytes(b"")
  elif how == "truncated":
    path.write_bytes(data[:draw.randrange(len(data))])
  elif how == "bit":
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)
  else:
    start = draw.randrange(len(data))
    stop = min(len(data), start + draw.randint(1, 4096))
    data[start:stop] = bytes(stop - start)
    path.write_bytes(data)


def _memory(amount: int):
  def limit() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
      now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + amount, now + amount))

  return limit


KINDS = ((kills, 6), (damages, 6), (finished, 3), (two_processes, 1), (shortages, 2),
         (interrupted, 1))  # With how often each comes.
