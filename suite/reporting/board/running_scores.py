# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a run so far, one record after the other: curves that end at the final score.

The error of a single event jumps from task to task. These are means over all events so far, which
at the end are the numbers of the summary.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from suite.compute import ledger
from suite.contracts import descriptions
from suite.contracts import event_kinds
from suite.metrics import task_stream

_LEARNING = tuple(p for p in ledger.PHASES if p not in ("select", "validate", "predict"))
_AVERAGED = ("error", "accuracy", "validation_error", "train_loss", "loss", "seconds_event")
# The predict events of these kinds are parts of a score that has its own rule, below.
_PARTS_OF_A_SCORE = {descriptions.BUCKETS, descriptions.STEPS}
# The numbers of a summary that are its headline, and the names under which they are shown.
_FINAL = {"mean_error": "mean_error", "mean_error_all": "mean_error_all_tasks",
          "forward_transfer": "forward_transfer", "in_domain": "in_domain",
          "next_domain": "next_domain", "backward_transfer": "backward_transfer",
          "accuracy": "accuracy", "overall": "accuracy", "mean_per_class": "mean_per_class"}


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

  def update(self, record: Mapping[str, Any]) -> dict[str, float]:
    """Returns the values that the record changes, by tag: "headline/...", "running_mean/..."."""
    kind, about = record.get("kind", "event"), self._about(record)
    found: dict[str, Any] = {}
    if kind != event_kinds.PREDICT or not _PARTS_OF_A_SCORE & set(about.panels):
      found.update(self._means(kind, record))
    if descriptions.TASKS in about.panels:
      found.update(self._tasks(kind, record))
    elif descriptions.BUCKETS in about.panels:
      found.update(self._buckets(record) if kind == event_kinds.PREDICT else {})
    elif descriptions.STEPS in about.panels:
      found["headline/accuracy"] = about.curve.value(record) if about.curve else None
    elif kind == event_kinds.PREDICT and about.headline is not None:
      found[f"headline/{about.headline.key}"] = record.get(about.headline.key)
    found["headline/cumulative_flops"] = task_stream.cumulative_cost(record)
    found.update(self._per_step(record))
    return {tag: value for tag, value in found.items() if is_number(value)}

  def final(self, summary: Mapping[str, Any]) -> dict[str, float]:
    """The headline of a finished run; a score that the summary does not have is left out."""
    found: dict[str, Any] = {
        f"headline/{shown}": summary[name] for name, shown in _FINAL.items() if name in summary}
    about = self._about(summary)
    if about.headline is not None and about.headline.key not in _FINAL:
      found[f"headline/{about.headline.key}"] = summary.get(about.headline.key)
    found["headline/cumulative_flops"] = task_stream.cumulative_cost(summary)
    if descriptions.TASKS in about.panels:
      found["headline/regret"] = self._regret
    return {tag: value for tag, value in found.items() if is_number(value)}

  def _about(self, record: Mapping[str, Any]) -> descriptions.ProtocolDescription:
    return self._description or descriptions.named(str(record.get("protocol")))

  def _means(self, kind: str, record: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for name in _AVERAGED:
      if is_number(record.get(name)):
        tag = f"running_mean/{kind}/{name}"
        total, count = self._sums.get(tag, (0.0, 0))
        self._sums[tag] = total + record[name], count + 1
        found[tag] = self._sums[tag][0] / self._sums[tag][1]
    return found

  def _tasks(self, kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "train":
      if record.get("trials"):
        self._repeats.append(record)
      if record.get("occurrence", 1) == 1:
        return {}
      by_task = task_stream.forward_transfer_by_task(self._repeats)
      return {"headline/forward_transfer": task_stream.mean_forward_transfer(by_task)}
    if kind != "predict" or not is_number(record.get("error")):
      return {}
    self._tested.append((record["error"], record.get("role", task_stream.META_TRAIN)))
    errors, roles = zip(*self._tested)
    other = self._reference.get(record.get("task_key", ""))
    # After a task that Independent has not learned, the sum would be over other tasks.
    self._regret = None if self._regret is None or other is None else (
        self._regret + record["error"] - other)
    return {"headline/mean_error": task_stream.mean_error(errors, roles),
            "headline/mean_error_all_tasks": float(np.mean(errors)),
            "headline/regret": self._regret}

  def _buckets(self, record: Mapping[str, Any]) -> dict[str, float]:
    """Scores of the rows so far, at the end of each row: a part of one is no mean of a row."""
    row = np.array(record["row"], np.float64)  # None becomes NaN.
    if self._acc is None:
      self._acc = np.full([len(row), len(row)], np.nan)
    self._acc[record["trained_bucket"]] = row
    if record["bucket"] != len(row) - 1:
      return {}
    i, j = np.indices(self._acc.shape)
    done = i <= record["trained_bucket"]
    parts = {"in_domain": i == j, "next_domain": j == i + 1, "accuracy": j <= i,
             "backward_transfer": j < i, "forward_transfer": j > i}
    return {f"headline/{name}": float(np.mean(self._acc[part & done]))
            for name, part in parts.items() if np.any(part & done)}

  def matrix(self) -> np.ndarray | None:
    """Accuracies [T, T] so far, NaN where not evaluated; None without buckets."""
    return self._acc

  def _per_step(self, record: Mapping[str, Any]) -> dict[str, float]:
    """FLOPs of a gradient step of the event, by phase; nothing if one of the two is unknown."""
    found = {}
    for phase in _LEARNING:
      spent, before = [[values.get(f"{name}_{phase}", 0) for name in ("flops", "steps")]
                       for values in (record, self._spent)]
      if None not in (*spent, *before) and spent[1] > before[1]:
        found[f"one_event/flops_per_step_{phase}"] = (spent[0] - before[0]) / (spent[1] - before[1])
    self._spent = {name: record[name] for name in record if name.startswith(("flops_", "steps_"))}
    return found


def is_number(value: Any) -> bool:
  """Whether the value can be a point of a curve."""
  return (isinstance(value, (int, float)) and not isinstance(value, bool)
          and math.isfinite(value))
