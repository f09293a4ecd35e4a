# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Metrics that a user gives to a run: functions of labels and logits, or of records.

  metric(labels, logits)   of one Predict event: labels int [N], or multi-hot [N, C]; logits [N, C].
                           It stands in the event's record; the summary has the mean over events.
  metric(records)          of all records so far, the current event's last, at every event: dicts.
                           It stands in each record; the summary has that of the last one.

Each returns one number, or None where it has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import inspect
import math
from typing import Any

import numpy as np

from suite.metrics import schema

_PROBED_CLASSES = 10
_RECORD = {schema.EVENT: 0, schema.KIND: "predict", schema.TASK_KEY: "probe", schema.ERROR: 0.5,
           schema.SEEN: 10, schema.CORRECT: 5}


class MetricError(ValueError):
  """A metric that does not return one number, or cannot be called."""


class OwnMetrics:
  """The metrics of a run.

  Args:
    functions: the functions by name; see the module.

  Attributes:
    names: in order.
  """

  def __init__(self, functions: Mapping[str, Callable[..., Any]] | None = None):
    self._functions = dict(functions or {})
    self.names = tuple(self._functions)
    self._of_logits: dict[str, Callable[..., Any]] = {}
    self._of_records: dict[str, Callable[..., Any]] = {}
    for name, fn in self._functions.items():
      if not callable(fn):
        raise MetricError(f"Metric {name!r} is {fn!r}; give a function of (labels, logits), or of "
                          "(records).")
      kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
      required = [p for p in inspect.signature(fn).parameters.values()
                  if p.default is p.empty and p.kind in kinds]
      if len(required) not in (1, 2):
        raise MetricError(
            f"Metric {name!r} has {len(required)} required arguments; give a function of two, "
            "labels [N] and logits [N, C], or of one, the list of records.")
      (self._of_logits if len(required) == 2 else self._of_records)[name] = fn
    # Each function is called once: one that does not return a number is refused before a run.
    labels = np.arange(_PROBED_CLASSES)
    logits = np.eye(_PROBED_CLASSES, dtype=np.float32)
    for name, fn in self._functions.items():
      if name in _RECORD or not name.isidentifier():
        raise MetricError(f"A metric is called {name!r}; give it a name of letters, digits and _ "
                          f"other than {', '.join(_RECORD)}.")
      try:
        value = fn(labels, logits) if name in self._of_logits else fn([dict(_RECORD)])
      except Exception:  # It may need what these made-up values do not have; the run will show.
        continue
      _checked(name, value)

  def refuse_logits(self, protocol: str) -> None:
    """Raises an error if a metric needs logits, of which the protocol keeps none."""
    if self._of_logits:
      raise MetricError(
          f"Metric {next(iter(self._of_logits))!r} is a function of labels and logits, and "
          f"{protocol} keeps no logits. Give a function of one argument, the records.")

  def of_predictions(self, labels: np.ndarray, logits: np.ndarray) -> dict[str, float | None]:
    """Values of the functions of labels [N] and logits [N, C] of a Predict event."""
    return {name: _number(name, fn, labels, logits) for name, fn in self._of_logits.items()}

  def of_records(self, records: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Values of the functions of records, those of finished events and the current one."""
    return {name: _number(name, fn, [dict(record) for record in records])
            for name, fn in self._of_records.items()}

  def summary(self, records: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """One value for each metric, from records alone; None if there is none."""
    found: dict[str, float | None] = {}
    for name in self.names:
      values = [record[name] for record in records if record.get(name) is not None]
      if name in self._of_logits:
        found[name] = float(np.mean(values)) if values else None
      else:
        found[name] = values[-1] if values else None
    return found


def _number(name: str, fn: Callable[..., Any], *arguments: Any) -> float | None:
  try:
    value = fn(*arguments)
  except Exception as error:
    shapes = [list(a.shape) if hasattr(a, "shape") else f"{len(a)} records" for a in arguments]
    raise MetricError(f"Metric {name!r} failed on {' and '.join(map(str, shapes))}: "
                      f"{type(error).__name__}: {error}") from error
  return _checked(name, value)


def _checked(name: str, value: Any) -> float | None:
  """The value as a number; NaN and infinity are None, as in records."""
  if value is None:
    return None
  array = np.asarray(value)
  if array.shape != () or array.dtype.kind not in "biuf":
    kind = f"an array of shape {list(array.shape)}" if array.shape else f"{value!r}"
    raise MetricError(f"Metric {name!r} returned {kind}; it must return one number. Take its mean, "
                      "or give one metric for each value.")
  number = float(array)
  return number if math.isfinite(number) else None
