# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Several child processes for one command, some at a time, each with a log file.

A job's log file is locked as long as its process lives, so that the same command, given again in
another shell or on another machine that sees the same folder, takes the jobs that nobody works on.

Jobs may share the GPUs of this machine out: each one sees its own only, by CUDA_VISIBLE_DEVICES.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import (
  NamedTuple,
)

from absl import logging

from suite.system import file_lock

FINISHED, FAILED, ELSEWHERE = "finished", "failed", "runs elsewhere"
VISIBLE, GROWTH = "CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH"
_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 20.0
_NO_LIMIT = 10_000  # Columns.
# Linux sends a process a signal when its parent ends (prctl, PR_SET_PDEATHSIG), also after exec.
_ENDS_WITH_ITS_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() == int(sys.argv[1]):
  os.execvp(sys.argv[2], sys.argv[2:])
"""


class Terminated(KeyboardInterrupt):
  """The process was told to end by SIGTERM."""


class Job(NamedTuple):
  """A command to run.

  Attributes:
    name: shown in messages. command: program and arguments.
    log: the file for its output; earlier attempts stay in it.
    is_finished: whether its result exists, so that there is nothing to do; None: exit code 0 is all
      that a result needs.
    gpus: number of GPUs that it sees where several jobs run at a time, the least used ones of
      `visible_gpus`; 0: all of them. A job that runs alone sees all of them, too.
    folder: in which it writes, and no other job does; None: not known.
  """

  name: str
  command: Sequence[str]
  log: pathlib.Path
  is_finished: Callable[[], bool] | None = None
  gpus: int = 0
  folder: pathlib.Path | None = None


class Outcome(NamedTuple):
  """The end of a job: its state, how long it ran here, and why it failed ("" if it did not)."""

  job: Job
  state: str
  reason: str = ""
  seconds: float = 0.0


class _Process(NamedTuple):
  job: Job
  process: subprocess.Popen
  first_byte: int  # Of this attempt's output in the log.
  began: float
  gpus: tuple[str, ...]


def visible_gpus() -> list[str]:
  """The GPUs that a process started here may use, as CUDA_VISIBLE_DEVICES names them.

  They are those of that variable, up to the first that is none, as CUDA reads it; else those that
  nvidia-smi lists, by identifiers, since CUDA may number them in another order. Of a GPU that is
  divided (MIG), its instances.
  """
  given = os.environ.get(VISIBLE)
  if given is not None:
    names = [name.strip() for name in given.split(",")]
    end = next((i for i, name in enumerate(names) if name in ("", "-1", "NoDevFiles")), len(names))
    return names[:end]
  try:
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True,
                            timeout=_PATIENCE_SECONDS).stdout
  except (OSError, subprocess.SubprocessError):
    return []
  # "GPU 0: NVIDIA H100 (UUID: GPU-...)", and below it "  MIG 1g.10gb Device 0: (UUID: MIG-...)".
  names = []
  for kind, name in re.findall(r"^\s*(GPU|MIG)\b.*\(UUID: ([^)\s]+)\)", listed, re.MULTILINE):
    if kind == "MIG" and names and names[-1].startswith("GPU-"):
      names.pop()
    names.append(name)
  return names


def gpu_memory() -> int | None:
  """Bytes of memory of the first of `visible_gpus`; None if nvidia-smi does not tell them."""
  try:
    told = subprocess.run(
        ["nvidia-smi", "-i", visible_gpus()[0], "--query-gpu=memory.total",
         "--format=csv,noheader,nounits"],
        capture_output=True, text=True, check=True, timeout=_PATIENCE_SECONDS).stdout
    return int(told) << 20
  except (OSError, subprocess.SubprocessError, IndexError, ValueError):  # MIG: "[N/A]".
    return None


def least_used(gpus: Sequence[str], used: Sequence[tuple[str, ...]], number: int
               ) -> tuple[str, ...]:
  """The `number` GPUs for the next job: those of the fewest running jobs, the first of equals.

  Jobs that take equally long so get them in turn, round robin.

  Args:
    gpus: those of this machine.
    used: those of each running job.
    number: of them for the job; 0, or no GPUs: the result is empty, and it sees all.
  """
  counts = collections.Counter(name for names in used for name in names)
  chosen = sorted(range(len(gpus)), key=lambda i: (counts[gpus[i]], i))[:number]
  return tuple(gpus[i] for i in sorted(chosen))


def say(line: str) -> None:
  """Logs a line; where log lines are not shown, as from Python, it goes to stderr."""
  if logging.level_info():
    logging.info("%s", line)
  else:
    sys.stderr.write(f"{line}\n")


def run_all(jobs: Sequence[Job], at_once: int, say: Callable[[str], None] = say) -> list[Outcome]:
  """Runs jobs in their order, `at_once` at a time, past failures; outcomes in the order of jobs.

  If this process is interrupted or told to end, it ends those it has started, then itself.

  Args:
    jobs, at_once: see above.
    say: is told, in a line, which job begins and which has ended.

  Raises:
    ValueError: this machine has GPUs, but fewer than a job needs.
  """
  needed = max((job.gpus for job in jobs), default=0)
  gpus = visible_gpus() if needed and at_once > 1 else []
  if 0 < len(gpus) < needed:
    raise ValueError(
        f"Each of {at_once} processes was to have {needed} GPUs, and this machine has {len(gpus)} "
        f"({', '.join(gpus)}). Give fewer --devices, or another {VISIBLE}.")
  waiting: collections.deque[Job] = collections.deque(jobs)
  running: list[_Process] = []
  outcomes: dict[str, Outcome] = {}
  with ended_like_interrupted():
    try:
      while waiting or running:
        while waiting and len(running) < at_once:
          job = waiting.popleft()
          own = least_used(gpus, [one.gpus for one in running], job.gpus)
          environment = dict(os.environ)
          if at_once > 1:  # Else the first one takes all of a GPU's memory.
            environment.setdefault(GROWTH, "true")
          if own:
            environment[VISIBLE] = ",".join(own)
          started = _start(job, environment, own)
          if started is None:
            outcomes[job.name] = Outcome(job, FINISHED if _has_result(job) else ELSEWHERE)
          else:
            where = f" on GPU {', '.join(started.gpus)}" if started.gpus else ""
            say(f"{job.name}: begins ({job.log}){where}.")
            running.append(started)
        for one in [one for one in running if one.process.poll() is not None]:
          running.remove(one)
          outcome = outcomes[one.job.name] = _outcome(one)
          say(f"{one.job.name}: {outcome.state}; {len(waiting) + len(running)} of {len(jobs)} to "
              "go.")
        time.sleep(_POLL_SECONDS if running else 0)
    finally:
      _end(running)
  return [outcomes[job.name] for job in jobs]


def run_one(job: Job, environment: Mapping[str, str], patience: float = 0.0) -> Outcome:
  """Runs one job and waits for its end; if this process is killed, the job's is told to end.

  Args:
    job: its GPUs are those that the environment names.
    environment: of its process.
    patience: seconds to wait for another process that runs the job, such as one whose node has just
      been lost.
  """
  deadline = time.monotonic() + patience
  with ended_like_interrupted():
    while True:
      one = _start(job, environment, prefix=[
          sys.executable, "-c", _ENDS_WITH_ITS_PARENT, str(os.getpid())])
      if one is not None:
        break
      if _has_result(job) or time.monotonic() >= deadline:
        return Outcome(job, FINISHED if _has_result(job) else ELSEWHERE)
      time.sleep(min(1.0, patience))
    try:
      one.process.wait()
    finally:
      _end([one])
  return _outcome(one)


def _start(job: Job, environment: Mapping[str, str], gpus: tuple[str, ...] = (),
           prefix: Sequence[str] = ()) -> _Process | None:
  """None if there is nothing to do here: it is finished by now, or runs elsewhere."""
  job.log.parent.mkdir(parents=True, exist_ok=True)
  with open(job.log, "ab") as log:
    if not file_lock.try_lock(log):
      return None
    if _has_result(job):  # Elsewhere, since this was planned.
      return None
    log.write(f"$ {shlex.join(job.command)}\n".encode())
    log.flush()
    first_byte = log.tell()
    # The process inherits the open file and with it the lock: it is held as long as one of the two
    # lives, so nobody starts the job again beside a process that has outlived its parent.
    process = subprocess.Popen([*prefix, *job.command], stdin=subprocess.DEVNULL, stdout=log,
                               stderr=log, env=environment)
  return _Process(job, process, first_byte, time.monotonic(), gpus)


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
    lines = [x for x in log.read().decode(errors="replace").splitlines() if x.strip()]
  prefixes = "suite: ", f"{one.job.name}: "
  errors = [line for line in lines if line.startswith(prefixes)]
  reason = (errors or lines or [f"ended with {code}"])[-1]
  for prefix in prefixes:
    reason = reason.removeprefix(prefix)
  if unexpected := re.fullmatch(r"unexpected (\w+), see above", reason):  # Above in the log.
    told = rf"([\w.]+\.)?{unexpected[1]}: "
    reason = next((line for line in reversed(lines) if re.match(told, line)), reason)
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

  told = threading.Event()

  def interrupt(number, frame):
    del number, frame
    told.set()
    raise Terminated

  before = signal.signal(signal.SIGTERM, interrupt)
  try:
    yield
  except Exception as error:
    if told.is_set():  # TensorFlow's C++ has swallowed it, and stumbled over what it took for true.
      raise Terminated from error
    raise
  finally:
    signal.signal(signal.SIGTERM, before)


def terminal_width() -> int:
  """Columns of the terminal, or of $COLUMNS; without a limit where neither says, as in a pipe."""
  return shutil.get_terminal_size((_NO_LIMIT, 24)).columns
