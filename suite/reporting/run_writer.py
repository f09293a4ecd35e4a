# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Output of a protocol: records on disk, TensorBoard and the progress line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import pathlib
from typing import Any, Protocol

from absl import logging
import tensorflow as tf

from suite.reporting import progress as progress_lib
from suite.reporting import records as records_lib

Check = Callable[[list[dict[str, Any]]], None]


def _accept(records: list[dict[str, Any]]) -> None:
  del records


class View(Protocol):
  """Display of a run in progress, such as `board.tensorboard.TensorBoardView`.

  Attributes:
    log_dir: where it writes.
  """

  log_dir: pathlib.Path

  def write(self, record: Mapping[str, Any]) -> None:
    """Shows a record."""

  def rebuild(self, records: Iterable[Mapping[str, Any]]) -> None:
    """Shows these records and nothing else."""

  def point(self, values: Mapping[str, Any]) -> None:
    """Shows a point within an event."""

  def finish(self, summary: Mapping[str, Any]) -> None:
    """Shows the summary of the finished run."""

  def close(self) -> None:
    """Writes what is left."""


class RunWriter:
  """Writer of one learner's run (a `Writer` of `suite.protocols.run_state`).

  Args:
    folder: the run directory.
    view: TensorBoard view of the run, or None.
    progress: progress line.
    after_event: called after each written record.
    further: views besides, such as a tracker's.
  """

  def __init__(
      self, folder: pathlib.Path, view: View | None,
      progress: progress_lib.Progress, after_event: Callable[[], None] = lambda: None,
      further: Sequence[View] = ()
  ):
    self._records = records_lib.RecordWriter(pathlib.Path(folder) / "records.jsonl", sync=False)
    self._views = [*([] if view is None else [view]), *further]
    self._progress = progress
    self._after_event = after_event

  def write(self, record: Mapping[str, Any]) -> list[Any]:
    position = [self._records.write(record), self._records.digest]
    self._show(lambda view: view.write(record))
    self._progress.event(record)
    self._after_event()
    return position

  def truncate(self, position: Any, check: Check = _accept) -> list[dict[str, Any]]:
    records = self._records.truncate(*_offset_and_digest(position), check)
    self._show(lambda view: view.rebuild(records))
    return records

  def files(self) -> list[pathlib.Path]:
    return [self._records.path]

  def report(self, **values: Any) -> None:
    self._progress.point(values)
    self._show(lambda view: view.point(values))

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    self._progress.begins(done, total, unit, what)

  def finish(self, summary: Mapping[str, Any]) -> None:
    """Shows the summary of the finished run."""
    self._show(lambda view: view.finish(summary))

  def close(self) -> None:
    self._records.close()
    self._progress.close()
    self._show(lambda view: view.close())

  def _show(self, do: Callable[[View], None]) -> None:
    """Does something with the views; one that cannot be written is given up, not the run."""
    for view in list(self._views):
      try:
        do(view)
      except (OSError, tf.errors.OpError) as error:
        logging.warning(
            "%s cannot be written (%s) and is left as it is. It is made again from the records "
            "when the command is run again.", view.log_dir, str(error).splitlines()[0])
        self._views.remove(view)


class Follower:
  """Writer of a worker that is not the chief: reads the state of the run, writes nothing."""

  def __init__(self, folder: pathlib.Path):
    self._path = pathlib.Path(folder) / "records.jsonl"

  def write(self, record: Mapping[str, Any]) -> int:
    del record
    return 0

  def truncate(self, position: Any, check: Check = _accept) -> list[dict[str, Any]]:
    offset, digest = _offset_and_digest(position)
    records = records_lib.read_until(self._path, offset, digest) if offset else []
    check(records)
    return records

  def files(self) -> list[pathlib.Path]:
    return []

  def report(self, **values: Any) -> None:
    del values

  def begins(self, done: int, total: int, unit: str, what: str) -> None:
    del done, total, unit, what

  def finish(self, summary: Mapping[str, Any]) -> None:
    del summary

  def close(self) -> None:
    pass


def _offset_and_digest(position: Any) -> tuple[int, str | None]:
  """A position; suite 0.1 saved the offset alone."""
  return (position, None) if isinstance(position, int) else (position[0], position[1])
