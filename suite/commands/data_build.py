# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Many builds for one command: one after the other here, or several processes at a time."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import subprocess
import sys
import threading
import time
from typing import Callable, List, Optional, Sequence

Build = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What became of one data set; `problem` is "" if it is prepared."""

  name: str
  seconds: float
  problem: str = ""


def one_by_one(names: Sequence[str], build: Build, say: Callable[[str, Exception], str]
               ) -> List[Outcome]:
  """Builds in this process and goes on past failures; `say` tells of one, and returns its line."""
  outcomes = []
  for name in names:
    began = time.monotonic()
    problem = ""
    try:
      build(name)
    except Exception as error:  # A dead link must not keep the others from being built.
      problem = say(name, error)
    outcomes.append(Outcome(name, time.monotonic() - began, problem))
  return outcomes


def in_processes(names: Sequence[str], flags: Sequence[str], jobs: int,
                 command: Optional[Sequence[str]] = None) -> List[Outcome]:
  """Builds `jobs` data sets at a time, each in a process of its own.

  If this is interrupted, the processes are stopped; what they have not finished is not prepared.

  Args:
    names: of the data sets.
    flags: of `suite data build`, passed on.
    jobs: processes at a time.
    command: what to run before NAME and the flags; None: this suite.
  """
  command = command or [sys.executable, "-m", "suite.cli", "data", "build"]
  running: List[subprocess.Popen] = []
  lock, stopped = threading.Lock(), threading.Event()

  def build(name: str) -> Outcome:
    began = time.monotonic()
    with lock:
      if stopped.is_set():
        return Outcome(name, 0.0, "not begun")
      process = subprocess.Popen([*command, name, *flags], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, errors="replace")
      running.append(process)
    _, said = process.communicate()
    lines = [line for line in said.splitlines() if line.strip()]
    problem = "" if process.returncode == 0 else _reason(lines, process.returncode)
    return Outcome(name, time.monotonic() - began, problem)

  with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    try:
      return list(pool.map(build, names))
    except BaseException:
      stopped.set()
      with lock:
        for process in running:
          process.terminate()
      raise


def _reason(lines: Sequence[str], code: int) -> str:
  """The line in which a build says why it failed, else its last one."""
  said = [line for line in lines if line.startswith("suite: ")]
  return (said or list(lines) or [f"ended with {code}"])[-1 if not said else 0]
