# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorBoard event files, made from the records.

    LOG_DIR/            at step = event:
                        headline/...      the score so far, e.g. the mean error; regret; FLOPs
                        one_event/...     numbers of the event alone; FLOPs of a gradient step
                        running_mean/...  mean over the events so far
                        total/...         of the ledger so far
                        accuracy_matrix   an image, for buckets
                        error_against_megaflops, at step = cumulative MFLOPs
                        config, environment: text
    LOG_DIR/final/      the headline of a finished run, one row of the HParams tab
    LOG_DIR/trials/0004_digits@2/trial_03/    one run per trial of event 4: its learning curves,
                        final scores and hyper-parameters, one row of the HParams tab

All content comes from records, so it can be deleted and built again. Points of a curve may be
written during training; the record of the event completes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import pathlib
import re
from typing import Any

from tensorboard.plugins.hparams import api as hparams_api
import tensorflow as tf

from suite.compute import ledger
from suite.contracts import descriptions
from suite.metrics import task_stream
from suite.reporting.board import board_images
from suite.reporting.board import board_text
from suite.reporting.board import running_scores

CURVE_COLUMNS = ("train_loss", "validation_error")  # After the step, see records.

_LIVE_NAMES = {"loss": "train_loss"}
_FINAL = "final"
_SECONDS_BETWEEN_IMAGES = 30.0  # Of a run's own work; drawing one takes up to half a second.
_TRIAL_KEY = re.compile(r"(?P<task_key>.+)/trial(?P<trial>\d+)$")

# Totals of the ledger, one curve over events of all kinds.
_COST = re.compile("(flops|macs|examples|steps|seconds|peak_bytes)"
                   rf"(_({'|'.join(ledger.PHASES)}))?")
# Numbers of a record that identify the event; they are not results.
_NAMES_OF_AN_EVENT = frozenset(["event", "year", "occurrence", "num_classes", "best_trial"])
# Keys of a trial that are not hyper-parameters, and those of them that are scores.
_NOT_HYPER_PARAMETERS = frozenset(["trial", "curve"])
_SCORES_OF_A_TRIAL = ("validation_error", "error", "flops", "macs", "steps", "examples", "seconds")


class TensorBoardView:
  """Writer of event files below one directory; call `rebuild` first, with [] in a new run.

  Args:
    log_dir: the directory, named after the learner.
    config_text: the configuration, shown as text.
    environment: of environment.json, shown as text.
    run: name of the run that the learner belongs to; the name of the directory's parent if empty.
    reference: reads the errors of Independent by task key, at each `rebuild`.
    description: of the protocol; None: found by its name in the records.
  """

  def __init__(self, log_dir: str | pathlib.Path, *, config_text: str = "",
               environment: Mapping[str, Any] | None = None, run: str = "",
               reference: Callable[[], Mapping[str, float | None]] = dict,
               description: descriptions.ProtocolDescription | None = None):
    self.log_dir = pathlib.Path(log_dir)
    self._config_text, self._environment = config_text, dict(environment or {})
    self._run, self._reference = run or self.log_dir.resolve().parent.name, reference
    self._description = description
    self._scores = running_scores.RunningScores(description=description)
    self._drawn_at = 0.0  # Seconds of the run at the last image.
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
    self._scores = running_scores.RunningScores(self._reference(), self._description)
    self._drawn_at = 0.0
    _delete_event_files(self.log_dir)
    texts = {"config": board_text.code(self._config_text),
             "environment": board_text.environment(self._environment) if self._environment else ""}
    if any(texts.values()):
      with self._main().as_default():
        for name, text in texts.items():
          if text:
            tf.summary.text(name, text, step=0)
    for record in records:
      self._write(record)
    self.flush()

  def write(self, record: Mapping[str, Any]) -> None:
    """Appends one record; does not change it."""
    self._write(record)
    self.flush()

  def finish(self, summary: Mapping[str, Any]) -> None:
    """Writes the headline of the finished run as a row of the HParams tab.

    A run without a summary has no row: what it has so far is no result.
    """
    with self._trial(_FINAL).as_default():
      for tag, value in self._scores.final(summary).items():
        tf.summary.scalar(tag, value, step=max(self._next_event - 1, 0))
      about = {"protocol": summary.get("protocol"), "stream": summary.get("stream"),
               "seed": self._environment.get("seed")}
      self._session("learner", _FINAL, {k: v for k, v in about.items() if v is not None})
    self._close_trial()

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
        if running_scores.is_number(value) and name not in _NAMES_OF_AN_EVENT:
          group = "total" if _COST.fullmatch(name) else f"one_event/{kind}"
          tf.summary.scalar(f"{group}/{name}", value, step=event)
      scores = self._scores.update(record)
      for tag, value in scores.items():
        tf.summary.scalar(tag, value, step=event)
      error, cost = _error_so_far(scores), task_stream.cumulative_cost(record)
      if kind == "predict" and error is not None and cost is not None:
        # A step is an integer of 64 bits: MFLOPs leave room for any stream.
        tf.summary.scalar("error_against_megaflops", error, step=round(cost / 1e6))
      acc = self._scores.matrix()
      if acc is not None and self._draws_matrix(record):
        tf.summary.image("accuracy_matrix", board_images.accuracy_matrix(
            acc, self.log_dir.name), step=event)
    for trial in record.get("trials") or ():
      self._write_trial(record, trial)

  def _draws_matrix(self, record: Mapping[str, Any]) -> bool:
    """Whether the record ends a row of buckets, and is the last one or enough time has passed."""
    if record.get("kind") != "predict":
      return False
    last = len(record["row"]) - 1
    if record["bucket"] != last:
      return False
    spent = record.get("seconds") or 0.0
    is_end = record["trained_bucket"] == (last - 1 if record.get("mode") == "streaming" else last)
    if not is_end and spent - self._drawn_at < _SECONDS_BETWEEN_IMAGES:
      return False
    self._drawn_at = spent
    return True

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
        if running_scores.is_number(trial.get(name)):
          tf.summary.scalar(name, trial[name], step=_last_step(curve))
      search = _run_name(record["event"], record.get("task_key"), None).partition("/")[2]
      self._session("trial", run, {"search": search, **_hyper_parameters(record, trial)})
    self._close_trial()

  def _session(self, shown: str, run: str, values: Mapping[str, Any]) -> None:
    """Writes a row of the HParams tab to the writer in use.

    TensorBoard shows all sessions of one id as one row: the values of the first of them, beside the
    mean of their scores. Each id is therefore of one session, whatever is read with it from a
    common parent: learners, trials of one search, several work directories. The trials of a search
    have its name in column "search".
    """
    hparams_api.hparams(
        {"row": shown, "learner": self.log_dir.name, "run": self._run, **values},
        trial_id=f"{self.log_dir.name}/{run} of {self.log_dir.resolve().parent.as_posix()}")

  def _write_point(self, run: str, step: int, values: Mapping[str, float | None]) -> None:
    with self._trial(run).as_default():
      for name, value in values.items():
        if running_scores.is_number(value):
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


def _error_so_far(scores: Mapping[str, float]) -> float | None:
  if "headline/accuracy" in scores:
    return 1.0 - scores["headline/accuracy"]
  return scores.get("running_mean/predict/error")


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


def _delete_event_files(directory: pathlib.Path) -> None:
  """Deletes event files below a directory, and the emptied folders of trials."""
  for path in sorted(directory.rglob("events.out.tfevents.*")):
    path.unlink()
  for path in sorted(directory.rglob("*"), reverse=True):
    if path.is_dir() and not any(path.iterdir()):
      path.rmdir()
