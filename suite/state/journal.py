# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The finished steps of an interrupted event, so that running it again repeats none of them.

A learner wraps each expensive step of an event in `once`; long training saves its position with
`save_partial`. Each save also holds the ledger, so nothing is charged twice.

Plain JSON values: what needs no conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import json
import math
from typing import Any, NamedTuple

from absl import logging
import numpy as np

from suite.compute import ledger as ledger_lib
from suite.state import snapshots as snapshots_lib


class Partial(NamedTuple):
  """The state inside a step: plain values and arrays."""

  values: dict[str, Any]
  arrays: dict[str, np.ndarray]


class Journal:
  """The finished steps of one event.

  Args:
    event: its number.
    ledger: saved with the steps.
    snapshots: where they are saved; None: only in memory.
    agreed: gives all processes of a run the chief's value, see `Distribution.agreed`.
    run: the identity of the run; steps of another run are not taken over.

  Attributes:
    is_resumed: whether the event was begun before, and some of its steps are done and charged.
  """

  def __init__(
      self,
      event: int,
      ledger: ledger_lib.Ledger,
      snapshots: snapshots_lib.Snapshots | None = None,
      agreed: Callable[[Any], Any] = lambda value: value,
      run: str = "",
  ):
    self._event, self._ledger, self._snapshots, self._run = event, ledger, snapshots, run
    self._agreed = agreed
    self._done: dict[str, Any] = {}
    self._partial_key: str | None = None
    self._partial: Partial | None = None
    self.is_resumed = False
    if snapshots is None:
      return
    snapshots.sweep()
    try:
      found = snapshots.read()
    except snapshots_lib.DamagedError as error:  # Nothing is lost but time.
      logging.warning("%s Until then the event begins again.", error)
      snapshots.clear()
      found = None
    if found is not None and run and found.values.get("run", run) != run:
      logging.warning("The finished steps in %s belong to another run, of another configuration or "
                      "learner; they are removed, and the event begins again.", snapshots.folder)
      snapshots.clear()
    elif found is not None and found.values["event"] != event:
      snapshots.clear()  # Left from an event that was committed since.
    elif found is not None:
      self._done, partial = found.values["done"], found.values["partial"]
      ledger.restore(found.values["ledger"])
      self.is_resumed = True
      if partial is not None:
        self._partial_key = partial["key"]
        self._partial = Partial(partial["values"], found.arrays)

  def unwritten(self, ledger: ledger_lib.Ledger) -> Journal:
    """One with the same finished steps that saves nothing, for a rehearsal with this ledger."""
    found = Journal(self._event, ledger)
    found._done, found.is_resumed = dict(self._done), self.is_resumed
    found._partial_key, found._partial = self._partial_key, self._partial
    return found

  def once(self, key: str, fn: Callable[[], Any]) -> Any:
    """Returns fn() of the chief, or its value from before the event was interrupted.

    Args:
      key: names the step within the event.
      fn: returns plain JSON values; arrays go to the weight store inside it.
    """
    return self._done[key] if key in self._done else self.keep(key, fn())

  def keep(self, key: str, value: Any) -> Any:
    """Ends step `key`, and returns its value as a resumed run will see it; see `once`."""
    # Through JSON on the first run too: a resumed run must see the same value.
    self._done[key] = self._agreed(json.loads(json.dumps(value)))
    self._partial_key = self._partial = None
    self._write()
    return self._done[key]

  def value(self, key: str) -> Any:
    """The value of the finished step `key`."""
    return self._done[key]

  def has(self, key: str) -> bool:
    """Whether step `key` is finished."""
    return key in self._done

  def partial(self, key: str) -> Partial | None:
    """The state of step `key` when the event was interrupted, or None."""
    return self._partial if self._partial_key == key else None

  def save_partial(
      self, key: str, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Saves the state inside step `key`, in place of what was saved before."""
    self._partial_key, self._partial = key, Partial(dict(values), dict(arrays))
    self._write()

  def _write(self) -> None:
    if self._snapshots is None:
      return
    partial, arrays = None, {}
    if self._partial is not None:
      partial = {"key": self._partial_key, "values": self._partial.values}
      arrays = self._partial.arrays
    self._snapshots.write({"event": self._event, "run": self._run, "done": self._done,
                           "partial": partial, "ledger": self._ledger.snapshot()}, arrays)


def are_plain(values: Sequence[Any]) -> bool:
  """Whether all values are of one plain type; False if that is not determined quickly.

  Records of sequences have lists with one value per sample.
  """
  types = set(map(type, values))
  return (types <= {int, str, bool, type(None)}
          or types == {float} and math.isfinite(sum(values)))
