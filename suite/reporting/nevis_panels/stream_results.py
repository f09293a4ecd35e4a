# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of NEVIS'22 as arrays: learners with their seeds, tasks in stream order, facts of tasks.

Runs of different streams, or of different splits, are never put together. Runs whose configurations
differ in the seed only are seeds of one learner.

Facts of a task are its domain, training-set size and resolution, by which results are grouped.
Those of NEVIS'22's data sets are in the stream's table (appendix L of the paper). For other streams
a CSV file gives them, with the columns task, domain, size, height and width; task is a key or a
name, and empty cells are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import csv
import dataclasses
import math
import os
import pathlib
from typing import NamedTuple

import numpy as np

from suite.contracts import descriptions
from suite.data.streams import nevis_table
from suite.metrics import schema
from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import run_dir
from suite.reporting import run_streams

INDEPENDENT = "indep"
FACTS_COLUMNS = ("task", "domain", "size", "height", "width")


class TaskRow(NamedTuple):
  """One task of the stream. num_examples: training and dev images; None if unknown."""

  key: str
  name: str
  year: int | None
  role: str
  metric: str = "error"
  num_examples: int | None = None


@dataclasses.dataclass(frozen=True)
class LearnerResults:
  """One learner, with one run a seed.

  Attributes:
    label: unique within the results.
    method: the learner's name in its run: "indep", "ft_d", ...
    errors: [S, T] in [0, 1]; NaN is unknown.
    mean_errors: [S], the headline score; NaN if a run has none.
    flops: cumulative FLOPs of each finished run without answers; None is unknown.
    flops_without_pretraining: the same without phase "pretrain".
    runs: what the results were read from; empty for printed ones.
    home: the folder that the runs have in common.
    curve: whose budgets are joined by a line: the method, or the row of a table in which several
      rows have the same method and several columns each.
  """

  label: str
  method: str
  errors: np.ndarray
  mean_errors: np.ndarray
  flops: Sequence[float | None]
  flops_without_pretraining: Sequence[float | None]
  runs: Sequence[run_dir.Run] = ()
  home: pathlib.Path | None = None
  curve: str = ""

  @property
  def num_seeds(self) -> int:
    return len(self.errors)

  @property
  def workdirs(self) -> set[pathlib.Path]:
    return {run.folder.parent for run in self.runs}


@dataclasses.dataclass(frozen=True)
class StreamResults:
  """All learners on one stream.

  Attributes:
    title: name of the stream, and the split if it is not "test".
    tasks: T tasks in stream order.
    learners: in the order of their runs.
    notes: unfinished runs, and runs without a headline score.
  """

  title: str
  tasks: Sequence[TaskRow]
  learners: Sequence[LearnerResults]
  notes: Sequence[str] = ()

  @property
  def is_meta_test(self) -> list[bool]:
    return [task.role == task_stream.META_TEST for task in self.tasks]

  def at_equal_compute(self) -> StreamResults:
    """One budget a method, where there are several of Independent (section 5.6, figure 5).

    For each budget of Independent the nearest one of each other curve is taken, by the ratio of
    FLOPs; the set whose largest ratio is smallest is kept, of equal ones the one with more FLOPs.
    Learners of unknown FLOPs are left out, and the notes have all ratios. With one budget of
    Independent, or without a known one, the results are returned as they are.
    """
    costs = {learner.label: spread_of([cost for cost in learner.flops if cost]).mean
             for learner in self.learners if any(learner.flops)}
    every = [learner for learner in self.learners if learner.method == INDEPENDENT]
    known = [learner for learner in every if learner.label in costs]
    if len(every) < 2 or not known:
      return self

    def ratio(learner: LearnerResults, reference: LearnerResults) -> float:
      return costs[learner.label] / costs[reference.label]

    sets = []
    for reference in known:
      chosen = {reference.curve: reference}
      for learner in self.learners:
        if learner.method == INDEPENDENT or learner.label not in costs:
          continue
        best = chosen.get(learner.curve)
        if best is None or (abs(math.log(ratio(learner, reference)))
                            < abs(math.log(ratio(best, reference)))):
          chosen[learner.curve] = learner
      worst = max(abs(math.log(ratio(learner, reference))) for learner in chosen.values())
      sets.append((worst, -costs[reference.label], reference, list(chosen.values())))
    _, _, reference, kept = min(sets, key=lambda found: found[:2])
    note = "Of several budgets those of most equal FLOPs: " + ", ".join(
        f"{learner.label} ({ratio(learner, reference):.2f} of {reference.label}'s)"
        for learner in kept if learner is not reference) + "."
    return dataclasses.replace(self, learners=kept, notes=[*self.notes, note])

  def reference_of(self, learner: LearnerResults) -> LearnerResults | None:
    """The Independent learner to compare with; None if there is not exactly one.

    It is one with a run in a work directory of the learner, else one with the same home, else any.
    """
    every = [other for other in self.learners if other.method == INDEPENDENT]
    beside = [other for other in every if other.workdirs & learner.workdirs]
    near = [other for other in every if other.home == learner.home]
    found = beside or near or every
    return found[0] if len(found) == 1 else None


def load(dirs: Iterable[str | os.PathLike]) -> list[StreamResults]:
  """Reads all runs of NEVIS'22 in the directories, at any depth; [] if there is none."""
  return [found for stream in run_streams.build(run_dir.load(dirs))
          if (found := of_stream(stream)) is not None]


def of_stream(stream: run_streams.StreamRuns) -> StreamResults | None:
  """The results of a stream; None of another protocol, and without a tested task."""
  tested = {id(run): schema.of_tests(run.records) for run in stream.runs}
  if descriptions.TASKS not in stream.description.panels or not any(tested.values()):
    return None
  longest = max(stream.runs, key=lambda run: len(tested[id(run)]))
  sizes = {r[schema.TASK_KEY]: r[schema.TRAIN_SIZE] + r[schema.DEV_SIZE] for r in longest.records
           if r.get(schema.KIND) == "train" and schema.TASK_KEY in r
           and None not in (r.get(schema.TRAIN_SIZE), r.get(schema.DEV_SIZE))}
  tasks = [TaskRow(r[schema.TASK_KEY], r[schema.TASK], r.get(schema.YEAR), r.get(schema.ROLE, ""),
                   r.get(schema.METRIC, "error"), sizes.get(r[schema.TASK_KEY]))
           for r in tested[id(longest)]]
  place = {task.key: i for i, task in enumerate(tasks)}
  # A row of a table is a curve of its own where rows have the same methods, and columns each.
  of_method: dict[str, list[str | None]] = {}
  for one in stream.learners:
    of_method.setdefault(one.runs[0].learner, []).append(run_streams.row_of(one.runs[0]))
  learners = []
  for one in stream.learners:
    runs, method, row = one.runs, one.runs[0].learner, run_streams.row_of(one.runs[0])
    errors = np.full((len(runs), len(tasks)), np.nan)
    for i, run in enumerate(runs):
      for record in tested[id(run)]:
        errors[i, place[record[schema.TASK_KEY]]] = _number(record.get(schema.ERROR))
    flops, without = ([task_stream.cumulative_cost(run.summary, without=phases)
                       if run.is_finished else None for run in runs]
                      for phases in ((), ("pretrain",)))
    num = len(set(of_method[method]))
    learners.append(LearnerResults(
        one.label, method, errors,
        np.array([_number(run.summary.get("mean_error")) for run in runs]), flops, without, runs,
        run_streams.home_of(runs),
        row if row is not None and 1 < num < len(of_method[method]) else method))
  split = str(tested[id(longest)][0].get(schema.SPLIT, ""))
  ending = f", {split} split" if split not in ("", "test") else ""
  name = longest.summary.get("stream", "unnamed") if longest.is_finished else (
      run_streams.NOT_FINISHED)
  return StreamResults(f"{longest.protocol} ({name}{ending})", tasks, learners, stream.notes)


def _number(value: float | None) -> float:
  return float("nan") if value is None else float(value)


def spread_of(values: Sequence[float | None]) -> stream_groups.Spread:
  """Mean and deviation over seeds, if every seed is known; else NaN.

  If one seed's value is unknown, so is the mean: the others would make a mean of other seeds.
  """
  if any(v is None or math.isnan(v) for v in values):
    return stream_groups.Spread(float("nan"), float("nan"), 0)
  return stream_groups.spread(values)


class TaskFacts(NamedTuple):
  """Facts of one task; None or "unknown" where they are not known.

  size is the number of images in train and dev; resolution is the square root of the average height
  times width, in pixels.
  """

  domain: str = stream_groups.UNKNOWN
  size: float | None = None
  resolution: float | None = None


def read_facts(path: str | os.PathLike) -> dict[str, TaskFacts]:
  """Reads a CSV file: {task: facts}."""
  with open(path, newline="", encoding="utf-8") as file:
    rows = csv.DictReader(file)
    missing = [name for name in FACTS_COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
      raise ValueError(f"{path} has no column {', '.join(missing)}; a file of facts has the "
                       f"columns {', '.join(FACTS_COLUMNS)}.")
    found = {}
    for row in rows:
      for name in ("size", "height", "width"):
        if row[name] and not row[name].isdigit():
          raise ValueError(f"{path}, task {row['task']!r}: {name} is {row[name]!r}; give a whole "
                           "number, or nothing.")
      size, height, width = (int(row[name]) if row[name] else None
                             for name in ("size", "height", "width"))
      found[row["task"]] = TaskFacts(
          row["domain"] or stream_groups.UNKNOWN, size, _side(height, width))
    return found


def facts_of(tasks: Sequence[TaskRow], given: Mapping[str, TaskFacts] | None = None
       ) -> list[TaskFacts]:
  """The facts of each task: those given by key or name; else the stream table's.

  A size that is not given is read from the run's records, else from the table.
  """
  in_table = {line: TaskFacts(line.domain, line.size, _side(*line.resolution))
              for line in nevis_table.full()}
  # By key, and by name for keys of other streams.
  table = {**{line.name: fact for line, fact in in_table.items()},
           **{line.key: fact for line, fact in in_table.items()}}
  given, found = given or {}, []
  for task in tasks:
    own = given.get(task.key) or given.get(task.name)
    known = table.get(task.key) or table.get(task.name) or TaskFacts()
    facts = own or known
    size = own.size if own is not None and own.size is not None else task.num_examples
    found.append(facts._replace(size=known.size if size is None else size))
  return found


def _side(height: int | None, width: int | None) -> float | None:
  """The side of the square with as many pixels; None if it is not known."""
  return math.sqrt(height * width) if height and width else None
