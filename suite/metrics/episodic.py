# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores over episodes (tasks) and over seeds, as few-shot papers print them.

Two spreads are distinct: the interval over tasks measures the uncertainty of the mean of one
trained model, the standard deviation over seeds the variation between training runs. CFSL (Antoniou
et al., 2020, table 2) prints the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suite.metrics import schema

# Two-sided 95% of the normal distribution.
Z_95 = 1.96


def interval_95(task_accuracies: Sequence[float] | np.ndarray) -> float:
  """Half-width of the normal interval of the mean: 1.96 * std / sqrt(n), std with n - 1.

  NaN for a single task, whose spread is unknown.
  """
  values = _vector(task_accuracies, "task_accuracies")
  if len(values) < 2:
    return float("nan")
  return float(Z_95 * np.std(values, ddof=1) / np.sqrt(len(values)))


def over_tasks(task_accuracies: Sequence[float] | np.ndarray) -> dict[str, float]:
  """Scores of one trained model from its accuracies on n tasks, [n]."""
  values = _vector(task_accuracies, "task_accuracies")
  return {
      "accuracy": float(np.mean(values)),
      schema.ACCURACY_INTERVAL: interval_95(values),
      "num_tasks": len(values),
  }


def num_episodes(record: Mapping[str, Any]) -> int:
  """The number of episodes that the answers of a Predict record are of; 0: of none.

  In a record of a series (incremental learning) `num_tasks` is the length of the series.
  """
  return 0 if "bucket" in record else int(record.get(schema.NUM_TASKS) or 0)


def over_seeds(seed_accuracies: Sequence[float] | np.ndarray) -> dict[str, float]:
  """Mean and sample standard deviation (n - 1) over runs that differ in their seed: [n]."""
  values = _vector(seed_accuracies, "seed_accuracies")
  return {
      "accuracy": float(np.mean(values)),
      "accuracy_std_over_seeds": float(np.std(values, ddof=1)) if len(values) > 1 else float("nan"),
      "num_seeds": len(values),
  }


def _vector(values: Sequence[float] | np.ndarray, name: str) -> np.ndarray:
  vector = np.asarray(values, np.float64)
  if vector.ndim != 1 or not len(vector):
    raise ValueError(f"Got {name} of shape {list(vector.shape)}; expected [n], n >= 1.")
  return vector
