# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Statistics of features that a learner holds for each task, instead of weights."""

from __future__ import annotations

from typing import Callable, Generic, Protocol, TypeVar

import tensorflow as tf

from suite.contracts import tasks


class ClassStatistics(Protocol):
  """A `tf.Module` of variables for C classes.

  Attributes:
    counts: [C], the number of samples of each class.
  """

  counts: tf.Variable


S = TypeVar("S", bound=ClassStatistics)


class TaskStatistics(tf.Module, Generic[S]):
  """One set of statistics for each task key, made when the task first begins.

  Args:
    make: make(num_classes, num_features) returns empty statistics.
  """

  def __init__(self, make: Callable[[int, int], S]):
    super().__init__()
    self._make = make
    self._by_key: dict[str, S] = {}
    self._key = ""

  def begin(self, task: tasks.Task, num_features: int) -> None:
    """Makes `current` the statistics of `task`, which must have the classes it had before."""
    if task.key not in self._by_key:
      self._by_key[task.key] = self._make(task.num_classes, num_features)
    num_classes = int(self._by_key[task.key].counts.shape[0])
    if num_classes != task.num_classes:
      raise ValueError(
          f"Task {task.key!r} begins with {task.num_classes} classes, but began with {num_classes} "
          "before. A task keeps its classes: give the other task another name or occurrence.")
    self._key = task.key

  @property
  def current(self) -> S:
    """The statistics of the task that began last."""
    if not self._key:
      raise RuntimeError("No task has begun; call begin(task, context) first.")
    return self._by_key[self._key]


def check_single_label(task: tasks.Task, method: str) -> None:
  """Raises an error for multi-label tasks.

  Args:
    method: a name for the message, followed by "counts each image ...".
  """
  if task.kind != tasks.SINGLE_LABEL:
    raise ValueError(
        f"Task {task.key!r} is {task.kind}; {method} counts each image for one class, so it takes "
        f"{tasks.SINGLE_LABEL} tasks only. Leave the task out, or take NearestMean, which counts "
        "an image for each of its labels.")
