# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a task's learning started from, and what that was worth (Bornschein et al., 2022, figures 3
and 18, appendices E.1 and J), from the records of Train and Predict events.

Matrices are [T, T] and stand as in figure 3: row i is the source, column j the task that is learned
later. NaN means "not compared" or "not trained".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

RANDOM = "random"

Records = Sequence[Mapping[str, Any]]


class Edge(NamedTuple):
  """The start of a task: the source's key, None for random weights, or another model's name."""

  source: Optional[str]
  task: str


def start_edges(records: Records, stored_name: Callable[[str], str] = str) -> list[Edge]:
  """Lists what each task was started from, in order; tasks without a "start" are left out.

  Args:
    records: of one run.
    stored_name: key of a task -> its name in "start", where the two differ.
  """
  keys: dict[str, str] = {}
  edges = []
  for record in _trained(records):
    start = record["start"]["from"]
    edges.append(Edge(None if start == RANDOM else keys.get(start, start), record["task_key"]))
    keys[stored_name(record["task_key"])] = record["task_key"]
  return edges


def chain_lengths(edges: Sequence[Edge]) -> dict[str, int]:
  """Number of models that each task's weights come from: 0 for random weights.

  A model from outside the stream, such as a pretrained one, counts as one.
  """
  lengths: dict[str, int] = {}
  for source, task in edges:
    lengths[task] = 0 if source is None else lengths.get(source, 0) + 1
  return lengths


def num_started(edges: Sequence[Edge]) -> dict[str, int]:
  """Number of tasks that were started from each source, the largest hub first."""
  sources = [edge.source for edge in edges if edge.source is not None]
  counts = {source: sources.count(source) for source in dict.fromkeys(sources)}
  return dict(sorted(counts.items(), key=lambda item: -item[1]))


def knn_errors(records: Records, stored_name: Callable[[str], str] = str
               ) -> tuple[list[str], np.ndarray]:
  """The kNN validation errors by which FT-d and FT-s choose a start.

  Returns:
    (names [T], errors [T, T]). The names are those of the tasks in stream order, then of other
    candidates, such as random weights.
  """
  trained = _trained(records)
  names = {stored_name(r["task_key"]): r["task_key"] for r in trained}
  candidates = [r["start"].get("candidates") or {} for r in trained]
  others = [name for found in candidates for name in found if name not in names]
  labels = [*names.values(), *dict.fromkeys(others)]
  place = {label: i for i, label in enumerate(labels)}
  errors = np.full((len(labels), len(labels)), np.nan)
  for record, found in zip(trained, candidates):
    for name, error in found.items():
      errors[place[names.get(name, name)], place[record["task_key"]]] = error
  return labels, errors


def advantage(errors: np.ndarray) -> np.ndarray:
  """Mean error of a column minus each of its errors: positive is a better source than most."""
  errors = np.asarray(errors, np.float64)
  known = ~np.isnan(errors)
  counts = np.sum(known, axis=0)
  means = np.sum(np.where(known, errors, 0.0), axis=0) / np.maximum(counts, 1)
  return np.where(known, means - errors, np.nan)


class TrainedPair(NamedTuple):
  """Test errors of a task, fine-tuned from a source's model and learned from random weights."""

  source: str
  task: str
  error: float
  independent: Optional[float]

  @property
  def gain(self) -> Optional[float]:
    """Error that the source saves; negative if it did harm."""
    return None if self.independent is None else self.independent - self.error


def trained_pairs(runs: Sequence[Records], independent: Mapping[str, Optional[float]],
                  stored_name: Callable[[str], str] = str) -> list[TrainedPair]:
  """Lists the cells of appendix J's matrix that runs have, one for each (source, task) of a run.

  A source counts if it was itself learned from random weights, as appendix J wants it: pairs of a
  chain, whose source had a source, are left out. So are tasks learned with auxiliary ones.

  Args:
    runs: the records of each run.
    independent: test errors of tasks learned from random weights.
    stored_name: key of a task -> its name in "start".
  """
  found = []
  for records in runs:
    edges = start_edges(records, stored_name)
    roots = {edge.task for edge in edges if edge.source is None}
    alone = {r["task_key"] for r in _trained(records) if not r.get("auxiliary")}
    errors = {r["task_key"]: r["error"] for r in records
              if r.get("kind") == "predict" and r.get("error") is not None}
    found += [TrainedPair(source, task, errors[task], independent.get(task))
              for source, task in edges
              if source in roots & alone and task in alone and task in errors]
  return found


def as_matrix(pairs: Sequence[TrainedPair], tasks: Sequence[str]) -> np.ndarray:
  """Mean gain of each (source, task): [T, T]; NaN where no pair has one."""
  gains: dict[tuple[str, str], list[float]] = {}
  for pair in pairs:
    if pair.gain is not None:
      gains.setdefault((pair.source, pair.task), []).append(pair.gain)
  place = {task: i for i, task in enumerate(tasks)}
  out = np.full((len(place), len(place)), np.nan)
  for (source, task), values in gains.items():
    out[place[source], place[task]] = np.mean(values)
  return out


def _trained(records: Records) -> list[Mapping[str, Any]]:
  return [r for r in records
          if r.get("kind") == "train" and isinstance(r.get("start"), Mapping)]
