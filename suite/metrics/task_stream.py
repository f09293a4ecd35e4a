# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a stream of tasks, as NEVIS'22 defines them (Bornschein et al., 2022, section 4).

Errors are numbers in [0, 1], one per task, in stream order. The headline score is the mean over the
meta-test tasks against the FLOPs of the whole stream; the other scores describe the learning
behavior.

What a task's learning started from, and what that was worth (figures 3 and 18, appendices E.1 and
J), comes from the records of Train and Predict events. Matrices are [T, T] and stand as in figure
3: row i is the source, column j the task that is learned later. NaN means "not compared" or "not
trained".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import math
from typing import Any, NamedTuple

import numpy as np

from suite.metrics import schema

META_TRAIN = "meta_train"
META_TEST = "meta_test"
RANDOM = "random"

Errors = Sequence[float] | np.ndarray  # [T], one error per task.
Records = Sequence[Mapping[str, Any]]


class BreakEven(NamedTuple):
  """The number of tasks after which a pretraining has paid for itself.

  Attributes:
    num_tasks: None: never, as a task costs no less with it, or a cost is unknown.
    is_observed: whether the stream has that many tasks; else it continues at its mean saving.
  """

  num_tasks: int | None
  is_observed: bool


class Front(NamedTuple):
  """Indices of points: those on the Pareto front by rising FLOPs, and those without FLOPs."""

  indices: list[int]
  left_out: list[int]


def mean_error(errors: Errors, roles: Sequence[str], *, over: str = META_TEST) -> float:
  """Mean error of the tasks whose role is `over`; NaN if there is none."""
  if len(errors) != len(roles):
    raise ValueError(f"Got {len(errors)} errors and {len(roles)} roles; expected a role per task.")
  unknown = sorted(set(roles) - {META_TRAIN, META_TEST})
  if unknown:
    raise ValueError(f"Unknown roles {unknown}; allowed are {META_TRAIN!r} and {META_TEST!r}.")
  chosen = [error for error, role in zip(errors, roles) if role == over]
  return float(np.mean(chosen)) if chosen else float("nan")


def cumulative_error(errors: Errors) -> np.ndarray:
  """Running sum of errors: [T] -> [T]."""
  return np.cumsum(np.asarray(errors, np.float64))


def regret(errors: Errors, reference_errors: Errors) -> np.ndarray:
  """Cumulative error minus that of a reference learner on the same tasks: [T] -> [T].

  The paper's reference is Independent; negative values are better.
  """
  if len(errors) != len(reference_errors):
    raise ValueError(f"Got errors of {len(errors)} tasks and {len(reference_errors)} of the "
                     "reference learner; expected the same tasks in the same order.")
  return cumulative_error(errors) - cumulative_error(reference_errors)


def break_even(pretraining: float | None, costs: Sequence[float | None],
               reference: Sequence[float | None]) -> BreakEven:
  """The least number of tasks that cost less with a pretraining, itself included, than without.

  Args:
    pretraining: what it cost.
    costs: of each task it serves, in stream order, without the pretraining: T of them.
    reference: of the same tasks for a learner from random weights.
  """
  if pretraining is None or None in costs or None in reference or not costs:
    return BreakEven(None, False)
  saved = np.cumsum(np.subtract(np.asarray(reference, object), np.asarray(costs, object)))
  paid = [i for i, total in enumerate(saved, 1) if total >= pretraining]
  if paid:
    return BreakEven(paid[0], True)
  if saved[-1] <= 0:
    return BreakEven(None, False)
  return BreakEven(math.ceil(pretraining * len(costs) / saved[-1]), False)


def cumulative_cost(totals: Mapping[str, Any], name: str = "flops", *,
                    without: Sequence[str] = ()) -> int | None:
  """Returns cFLOP of equation 3: what learning the stream costs, search included.

  FLOP_i of algorithm 1 is that of the search and the training on a task; answers to its test images
  are not part of it. Selection and validation are.

  Args:
    totals: of the ledger at the end of the stream: "flops", "flops_train", "flops_predict", ...
    name: "flops" or "macs".
    without: further phases to leave out, such as "pretrain".

  Returns:
    The sum over all phases but "predict"; None if a part is unknown.
  """
  left_out = {f"{name}_{phase}" for phase in ("predict", *without)}
  parts = [value for key, value in totals.items()
           if key.startswith(f"{name}_") and key not in left_out]
  if not parts:
    parts = [totals.get(name)]
    if totals.get(f"{name}_predict") is not None and parts[0] is not None:
      parts.append(-totals[f"{name}_predict"])
  return None if any(value is None for value in parts) else sum(parts)


def area_under_curve(curve: Sequence[Sequence[float]]) -> float:
  """Mean height of a learning curve, in [0, 1] for accuracies.

  Args:
    curve: [K, 2] of (step, accuracy), steps strictly rising. The area between the first and the
      last step (trapezoidal rule) is divided by their distance, so curves over the same steps are
      comparable. Equation 5 takes curves whose first point is at step 0, before any update; none is
      added here. The mean of a single point is its accuracy.
  """
  points = np.asarray(curve, np.float64)
  if points.ndim != 2 or points.shape[1] != 2 or not len(points):
    raise ValueError(f"Got a curve of shape {list(points.shape)}; expected [K, 2] of (step, "
                     "accuracy) with K >= 1.")
  steps, heights = points.T
  widths = np.diff(steps)
  if np.any(widths <= 0):
    raise ValueError(f"The steps of a curve must rise strictly; got {steps.tolist()}.")
  if len(points) == 1:
    return float(heights[0])
  area = np.sum(widths * (heights[1:] + heights[:-1]) / 2) / np.sum(widths)
  return float(np.clip(area, np.min(heights), np.max(heights)))  # Rounding may leave the range.


def forward_transfer(auc_first: float, auc_second: float) -> float:
  """(AUC2 - AUC1) / (1 - AUC1), equation 5: the achieved share of the possible gain.

  1 means that the second occurrence of a task was learned perfectly, 0 that the first one did not
  help, a negative value that it did harm. NaN if the first occurrence was perfect (AUC1 = 1).
  """
  for name, value in (("auc_first", auc_first), ("auc_second", auc_second)):
    if not (0 <= value <= 1 or np.isnan(value)):
      raise ValueError(f"Got {name}={value}; expected a normalized area in [0, 1].")
  if auc_first == 1:
    return float("nan")
  return float((auc_second - auc_first) / (1 - auc_first))


def forward_transfer_by_task(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
  """Equation 5 for each repeated task of a run, from the curves of the best trials.

  Args:
    records: of one run, or of its part so far.

  Returns:
    {task_key of the second occurrence: forward transfer}.
  """
  areas: dict[str, float] = {}
  out = {}
  for record in records:
    if record[schema.KIND] != "train" or "trials" not in record:
      curve = []
    else:
      curve = record[schema.TRIALS][record[schema.BEST_TRIAL]]["curve"]
    if not curve:
      continue
    area = area_under_curve([[step, 1.0 - error] for step, _, error in curve])
    if record[schema.OCCURRENCE] == 1:
      areas[record[schema.TASK]] = area
    elif record[schema.TASK] in areas:
      out[record[schema.TASK_KEY]] = forward_transfer(areas[record[schema.TASK]], area)
  return out


def mean_forward_transfer(by_task: Mapping[str, float]) -> float:
  """Mean forward transfer over the repeated tasks for which it is defined; NaN if there is none."""
  defined = [value for value in by_task.values() if value is not None and not np.isnan(value)]
  return float(np.mean(defined)) if defined else float("nan")


def pareto_front(points: Iterable[tuple[float | None, float | None]]) -> Front:
  """Finds the (FLOPs, error) points that no other point dominates.

  A point is dominated if another is no worse in both and better in one, so equal points are either
  all on the front or none. Points whose FLOPs or error are None or NaN are in `left_out`.
  """
  points = list(points)
  left_out = [i for i, point in enumerate(points) if any(v is None or math.isnan(v) for v in point)]
  known: dict[int, Any] = {i: tuple(points[i]) for i in range(len(points)) if i not in left_out}
  front = [i for i, (flops, error) in known.items()
           if not any(other[0] <= flops and other[1] <= error and other != (flops, error)
                      for other in known.values())]
  return Front(sorted(front, key=lambda i: (points[i], i)), left_out)


class Edge(NamedTuple):
  """The start of a task: the source's key, None for random weights, or another model's name."""

  source: str | None
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
    start = record[schema.START]["from"]
    edges.append(Edge(None if start == RANDOM else keys.get(start, start), record[schema.TASK_KEY]))
    keys[stored_name(record[schema.TASK_KEY])] = record[schema.TASK_KEY]
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
  names = {stored_name(r[schema.TASK_KEY]): r[schema.TASK_KEY] for r in trained}
  candidates = [r[schema.START].get("candidates") or {} for r in trained]
  others = [name for found in candidates for name in found if name not in names]
  labels = [*names.values(), *dict.fromkeys(others)]
  place = {label: i for i, label in enumerate(labels)}
  errors = np.full((len(labels), len(labels)), np.nan)
  for record, found in zip(trained, candidates):
    for name, error in found.items():
      errors[place[names.get(name, name)], place[record[schema.TASK_KEY]]] = error
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
  independent: float | None

  @property
  def gain(self) -> float | None:
    """Error that the source saves; negative if it did harm."""
    return None if self.independent is None else self.independent - self.error


def trained_pairs(runs: Sequence[Records], independent: Mapping[str, float | None],
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
    alone = {r[schema.TASK_KEY] for r in _trained(records) if not r.get("auxiliary")}
    errors = {r[schema.TASK_KEY]: r[schema.ERROR] for r in schema.of_tests(records)
              if r.get(schema.ERROR) is not None}
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
          if r.get(schema.KIND) == "train" and isinstance(r.get(schema.START), Mapping)]
