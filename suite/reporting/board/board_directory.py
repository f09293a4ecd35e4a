# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorBoard's directory of a work directory: a view for each learner, and what compares them.

    WORKDIR/tensorboard/                the figures of finished learners, as images
                        LEARNER/        see `suite.reporting.board.tensorboard`
    WORKDIR/tensorboard_trials/LEARNER/ the trials of its searches

Both have, at the end, the columns of their HParams tab: what differs first, and the score.
"""

from __future__ import annotations

from collections.abc import Mapping
import functools
import pathlib
from typing import Any

from absl import logging
import tensorflow as tf

from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.reporting import run_dir
from suite.reporting import tables
from suite.reporting.board import event_file
from suite.reporting.board import tensorboard
from suite.reporting.run_panels import run_figures

FOLDERS = ("tensorboard", "tensorboard_trials")  # Of a work directory.
_RATE = "learning_rate"


class BoardDirectory:
  """Views of the learners of one work directory.

  Args:
    workdir: the work directory.
    config_text: its configuration.
    environment: of its environment.json.
  """

  def __init__(self, workdir: pathlib.Path, config_text: str = "",
               environment: Mapping[str, Any] | None = None):
    self._workdir = pathlib.Path(workdir)
    self._config_text, self._environment = config_text, environment
    self._begun: set[str] = set()  # Learners that run in this process.
    self._without_reference = self._finished() if not self._has_reference() else set()

  def log_dir(self, name: str = "") -> pathlib.Path:
    """The directory of a learner's event files, or of those that compare learners."""
    return self._workdir / FOLDERS[0] / name

  def trials_dir(self, name: str = "") -> pathlib.Path:
    """The directory of the trials of a learner, or of all learners."""
    return self._workdir / FOLDERS[1] / name

  def view(self, name: str) -> tensorboard.TensorBoardView:
    """The view of a learner; its regret is against an Independent run that is there by then."""
    self._begun.add(name)
    if not self._has_reference():
      self._without_reference.add(name)
    return self._view(name)

  def complete(self) -> None:
    """Draws the figures that compare learners, when a learner has finished in this process.

    Views of finished learners are made again if their files are gone, or if Independent finished
    after them, so that they have a regret.
    """
    finished = self._finished()
    late = self._without_reference - {tables.INDEPENDENT} if self._has_reference() else set()
    again = {name for name in finished
             if name in late or not any(self.log_dir(name).glob(event_file.PATTERN))}
    for name in sorted(again):
      self._show(functools.partial(self._make_again, name))
    if finished & self._begun or again:
      self._show(self._draw)

  def _view(self, name: str) -> tensorboard.TensorBoardView:
    return tensorboard.TensorBoardView(
        self.log_dir(name), trials_dir=self.trials_dir(name), config_text=self._config_text,
        environment=self._environment,
        run=self._workdir.as_posix(), reference=functools.partial(self._reference_errors, name),
        description=run_dir.description(self._workdir / name), folder=self._workdir / name)

  def _make_again(self, name: str) -> None:
    run, = run_dir.load([self._workdir / name])
    view = self._view(name)
    view.rebuild(run.records)
    view.finish(run.summary)
    view.close()

  def _draw(self) -> None:
    """Writes what compares learners: figures, and the columns of both HParams tabs."""
    runs = run_dir.load([self._workdir])
    finished = [run for run in runs if run.is_finished]
    figures = run_figures.draw([
        run for run in finished if descriptions.TASKS in run.description.panels], stem="pareto")
    rows: list[Mapping[str, Any]] = []
    trials: list[Mapping[str, Any]] = []
    metrics: list[str] = []
    for run in runs:
      view, scores = self._view(run.folder.name), tensorboard.RunningScores(
          self._reference_errors(run.folder.name), run.description)
      for record in run.records:
        scores.update(record)
        trials += [view.trial_values(record, trial) for trial in record.get("trials") or ()]
      if run.is_finished:
        rows.append({**scores.rates(), **view.final_values(run.summary)})
        metrics += scores.final(run.summary)
    self._replace(self.log_dir(), [
        *([event_file.experiment(rows, list(dict.fromkeys(metrics)), (_RATE, "learner"))]
          if rows else []),
        *(tensorboard.picture(name, figure) for name, figure in figures.items())])
    self._replace(self.trials_dir(), [event_file.experiment(
        trials, tensorboard.SCORES_OF_A_TRIAL, (_RATE,))] if trials else [])

  def _replace(self, folder: pathlib.Path, values: Any) -> None:
    """Makes the values those of the folder's only event file."""
    for path in folder.glob(event_file.PATTERN):
      path.unlink()
    file = event_file.EventFile(folder)
    file.add(0, values)
    file.close()

  def _finished(self) -> set[str]:
    return {path.parent.name for path in self._workdir.glob(f"*/{run_dir.SUMMARY}")}

  def _has_reference(self) -> bool:
    return (self._workdir / tables.INDEPENDENT / run_dir.SUMMARY).exists()

  def _reference_errors(self, name: str) -> dict[str, float | None]:
    """Errors of the Independent run beside a learner, by task; {} if it has not finished."""
    if name == tables.INDEPENDENT or not self._has_reference():
      return {}
    run, = run_dir.load([self._workdir / tables.INDEPENDENT])
    if descriptions.TASKS not in run.description.panels:
      return {}
    return {r["task_key"]: r.get("error") for r in run.records
            if r.get("kind") == deliveries.PREDICT}

  def _show(self, do: Any) -> None:
    """Does something with event files; a run is not given up for a view that cannot be written."""
    try:
      do()
    except (OSError, ValueError, tf.errors.OpError) as error:
      logging.warning("%s cannot be written (%s) and is left as it is.", self.log_dir(),
                      (str(error).splitlines() or [""])[0])
