# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A process that trains trials of a run which another process, the chief, writes.

It runs the protocol from the chief's last saved state, in a temporary folder, as far as the search
that is open, so it has the same learner, data and weights. There the search's queue gives it trials
until the search is over; nothing else of the run is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import gc
import pathlib
import time
from typing import Any, Protocol

from absl import logging

from suite.protocols import run_state
from suite.state import trial_queue
from suite.system import file_lock

_POLL_SECONDS = 0.5
_ATTEMPTS = 3  # To read the state of a run that is being written.


def queue_folder(folder: pathlib.Path) -> pathlib.Path:
  """The folder of the trials of a learner's run."""
  return folder / "state" / "search"


class MakeState(Protocol):
  """Makes a state that follows a run."""

  def __call__(self, folder: pathlib.Path, *, name: str, trials: trial_queue.TrialQueue
               ) -> run_state.RunState:
    """See `RunState`."""


def help_until_free(
    lock: pathlib.Path, learners: Mapping[str, Callable[[], Any]],
    protocol: Callable[..., Any], make_state: MakeState, check: Callable[[], None]) -> None:
  """Trains trials of the run in the lock's folder until no process holds the lock.

  Args:
    lock: the chief's.
    learners, protocol: as the chief's.
    make_state: see there.
    check: raises an error if this process is not configured as the chief.
  """
  def is_free() -> bool:
    return file_lock.is_free(lock)

  logging.info("%s runs here; this process trains trials of its searches.", lock.parent)
  while not is_free():
    for name, make in learners.items():
      folder = lock.parent / name
      queue = trial_queue.TrialQueue(queue_folder(folder), chief_has_ended=is_free)
      if queue.opened() is not None:
        check()
        def run(make: Any = make, folder: pathlib.Path = folder, name: str = name,
                queue: trial_queue.TrialQueue = queue) -> None:
          protocol(make(), state=make_state(folder, name=name, trials=queue))

        _help(queue, run)
        gc.collect()  # The learner's graphs: the next search makes a new one.
    time.sleep(_POLL_SECONDS)


def _help(queue: trial_queue.TrialQueue, run: Callable[[], None]) -> None:
  """Runs the protocol up to the open search, and helps there."""
  for left in reversed(range(_ATTEMPTS)):
    opened = queue.opened()
    try:
      run()
    except trial_queue.Released:
      return
    except Exception as error:  # A file of the state may have been replaced while it was read.
      if queue.opened() != opened or opened is None:
        logging.info("The search has ended meanwhile (%s).", type(error).__name__)
        return
      if not left:
        raise
