# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The failure atlas: which classes, tasks, years and buckets runs fail on, and which together.

Every answer of the finished runs of a stream is one bit, wrong or not, in an array of models by
test images (`StoredAnswers`). Groups of images are the values of what is known of them: class, task
and year (NEVIS), bucket (CLEAR), part of the sequence (FLUID). A test set that several events of a
run tested counts as the last one answered it. Episodes have classes of their own, and are left out.
The statistics are those of `suite/metrics/failure_groups.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import os
from typing import Any

import numpy as np

from suite.contracts import descriptions
from suite.metrics import episodic
from suite.metrics import failure_groups
from suite.metrics import schema
from suite.metrics import sequence_log
from suite.reporting import panels
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.state import predictions

NAMES = {
    "failures": "groups of test images that are harder than the others, for all models",
    "failures_together": "groups that fail together for some of the models, beyond chance",
    "failures_apart": "groups in which two models differ, by paired tests"}
_MOST_GROUPS = 400  # Of a kind; those with the most images.
_SHOWN, _MEMBERS = 20, 6  # Rows of a table, and members of a factor.
_PARTS = 10  # Of a sequence.
_Z = 3.0  # Of a group that is harder; without a difference one of 740 groups has more.


@dataclasses.dataclass(frozen=True)
class StoredAnswers:
  """The answers of M models to the N test images of a stream.

  Attributes:
    title: of the stream.
    models: M labels, a learner and a seed each.
    wrong: bool [M, N].
    groups: kind, such as "class" -> name of a group -> places of its images.
    notes: models that are left out, and why.
  """

  title: str
  models: Sequence[str]
  wrong: np.ndarray
  groups: Mapping[str, Mapping[str, np.ndarray]]
  notes: Sequence[str] = ()

  def table(self, kind: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names [G] of the groups of a kind, wrong answers [M, G] and all answers [M, G]."""
    chosen = sorted(self.groups[kind].items(), key=lambda item: -len(item[1]))[:_MOST_GROUPS]
    errors = np.stack([np.sum(self.wrong[:, places], axis=1) for _, places in chosen], axis=1)
    counts = np.tile([len(places) for _, places in chosen], [len(self.models), 1])
    return [name for name, _ in chosen], errors, counts


def load(dirs: Iterable[str | os.PathLike]) -> list[StoredAnswers]:
  """Reads the answers of all finished runs at any depth, by stream; [] without saved answers."""
  return [found for stream in run_streams.build(run_dir.load(list(dirs)))
          if (found := read(stream)) is not None]


def read(stream: run_streams.StreamRuns) -> StoredAnswers | None:
  """The answers of a stream's finished runs; None if none has any that can be grouped."""
  is_sequence = descriptions.STEPS in stream.description.panels
  models: list[str] = []
  rows: list[np.ndarray] = []
  notes: list[str] = []
  reference: Any = None
  for learner in stream.learners:
    for number, run in enumerate(learner.finished):
      label = learner.label if len(learner.finished) == 1 else f"{learner.label}, seed {number}"
      try:
        found = _of_sequence(run) if is_sequence else _of_test_sets(run)
      except (OSError, ValueError) as error:
        notes.append(f"{label} is left out: {error}")
        continue
      if reference is None:
        reference = found
      elif found[0] != reference[0]:
        notes.append(f"{label} is left out: its test images are not those of {models[0]}.")
        continue
      models.append(label)
      rows.append(found[1])
  if not models:
    return None
  return StoredAnswers(stream.title, models, np.stack(rows), reference[2], notes)


Answers = tuple[list[str], np.ndarray, dict[str, dict[str, np.ndarray]]]


def _of_test_sets(run: run_dir.Run) -> Answers:
  """(names of all images, bool [N] of wrong ones, groups) of tasks or buckets."""
  last = {str(record.get(schema.BUCKET, record.get(schema.TASK_KEY))): record
          for record in schema.of_tests(run.records) if record.get(schema.PREDICTIONS)
          and not episodic.num_episodes(record)}  # Classes of an episode are its own.
  if not last:
    raise ValueError("it has no saved answers outside of episodes")
  ids: list[str] = []
  wrong: list[np.ndarray] = []
  groups: dict[str, dict[str, list[np.ndarray]]] = {}
  if parts := sum(bool(record.get(schema.ESTIMATED)) for record in last.values()):
    raise ValueError(f"{parts} of its test sets were asked a part of the answers.")
  for name, record in last.items():
    found = predictions.load(run.folder / record[schema.PREDICTIONS])
    places = np.arange(len(found)) + len(ids)
    ids += [f"{name}/{one}" for one in found.id]
    wrong.append(~found.correct)
    is_bucket = schema.BUCKET in record
    kinds = {run.description.part: record.get(schema.BUCKET)} if is_bucket else {
        "task": record.get(schema.TASK_KEY), "year": record.get(schema.YEAR)}
    for kind, value in kinds.items():
      if value is not None:
        groups.setdefault(kind, {}).setdefault(str(value), []).append(places)
    if not found.is_multi_label:
      before = "" if is_bucket else f"{record.get(schema.TASK_KEY)}: "
      for label in np.unique(found.label):
        known = found.class_names[label] if found.class_names else f"class {label}"
        groups.setdefault("class", {}).setdefault(f"{before}{known}", []).append(
            places[np.asarray(found.label) == label])
  return ids, np.concatenate(wrong), _several(
      {kind: {name: np.concatenate(parts) for name, parts in named.items()}
       for kind, named in groups.items()})


def _of_sequence(run: run_dir.Run) -> Answers:
  """Failures of a sequence; each step counts as one image."""
  log = sequence_log.from_records(run.records)
  if not len(log.labels):
    raise ValueError("it has no answers")
  places = np.arange(len(log.labels))
  tenth = places * _PARTS // len(places)
  groups = {
      "class": {f"class {label}": places[log.labels == label] for label in np.unique(log.labels)},
      "part of the sequence": {f"{i + 1} of {_PARTS}": places[tenth == i] for i in range(_PARTS)},
      "first sight": {"first of its class": places[log.unknown], "later": places[~log.unknown]}}
  names = [f"{i}/{label}" for i, label in enumerate(log.labels)]
  return names, ~log.closed_correct(), _several(
      {kind: {name: found for name, found in named.items() if len(found)}
       for kind, named in groups.items()})


def _several(groups: Mapping[str, dict[str, np.ndarray]]) -> dict[str, dict[str, np.ndarray]]:
  return {kind: named for kind, named in groups.items() if len(named) > 1}


def build(stored: StoredAnswers) -> list[panels.Panel]:
  """Builds the panels that the answers can fill: harder groups, factors, pairs of models."""
  rows: list[list[Any]] = []
  for kind in stored.groups:
    names, errors, counts = stored.table(kind)
    share = np.sum(errors, axis=0) / np.sum(counts, axis=0)
    rows += [[kind, name, int(counts[0, g]), float(share[g]), effect, z]
             for g, (name, (effect, z)) in enumerate(zip(
                 names, failure_groups.harder(errors, counts))) if z > _Z]
  rows.sort(key=lambda row: -row[5])
  harder = panels.Panel(
      "failures", f"{stored.title}: groups that are harder than the others",
      [panels.Column("kind"), panels.Column("group"), panels.Column("images", panels.COUNT),
       panels.Column("mean error", panels.PERCENT), panels.Column("log odds", panels.NUMBER),
       panels.Column("z", panels.NUMBER)], rows[:_SHOWN],
      [f"{len(stored.models)} models, {stored.wrong.shape[1]:,} test images. Log odds: what a "
       "group adds to those of an error, beside the model's own; z: in deviations, of answers as "
       f"if they were independent. Shown are at most {_SHOWN}, above {_Z:g}.", *stored.notes])
  return [harder, *_together(stored), *_apart(stored)]


def _together(stored: StoredAnswers) -> list[panels.Panel]:
  rows: list[list[Any]] = []
  for kind in stored.groups:
    names, errors, counts = stored.table(kind)
    for place, factor in enumerate(failure_groups.factors(errors, counts), 1):
      (more, fewer), (bad, good) = (
          [[labels[i] for i in np.argsort(-sign * values)[:_MEMBERS]
            if sign * values[i] > 0.5 / np.sqrt(len(labels))] for sign in (1, -1)]
          for labels, values in ((names, factor.groups), (stored.models, factor.models)))
      rows.append([kind, place, factor.share, f"{factor.p_value:.3f}",
                   *(", ".join(found) for found in (more, bad, fewer, good))])
  if not rows:
    return []
  return [panels.Panel(
      "failures_together", f"{stored.title}: groups that fail together",
      [panels.Column("kind"), panels.Column("factor", panels.COUNT),
       panels.Column("of what is left", panels.PERCENT), panels.Column("p"),
       panels.Column("these groups fail"), panels.Column("for these models"),
       panels.Column("and these"), panels.Column("for these")], rows,
      ["What is left of the errors when each model has its own rate and each group its own "
       "difficulty. p: of arrays drawn without a pattern."])]


def _apart(stored: StoredAnswers) -> list[panels.Panel]:
  rows: list[list[Any]] = []
  for kind, groups in stored.groups.items():
    names = stored.table(kind)[0]
    for pair in failure_groups.pairs(stored.wrong, {name: groups[name] for name in names}):
      worse, better, only, other = (
          (pair.first, pair.second, pair.only_first, pair.only_second)
          if pair.only_first > pair.only_second else
          (pair.second, pair.first, pair.only_second, pair.only_first))
      places = groups[pair.group]
      rows.append([kind, pair.group, len(places), stored.models[worse], stored.models[better],
                   float(np.mean(stored.wrong[worse][places])),
                   float(np.mean(stored.wrong[better][places])), only, other,
                   f"{pair.p_value:.1e}"])
  if not rows:
    return []
  rows.sort(key=lambda row: float(row[-1]))
  return [panels.Panel(
      "failures_apart", f"{stored.title}: groups in which two models differ",
      [panels.Column("kind"), panels.Column("group"), panels.Column("images", panels.COUNT),
       panels.Column("worse"), panels.Column("better"), panels.Column("error", panels.PERCENT),
       panels.Column("error of the better", panels.PERCENT),
       panels.Column("only the worse fails", panels.COUNT),
       panels.Column("only the better fails", panels.COUNT), panels.Column("p")],
      rows[:_SHOWN],
      [f"McNemar's exact test of the same images, corrected by Holm for all groups and pairs of a "
       f"kind. {len(rows)} differ; shown are at most {_SHOWN}."])]
