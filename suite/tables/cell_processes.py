# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Many runs for one command, some at a time, each a process of its own with its own log file.

A job's log file is locked as long as its process lives, so that the same command, given again in
another shell or on another machine that sees the same folder, takes the jobs that nobody works on.
"""

from __future__ import annotations

import collections
import contextlib
import fcntl
import os
import pathlib
import shlex
import signal
import subprocess
import threading
import time
from typing import Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Sequence

from absl import logging

FINISHED, FAILED, ELSEWHERE = "finished", "failed", "runs elsewhere"
_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 20.0


class Job(NamedTuple):
  """What to run.

  Attributes:
    name: for people. command: program and arguments.
    log: the file that gets what it says; earlier attempts stay in it.
    is_finished: whether there is nothing to do.
  """

  name: str
  command: Sequence[str]
  log: pathlib.Path
  is_finished: Callable[[], bool]


class Outcome(NamedTuple):
  """What became of a job; `reason` is what it said last, if it failed."""

  job: Job
  state: str
  reason: str = ""


class _Process(NamedTuple):
  job: Job
  process: subprocess.Popen
  first_byte: int  # Of this attempt in the log.


def run_all(jobs: Sequence[Job], at_once: int) -> List[Outcome]:
  """Runs jobs in their order, `at_once` at a time, past failures; outcomes in the order of jobs.

  If this process is interrupted or told to end, it ends those it has started, then itself.
  """
  waiting: Deque[Job] = collections.deque(jobs)
  running: List[_Process] = []
  outcomes: Dict[str, Outcome] = {}
  with _ended_like_interrupted():
    try:
      while waiting or running:
        while waiting and len(running) < at_once:
          job = waiting.popleft()
          started = _start(job, at_once)
          if started is None:
            outcomes[job.name] = Outcome(job, FINISHED if job.is_finished() else ELSEWHERE)
          else:
            logging.info("%s: begins (%s).", job.name, job.log)
            running.append(started)
        for one in [one for one in running if one.process.poll() is not None]:
          running.remove(one)
          outcome = outcomes[one.job.name] = _outcome(one)
          logging.info("%s: %s; %d of %d to go.", one.job.name, outcome.state,
                       len(waiting) + len(running), len(jobs))
        time.sleep(_POLL_SECONDS if running else 0)
    finally:
      _end(running)
  return [outcomes[job.name] for job in jobs]


def _start(job: Job, at_once: int) -> Optional[_Process]:
  """None if there is nothing to do here: it is finished by now, or runs elsewhere."""
  job.log.parent.mkdir(parents=True, exist_ok=True)
  environment = dict(os.environ)
  if at_once > 1:  # Else the first one takes all of a GPU's memory.
    environment.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
  with open(job.log, "ab") as log:
    try:
      fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
      return None
    if job.is_finished():  # Elsewhere, since this was planned.
      return None
    first_byte = log.tell()
    log.write(f"$ {shlex.join(job.command)}\n".encode())
    log.flush()
    # The process inherits the open file and with it the lock: it is held as long as one of the two
    # lives, so nobody starts the job again beside a process that has outlived its parent.
    process = subprocess.Popen(job.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               env=environment)
  return _Process(job, process, first_byte)


def _outcome(one: _Process) -> Outcome:
  code = one.process.returncode
  if code == 0 and one.job.is_finished():
    return Outcome(one.job, FINISHED)
  with open(one.job.log, "rb") as log:
    log.seek(one.first_byte)
    lines = log.read().decode(errors="replace").splitlines()[1:]
  said = [line for line in lines if line.startswith("suite: ")] or [x for x in lines if x.strip()]
  ended = f"ended by signal {-code}" if code < 0 else f"ended with {code}"
  return Outcome(one.job, FAILED, said[-1].removeprefix("suite: ") if said and code >= 0 else ended)


def _end(running: Sequence[_Process]) -> None:
  """Their state on disk is whole at any time, so nothing has to be waited for."""
  for one in running:
    one.process.terminate()
  deadline = time.monotonic() + _PATIENCE_SECONDS
  for one in running:
    try:
      one.process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
      one.process.kill()
      one.process.wait()


@contextlib.contextmanager
def _ended_like_interrupted() -> Iterator[None]:
  """SIGTERM, which a cluster sends, works like ctrl-C meanwhile."""
  if threading.current_thread() is not threading.main_thread():
    yield  # Python lets only the main thread set handlers.
    return

  def interrupt(number, frame):
    del number, frame
    raise KeyboardInterrupt

  before = signal.signal(signal.SIGTERM, interrupt)
  try:
    yield
  finally:
    signal.signal(signal.SIGTERM, before)
