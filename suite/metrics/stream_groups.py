# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of a stream over seeds and over groups of tasks (Bornschein et al., 2022, section 5.7).

Errors are [S, T]: S seeds of one learner, T tasks in stream order. NaN means "not known": a task
that was left out, or that an unfinished run has not reached. A mean of errors is NaN unless all of
them are known, for the mean of the known ones would be another score under the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple

import numpy as np

# Section 5.9: fewer than 1,000 training examples, up to 10,000, up to 100,000, more.
SIZES = ((1_000, "< 1,000"), (10_000, "1,000 to 10,000"), (100_000, "10,000 to 100,000"),
         (float("inf"), "> 100,000"))
# Figure 8 has ranges that the text does not state. These are ours: the stream's 64 x 64 input, its
# double, and that of common photographs; of the square root of height times width.
RESOLUTIONS = ((65, "up to 64 pixels"), (129, "65 to 128 pixels"), (257, "129 to 256 pixels"),
               (float("inf"), "> 256 pixels"))
UNKNOWN = "unknown"


class Spread(NamedTuple):
  """Mean and standard deviation (n - 1) of the known values; NaN where there are too few."""

  mean: float
  deviation: float
  num: int


def spread(values: Sequence[float | None]) -> Spread:
  """Mean and deviation over seeds; None and NaN are left out and not counted."""
  known = [float(v) for v in values if v is not None and not math.isnan(v)]
  return Spread(float(np.mean(known)) if known else float("nan"),
                float(np.std(known, ddof=1)) if len(known) > 1 else float("nan"), len(known))


def seed_mean(errors: np.ndarray) -> np.ndarray:
  """Mean over the seeds that know a task: [S, T] -> [T]; NaN for a task that none knows."""
  errors = np.asarray(errors, np.float64)
  known = ~np.isnan(errors)
  counts = np.sum(known, axis=0)
  sums = np.sum(np.where(known, errors, 0.0), axis=0)
  return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def regret_curves(errors: np.ndarray, reference: np.ndarray) -> np.ndarray:
  """Returns the cumulative difference between a learner's errors and the reference's.

  Args:
    errors: errors of the learner, S seeds on T tasks, [S, T].
    reference: errors of the reference, [T]; in the paper, of Independent.

  Returns:
    [S, T]; negative is better. A task is NaN if the learner's or the reference's error is unknown.
    Such a task adds nothing to later values; `gaps` counts these tasks.
  """
  difference = _difference(errors, reference)
  sums = np.cumsum(np.nan_to_num(difference, nan=0.0), axis=1)
  return np.where(np.isnan(difference), np.nan, sums)


def gaps(errors: np.ndarray, reference: np.ndarray) -> np.ndarray:
  """Number of tasks without a value before the last one that has a value: [S]."""
  known = ~np.isnan(_difference(errors, reference))
  ends = [int(np.flatnonzero(row)[-1]) + 1 if row.any() else 0 for row in known]
  return np.array([int(np.sum(~row[:end])) for row, end in zip(known, ends)], np.int64)


def _difference(errors: np.ndarray, reference: np.ndarray) -> np.ndarray:
  errors, reference = np.asarray(errors, np.float64), np.asarray(reference, np.float64)
  if errors.ndim != 2 or reference.shape != errors.shape[1:]:
    raise ValueError(f"Got errors of shape {list(errors.shape)} and a reference of shape "
                     f"{list(reference.shape)}; expected [S, T] and [T].")
  return errors - reference


def mean_over(errors: np.ndarray, chosen: Sequence[bool]) -> np.ndarray:
  """Mean error of each seed over the chosen tasks: [S, T], [T] -> [S]; NaN if one is unknown."""
  picked = np.asarray(errors, np.float64)[:, np.asarray(chosen, bool)]
  if not picked.shape[1]:
    return np.full(len(picked), np.nan)
  return np.mean(picked, axis=1)


def places(labels: Sequence[str]) -> dict[str, list[int]]:
  """The tasks of each group, groups in order of their first task."""
  found: dict[str, list[int]] = {}
  for i, label in enumerate(labels):
    found.setdefault(label, []).append(i)
  return found


def size_class(train_size: float | None) -> str:
  """The group of section 5.9 for a number of training examples; "unknown" for None."""
  return _class(train_size, SIZES)


def resolution_class(resolution: float | None) -> str:
  """The group for an average resolution, in pixels a side; "unknown" for None."""
  return _class(resolution, RESOLUTIONS)


def _class(value: float | None, classes: Sequence[tuple[float, str]]) -> str:
  if value is None or math.isnan(value):
    return UNKNOWN
  return next(name for limit, name in classes if value < limit)


def in_order(groups: Mapping[str, object], classes: Sequence[tuple[float, str]]) -> list[str]:
  """The names of groups from small to large, "unknown" last."""
  order = [name for _, name in classes] + [UNKNOWN]
  return sorted(groups, key=order.index)
