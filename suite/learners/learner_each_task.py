# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A separate learner for each of NEVIS's tasks, for methods on frozen features with one head.

Exemplar Tuning and weight imprinting train nothing that tasks could share: on separate tasks they
are one learner a task. A task that occurs again is a further bucket of the same learner.
"""

from __future__ import annotations

from collections.abc import Callable
import copy
import dataclasses
import functools
import pathlib
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.contracts import deliveries as deliveries_lib
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.state import weight_store


class LearnerEachTask(learner_lib.Learner):
  """A `Learner` of single-label tasks.

  Args:
    make: makes a learner that accepts the buckets of one task.
  """

  deliveries = (deliveries_lib.TASKS,)
  kinds = (tasks.SINGLE_LABEL,)

  def __init__(self, make: Callable[[], learner_lib.Learner]):
    super().__init__()

    def new() -> learner_lib.Learner:
      return learner_lib.adapted(make(), learner_lib.Learner)

    first = new()
    self.transform, self._keeps_budget = first.transform, first.keeps_budget
    # Outside of the checkpoint until it has a task: before that it has no variables.
    unused = [first]
    self._new = lambda: unused.pop() if unused else new()
    self.learners: dict[str, learner_lib.Learner] = {}

  @property
  @override
  def keeps_budget(self) -> bool:
    return self._keeps_budget

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Selects the learner of the task; makes it if it is new."""
    self._name = task.name
    if task.name not in self.learners:
      self.learners[task.name] = self._new()
    self.learners[task.name].begin(_first(task), _of_task(context, task))

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Learns with the task's own learner."""
    task = experience.task
    return own_costs.learning(self.learners[task.name])(
        dataclasses.replace(experience, task=_first(task)), _of_task(context, task))

  @override
  def keras_model(self) -> tf.keras.Model | None:
    """The model of the learner of the task that began last."""
    return self.learners[self._name].keras_model()

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns the logits [B, C] of the learner of the task that began last."""
    return self.learners[self._name].predict(images)


def of(learner: Any) -> LearnerEachTask:
  """A `LearnerEachTask` of copies of a learner that has not begun."""
  return LearnerEachTask(functools.partial(copy.deepcopy, learner))


def _first(task: tasks.Task) -> tasks.Task:
  return dataclasses.replace(task, occurrence=1)


def _of_task(context: context_lib.Context, task: tasks.Task) -> context_lib.Context:
  """The context of a series of buckets; what the learner stores is apart from other tasks'."""
  folder = pathlib.Path(context.store.folder) / weight_store.safe_name(task.name)
  return dataclasses.replace(context, delivery=deliveries_lib.BUCKETS,
                             store=weight_store.WeightStore(
                                 folder, context.event, context.store.run))
