# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Progress of a run: one live line on a terminal, plain log lines elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
import sys
import time
from typing import Any, TextIO

from absl import logging

_MIN_SECONDS = 0.2


class Progress:
  """Shows the progress of a run.

  Args:
    name: name of the run, the prefix of each line.
    stream: output stream, default stderr; a terminal gets a line that is overwritten, any other
      stream log lines.
  """

  def __init__(self, name: str, stream: TextIO | None = None):
    self._name, self._stream = name, stream or sys.stderr
    self._live = self._stream.isatty()
    self._width = 0
    self._shown = 0.0

  def point(self, values: Mapping[str, Any]) -> None:
    """Shows a point within an event: "step" of "steps", and other values."""
    text = ", ".join(
        f"{k} {_short(v)}" for k, v in values.items()
        if v is not None and k not in ("step", "steps", "key"))
    where = values.get("key", "")
    if "step" in values and "steps" in values:
      where += f" {values['step']}/{values['steps']}"
    if not self._live:
      logging.log_every_n_seconds(logging.INFO, "%s: %s %s", 10, self._name, where, text)
    elif time.monotonic() - self._shown > _MIN_SECONDS:
      self._overwrite(f"{self._name}: {where}  {text}")

  def event(self, record: Mapping[str, Any]) -> None:
    """Shows a finished event."""
    self._clear()
    shown = ("error", "accuracy", "validation_error", "seconds_event")
    text = ", ".join(f"{k} {_short(record[k])}" for k in shown if k in record)
    logging.info("%s: event %s, %s %s: %s", self._name, record.get("event"), record.get("kind"),
                 record.get("task_key", ""), text)

  def close(self) -> None:
    self._clear()

  def _overwrite(self, line: str) -> None:
    self._shown = time.monotonic()
    self._stream.write("\r" + line[:120].ljust(self._width))
    self._stream.flush()
    self._width = min(len(line), 120)

  def _clear(self) -> None:
    if self._live and self._width:
      self._stream.write("\r" + " " * self._width + "\r")
      self._stream.flush()
      self._width = 0


class Silent(Progress):
  """Shows nothing."""

  def __init__(self) -> None:
    pass

  def point(self, values: Mapping[str, Any]) -> None:
    pass

  def event(self, record: Mapping[str, Any]) -> None:
    pass

  def close(self) -> None:
    pass


class NotebookProgress(Progress):
  """A bar for the steps of an event, and below it the last finished event."""

  def __init__(self, name: str):
    super().__init__(name)
    from tqdm import auto
    self._bar = auto.tqdm(total=0, desc=name, leave=False)

  def point(self, values: Mapping[str, Any]) -> None:
    if "step" not in values:
      return
    steps = values.get("steps") or self._bar.total
    if self._bar.total != steps or values["step"] < self._bar.n:
      self._bar.reset(total=steps)
    self._bar.set_description_str(f"{self._name} {values.get('key', '')}".strip())
    self._bar.update(values["step"] - self._bar.n)

  def event(self, record: Mapping[str, Any]) -> None:
    shown = {k: _short(record[k]) for k in ("error", "accuracy") if k in record}
    self._bar.set_postfix({"event": record.get("event"), **shown})

  def close(self) -> None:
    self._bar.close()


def of_process(name: str) -> Progress:
  """A bar in a notebook, else a line on a terminal or log lines."""
  shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
  is_notebook = type(shell).__name__ == "ZMQInteractiveShell"
  return NotebookProgress(name) if is_notebook else Progress(name)


def _short(value: Any) -> str:
  return f"{value:.4g}" if isinstance(value, float) else str(value)
