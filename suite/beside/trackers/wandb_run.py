# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`--tracker wandb`: each learner is a run of Weights & Biases, besides TensorBoard.

The run is of the project "lifelong-suite", in a group of its work directory. It has the numbers of
every record by event, the named values of the summary, and the configuration. Without a server its
files are in WORKDIR/tracker:

    WANDB_MODE=offline suite run RUN --tracker wandb     later: wandb sync WORKDIR/tracker/wandb/*

A resumed run continues there: events that the tracker has are not sent again. A tracker that fails
is reported once and given up; the records on disk are the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import hashlib
import pathlib
from typing import Any

from absl import logging

from suite.configs import gin_files
from suite.reporting import tables

PROJECT = "lifelong-suite"
FOLDER = "tracker"
_EVENT = "event"


class WandbRun:
  """The view of one learner (a `run_writer.View`).

  Args:
    workdir, name: the work directory, and the learner.
    facts: texts about the run: "config", "command", "seed", "suite", "device".
  """

  def __init__(self, workdir: pathlib.Path, name: str, facts: Mapping[str, Any]):
    self.log_dir = pathlib.Path(workdir) / FOLDER
    self._run: Any = None
    self._last = -1  # The last event that the tracker has.

    def begin() -> None:
      import wandb
      self.log_dir.mkdir(parents=True, exist_ok=True)
      self._run = wandb.init(
          project=PROJECT, group=workdir.name, name=name, resume="allow", dir=str(self.log_dir),
          id=hashlib.sha256(f"{workdir.resolve()}\n{name}".encode()).hexdigest()[:16],
          config={key: str(value) for key, value in facts.items()}, reinit=True)
      self._last = int(self._run.step) - 1

    self._do(begin)

  @staticmethod
  def check() -> None:
    """Raises a ConfigError if the package is not installed."""
    try:
      import wandb  # noqa: F401
    except ImportError as error:
      raise gin_files.ConfigError(
          f"--tracker wandb needs the package wandb, which is not installed here ({error}): pip "
          "install wandb. Or leave --tracker out.") from error

  def write(self, record: Mapping[str, Any]) -> None:
    """Sends the numbers of a record, by its event."""
    if self._run is not None and record[_EVENT] > self._last:
      self._do(lambda: self._run.log(numbers(record), step=record[_EVENT]))

  def rebuild(self, records: Iterable[Mapping[str, Any]]) -> None:
    """Sends the records of a resumed run that the tracker does not have."""
    for record in records:
      self.write(record)

  def point(self, values: Mapping[str, Any]) -> None:
    """Points within an event are TensorBoard's alone."""

  def finish(self, summary: Mapping[str, Any]) -> None:
    """Sends the values of the summary."""
    if self._run is not None:
      self._do(lambda: self._run.summary.update(numbers(summary)))

  def close(self) -> None:
    """Ends the connection."""
    if self._run is not None:
      self._do(self._run.finish)

  def _do(self, send: Callable[[], None]) -> None:
    try:
      send()
    except Exception as error:  # Of a network, a server or a login: no run is lost for it.
      logging.warning("wandb: %s (%s). The run goes on without it; the same command sends what is "
                      "missing.", (str(error).splitlines() or ["failed"])[0], type(error).__name__)
      self._run = None


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
  """The numbers of a record or summary, nested names joined by dots."""
  return {key: value for key, value in tables.flatten(values).items()
          if isinstance(value, (int, float)) and not isinstance(value, bool)}
