# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorBoard event files, made from the records.

    LOG_DIR/                                  every number of an event, at step = event:
                                              train/validation_error, predict/error, ...
                                              error_against_megaflops, at step = cumulative MFLOPs
                                              config, the gin config as text
    LOG_DIR/trials/0004_digits@2/trial_03/    one run per trial of event 4: its learning curves,
                                              final scores and hyper-parameters (HParams tab)

All content comes from records, so it can be deleted and built again. Points of a curve may be
written during training; the record of the event completes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import math
import pathlib
import re
from typing import Any

from tensorboard.plugins.hparams import api as hparams_api
import tensorflow as tf

from suite.metrics import task_stream

CURVE_COLUMNS = ("train_loss", "validation_error")  # After the step, see records.

_LIVE_NAMES = {"loss": "train_loss"}
_TRIAL_KEY = re.compile(r"(?P<task_key>.+)/trial(?P<trial>\d+)$")

# Numbers of a record that identify the event; they are not results.
_NAMES_OF_AN_EVENT = frozenset(["event", "year", "occurrence", "num_classes", "best_trial"])
# Keys of a trial that are not hyper-parameters, and those of them that are scores.
_NOT_HYPER_PARAMETERS = frozenset(["trial", "curve"])
_SCORES_OF_A_TRIAL = ("validation_error", "error", "flops", "macs", "steps", "examples", "seconds")


class TensorBoardView:
  """Writer of event files below one directory; call `rebuild` first, with [] in a new run."""

  def __init__(self, log_dir: str | pathlib.Path, *, config_text: str = ""):
    self.log_dir = pathlib.Path(log_dir)
    self._config_text = config_text
    self._writer: tf.summary.SummaryWriter | None = None  # Of LOG_DIR.
    self._trial_writer: tf.summary.SummaryWriter | None = None  # Only one, of the last trial.
    self._trial_run = ""  # The run of `_trial_writer`.
    self._live_steps: dict[str, list[int]] = {}  # By run: points written before their record.
    self._next_event = 0

  def rebuild(self, records: Iterable[Mapping[str, Any]]) -> None:
    """Deletes all event files of the directory and writes them again."""
    self.close()
    self._live_steps.clear()
    self._next_event = 0
    _delete_event_files(self.log_dir)
    if self._config_text:
      with self._main().as_default():
        indented = "\n".join(f"    {line}" for line in self._config_text.splitlines())
        tf.summary.text("config", indented, step=0)
    for record in records:
      self._write(record)
    self.flush()

  def write(self, record: Mapping[str, Any]) -> None:
    """Appends one record; does not change it."""
    self._write(record)
    self.flush()

  def point(self, values: Mapping[str, Any]) -> None:
    """Writes a point of a learning curve during its event, the one after the last record.

    Args:
      values: "step", the gradient step; a step that is not beyond the last written one is ignored.
        "key", the curve: "TASK_KEY/trial3" is that of a trial that the record will hold. The other
        numbers are written by name ("loss" as "train_loss").
    """
    if "step" not in values:
      return
    run, step = self._live_run(str(values.get("key", "live"))), int(values["step"])
    shown = self._live_steps.setdefault(run, [])
    if shown and step <= shown[-1]:
      return
    shown.append(step)
    self._write_point(run, step, {
        _LIVE_NAMES.get(k, k): v for k, v in values.items() if k not in ("key", "step", "steps")})
    self._trial(run).flush()

  def _live_run(self, key: str) -> str:
    match = _TRIAL_KEY.match(key)
    if match:
      return _run_name(self._next_event, match["task_key"], int(match["trial"]))
    return _run_name(self._next_event, key, None)

  def flush(self) -> None:
    for writer in (self._writer, self._trial_writer):
      if writer is not None:
        writer.flush()

  def close(self) -> None:
    for writer in (self._writer, self._trial_writer):
      if writer is not None:
        writer.close()
    self._writer = self._trial_writer = None

  def _write(self, record: Mapping[str, Any]) -> None:
    event, kind = record["event"], record.get("kind", "event")
    self._next_event = event + 1
    with self._main().as_default():
      for name, value in record.items():
        if _is_number(value) and name not in _NAMES_OF_AN_EVENT:
          tf.summary.scalar(f"{kind}/{name}", value, step=event)
      cost = task_stream.cumulative_cost(record)
      if kind == "predict" and _is_number(record.get("error")) and cost is not None:
        # A step is an integer of 64 bits: MFLOPs leave room for any stream.
        megaflops = round(cost / 1e6)
        tf.summary.scalar("error_against_megaflops", record["error"], step=megaflops)
    for trial in record.get("trials") or ():
      self._write_trial(record, trial)

  def _write_trial(self, record: Mapping[str, Any], trial: Mapping[str, Any]) -> None:
    run = _run_name(record["event"], record.get("task_key"), trial["trial"])
    curve = trial.get("curve") or []
    shown = self._live_steps.pop(run, [])
    if shown != [point[0] for point in curve[:len(shown)]]:
      # Written by a process that started within the event, or one whose last steps were discarded.
      self._close_trial()
      _delete_event_files(self.log_dir / run)
      shown = []
    for step, *columns in curve[len(shown):]:
      self._write_point(run, step, dict(zip(CURVE_COLUMNS, columns)))
    with self._trial(run).as_default():
      for name in _SCORES_OF_A_TRIAL:
        if _is_number(trial.get(name)):
          tf.summary.scalar(name, trial[name], step=_last_step(curve))
      # The HParams tab shows trials of one id as one, with their mean: `tensorboard --logdir` of a
      # common parent reads several learners, and several work directories.
      hparams_api.hparams({"learner": self.log_dir.name, **_hyper_parameters(record, trial)},
                          trial_id=(self.log_dir.resolve() / run).as_posix())
    self._close_trial()

  def _write_point(self, run: str, step: int, values: Mapping[str, float | None]) -> None:
    with self._trial(run).as_default():
      for name, value in values.items():
        if _is_number(value):
          tf.summary.scalar(f"curve/{name}", value, step=step)

  def _main(self) -> tf.summary.SummaryWriter:
    if self._writer is None:
      self._writer = tf.summary.create_file_writer(str(self.log_dir))
    return self._writer

  def _trial(self, run: str) -> tf.summary.SummaryWriter:
    if self._trial_writer is None or self._trial_run != run:
      self._close_trial()
      self._trial_writer = tf.summary.create_file_writer(str(self.log_dir / run))
      self._trial_run = run
    return self._trial_writer

  def _close_trial(self) -> None:
    if self._trial_writer is not None:
      self._trial_writer.close()
    self._trial_writer = None


def _run_name(event: int, task_key: str | None, trial: int | None) -> str:
  suffix = "" if task_key is None else "_" + re.sub(r"[^A-Za-z0-9_.@+-]", "_", task_key)
  return f"trials/{event:04d}{suffix}" + ("" if trial is None else f"/trial_{trial:02d}")


def _hyper_parameters(record: Mapping[str, Any], trial: Mapping[str, Any]) -> dict[str, Any]:
  found: dict[str, Any] = {"task": record.get("task_key") or f"event {record['event']}"}
  for name, value in trial.items():
    is_plain = isinstance(value, (bool, int, float, str))
    if is_plain and name not in _NOT_HYPER_PARAMETERS and not name.startswith(_SCORES_OF_A_TRIAL):
      found[name] = value
  return found


def _last_step(curve: Sequence[Sequence[float]]) -> int:
  return int(curve[-1][0]) if curve else 0


def _is_number(value: Any) -> bool:
  return (isinstance(value, (int, float)) and not isinstance(value, bool)
          and math.isfinite(value))


def _delete_event_files(directory: pathlib.Path) -> None:
  """Deletes event files below a directory, and the emptied folders of trials."""
  for path in sorted(directory.rglob("events.out.tfevents.*")):
    path.unlink()
  for path in sorted(directory.rglob("*"), reverse=True):
    if path.is_dir() and not any(path.iterdir()):
      path.rmdir()
