# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs that stop where a test wants them to, and what they have recorded.

`import stopped_runs`: setup.cfg has this folder on the tests' path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import functools
import pathlib
from typing import Any

from suite.compute import distribution
from suite.compute import ledger
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records as records_lib
from suite.reporting import run_writer


class Stop(Exception):
  """Ends a run as a killed process would."""


def stopping(function: Callable[..., Any], is_time: Callable[..., bool] = lambda *_: True, *,
             after: bool = False) -> Callable[..., Any]:
  """`function`, which raises Stop in place of a call, or after it, if `is_time(*arguments)`."""

  @functools.wraps(function)
  def stopped(*arguments, **named):
    stops = is_time(*arguments)
    if stops and not after:
      raise Stop
    found = function(*arguments, **named)
    if stops:
      raise Stop
    return found

  return stopped


@contextlib.contextmanager
def state(folder: pathlib.Path, *, stop_before: int | None = None,
          stop_uncommitted: int | None = None, stop_after: int | None = None,
          on: distribution.Distribution | None = None, budget: str = "", seed: int = 5
          ) -> Iterator[run_state.RunState]:
  """The state of a run in `folder`; one of the arguments says where it stops, if at all.

  Args:
    folder: of the run; what is there is resumed.
    stop_before: the event that does not begin.
    stop_uncommitted: the event that is worked through but not committed.
    stop_after: the number of committed events.
    on: the devices; None: one.
    budget: see `ledger.Budget.parse`; "": none. seed: of the run.
  """
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  try:
    found = run_state.RunState(folder, writer, name="x", seed=seed,
                               distribution=on or distribution.build(),
                               budget=ledger.Budget.parse(budget) if budget else None)
    found.context = stopping(found.context, lambda *_: found.done == stop_before)
    commit = stopping(found.commit, lambda *_: found.done == stop_uncommitted)
    found.commit = stopping(commit, lambda *_: found.done + 1 == stop_after, after=True)
    yield found
  finally:
    writer.close()


def records(folder: pathlib.Path) -> list[dict[str, Any]]:
  """The records of a run without times."""
  return records_lib.strip_times(records_lib.read(folder / "records.jsonl"))
