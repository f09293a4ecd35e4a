# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One update of one model: the step behind every gradient learner, to be traced into a graph."""

from __future__ import annotations

from typing import Any, Protocol, Sequence

import tensorflow as tf

from suite.contracts import tasks
from suite.training.objectives import objective as objective_lib


class Optimizer(Protocol):
  """Changes variables along gradients. It is a `tf.Module`, or holds its variables otherwise."""

  def apply(self, gradients: Sequence[tf.Tensor | None], variables: Sequence[tf.Variable],
            rate: tf.Tensor | None) -> None:
    """Takes one step at the rate, []; None: at that of its schedule."""

  def reset(self) -> None:
    """Forgets velocities and moments."""


class TrainStep:
  """The step of a model under an objective.

  Args:
    model: examples [B, ...] to logits [B, C].
    objective: built by the caller, with `losses_of`.
    optimizer: for all of the model's trainable variables.
    kind: of the task.

  Attributes:
    variables: those that are changed.
    training: whether batch norms use the statistics of the batch.
  """

  def __init__(self, model: tf.keras.Model, *, objective: objective_lib.Objective,
               optimizer: Optimizer, kind: str = tasks.SINGLE_LABEL):
    self.model, self.objective, self.optimizer, self.kind = model, objective, optimizer, kind
    self.variables: list[tf.Variable] = list(model.trainable_variables)
    self.training = True

  def train_only(self, variables: Sequence[tf.Variable]) -> bool:
    """Trains only these from now on; if they are not all, batch norms run as in evaluation.

    Returns:
      Whether this is a change: graphs that were made before do not have it.
    """
    if len(variables) == len(self.variables):
      return False
    self.variables = list(variables)
    self.training = len(variables) == len(self.model.trainable_variables)
    return True

  def losses_of(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                ) -> tf.Tensor:
    """The cross-entropy of each example [B] among known classes, the model running as in training.
    """
    return self._losses(labels, self.model(images, training=self.training), known)

  def losses_at_rest(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                     ) -> tf.Tensor:
    """As `losses_of`, the model running as in evaluation."""
    return self._losses(labels, self.model(images, training=False), known)

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor, known: tf.Tensor | None) -> tf.Tensor:
    return objective_lib.row_losses(
        objective_lib.Batch(logits, logits, labels, kind=self.kind), known)

  def __call__(self, images: tf.Tensor, labels: tf.Tensor, rate: tf.Tensor | None, *,
               data: Any = None, **batch: Any) -> tf.Tensor:
    """One update; the loss before it, [].

    Args:
      images, labels: [B + R, ...]. rate: [], or None: the optimizer's schedule.
      data: `objective.Data`, for objectives that look beyond the batch.
      **batch: further fields of `objective.Batch`.
    """
    objective = self.objective
    with tf.GradientTape() as tape:
      logits = self.model(images, training=self.training)
      loss = objective.loss(objective_lib.Batch(
          images, logits, labels, kind=self.kind, **batch))
    gradients = objective.gradients(tape.gradient(loss, self.variables), data)
    objective.before_update()
    self.optimizer.apply(gradients, self.variables, rate)
    objective.after_update(gradients)
    return loss

  def gradients(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                ) -> list[tf.Tensor]:
    """Gradients of the mean cross-entropy of examples [B, ...], one for each changed variable."""
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(self.losses_of(images, labels, known))
    return tape.gradient(loss, self.variables)
