# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A learner whose task gets more classes: `begin` with the same task and a larger `num_classes`.

Learners make variables for a fixed number of classes. Where classes come bucket by bucket, nobody
tells a learner how many there will be, so that number rises. To grow is to resume in a larger
learner: all that a learner knows is in its variables and in `context.store`, and `begin` makes the
variables (suite/contracts/learner.py). So a copy of the learner as it was before it began is begun
with the larger task, and takes over the variables of the one that has learned. In the places of new
classes stays what a new learner has there: first weights, which are drawn from the seeds of the
event in which the classes come, and velocities, importances and sums of 0. A run that was stopped
grows as one that was not: `begin` of the next delivery makes the same copy.

Each size of the head is a graph of its own, and costs are counted on these: a head that has seen 4
classes has 4 outputs.
"""

from __future__ import annotations

import copy
from typing import Any, Sequence

import tensorflow as tf
from typing_extensions import override

from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.state import learner_state


class GrowingLearner(learner_lib.Learner):
  """Serves one task whose number of classes grows, by a learner for any fixed number.

  Args:
    learner: it has not begun.

  Attributes:
    learner: the one of the present size.
  """

  # `predict` is another function after the learner has grown.
  predict_stays = False

  def __init__(self, learner: learner_lib.Learner):
    super().__init__()
    self.learner = learner
    try:
      blank = copy.deepcopy(learner)
    except Exception as error:  # Of whatever the learner holds.
      raise ValueError(
          f"{type(learner).__name__} cannot be copied before it learns ({type(error).__name__}: "
          f"{error}), which is how it takes up further classes. Make in `begin` what cannot be "
          "copied.") from error
    self._copy = lambda: copy.deepcopy(blank)  # In a function: no part of a checkpoint.
    self._num_classes = 0

  @property
  @override
  def transform(self) -> examples.Transform:  # type: ignore[override]
    return self.learner.transform

  @property
  @override
  def deliveries(self) -> Sequence[str]:
    return self.learner.deliveries

  @property
  @override
  def kinds(self) -> Sequence[str]:
    return self.learner.kinds

  @property
  @override
  def most_classes(self) -> int | None:
    return self.learner.most_classes

  @property
  @override
  def shares_updates(self) -> bool:
    return self.learner.shares_updates

  @property
  @override
  def keeps_budget(self) -> bool:
    return self.learner.keeps_budget

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Begins a task, or resumes it with more classes."""
    if task.num_classes > self._num_classes > 0:
      smaller, self.learner = self.learner, self._copy()
      self.learner.begin(task, context)
      learner_state.grow(self.learner, smaller)
    else:
      self.learner.begin(task, context)
    self._num_classes = task.num_classes

  @override
  def keras_model(self) -> tf.keras.Model | None:
    return self.learner.keras_model()

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    return self.learner.learn(experience, context)

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.learner.predict(images)
