# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The state of a run: finished events, records, ledger and learner, saved after each event.

A protocol is a loop over events that starts at `state.done` and calls `state.commit` after each.
A commit calls the keepers that the protocol's description names: predictions, then the record, then
the snapshot that makes both valid, so that it may be interrupted at any point. Records beyond the
last snapshot are removed when the run resumes. If the last snapshot is damaged, or what belongs to
it, the run resumes from the one before.

What was committed outlives the process at once. It outlives the machine once it is flushed to the
disk, which begins after a second at the latest; see `suite/system/atomic_files.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import contextlib
import dataclasses
import functools
import hashlib
import math
import os
import pathlib
import shutil
import tempfile
import time
from typing import Any, Protocol

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import descriptions
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.metrics import own_metrics
from suite.metrics import schema
from suite.state import context as context_lib
from suite.state import journal
from suite.state import learner_state
from suite.state import predictions as predictions_lib
from suite.state import run_identity
from suite.state import sample_images
from suite.state import snapshots
from suite.state import state_log
from suite.state import trial_queue
from suite.state import weight_store
from suite.system import atomic_files
from suite.training.memories import memory

_SHORT_SECONDS = 0.25  # Between snapshots after short events.

_NO_METRICS = own_metrics.OwnMetrics()
_IN_TURN = trial_queue.InTurn()


class Writer(Protocol):
  """Destination of records; `suite.reporting` has one, tests have others."""

  def write(self, record: Mapping[str, Any]) -> Any:
    """Appends a record; returns the position after it, a plain value."""

  def truncate(self, position: Any, check: Callable[[list[dict[str, Any]]], None] = ...,
               ) -> list[dict[str, Any]]:
    """Removes the records after a position that `write` returned (or 0); returns the others.

    An error, of `check(others)` too, leaves all records as they are.
    """

  def files(self) -> list[pathlib.Path]:
    """The files that were written to; `write` does not wait until they are on the disk."""

  def report(self, **values: Any) -> None:
    """Shows progress inside an event; writes no record."""

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    """Shows that a part of the run begins, after `done` of `total`; writes no record."""


@dataclasses.dataclass
class Ended:
  """An event that is to be kept: its record, which keepers extend, and `commit`'s arguments."""

  record: dict[str, Any]
  predictions: Mapping[str, Any] | None
  is_short: bool


class RunState:
  """One learner's run of one protocol.

  Args:
    folder: the run directory of this learner.
    writer: destination of records.
    name: the run's name, in every record.
    seed: the only seed of the run.
    distribution: the devices of the run.
    metrics: further metrics, of the user.
    trials: trains the trials of searches.
    follows: reads the state of the run that another process writes, and writes none.
    budget: of the run; None: there is none.
    keep_every: the state before every N-th event is kept, and digests of all, see `state_log`;
      None: only where the run has begun to.

  Attributes:
    keepers: what is kept of each event, see `descriptions.ProtocolDescription`.
    done: number of finished events.
    records: of the finished events.
    last_digest: of the last record, which the chain of digests goes on from.
    begun: the tasks that the learner has begun in `resume`, in order.
    known_classes: bool [C], where the protocol answers with classes known so far; else None.
    data_digests: with `keep_every`, of the sets so far, by name; else None.
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
      trials: trial_queue.InTurn | trial_queue.TrialQueue = _IN_TURN,
      follows: bool = False,
      budget: ledger.Budget | None = None,
      keep_every: int | None = None,
  ):
    self.folder, self.name = pathlib.Path(folder), name
    self.distribution, self.metrics, self._trials = distribution, metrics, trials
    self.seeds = seeds.Seeds(seed)
    self.ledger = ledger.Ledger(budget)
    self._writer = writer
    self.keepers: Sequence[str] = descriptions.KEEPERS
    # Only the chief writes to the run directory; the others write to a temporary one.
    writes = distribution.is_chief and not follows
    self._scratch = None if writes else tempfile.TemporaryDirectory()
    target = self.folder if self._scratch is None else pathlib.Path(self._scratch.name)
    self._target = target
    self._flusher = atomic_files.Flusher()
    self._snapshots = snapshots.Snapshots(
        target / "state" / "events", "the run state", self._flusher)
    self._progress = snapshots.Snapshots(
        target / "state" / "progress", "the finished steps of the event", self._flusher)
    self._learner: Any | None = None
    self._identity = run_identity.of(self.folder)
    # A rehearsal has states that mean nothing, and the run's data.
    self._log = (state_log.StateLog.of(self.folder, self._identity, keep_every)
                 if writes and rehearsal.current() is None else None)
    self.data_digests: dict[str, dict[str, str]] | None = {} if keep_every or self._log else None
    self.delivery = ""
    self.begun: list[tasks.Task] = []
    self.known_classes: np.ndarray | None = None
    if self._scratch is None:
      self._open()
    self.distribution.agreed("the chief has opened the folder")
    if self._scratch is not None:
      # Weights, which never change, may be links.
      for part, copy in (("state/events", shutil.copy2), ("state/progress", shutil.copy2),
                         ("weights", os.symlink if follows else shutil.copy2)):
        if (self.folder / part).is_dir():
          shutil.copytree((self.folder / part).resolve(), target / part, copy_function=copy)
      self._open()
    chief = self.distribution.agreed(self.done)  # It writes nothing before all have copied.
    if self.done != chief:
      raise RuntimeError(
          f"This process finds {self.done} finished events in {self.folder}, the chief {chief}. "
          "Give all processes the same --workdir on a file system that they share.")

  def _open(self) -> None:
    for part in ("", "predictions", "state/events"):
      atomic_files.sweep(self._target / part)
    self._on_disk = 0  # Number of events that are known to be on the disk.
    self._saved = self._read_snapshot()
    self.last_digest = self._identity
    if self._saved is None:
      self.done, path = 0, self.folder / "records.jsonl"
      if path.exists() and path.read_bytes().count(b"\n") > 1:  # One may be there after a kill.
        raise snapshots.DamagedError(
            f"{path} has records, but {self._snapshots.folder}, from which the run could go on, is "
            "missing or empty. Restore it from a copy, or start again in a new work directory.")
      self.records = self._writer.truncate(0)
    else:
      self.done = int(self._saved.values["done"])
      self.last_digest = _digest(self._saved.values["position"])
      self.ledger.restore(self._saved.values["ledger"])
    weight_store.WeightStore(self._target / "weights", self.done).forget_from(self.done + 1)
    if self._log is not None:
      self._log.resume(self.done)
    self._unsaved: dict[str, Any] | None = None
    self._last_save = -math.inf
    self._started = time.monotonic()

  def _read_snapshot(self) -> snapshots.Snapshot | None:
    """The newest intact snapshot; None if the run begins with its first event.

    It begins again if the machine stopped while the first snapshot was written, as nothing but the
    first event is lost.
    """
    try:
      return self._snapshots.read(self._check)
    except snapshots.DamagedError as error:
      path = self.folder / "records.jsonl"
      is_torn = all(self._snapshots.problems().values()) and not isinstance(
          error.__cause__, OSError)
      num_records = path.read_bytes().count(b"\n") if path.exists() else 0
      if not is_torn or num_records > 1 or self._scratch is not None:
        raise
      logging.warning("%s No more than the first event is lost: the run begins again.", error)
      self._snapshots.clear()
      return None

  def _check(self, saved: snapshots.Snapshot) -> None:
    """Reads the records of a snapshot and removes later ones.

    An error if any is damaged, or predictions that belong to them.
    """
    done, on_disk = int(saved.values["done"]), int(saved.values.get("on_disk", 0))

    def check(records: list[dict[str, Any]]) -> None:
      if len(records) != done:
        raise ValueError(f"there are {len(records)} records for {done} finished events; files were "
                         "changed from outside")
      # The last ones were perhaps not on the disk when the machine stopped; `verify` reads all.
      for record in records:
        if name := record.get(schema.PREDICTIONS):
          if record[schema.EVENT] < on_disk:
            predictions_lib.check_end(self.folder / name)
          else:
            predictions_lib.load(
                self.folder / name, run=self._identity, event=record[schema.EVENT])

    if self._log is not None:
      self._log.check(done)
    self.records, self._on_disk = self._writer.truncate(saved.values["position"], check), on_disk

  def context(self, phase: str = "train") -> context_lib.Context:
    """The context of the next event; its training is charged to `phase`."""
    return context_lib.Context(
        event=self.done,
        ledger=self.ledger,
        seeds=self.seeds.child("event", self.done),
        distribution=self.distribution,
        store=weight_store.WeightStore(self._target / "weights", self.done, self._identity),
        journal=journal.Journal(
            self.done, self.ledger, self._progress, self.distribution.agreed, self._identity),
        report=self._writer.report,
        trials=self._trials,
        phase=phase,
        delivery=self.delivery,
        call=rehearsal.called,
    )

  def begins(self, what: str, *, total: int, done: int | None = None, unit: str = "event"
             ) -> None:
    """Shows that an event begins.

    Args:
      what: in words.
      total: number of events of the run.
      done: of them; None: `self.done`. unit: what is counted, if it is not events.
    """
    self._writer.begins(self.done if done is None else done, total, unit, what)

  def resume(self, learner: tf.Module, begin: Sequence[tasks.Task] = (), *,
             delivery: str = "") -> None:
    """Restores the learner as the last commit saved it; on a fresh run there is nothing to restore.

    Args:
      learner: newly made; from now on every commit saves it.
      begin: the tasks delivered so far, in order, or the first one: `learner.begin` makes the
        variables that are then filled.
      delivery: how data is delivered, one of `deliveries.DELIVERIES`; all contexts say so.
    """
    self._learner, self.delivery, self.begun = learner, delivery, list(begin)
    if self.ledger.budget is not None:
      refusals.check_keeps_budget(learner)
      self.ledger.held = functools.partial(held_bytes, learner, self._target / "weights")
    if not (self.distribution.is_single
            or learner_lib.adapted(learner, learner_lib.BaseLearner).shares_updates):
      logging.warning(
          "%s: %s learns on one device: the %d replicas of strategy %r do not share its updates.",
          self.name, type(learner).__name__, self.distribution.num_replicas,
          self.distribution.name)
    context = self.context() if begin else None
    with refusals.usage_errors() if self._saved is None else contextlib.nullcontext():
      for task in begin:
        learner.begin(task, context)
    if self._saved is not None:
      learner_state.restore(learner, self._saved.arrays)
      self._saved = None
      logging.info("%s: resumed after %d finished events.", self.name, self.done)

  def note_data(self, name: str, images: Any) -> None:
    """Notes the digests of a set of images, once; nothing unless states are digested, too.

    Args:
      name: of the set; of one that is learned `state_log.trained(name)`.
      images: see `content_digests`.
    """
    if self.data_digests is not None and name not in self.data_digests:
      self.data_digests[name] = content_digests(images)
      if self._log is not None:
        self._log.add_data(name, self.data_digests[name])

  def keep_samples(self, name: str, images: Any, size: int | None = None) -> None:
    """Keeps a few test images of a set for pages; nothing if they are there or it has no images.

    Args:
      name: of the set, the record's "bucket_name" or "task_key".
      images: an `ImageSet`, a `Sequence`, or `Episodes` (the first one is kept); sets of
        other kinds are passed over.
      size: the first images to choose from; None: all.
    """
    path = sample_images.path(self._target, name)
    self.note_data(name, images)
    if (self._scratch is not None or rehearsal.current() is not None or path.exists()
        or not isinstance(images, (image_set.ImageSet, sequences.Sequence,
                                   episodes.Episodes))):
      return
    try:
      if isinstance(images, episodes.Episodes):
        if images.images.dtype == tf.uint8:  # No features.
          sample_images.save(path, *images.examples(sample_images.MOST))
        return
      places = sample_images.chosen(len(images) if size is None else size)
      if found := images.few_pixels(places):
        sample_images.save(path, images.ids[places], found)
    except OSError as error:  # No run is given up for pictures.
      logging.warning("%s cannot be written (%s): pages will not show these images.", path, error)

  def commit(
      self, record: Mapping[str, Any], predictions: Mapping[str, Any] | None = None, *,
      is_short: bool = False) -> None:
    """Ends an event: keeps what the protocol's description names of it.

    Args:
      record: plain values; a NaN is written as null.
      predictions: arguments of `predictions.save`.
      is_short: the event takes milliseconds, less than saving the state: a run that is killed may
        repeat it, and others of the last quarter of a second.
    """
    if predictions is not None and descriptions.PREDICTIONS not in self.keepers:
      raise ValueError(f"{self.name} has predictions, and its protocol's description names the "
                       f"keepers {', '.join(self.keepers)}. Add {descriptions.PREDICTIONS!r}.")
    ended = Ended({schema.EVENT: self.done, schema.RUN: self.name, **record}, predictions, is_short)
    for name in self.keepers:
      _KEEPERS[name](self, ended)

  def _keep_predictions(self, ended: Ended) -> None:
    """Saves the predictions of a test set; the record names their file."""
    if ended.predictions is not None:
      path = self._target / f"predictions/{self.done:04d}.parquet"
      with snapshots.disk_errors("the predictions", path):
        predictions_lib.save(
            path, **ended.predictions, sync=False, run=self._identity, event=self.done)
      self._flusher.add(path, path.parent)
      ended.record[schema.PREDICTIONS] = str(path.relative_to(self._target))

  def _keep_costs(self, ended: Ended) -> None:
    """Adds the costs so far to the record; an error beyond the budget."""
    now = time.monotonic()
    if self.ledger.budget is not None:
      ended.record.update(self.ledger.check_bytes())
    ended.record.update({
        **self.ledger.totals(), schema.SECONDS_EVENT: round(now - self._started, 3)})
    self._started = now

  def _keep_metrics(self, ended: Ended) -> None:
    """Adds the user's metrics of records to the record."""
    if self.metrics.names:
      ended.record.update(self.metrics.of_records([*self.records, plain(ended.record)]))

  def _keep_record(self, ended: Ended) -> None:
    """Writes the record, with which the event is finished."""
    # Later events look at records, and those of all processes must do the same.
    entry = self.distribution.agreed(plain(ended.record))
    self.records.append(entry)
    with snapshots.disk_errors("a record", self.folder):
      position = self._writer.write(entry)
    self.done += 1
    self.last_digest = _digest(position)
    self._unsaved = {"done": self.done, "position": position}

  def _keep_steps(self, ended: Ended) -> None:
    """Forgets the finished steps and trials of the event, which does not come again."""
    del ended
    self._progress.clear()
    if isinstance(self._trials, trial_queue.TrialQueue):
      self._trials.close()

  def _keep_digest(self, ended: Ended) -> None:
    """Adds the digest of the state to the log, if the run has one."""
    del ended
    if self._log is not None and self._unsaved is not None:
      with snapshots.disk_errors("the digest of a state", self.folder):
        self._log.add(self.done, self._unsaved["position"], self.ledger.snapshot(),
                      {} if self._learner is None else learner_state.arrays(self._learner))

  def _keep_state(self, ended: Ended) -> None:
    """Saves the state that makes the record valid, unless the event is short."""
    now = time.monotonic()
    if not ended.is_short or now - self._last_save >= _SHORT_SECONDS:
      if not rehearsal.counts_only():  # The one at the end is counted twice.
        rehearsal.save(self, self._save)
      self._last_save = max(self._last_save, now)  # Also where a rehearsal has left it out.

  def _save(self) -> None:
    """Writes a snapshot, unless nothing was committed since the last one."""
    if self._unsaved is None:
      return
    if self._log is not None:
      self._flusher.add(self._log.path)
    self._flusher.add(*self._writer.files(),
                      then=functools.partial(setattr, self, "_on_disk", self.done))
    arrays: Mapping[str, np.ndarray] | None = None
    if self._learner is not None:
      arrays = (rehearsal.unwritten(learner_state.variables(self._learner))
                if rehearsal.counts_only() else learner_state.arrays(self._learner))
    self._snapshots.write(
        {**self._unsaved, "ledger": self.ledger.snapshot(), "on_disk": self._on_disk}, arrays)
    self._unsaved, self._last_save = None, time.monotonic()

  def flush(self) -> None:
    """Returns when all that was committed is saved and on the disk."""
    self._save()
    with snapshots.disk_errors("the run state", self.folder):
      self._flusher.flush()


_KEEPERS: Mapping[str, Callable[[RunState, Ended], None]] = {
    descriptions.PREDICTIONS: RunState._keep_predictions,
    descriptions.COSTS: RunState._keep_costs,
    descriptions.METRICS: RunState._keep_metrics,
    descriptions.RECORD: RunState._keep_record,
    descriptions.STEPS: RunState._keep_steps,
    descriptions.DIGEST: RunState._keep_digest,
    descriptions.STATE: RunState._keep_state}


def content_digests(images: Any) -> dict[str, str]:
  """SHA-256 of a set: "examples", its ids and labels, and "content", its images or features.

  Args:
    images: an `ImageSet`, a `Sequence` or `Episodes`; of others, or where images are read one by
      one, "content" is that of no image.
  """
  about = [getattr(images, name, None) for name in ("ids", "labels")]
  content: list[Any] = []
  if isinstance(images, sequences.Sequence):
    content = [images.images(0, len(images))]
  elif isinstance(images, episodes.Episodes):
    content = [images.images]
  elif isinstance(images, image_set.ImageSet):
    content = [getattr(images.store, name, None) for name in ("pixels", "features")]
    if (encoded := getattr(images.store, "encoded", None)) is not None:
      content = [np.frombuffer(one, np.uint8) for one in encoded.numpy()]
  found = {}
  for name, parts in (("examples", about), ("content", content)):
    digest = hashlib.sha256()
    for array in (np.asarray(part) for part in parts if part is not None):
      if array.dtype.kind not in "OU":
        array = np.ascontiguousarray(array).reshape(-1)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.view(np.uint8).data)
      else:
        digest.update("\n".join(map(str, array.tolist())).encode())
    found[name] = digest.hexdigest()
  return found


def held_bytes(learner: tf.Module, folder: pathlib.Path) -> dict[str, int]:
  """The bytes that a learner holds.

  Args:
    learner: has begun.
    folder: of its weight store.

  Returns:
    "state_bytes": of its variables and `unsaved_weights`; "memory_bytes": of its memories of
    examples; "stored_bytes": of files, such as weights of past models and examples on disk.
  """
  memories = [one for one in (learner, *learner.submodules) if isinstance(one, memory.Memory)]
  of_memories = {id(v): bytes_of(v) for one in memories for v in one.variables}
  every = {id(v): bytes_of(v) for v in learner_state.variables(learner)}
  for one in (learner, *learner.submodules):
    if isinstance(one, learner_lib.BaseLearner):
      every.update({id(v): bytes_of(v) for v in one.unsaved_weights})
  state = sum(size for key, size in every.items() if key not in of_memories)
  stored = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
  return dict(zip(ledger.HELD, (state, sum(of_memories.values()), stored)))


def bytes_of(variable: Any) -> int:
  """Bytes of a variable as it is now; the number of its rows may be open."""
  fixed = variable.shape.is_fully_defined()
  return variable.dtype.size * math.prod(variable.shape if fixed else variable.numpy().shape)


def _digest(position: Any) -> str:
  """Of the last record; "" from writers of other kinds than `RunWriter`, and in suite 0.1."""
  return position[1] if isinstance(position, (list, tuple)) else ""


def plain(value: Any) -> Any:
  """The value as it is read back from a record: plain types, null for NaN and infinity."""
  if type(value) in (int, str, bool):
    return value
  if type(value) is float:
    return value if math.isfinite(value) else None
  if isinstance(value, (list, tuple)):
    return list(value) if journal.are_plain(value) else [plain(v) for v in value]
  if isinstance(value, Mapping):
    return {str(k): plain(v) for k, v in value.items()}
  if isinstance(value, (np.generic, np.ndarray)):
    value = value.item()
  return None if isinstance(value, float) and not math.isfinite(value) else value
