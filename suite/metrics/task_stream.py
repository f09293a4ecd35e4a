# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a stream of tasks, as NEVIS'22 defines them (Bornschein et al., 2022, section 4).

An error is a number in [0, 1] a task, in stream order. The headline is the plain mean over the
meta-test tasks against the FLOPs of the whole stream; the rest says how a learner came there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

META_TRAIN = "meta_train"
META_TEST = "meta_test"

Errors = Union[Sequence[float], np.ndarray]  # [T], one error a task.


class Front(NamedTuple):
  """Indices of points: those on the Pareto front by rising FLOPs, and those that have no FLOPs."""

  indices: list[int]
  left_out: list[int]


def mean_error(errors: Errors, roles: Sequence[str], *, over: str = META_TEST) -> float:
  """Plain mean of the errors of tasks whose role is `over`; NaN if there is none."""
  if len(errors) != len(roles):
    raise ValueError(f"Got {len(errors)} errors and {len(roles)} roles; expected one role a task.")
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

  The paper's reference is Independent; below 0 is better than it.
  """
  if len(errors) != len(reference_errors):
    raise ValueError(f"Got errors of {len(errors)} tasks and {len(reference_errors)} of the "
                     "reference learner; expected the same tasks in the same order.")
  return cumulative_error(errors) - cumulative_error(reference_errors)


def area_under_curve(curve: Sequence[Sequence[float]]) -> float:
  """Mean height of a learning curve, in [0, 1] for accuracies.

  Args:
    curve: [K, 2] of (step, accuracy), steps strictly rising. The area between the first and the
      last step by the trapezoidal rule is divided by that distance, so curves that cover the same
      steps compare. No point is made up at step 0. A single point is its own mean.
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
  """(AUC2 - AUC1) / (1 - AUC1), equation 5: the share of the possible gain that was made.

  1 says that the second meeting with a task was perfect, 0 that the first one was no help, and
  below 0 that it did harm. Where the first meeting was perfect already (AUC1 = 1) there is
  nothing to gain and the value is NaN.
  """
  for name, value in (("auc_first", auc_first), ("auc_second", auc_second)):
    if not (0 <= value <= 1 or np.isnan(value)):
      raise ValueError(f"Got {name}={value}; expected a normalised area in [0, 1].")
  if auc_first == 1:
    return float("nan")
  return float((auc_second - auc_first) / (1 - auc_first))


def mean_forward_transfer(by_task: Mapping[str, float]) -> float:
  """Mean over repeated tasks for which the value is defined; NaN if there is none."""
  defined = [value for value in by_task.values() if value is not None and not np.isnan(value)]
  return float(np.mean(defined)) if defined else float("nan")


def pareto_front(points: Iterable[tuple[float | None, float | None]]) -> Front:
  """Which (FLOPs, error) points no other point beats in both.

  A point is beaten if another is no worse in both and better in one, so equal points stay
  together. A point whose FLOPs or error are None or NaN cannot be placed: it is in `left_out`.
  """
  points = list(points)
  left_out = [i for i, point in enumerate(points) if any(v is None or np.isnan(v) for v in point)]
  known = [i for i in range(len(points)) if i not in left_out]
  front = [i for i in known if not any(_beats(points[j], points[i]) for j in known)]
  return Front(sorted(front, key=lambda i: (points[i], i)), left_out)


def _beats(a: tuple[Any, Any], b: tuple[Any, Any]) -> bool:
  return a[0] <= b[0] and a[1] <= b[1] and tuple(a) != tuple(b)
