# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A learner around another one, which does all that the outer one does not do itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.learners import gradient
from suite.learners import learner_each_task
from suite.state import context as context_lib


class Around(learner_lib.SequenceLearner):
  """A learner of sequences around another one; `learn` is the subclass's.

  Args:
    learner: the one inside.
  """

  def __init__(self, learner: learner_lib.SequenceLearner):
    super().__init__()
    self.learner, self.transform = learner, learner.transform

  @property
  @override
  def frozen_features(self) -> learner_lib.FrozenFeatures | None:
    return self.learner.frozen_features

  @property
  @override
  def see(self) -> Callable[[tf.Tensor], tf.Tensor] | None:
    return self.learner.see

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    self.learner.begin(task, context)

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return self.learner.encode(images)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    return self.learner.answer(codes)

  @property
  @override
  def can_update(self) -> bool:
    return self.learner.can_update

  @override
  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    self.learner.update(codes, labels)

  @property
  @override
  def can_answer_in_turn(self) -> bool:
    return self.learner.can_answer_in_turn

  @override
  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return self.learner.answer_in_turn(codes, labels)

  @property
  @override
  def can_learn_stored(self) -> bool:
    return self.learner.can_learn_stored

  @override
  def learn_stored(self, stored: deliveries.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    return self.learner.learn_stored(stored, context)

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    return self.learner.stored_macs(num_stored)

  @override
  def mac_layers(self) -> learner_lib.Layers | None:
    return self.learner.mac_layers()


class AroundGradient(Around):
  """Around a gradient learner whose head also learns from examples beside the gradients.

  On separate tasks there is a learner for each one.
  """

  predict_stays = keeps_budget = shares_updates = True
  learner: gradient.GradientLearner

  @override
  def form(self, delivery: str) -> learner_lib.BaseLearner:
    return learner_each_task.of(self) if delivery == deliveries.TASKS else self

  def read(self, experience: deliveries.Experience, context: context_lib.Context
           ) -> tuple[tf.Tensor, tf.Tensor]:
    """Codes [N, ...], charged, and labels int64 [N] of the data to learn from."""
    refusals.check_held(self.see, experience.train)
    parts = [experience.train] if context.delivery == deliveries.SEQUENCE else experience.fitted
    found = example_arrays.read(parts, experience.task, self.transform)
    return self.learner.codes(found.images, context), tf.constant(found.labels, tf.int64)
