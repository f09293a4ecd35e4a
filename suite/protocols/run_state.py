# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The state of a run: finished events, records, ledger and learner, saved after each event.

A protocol is a loop over events that starts at `state.done` and calls `state.commit` after each.
A commit saves predictions, then the record, then the snapshot that makes both valid, so that it may
be interrupted at any point. Records beyond the last snapshot are removed when the run resumes.
"""

from __future__ import annotations

import json
import math
import pathlib
import shutil
import tempfile
import time
from typing import Any, Dict, List, Mapping, Optional, Protocol, Sequence

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.contracts import capabilities
from suite.contracts import tasks
from suite.metrics import own_metrics
from suite.state import context as context_lib
from suite.state import journal as journal_lib
from suite.state import predictions as predictions_lib
from suite.state import snapshots as snapshots_lib
from suite.state import weight_store

_NO_METRICS = own_metrics.OwnMetrics()


class Writer(Protocol):
  """Destination of records; `suite.reporting` has one, tests have others."""

  def write(self, record: Mapping[str, Any]) -> int:
    """Appends a record; returns the position after it."""

  def truncate(self, position: int) -> List[Dict[str, Any]]:
    """Removes the records after a position that `write` returned (or 0); returns the others."""

  def report(self, **values: Any) -> None:
    """Shows progress inside an event; writes no record."""


class RunState:
  """One learner's run of one protocol.

  Args:
    folder: the run directory of this learner.
    writer: destination of records.
    name: the run's name, in every record.
    seed: the only seed of the run.
    distribution: the devices of the run.
    metrics: further metrics, of the user.

  Attributes:
    done: number of finished events.
    records: of the finished events.
    ledger, seeds, distribution, metrics: see those classes.
  """

  def __init__(
      self,
      folder: pathlib.Path,
      writer: Writer,
      *,
      name: str,
      seed: int,
      distribution: distribution_lib.Distribution,
      metrics: own_metrics.OwnMetrics = _NO_METRICS,
  ):
    self.folder, self.name = pathlib.Path(folder), name
    self.distribution, self.metrics = distribution, metrics
    self.seeds = seeds_lib.Seeds(seed)
    self.ledger = ledger_lib.Ledger()
    self._writer = writer
    # Only the chief writes to the run directory; the others write to a temporary one.
    self._scratch = None if distribution.is_chief else tempfile.TemporaryDirectory()
    target = self.folder if self._scratch is None else pathlib.Path(self._scratch.name)
    self._target = target
    self._snapshots = snapshots_lib.Snapshots(target / "state" / "events")
    self._progress = snapshots_lib.Snapshots(target / "state" / "progress")
    self._learner: Optional[Any] = None
    self.delivery = ""
    if self._scratch is None:
      self._open()
    self.distribution.agreed("the chief has opened the folder")
    if self._scratch is not None:
      _copy_state(self.folder, target)
      self._open()
    chief = self.distribution.agreed(self.done)  # It writes nothing before all have copied.
    if self.done != chief:
      raise RuntimeError(
          f"This process finds {self.done} finished events in {self.folder}, the chief {chief}. "
          "Give all processes the same --workdir on a file system that they share.")

  def _open(self) -> None:
    self._snapshots.sweep()
    latest = self._snapshots.latest()
    meta: Dict[str, Any] = {"done": 0, "position": 0, "ledger": {}}
    with snapshots_lib.reading("the run state", latest or self.folder):
      if latest is not None:
        meta = json.loads((latest / "state.json").read_text())
      position, self.done = int(meta["position"]), int(meta["done"])
      self.ledger.restore(meta["ledger"])
    self.records = self._writer.truncate(position)
    if len(self.records) != self.done:
      raise RuntimeError(
          f"{self.folder} has {len(self.records)} records for {self.done} finished events; its "
          "files were changed from outside. Start again in a new work directory.")
    weight_store.WeightStore(self._target / "weights", self.done).forget_from(self.done + 1)
    self._checkpoint = None if latest is None else latest / "learner"
    self._started = time.monotonic()

  def context(self, phase: str = "train") -> context_lib.Context:
    """The context of the next event; its training is charged to `phase`."""
    return context_lib.Context(
        event=self.done,
        ledger=self.ledger,
        seeds=self.seeds.child("event", self.done),
        distribution=self.distribution,
        store=weight_store.WeightStore(self._target / "weights", self.done),
        journal=journal_lib.Journal(
            self.done, self.ledger, self._progress, self.distribution.agreed),
        report=self._writer.report,
        phase=phase,
        delivery=self.delivery,
    )

  def resume(self, learner: tf.Module, begin: Sequence[tasks.Task] = (), *,
             delivery: str = "") -> None:
    """Restores the learner as the last commit saved it; on a fresh run there is nothing to restore.

    Args:
      learner: newly made; from now on every commit saves it.
      begin: the tasks delivered so far, in order: `learner.begin` makes the variables that are then
        filled.
      delivery: how data is delivered, one of `deliveries.DELIVERIES`; all contexts say so.
    """
    self._learner, self.delivery = learner, delivery
    if not (self.distribution.is_single or capabilities.shares_updates(learner)):
      logging.warning(
          "%s: %s learns on one device: the %d replicas of strategy %r do not share its updates.",
          self.name, type(learner).__name__, self.distribution.num_replicas,
          self.distribution.name)
    context = self.context() if begin else None
    for task in begin:
      learner.begin(task, context)
    if self._checkpoint is not None:
      with snapshots_lib.reading("the learner", self._checkpoint):
        _read_checkpoint(learner, self._checkpoint).assert_consumed()
      logging.info("%s: resumed after %d finished events.", self.name, self.done)

  def commit(
      self, record: Mapping[str, Any], predictions: Optional[Mapping[str, Any]] = None
  ) -> None:
    """Ends an event: saves predictions, record and state, in this order.

    Args:
      record: plain values; a NaN is written as null.
      predictions: arguments of `predictions.save`.
    """
    entry = {"event": self.done, "run": self.name, **record}
    if predictions is not None:
      relative = f"predictions/{self.done:04d}.parquet"
      with snapshots_lib.disk_errors("the predictions", self._target / relative):
        predictions_lib.save(self._target / relative, **predictions)
      entry["predictions"] = relative
    now = time.monotonic()
    entry.update({**self.ledger.totals(), "seconds_event": round(now - self._started, 3)})
    entry = plain(entry)
    entry.update(self.metrics.of_records([*self.records, entry]))
    # Later events look at records, and those of all processes must do the same.
    entry = self.distribution.agreed(entry)
    self._started = now
    with snapshots_lib.disk_errors("a record", self.folder):
      position = self._writer.write(entry)
    with self._snapshots.write() as folder:
      meta = {"done": self.done + 1, "position": position, "ledger": self.ledger.snapshot()}
      (folder / "state.json").write_text(json.dumps(meta))
      if self._learner is not None:
        _write_checkpoint(self._learner, folder / "learner")
    self._progress.clear()
    self.done += 1
    self.records.append(entry)


def plain(value: Any) -> Any:
  """The value as it is read back from a record: plain types, null for NaN and infinity."""
  if type(value) in (int, str, bool):  # First, since long lists hold these two kinds.
    return value
  if type(value) is float:
    return value if math.isfinite(value) else None
  if isinstance(value, (list, tuple)):
    return [plain(v) for v in value]
  if isinstance(value, Mapping):
    return {str(k): plain(v) for k, v in value.items()}
  if isinstance(value, (np.generic, np.ndarray)):
    value = value.item()
  return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_checkpoint(learner: tf.Module, path: pathlib.Path) -> None:
  try:
    tf.train.Checkpoint(learner=learner).write(str(path))
  except tf.errors.OpError as error:  # TensorFlow's error of a full disk.
    raise OSError(error.message) from error


def _read_checkpoint(learner: tf.Module, path: pathlib.Path) -> Any:
  try:
    return tf.train.Checkpoint(learner=learner).read(str(path))
  except tf.errors.OpError as error:
    raise OSError(error.message) from error


def _copy_state(source: pathlib.Path, target: pathlib.Path) -> None:
  for name in ("state", "weights"):
    if (source / name).is_dir():
      shutil.copytree(source / name, target / name)
