# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Several child processes for one command, some at a time, each with a log file.

A job's log file is locked as long as its process lives, so that the same command, given again in
another shell or on another machine that sees the same folder, takes the jobs that nobody works on.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import threading
import time
from typing import Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Sequence

from absl import logging

from suite.system import file_lock

FINISHED, FAILED, ELSEWHERE = "finished", "failed", "runs elsewhere"
_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 20.0


class Terminated(KeyboardInterrupt):
  """The process was told to end by SIGTERM."""


class Job(NamedTuple):
  """A command to run.

  Attributes:
    name: shown in messages. command: program and arguments.
    log: the file for its output; earlier attempts stay in it.
    is_finished: whether its result exists, so that there is nothing to do; None: exit code 0 is all
      that a result needs.
  """

  name: str
  command: Sequence[str]
  log: pathlib.Path
  is_finished: Optional[Callable[[], bool]] = None


class Outcome(NamedTuple):
  """The end of a job: its state, how long it ran here, and why it failed ("" if it did not)."""

  job: Job
  state: str
  reason: str = ""
  seconds: float = 0.0


class _Process(NamedTuple):
  job: Job
  process: subprocess.Popen
  first_byte: int  # Of this attempt in the log.
  began: float


def run_all(jobs: Sequence[Job], at_once: int) -> List[Outcome]:
  """Runs jobs in their order, `at_once` at a time, past failures; outcomes in the order of jobs.

  If this process is interrupted or told to end, it ends those it has started, then itself.
  """
  waiting: Deque[Job] = collections.deque(jobs)
  running: List[_Process] = []
  outcomes: Dict[str, Outcome] = {}
  with ended_like_interrupted():
    try:
      while waiting or running:
        while waiting and len(running) < at_once:
          job = waiting.popleft()
          started = _start(job, at_once)
          if started is None:
            outcomes[job.name] = Outcome(job, FINISHED if _has_result(job) else ELSEWHERE)
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
    if not file_lock.try_lock(log):
      return None
    if _has_result(job):  # Elsewhere, since this was planned.
      return None
    first_byte = log.tell()
    log.write(f"$ {shlex.join(job.command)}\n".encode())
    log.flush()
    # The process inherits the open file and with it the lock: it is held as long as one of the two
    # lives, so nobody starts the job again beside a process that has outlived its parent.
    process = subprocess.Popen(job.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               env=environment)
  return _Process(job, process, first_byte, time.monotonic())


def _has_result(job: Job) -> bool:
  return job.is_finished is not None and job.is_finished()


def _outcome(one: _Process) -> Outcome:
  code, seconds = one.process.returncode, time.monotonic() - one.began
  if code == 0 and (one.job.is_finished is None or one.job.is_finished()):
    return Outcome(one.job, FINISHED, seconds=seconds)
  if code < 0:
    return Outcome(one.job, FAILED, f"ended by signal {-code}", seconds)
  # The reason is the last line that names an error as the command `suite` does, else the last line.
  with open(one.job.log, "rb") as log:
    log.seek(one.first_byte)
    lines = [x for x in log.read().decode(errors="replace").splitlines()[1:] if x.strip()]
  prefixes = "suite: ", f"{one.job.name}: "
  errors = [line for line in lines if line.startswith(prefixes)]
  reason = (errors or lines or [f"ended with {code}"])[-1]
  for prefix in prefixes:
    reason = reason.removeprefix(prefix)
  return Outcome(one.job, FAILED, reason, seconds)


def _end(running: Sequence[_Process]) -> None:
  """Ends the processes; their state on disk is complete at any time."""
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
def ended_like_interrupted() -> Iterator[None]:
  """SIGTERM, which a cluster sends, works like ctrl-C meanwhile: it raises `Terminated`."""
  if threading.current_thread() is not threading.main_thread():
    yield  # Python lets only the main thread set handlers.
    return

  def interrupt(number, frame):
    del number, frame
    raise Terminated

  before = signal.signal(signal.SIGTERM, interrupt)
  try:
    yield
  finally:
    signal.signal(signal.SIGTERM, before)
