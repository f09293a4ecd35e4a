# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorBoard event files, made from the records: of a learner, and of a work directory.

    WORKDIR/tensorboard/                the figures of finished learners, as images
                        LEARNER/        the LOG_DIR of a learner
    WORKDIR/tensorboard_trials/LEARNER/ the TRIALS_DIR of its searches

Both of `BoardDirectory` have, at the end, the columns of their HParams tab: what differs first, and
the score. A `TensorBoardView` is that of a learner:

    LOG_DIR/            at step = event:
                        headline/...      the score so far, e.g. the mean error; regret; FLOPs
                        one_event/...     numbers of the event alone; FLOPs of a gradient step
                        running_mean/...  mean over the events so far
                        total/...         of the ledger so far
                        accuracy_matrix   an image, for buckets
                        samples/...       test images with answers, an image for each test set
                        error_against_megaflops, at step = cumulative MFLOPs
                        error_against_kilobytes, at step = kB of state, memory and files, of runs
                        with a budget
                        config, environment: text
                        the layout of the custom scalars: the headline first
    LOG_DIR/final/      the headline of a finished run, one row of the HParams tab
    TRIALS_DIR/0004_digits@2/trial_03/    one run per trial of event 4: its learning curves,
                        final scores and hyper-parameters, one row of the HParams tab

The error of a single event jumps from task to task; the headlines are means over all events so far,
which at the end are the numbers of the summary (`RunningScores`). All content comes from records,
so it can be deleted and built again. Points of a curve may be written during training; the record
of the event completes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
import pathlib
import re
from typing import Any

from absl import logging
import numpy as np
from PIL import Image
import tensorflow as tf

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.metrics import schema
from suite.metrics import task_stream
from suite.reporting import figures
from suite.reporting import panels
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import tables
from suite.reporting.board import event_file
from suite.reporting.nevis_panels import error_panels
from suite.reporting.nevis_panels import stream_results
from suite.state import run_identity
from suite.state import sample_images

CURVE_COLUMNS = ("train_loss", "validation_error")  # After the step, see records.

_LIVE_NAMES = {"loss": "train_loss"}
_FINAL = "final"
_SECONDS_BETWEEN_IMAGES = 30.0  # Of a run's own work; drawing one takes up to half a second.
_TRIAL_KEY = re.compile(r"(?P<task_key>.+)/trial(?P<trial>\d+)$")

# Totals of the ledger, one curve over events of all kinds.
_COST = re.compile("(flops|macs|examples|steps|seconds|peak_bytes)"
                   rf"(_({'|'.join(ledger.PHASES)}))?")
# Numbers of a record that identify the event; they are not results.
_NAMES_OF_AN_EVENT = frozenset([
    schema.EVENT, schema.YEAR, schema.OCCURRENCE, schema.NUM_CLASSES, schema.BEST_TRIAL])
# Keys of a trial that are neither hyper-parameters nor scores, and its scores.
_NOT_HYPER_PARAMETERS = frozenset(["trial", "curve"])
SCORES_OF_A_TRIAL = ("validation_error", "error", "flops", "macs", "steps", "examples", "seconds")
_DPI = 110
_LEARNING = tuple(p for p in ledger.PHASES if p not in ("select", "validate", "predict"))
_AVERAGED = ("error", "accuracy", "validation_error", "train_loss", "loss", "seconds_event")
# The predict events of these kinds are parts of a score that has its own rule, below.
_PARTS_OF_A_SCORE = {descriptions.BUCKETS, descriptions.STEPS}
# The numbers of a summary that are its headline, and the names under which they are shown.
_HEADLINES = {"mean_error": "mean_error", "mean_error_all": "mean_error_all_tasks",
          "forward_transfer": "forward_transfer", "in_domain": "in_domain",
          "next_domain": "next_domain", "backward_transfer": "backward_transfer",
          "accuracy": "accuracy", "overall": "accuracy", "mean_per_class": "mean_per_class"}
FOLDERS = ("tensorboard", "tensorboard_trials")  # Of a work directory.
_RATE = "learning_rate"


class TensorBoardView:
  """Writer of event files below two directories; call `rebuild` first, with [] in a new run.

  Args:
    log_dir: the directory, named after the learner.
    trials_dir: of the trials, a log directory of its own; LOG_DIR/trials if None.
    config_text: the configuration, shown as text.
    environment: of environment.json, shown as text.
    run: name of the run that the learner belongs to; the name of the directory's parent if empty.
    reference: reads the errors of Independent by task key, at each `rebuild`.
    description: of the protocol; None: found by its name in the records.
    folder: the run directory, with its sample images; None: none are shown.
  """

  def __init__(self, log_dir: str | pathlib.Path, *, trials_dir: pathlib.Path | None = None,
               config_text: str = "", environment: Mapping[str, Any] | None = None, run: str = "",
               reference: Callable[[], Mapping[str, float | None]] = dict,
               description: descriptions.ProtocolDescription | None = None,
               folder: pathlib.Path | None = None):
    self.log_dir = pathlib.Path(log_dir)
    self.trials_dir = self.log_dir / "trials" if trials_dir is None else trials_dir
    self._config_text, self._environment = config_text, dict(environment or {})
    self._run, self._reference = run or self.log_dir.resolve().parent.name, reference
    self._description, self._folder = description, folder
    self._scores = RunningScores(description=description)
    self._drawn_at = 0.0  # Seconds of the run at the last image.
    self._file = event_file.EventFile(self.log_dir)
    self._trial = event_file.EventFile(self.trials_dir)  # Only one is open, of the last trial.
    self._live_steps: dict[str, list[int]] = {}  # By trial: points written before their record.
    # By shown test set: its last record, None if that is the shown one.
    self._sampled: dict[str, Mapping[str, Any] | None] = {}
    self._next_event = 0
    self._has_layout = False

  def rebuild(self, records: Iterable[Mapping[str, Any]]) -> None:
    """Deletes all event files of the directories and writes them again."""
    self.close()
    self._live_steps.clear()
    self._sampled.clear()
    self._next_event, self._drawn_at, self._has_layout = 0, 0.0, False
    self._scores = RunningScores(self._reference(), self._description)
    for directory in (self.log_dir, self.trials_dir):
      event_file.delete(directory)
    texts = {"config": code_block(self._config_text),
             "environment": environment_table(self._environment) if self._environment else ""}
    self._file.add(0, [event_file.text(name, text) for name, text in texts.items() if text])
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
    last = max(self._next_event - 1, 0)
    self._file.add(last, [value for record in self._sampled.values()
                          if record is not None for value in self._samples(record)])
    final = event_file.EventFile(self.log_dir / _FINAL)
    final.add(last, [
        *event_file.scalars(self._scores.final(summary)),
        *event_file.session(self.final_values(summary), self._session_name(_FINAL))])
    final.close()
    self.flush()

  def final_values(self, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The hyper-parameters of the row of the finished run."""
    found = {"learner": self.log_dir.name, "run": self._run, **self._scores.rates(),
             "protocol": summary.get("protocol"), "stream": summary.get("stream"),
             "seed": self._environment.get("seed")}
    return {name: value for name, value in found.items() if value is not None}

  def point(self, values: Mapping[str, Any]) -> None:
    """Writes a point of a learning curve during its event, the one after the last record.

    Args:
      values: "step", the gradient step; a step that is not beyond the last written one is ignored.
        "key", the curve: "TASK_KEY/trial3" is the curve of a trial that the record will hold. The
        other numbers are written by name ("loss" as "train_loss").
    """
    if "step" not in values:
      return
    key, step = str(values.get("key", "live")), int(values["step"])
    trial = _TRIAL_KEY.match(key)
    name = (_trial_name(self._next_event, trial[schema.TASK_KEY], int(trial["trial"])) if trial else
            _trial_name(self._next_event, key, None))
    shown = self._live_steps.setdefault(name, [])
    if shown and step <= shown[-1]:
      return
    shown.append(step)
    self._open_trial(name).add(step, _points({
        _LIVE_NAMES.get(k, k): v for k, v in values.items() if k not in ("key", "step", "steps")}))
    self._trial.flush()

  def flush(self) -> None:
    self._file.flush()
    self._trial.flush()

  def close(self) -> None:
    self._file.close()
    self._trial.close()

  def _write(self, record: Mapping[str, Any]) -> None:
    event, kind = record[schema.EVENT], record.get(schema.KIND, "event")
    self._next_event = event + 1
    values: list[event_file.Value] = []
    if not self._has_layout:
      self._has_layout = True
      values.append(event_file.layout(self._scores.layout(record)))
    values += event_file.scalars({
        f"total/{name}" if _COST.fullmatch(name) else f"one_event/{kind}/{name}": value
        for name, value in record.items() if name not in _NAMES_OF_AN_EVENT})
    scores = self._scores.update(record)
    values += event_file.scalars(scores)
    acc = self._scores.matrix()
    if acc is not None and kind == deliveries.PREDICT and (
        record[schema.BUCKET] == len(record[schema.ROW]) - 1):
      # A row of buckets ends; it is drawn if it is the last one or enough time has passed.
      last, spent = record[schema.BUCKET], record.get(schema.SECONDS) or 0.0
      is_end = record[schema.TRAINED_BUCKET] == last - (record.get(schema.MODE) == "streaming")
      if is_end or spent - self._drawn_at >= _SECONDS_BETWEEN_IMAGES:
        self._drawn_at = spent
        part = self._scores.about(record).part
        values.append(picture("accuracy_matrix", figures.draw(
            panels.accuracy_matrix({"": acc}, part),
            title=f"Accuracy by {part}, {self.log_dir.name}")))
    if self._folder is not None and (test_set := sample_images.name_of(record)):
      if test_set in self._sampled:
        self._sampled[test_set] = record  # Shown again at the end.
      elif found := self._samples(record):
        values += found
        self._sampled[test_set] = None
    self._file.add(event, values)
    error = (1.0 - scores["headline/accuracy"] if "headline/accuracy" in scores else
             scores.get("running_mean/predict/error"))
    cost = task_stream.cumulative_cost(record)
    if kind == "predict" and error is not None and cost is not None:
      # A step is an integer of 64 bits: MFLOPs leave room for any stream.
      self._file.add(round(cost / 1e6), event_file.scalars({"error_against_megaflops": error}))
    if kind == "predict" and error is not None and "budget_cut" in record:
      held = sum(record[name] for name in ledger.HELD)
      self._file.add(round(held / 1e3), event_file.scalars({"error_against_kilobytes": error}))
    for trial in record.get(schema.TRIALS) or ():
      self._write_trial(record, trial)

  def _samples(self, record: Mapping[str, Any]) -> list[event_file.Value]:
    """The sample images of a test set with the answers of a record; [] if either is missing."""
    found = sample_images.answered(self._folder, record) if self._folder is not None else []
    if not found:
      return []
    drawn = sample_images.sheet(found)
    return [event_file.image(f"samples/{sample_images.name_of(record)}", sample_images.png(drawn),
                             *drawn.size)]

  def _write_trial(self, record: Mapping[str, Any], trial: Mapping[str, Any]) -> None:
    name = _trial_name(record[schema.EVENT], record.get(schema.TASK_KEY), trial["trial"])
    curve = trial.get("curve") or []
    shown = self._live_steps.pop(name, [])
    if shown != [point[0] for point in curve[:len(shown)]]:
      # Written by a process that started within the event, or whose last steps were discarded.
      self._trial.close()
      event_file.delete(self.trials_dir / name)
      shown = []
    file = self._open_trial(name)
    for step, *columns in curve[len(shown):]:
      file.add(step, _points(dict(zip(CURVE_COLUMNS, columns))))
    file.add(int(curve[-1][0]) if curve else 0, [
        *event_file.scalars({key: trial.get(key) for key in SCORES_OF_A_TRIAL}),
        *event_file.session(self.trial_values(record, trial), self._session_name(
            f"trials/{name}"))])
    file.close()

  def trial_values(self, record: Mapping[str, Any], trial: Mapping[str, Any]) -> dict[str, Any]:
    """The hyper-parameters of a trial's row; trials of one search have its name in "search"."""
    hyper_parameters = {
        name: value for name, value in trial.items()
        if isinstance(value, (bool, int, float, str)) and name not in _NOT_HYPER_PARAMETERS
        and not name.startswith(SCORES_OF_A_TRIAL)}
    return {**hyper_parameters, "learner": self.log_dir.name,
            "search": _trial_name(record[schema.EVENT], record.get(schema.TASK_KEY), None),
            "task": record.get(schema.TASK_KEY) or f"event {record['event']}", "run": self._run}

  def _session_name(self, name: str) -> str:
    """The id of a row of the HParams tab.

    TensorBoard shows all sessions of one id as one row: the values of the first of them, beside the
    mean of their scores. Each id is therefore of one session, whatever is read with it from a
    common parent: learners, trials of one search, several work directories.
    """
    return f"{self.log_dir.name}/{name} of {self.log_dir.resolve().parent.as_posix()}"

  def _open_trial(self, name: str) -> event_file.EventFile:
    folder = self.trials_dir / name
    if self._trial.folder != folder:
      self._trial.close()
      self._trial = event_file.EventFile(folder)
    return self._trial


def _points(values: Mapping[str, float | None]) -> list[event_file.Value]:
  return event_file.scalars({f"curve/{name}": value for name, value in values.items()})


def _trial_name(event: int, task_key: str | None, trial: int | None) -> str:
  suffix = "" if task_key is None else "_" + re.sub(r"[^A-Za-z0-9_.@+-]", "_", task_key)
  return f"{event:04d}{suffix}" + ("" if trial is None else f"/trial_{trial:02d}")


def code_block(text: str) -> str:
  """The text as a code block."""
  return "\n".join(f"    {line}" for line in text.splitlines())


def environment_table(values: Mapping[str, Any]) -> str:
  """A table of environment.json: command, seed, device, arithmetic, versions."""
  rows: list[tuple[str, Any]] = []
  for name, value in values.items():
    if isinstance(value, Mapping):
      rows += [(f"{name}: {key}", entry) for key, entry in value.items()]
    else:
      rows.append((name, ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value))
  return markdown_table(
      ("", "value"), ((name.replace("_", " "), f"`{value}`") for name, value in rows))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
  """A Markdown table; a bar within a cell would begin another one and is escaped."""
  lines = [header, ["---"] * len(header), *rows]
  return "\n".join(f"| {' | '.join(str(c).replace('|', chr(92) + '|') for c in line)} |"
                   for line in lines)


def picture(tag: str, figure: Any) -> event_file.Value:
  """A figure on white as an image."""
  with figures.style():
    figure.set_dpi(_DPI)
    figure.canvas.draw()
    drawn = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
  return event_file.image(tag, sample_images.png(drawn), *drawn.size)


class RunningScores:
  """Folds the records of one run.

  Args:
    reference: errors of Independent by task key, against which regret is measured; {}: no regret.
    description: of the protocol; None: found by its name in the records.
  """

  def __init__(self, reference: Mapping[str, float | None] | None = None,
               description: descriptions.ProtocolDescription | None = None):
    self._description = description
    self._reference = dict(reference or {})
    self._regret: float | None = 0.0 if reference else None
    self._tested: list[tuple[float, str]] = []  # (error, role) of tasks.
    self._repeats: list[Mapping[str, Any]] = []  # Train records with learning curves.
    self._sums: dict[str, tuple[float, int]] = {}
    self._acc: np.ndarray | None = None  # [T, T], rows so far.
    self._spent: dict[str, Any] = {}
    self._rates: set[float] = set()  # Of the best trials.

  def update(self, record: Mapping[str, Any]) -> dict[str, float]:
    """Returns the values that the record changes, by tag: "headline/...", "running_mean/..."."""
    kind, about = record.get(schema.KIND, "event"), self.about(record)
    found: dict[str, Any] = {}
    for trial in record.get(schema.TRIALS) or ():
      rate = trial.get("learning_rate")
      if trial.get("trial") == record.get(schema.BEST_TRIAL) and event_file.is_number(rate):
        self._rates.add(rate)
    if kind != deliveries.PREDICT or not _PARTS_OF_A_SCORE & set(about.panels):
      for name in _AVERAGED:
        if event_file.is_number(record.get(name)):
          tag = f"running_mean/{kind}/{name}"
          total, count = self._sums.get(tag, (0.0, 0))
          self._sums[tag] = total + record[name], count + 1
          found[tag] = self._sums[tag][0] / self._sums[tag][1]
    if descriptions.TASKS in about.panels:
      found.update(self._tasks(kind, record))
    elif descriptions.BUCKETS in about.panels:
      found.update(self._buckets(record) if kind == deliveries.PREDICT else {})
    elif descriptions.STEPS in about.panels:
      found["headline/accuracy"] = about.curve.value(record) if about.curve else None
    elif kind == deliveries.PREDICT and about.headline is not None:
      found[f"headline/{about.headline.key}"] = record.get(about.headline.key)
    found["headline/cumulative_flops"] = task_stream.cumulative_cost(record)
    # FLOPs of a gradient step of the event, by phase; nothing if one of the two is unknown.
    for phase in _LEARNING:
      spent, before = [[values.get(f"{name}_{phase}", 0) for name in ("flops", "steps")]
                       for values in (record, self._spent)]
      if None not in (*spent, *before) and spent[1] > before[1]:
        found[f"one_event/flops_per_step_{phase}"] = (spent[0] - before[0]) / (spent[1] - before[1])
    self._spent = {name: record[name] for name in record if name.startswith(("flops_", "steps_"))}
    return {tag: value for tag, value in found.items() if event_file.is_number(value)}

  def layout(self, record: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The charts of the custom scalars of a run with such records: the headline, then its costs."""
    about = self.about(record)
    if descriptions.TASKS in about.panels:
      scores = ["mean_error", "mean_error_all_tasks", "regret", "forward_transfer"]
    elif descriptions.BUCKETS in about.panels:
      scores = ["accuracy", "in_domain", "next_domain", "backward_transfer", "forward_transfer"]
    elif descriptions.STEPS in about.panels:
      scores = ["accuracy", "mean_per_class"]
    else:
      scores = [about.headline.key] if about.headline is not None else []
    # A tag is a regular expression.
    return {"Headline": {f"{name.replace('_', ' ')} (share)": [f"headline/{re.escape(name)}$"]
                         for name in scores},
            "Costs": {"cumulative FLOPs": ["headline/cumulative_flops$"],
                      "seconds": ["total/seconds$"],
                      "error against MFLOPs": ["error_against_megaflops$"]}}

  def rates(self) -> dict[str, float]:
    """The learning rate of the best trials, if it is one; {} of a run without trials."""
    return {"learning_rate": next(iter(self._rates))} if len(self._rates) == 1 else {}

  def final(self, summary: Mapping[str, Any]) -> dict[str, float]:
    """The headline of a finished run; a score that the summary does not have is left out."""
    found: dict[str, Any] = {
        f"headline/{shown}": summary[name] for name, shown in _HEADLINES.items() if name in summary}
    about = self.about(summary)
    if about.headline is not None and about.headline.key not in _HEADLINES:
      found[f"headline/{about.headline.key}"] = summary.get(about.headline.key)
    found["headline/cumulative_flops"] = task_stream.cumulative_cost(summary)
    if descriptions.TASKS in about.panels:
      found["headline/regret"] = self._regret
    return {tag: value for tag, value in found.items() if event_file.is_number(value)}

  def about(self, record: Mapping[str, Any]) -> descriptions.ProtocolDescription:
    """The description of the protocol that wrote the record."""
    return self._description or descriptions.named(str(record.get(schema.PROTOCOL)))

  def _tasks(self, kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "train":
      if record.get(schema.TRIALS):
        self._repeats.append(record)
      if record.get(schema.OCCURRENCE, 1) == 1:
        return {}
      by_task = task_stream.forward_transfer_by_task(self._repeats)
      return {"headline/forward_transfer": task_stream.mean_forward_transfer(by_task)}
    if kind != "predict" or not event_file.is_number(record.get(schema.ERROR)):
      return {}
    self._tested.append((record[schema.ERROR], record.get(schema.ROLE, task_stream.META_TRAIN)))
    errors, roles = zip(*self._tested)
    other = self._reference.get(record.get(schema.TASK_KEY, ""))
    # After a task that Independent has not learned, the sum would be over other tasks.
    self._regret = None if self._regret is None or other is None else (
        self._regret + record[schema.ERROR] - other)
    return {"headline/mean_error": task_stream.mean_error(errors, roles),
            "headline/mean_error_all_tasks": float(np.mean(errors)),
            "headline/regret": self._regret}

  def _buckets(self, record: Mapping[str, Any]) -> dict[str, float]:
    """Scores of the rows so far, at the end of each row: a part of one is no mean of a row."""
    row = np.array(record[schema.ROW], np.float64)  # None becomes NaN.
    if self._acc is None:
      self._acc = np.full([len(row), len(row)], np.nan)
    self._acc[record[schema.TRAINED_BUCKET]] = row
    if record[schema.BUCKET] != len(row) - 1:
      return {}
    i, j = np.indices(self._acc.shape)
    done = i <= record[schema.TRAINED_BUCKET]
    parts = {"in_domain": i == j, "next_domain": j == i + 1, "accuracy": j <= i,
             "backward_transfer": j < i, "forward_transfer": j > i}
    return {f"headline/{name}": float(np.mean(self._acc[part & done]))
            for name, part in parts.items() if np.any(part & done)}

  def matrix(self) -> np.ndarray | None:
    """Accuracies [T, T] so far, NaN where not evaluated; None without buckets."""
    return self._acc


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

  def view(self, name: str) -> TensorBoardView:
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

  def _view(self, name: str) -> TensorBoardView:
    return TensorBoardView(
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
    drawn = {"pareto" if not i else f"pareto_{i + 1}": figures.draw(
        error_panels.pareto_chart(points), title=results.title)
             for i, stream in enumerate(run_streams.build(finished))
             if (results := stream_results.of_stream(stream))
             and (points := error_panels.learner_points(results))}
    rows: list[Mapping[str, Any]] = []
    trials: list[Mapping[str, Any]] = []
    metrics: list[str] = []
    for run in runs:
      view, scores = self._view(run.folder.name), RunningScores(
          self._reference_errors(run.learner), run.description)
      for record in run.records:
        scores.update(record)
        trials += [view.trial_values(record, trial) for trial in record.get(schema.TRIALS) or ()]
      if run.is_finished:
        rows.append({**scores.rates(), **view.final_values(run.summary)})
        metrics += scores.final(run.summary)
    self._replace(self.log_dir(), [
        *([event_file.experiment(rows, list(dict.fromkeys(metrics)), (_RATE, "learner"))]
          if rows else []),
        *(picture(name, figure) for name, figure in drawn.items())])
    self._replace(self.trials_dir(), [event_file.experiment(trials, SCORES_OF_A_TRIAL, (_RATE,))]
                  if trials else [])

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
    return (self._reference() / run_dir.SUMMARY).exists()

  def _reference(self) -> pathlib.Path:
    return run_identity.latest(self._workdir, tables.INDEPENDENT)

  def _reference_errors(self, name: str) -> dict[str, float | None]:
    """Errors of the Independent run beside a learner, by task; {} if it has not finished."""
    if run_identity.label(pathlib.Path(name)) == tables.INDEPENDENT or not self._has_reference():
      return {}
    run, = run_dir.load([self._reference()])
    if descriptions.TASKS not in run.description.panels:
      return {}
    return {r[schema.TASK_KEY]: r.get(schema.ERROR) for r in schema.of_tests(run.records)}

  def _show(self, do: Any) -> None:
    """Does something with event files; a run is not given up for a view that cannot be written."""
    try:
      do()
    except (OSError, ValueError, tf.errors.OpError) as error:
      logging.warning("%s cannot be written (%s) and is left as it is.", self.log_dir(),
                      (str(error).splitlines() or [""])[0])
