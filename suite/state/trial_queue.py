# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The trials of a search, trained by one process or shared by several.

`InTurn` trains them one after the other. `TrialQueue` is a folder, in which the trials of a search
lie open to all processes that share the run:

  open.json              the search in progress: event, name, numbers and hyper-parameters of trials
  EVENT.NAME/3/lock      held by the process that trains trial 3; freed by the system when it ends
  EVENT.NAME/3/progress  the training in progress, from which another process resumes it
  EVENT.NAME/3/weights   the best weights
  EVENT.NAME/3/done.json the result and the cost; it exists last, and ends the trial

A trial is a function of the state before the search, of its number and its hyper-parameters, so
which process trains it changes nothing. The process that writes the run's records is the chief: it
opens the search, trains trials itself, and counts each result once, in the order of the trials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import pathlib
import shutil
import time
from typing import Any, NamedTuple

from absl import logging

from suite.compute import ledger
from suite.state import journal as journal_lib
from suite.state import snapshots
from suite.state import weight_store
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import sealed_json

_POLL_SECONDS = 0.5
_OPEN = "open.json"

Wave = Sequence[tuple[int, dict[str, Any]]]
# train(number, hyper-parameters, context) -> result.
Train = Callable[[int, dict[str, Any], Any], Mapping[str, Any]]


class Released(Exception):
  """The search that this process has helped with is over, or its chief has ended."""


class InTurn:
  """Trains the trials one after the other, within the event's own journal and ledger."""

  def run(self, name: str, train: Train, wave: Wave, context: Any) -> list[Mapping[str, Any]]:
    """Returns the results in the order of the wave; `name` is that of the search."""
    del name
    results = []
    for number, hyper in wave:
      results.append(train(number, hyper, context))
    return results


class _Search(NamedTuple):
  """The content of open.json."""

  event: int
  name: str
  trials: list[tuple[int, dict[str, Any]]]


class TrialQueue:
  """The chief's side, which is the same as that of its helpers but for opening and counting.

  Args:
    folder: see the module.
    chief_has_ended: given to helpers; None: this is the chief.
  """

  def __init__(self, folder: pathlib.Path, chief_has_ended: Callable[[], bool] | None = None):
    self._folder, self._chief_has_ended = pathlib.Path(folder), chief_has_ended

  def opened(self) -> _Search | None:
    """The search in progress."""
    found = sealed_json.load(self._folder / _OPEN, "search", f"Delete {self._folder}, and give the "
                             "same command again.", ["event", "name", "trials"], or_none=True)
    return _Search(found["event"], found["name"], [(n, hyper) for n, hyper in found["trials"]]
                   ) if found else None

  def close(self) -> None:
    """Ends the search: helpers leave, and what lies in the folder goes."""
    (self._folder / _OPEN).unlink(missing_ok=True)
    shutil.rmtree(self._folder, ignore_errors=True)

  def run(self, name: str, train: Train, wave: Wave, context: Any) -> list[Mapping[str, Any]]:
    """Returns the results in the order of the wave.

    Args:
      name: of the search, within the event.
      train: uses nothing of the context but what is given to it; its journal's key for a trial is
        `key(name, number)`.
      wave: numbers and hyper-parameters of the trials.
      context: of the event.

    Raises:
      Released: in a helper, when there is nothing to do any more.
    """
    journal = context.journal
    if self._chief_has_ended is not None:
      if not all(journal.has(key(name, number)) for number, _ in wave):
        self._help(name, train, context)
    else:
      for number, hyper in wave:  # Began in a process that did not share its trials.
        if journal.partial(key(name, number)) is not None:
          train(number, hyper, context)
      waiting = [one for one in wave if not journal.has(key(name, one[0]))]
      if waiting:
        search = _Search(context.event, name, waiting)
        for number, _ in waiting:
          atomic_files.make_folder(self._trial(search, number))
        snapshots.save_text(self._folder / _OPEN, sealed_json.text(search._asdict()))
        while not all((self._trial(search, n) / "done.json").exists() for n, _ in search.trials):
          if not self._train_one(search, train, context):
            time.sleep(_POLL_SECONDS)
        for number, _ in waiting:  # The run takes over each trial's cost, weights and result.
          folder = self._trial(search, number)
          done = sealed_json.load(folder / "done.json", "end of a trial", f"Delete {folder}: "
                                  "the trial is then trained again.", ["ledger", "result"])
          context.ledger.add(done["ledger"])
          context.store.adopt(weight_store.WeightStore(folder / "weights", context.event))
          journal.keep(key(name, number), done["result"])
    return [train(number, hyper, context) for number, hyper in wave]  # From the journal.

  def _trial(self, search: _Search, number: int) -> pathlib.Path:
    return (self._folder / f"{search.event:06d}.{weight_store.safe_name(search.name)}"
            / str(number))

  def _help(self, name: str, train: Train, context: Any) -> None:
    """Trains trials of the open search, wave after wave, until it is over."""
    assert self._chief_has_ended is not None
    while True:
      search = self.opened()
      if search is None or (search.event, search.name) != (context.event, name):
        raise Released
      try:
        trained = self._train_one(search, train, context)
      except OSError:
        if self.opened() == search:
          raise
        raise Released from None  # Its folder has gone meanwhile.
      if not trained:
        if self._chief_has_ended():
          raise Released
        time.sleep(_POLL_SECONDS)

  def _train_one(self, search: _Search, train: Train, context: Any) -> bool:
    """Trains the first trial that is not finished and that no process trains, if there is one.

    The trial has its own ledger, journal and weights, which lie in its folder.
    """
    for number, hyper in search.trials:
      folder = self._trial(search, number)
      if (folder / "done.json").exists():
        continue
      with open(folder / "lock", "a", encoding="utf-8") as file:
        if not file_lock.try_lock(file):
          continue
        if not (folder / "done.json").exists():  # It may have been finished before the lock.
          logging.info("This process trains trial %d of %s.", number, search.name)
          cost = ledger.Ledger()
          progress = snapshots.Snapshots(folder / "progress")
          own = dataclasses.replace(
              context, ledger=cost,
              store=weight_store.WeightStore(
                  folder / "weights", context.event, context.store.run),
              journal=journal_lib.Journal(context.event, cost, progress))
          result = train(number, hyper, own)
          snapshots.save_text(folder / "done.json", sealed_json.text(
              {"result": result, "ledger": cost.snapshot()}))
        return True
    return False


def key(name: str, number: int) -> str:
  """Names a trial in the journal of its event."""
  return f"{name}/trial{number}"
