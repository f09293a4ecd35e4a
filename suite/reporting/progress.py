# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Progress of a run: a bar on a terminal and in a notebook, plain lines elsewhere.

Each display shows the learner, the number and a description of the current event, and an estimate
of the remaining time (ETA): the mean duration of the finished events, times the number of events to
come. Lines go to the log of the command; scripts, which do not show it, write them to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping
import sys
import time
from typing import Any, TextIO

from suite.contracts import descriptions
from suite.metrics import schema
from suite.reporting import quantities
from suite.system import processes

_LOG_SECONDS = 10  # Between two lines of a log about one event.
_SHOWN = ("error", "accuracy", "validation_error")


class Progress:
  """Shows the progress of a run as lines.

  Args:
    name: of the learner, the prefix of each line.
    number, of: it is learner `number` of `of`.
    description: of the protocol, whose curve is shown, too.
  """

  def __init__(self, name: str, number: int = 1, of: int = 1,
               description: descriptions.ProtocolDescription | None = None):
    self._curve = description.curve if description else None
    self._name = name if of == 1 else f"{name} (learner {number} of {of})"
    self._place = ""  # Number and description of the event that goes on.
    self._first: int | None = None
    self._done = self._total = self._adds = 0
    self._began = self._logged = time.monotonic()

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    """Shows that a part of the run begins, after `done` of `total` units."""
    now = time.monotonic()
    if self._first is None:
      self._first, self._began, self._logged = done, now, now - _LOG_SECONDS
    self._place = _place(done, total, unit, what)
    self._done, self._total = done, total
    self._adds = 1 if unit == "event" else 0  # The end of another unit is not known here.
    if now - self._logged >= _LOG_SECONDS:
      self._logged = now
      processes.say(f"{self._name}: {self._place}{self._left(done)}")

  def _left(self, done: int) -> str:
    """The remaining time in words, after `done` units; "" if there is nothing to tell it from."""
    made = done - (self._first or 0)
    seconds = (time.monotonic() - self._began) * (self._total - done) / made if made > 0 else 0.0
    return f"; about {quantities.duration(seconds)} left" if seconds >= 1.0 else ""

  def point(self, values: Mapping[str, Any]) -> None:
    """Shows a point within an event: "step" of "steps", and other values."""
    now = time.monotonic()
    if now - self._logged >= _LOG_SECONDS:
      self._logged = now
      processes.say(f"{self._name}: {self._place}: {_point(values)}")

  def event(self, record: Mapping[str, Any]) -> None:
    """Shows a finished event."""
    shown = [f"{key} {_short(record[key])}" for key in _SHOWN if key in record]
    if self._curve is not None and self._curve.y not in _SHOWN and (
        value := self._curve.value(record)) is not None:
      shown.insert(0, f"{self._curve.y_text.lower()} {_short(value)}")
    seconds = record.get(schema.SECONDS_EVENT)
    shown += [] if seconds is None else [quantities.duration(seconds)]
    # A protocol of the user may not say where it is.
    what = " ".join(str(record[key]) for key in (schema.KIND, schema.TASK_KEY) if key in record)
    place = self._place or f"event {record[schema.EVENT] + 1:,}, {what}"
    self._logged = time.monotonic()
    processes.say(f"{self._name}: {place}: {', '.join(shown)}{self._left(self._done + self._adds)}")

  def close(self) -> None:
    """Ends the display."""


class Silent(Progress):
  """Shows nothing."""

  def __init__(self) -> None:
    super().__init__("")

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    pass

  def point(self, values: Mapping[str, Any]) -> None:
    pass

  def event(self, record: Mapping[str, Any]) -> None:
    pass


class Bar(Progress):
  """A bar of events on a terminal, behind it the step and the last values.

  Args:
    name, number, of, description: as of `Progress`.
    stream: the terminal.
  """

  def __init__(self, name: str, number: int = 1, of: int = 1,
               description: descriptions.ProtocolDescription | None = None, *,
               stream: TextIO | None = None):
    super().__init__(name, number, of, description)
    from tqdm import std
    self._what = ""
    self._bar = std.tqdm(total=0, desc=self._name, leave=False, file=stream or sys.stderr,
                         dynamic_ncols=True, disable=False)

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    self._place, self._what = _place(done, total, unit, what), what
    if self._bar.total != total:
      self._bar.reset(total=total)
      self._bar.initial = self._bar.n = done  # What a run had before says nothing of its speed.
    self._bar.unit = unit
    self._bar.n = done
    self._bar.set_postfix_str(what)

  def point(self, values: Mapping[str, Any]) -> None:
    self._bar.set_postfix_str(f"{self._what}: {_point(values)}", refresh=False)
    self._bar.update(0)  # Draws no more often than a terminal needs.

  def event(self, record: Mapping[str, Any]) -> None:
    self._bar.clear()
    super().event(record)
    self._bar.refresh()

  def close(self) -> None:
    self._bar.close()


class NotebookProgress(Progress):
  """A bar for the steps of an event, and below it the last finished event."""

  def __init__(self, name: str, number: int = 1, of: int = 1,
               description: descriptions.ProtocolDescription | None = None):
    super().__init__(name, number, of, description)
    from tqdm import auto
    self._bar = auto.tqdm(total=0, desc=self._name, leave=False)

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    self._place = _place(done, total, unit, what)
    self._bar.set_description_str(f"{self._name}: {self._place}")

  def point(self, values: Mapping[str, Any]) -> None:
    if "step" not in values:
      return
    steps = values.get("steps") or self._bar.total
    if self._bar.total != steps or values["step"] < self._bar.n:
      self._bar.reset(total=steps)
    parts = (self._name, self._place, values.get("key", ""))
    self._bar.set_description_str(": ".join(str(part) for part in parts if part))
    self._bar.update(values["step"] - self._bar.n)

  def event(self, record: Mapping[str, Any]) -> None:
    shown = {k: _short(record[k]) for k in ("error", "accuracy") if k in record}
    self._bar.set_postfix({"last event": record[schema.EVENT] + 1, **shown})

  def close(self) -> None:
    self._bar.close()


def of_process(name: str, number: int = 1, of: int = 1,
               description: descriptions.ProtocolDescription | None = None) -> Progress:
  """A bar in a notebook or on a terminal, else lines; arguments as of `Progress`."""
  shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
  if type(shell).__name__ == "ZMQInteractiveShell":
    return NotebookProgress(name, number, of, description)
  return (Bar if sys.stderr.isatty() else Progress)(name, number, of, description)


def _place(done: int, total: int, unit: str, what: str) -> str:
  return f"{unit} {min(done + 1, total):,} of {total:,}, {what}"


def _point(values: Mapping[str, Any]) -> str:
  where = str(values.get("key", ""))
  if "step" in values and "steps" in values:
    where += f" step {values['step']:,} of {values['steps']:,}"
  elif "step" in values:
    where += f" step {values['step']:,}"
  return " ".join([where.strip(), *(
      f"{key} {_short(value)}" for key, value in values.items()
      if value is not None and key not in ("step", "steps", "key"))]).strip()


def _short(value: Any) -> str:
  return f"{value:.4g}" if isinstance(value, float) else str(value)
