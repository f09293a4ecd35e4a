# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Experiment trackers beside TensorBoard: `--tracker wandb` or `--tracker mlflow`.

Each learner is a run of the project "lifelong-suite", in a group of its work directory. It has the
numbers of every record by event, the named values of the summary, and the configuration. Without a
server both keep their files in WORKDIR/tracker:

    WANDB_MODE=offline suite run RUN --tracker wandb     later: wandb sync WORKDIR/tracker/wandb/*
    suite run RUN --tracker mlflow                       MLFLOW_TRACKING_URI: a server

A resumed run continues there: events that the tracker has are not sent again. A tracker that fails
is reported once and given up; the records on disk are the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import hashlib
import importlib.util
import os
import pathlib
from typing import Any, Protocol

from absl import logging

from suite.reporting import tables

PROJECT = "lifelong-suite"
FOLDER = "tracker"
_EVENT = "event"


class Backend(Protocol):
  """A run in a tracker; `last` is the last event that it has, -1 for none."""

  last: int

  def log(self, values: Mapping[str, float], event: int) -> None:
    """Sends the numbers of an event."""

  def finish(self, values: Mapping[str, float]) -> None:
    """Sends the values of the summary."""

  def close(self) -> None:
    """Ends the run's connection."""


class _Wandb:
  """A run of Weights & Biases."""

  def __init__(self, workdir: pathlib.Path, name: str, facts: Mapping[str, str]):
    import wandb
    (workdir / FOLDER).mkdir(parents=True, exist_ok=True)
    self._run = wandb.init(
        project=PROJECT, group=workdir.name, name=name, id=_identity(workdir, name),
        resume="allow", dir=str(workdir / FOLDER), config=dict(facts), reinit=True)
    self.last = int(self._run.step) - 1

  def log(self, values: Mapping[str, float], event: int) -> None:
    self._run.log(dict(values), step=event)

  def finish(self, values: Mapping[str, float]) -> None:
    self._run.summary.update(dict(values))

  def close(self) -> None:
    self._run.finish()


class _Mlflow:
  """A run of MLflow."""

  def __init__(self, workdir: pathlib.Path, name: str, facts: Mapping[str, str]):
    import mlflow
    place = os.environ.get("MLFLOW_TRACKING_URI")
    if not place:
      (workdir / FOLDER).mkdir(parents=True, exist_ok=True)
      place = f"sqlite:///{(workdir / FOLDER / 'mlflow.db').resolve()}"
    self._client = mlflow.MlflowClient(tracking_uri=place)
    known = self._client.get_experiment_by_name(PROJECT)
    experiment = known.experiment_id if known else self._client.create_experiment(PROJECT)
    identity = _identity(workdir, name)
    found = self._client.search_runs([experiment], f"tags.identity = '{identity}'")
    if found:
      self._id = found[0].info.run_id
      history = self._client.get_metric_history(self._id, _EVENT)
      self.last = max((one.step for one in history), default=-1)
      return
    self.last = -1
    self._id = self._client.create_run(
        experiment, run_name=name, tags={"identity": identity, "group": workdir.name,
                                         "mlflow.note.content": facts.get("config", "")}
    ).info.run_id
    for key, value in facts.items():
      if key != "config":
        self._client.log_param(self._id, key, value[:500])

  def log(self, values: Mapping[str, float], event: int) -> None:
    for key, value in {**values, _EVENT: event}.items():
      self._client.log_metric(self._id, key, value, step=event)

  def finish(self, values: Mapping[str, float]) -> None:
    for key, value in values.items():
      self._client.log_metric(self._id, f"summary/{key}", value)
    self._client.set_terminated(self._id)

  def close(self) -> None:
    pass


_BACKENDS: Mapping[str, Callable[..., Backend]] = {"wandb": _Wandb, "mlflow": _Mlflow}


def missing(tracker: str) -> str:
  """What to install for a tracker; "" if its package is there, or none is asked for."""
  if not tracker or importlib.util.find_spec(tracker) is not None:
    return ""
  return (f"--tracker {tracker} needs the package {tracker}, which is not installed: pip install "
          f"{tracker}. Or leave --tracker out.")


class TrackerView:
  """The view of one learner (a `run_writer.View`).

  Args:
    tracker: "wandb" or "mlflow".
    workdir, name: the work directory, and the learner.
    facts: texts about the run: "config", "command", "seed", "suite", "device".
  """

  def __init__(self, tracker: str, workdir: pathlib.Path, name: str, facts: Mapping[str, Any]):
    self.log_dir = pathlib.Path(workdir) / FOLDER
    self._backend: Backend | None = None
    self._tracker = tracker

    def begin() -> None:
      self._backend = _BACKENDS[tracker](
          self.log_dir.parent, name, {key: str(value) for key, value in facts.items()})

    self._do(begin)

  def write(self, record: Mapping[str, Any]) -> None:
    """Sends the numbers of a record, by its event."""
    backend = self._backend
    if backend is not None and record[_EVENT] > backend.last:
      self._do(lambda: backend.log(numbers(record), record[_EVENT]))

  def rebuild(self, records: Iterable[Mapping[str, Any]]) -> None:
    """Sends the records of a resumed run that the tracker does not have."""
    for record in records:
      self.write(record)

  def point(self, values: Mapping[str, Any]) -> None:
    """Points within an event are TensorBoard's alone."""

  def finish(self, summary: Mapping[str, Any]) -> None:
    """Sends the values of the summary."""
    backend = self._backend
    if backend is not None:
      self._do(lambda: backend.finish(numbers(summary)))

  def close(self) -> None:
    """Ends the connection."""
    if self._backend is not None:
      self._do(self._backend.close)

  def _do(self, send: Callable[[], None]) -> None:
    try:
      send()
    except Exception as error:  # Of a network, a server or a login: no run is lost for it.
      logging.warning("%s: %s (%s). The run goes on without it; the same command sends what is "
                      "missing.", self._tracker, (str(error).splitlines() or ["failed"])[0],
                      type(error).__name__)
      self._backend = None


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
  """The numbers of a record or summary, nested names joined by dots."""
  return {key: value for key, value in tables.flatten(values).items()
          if isinstance(value, (int, float)) and not isinstance(value, bool)}


def _identity(workdir: pathlib.Path, name: str) -> str:
  """What a resumed run is found by."""
  return hashlib.sha256(f"{workdir.resolve()}\n{name}".encode()).hexdigest()[:16]
