# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Builds of several data sets by one command, in this process or in several."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import pathlib
import sys
import tempfile
import time
from typing import Callable

from suite.system import processes

Build = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class BuildOutcome:
  """Result of one build; `problem` is "" if the data set is prepared."""

  name: str
  seconds: float
  problem: str = ""


def one_by_one(names: Sequence[str], build: Build, say: Callable[[str, Exception], str]
               ) -> list[BuildOutcome]:
  """Builds in this process, past failures; `say` reports a failure and returns its line."""
  outcomes = []
  for name in names:
    began = time.monotonic()
    problem = ""
    try:
      build(name)
    except Exception as error:  # A dead link must not keep the others from being built.
      problem = say(name, error)
    outcomes.append(BuildOutcome(name, time.monotonic() - began, problem))
  return outcomes


def in_processes(names: Sequence[str], flags: Sequence[str], jobs: int,
                 command: Sequence[str] | None = None) -> list[BuildOutcome]:
  """Builds `jobs` data sets at a time, each in a separate process.

  If this is interrupted, the processes are stopped; unfinished data sets are not prepared.

  Args:
    names: names of the data sets.
    flags: of `suite data build`, passed on.
    jobs: processes at a time.
    command: what to run before NAME and the flags; None: this suite.
  """
  command = command or [sys.executable, "-m", "suite.cli", "data", "build"]
  with tempfile.TemporaryDirectory() as logs:
    outcomes = processes.run_all([
        processes.Job(name, [*command, name, *flags], pathlib.Path(logs, f"{number}.log"))
        for number, name in enumerate(names)], jobs)
  return [BuildOutcome(one.job.name, one.seconds, one.reason) for one in outcomes]
