# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An objective that adds the gradients of auxiliary batches to those of a task's batch."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import tensorflow as tf

from suite.models import heads
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.objectives import coded_losses
from suite.training.objectives import loss_scale
from suite.training.objectives import losses
from suite.training.objectives import objective as objective_lib


class WithAuxiliary(objective_lib.Objective):
  """A task's objective and lambda times the sum of the auxiliary batches' mean cross-entropies.

  In an auxiliary batch norms use the statistics of that batch; their running ones stay what the
  task's own batches made them (appendix G).

  Args:
    task: the objective of the task's batches.
    backbone: images to features [B, D], which all tasks share.
    shape: of the auxiliary batches.
    smoothing: of all labels.

  Attributes:
    head: features to logits of all auxiliary classes. weight: lambda. Both are set before a run.
  """

  def __init__(self, task: objective_lib.Objective, backbone: tf.keras.Model,
               shape: auxiliary_lib.Shape, *, smoothing: losses.Smoothing):
    super().__init__()
    self._task, self._backbone, self._smoothing = task, backbone, smoothing
    self._divisor = shape.batch_size  # Global: the gradients of replicas are summed.
    self.head = heads.linear(shape.num_classes, backbone.output_shape[-1], name="auxiliary_head")
    self.weight = tf.Variable(0.0, trainable=False, name="auxiliary_weight")
    self._scaling, self._places = loss_scale.NoScale(), list[int]()

  def join(self, variables: Sequence[tf.Variable], scaling: loss_scale.NoScale) -> None:
    """Joins a step that changes these variables and scales losses so."""
    places = {id(variable): place for place, variable in enumerate(variables)}
    self._places = [places[id(variable)] for variable in self._variables]
    self._scaling = scaling

  @property
  def _variables(self) -> list[tf.Variable]:
    return [*self._backbone.trainable_variables, *self.head.trainable_variables]

  @property
  def calls(self) -> tuple[Callable[..., Any], ...]:  # type: ignore[override]
    return self._task.calls

  def loss(self, batch: objective_lib.Batch) -> tf.Tensor:
    return self._task.loss(batch)

  def gradients(self, gradients: Sequence[tf.Tensor], data: Any) -> list[tf.Tensor]:
    """The gradients of the step's variables, those of the auxiliary batches added.

    Args:
      gradients: of the task's loss; None where it does not depend on a variable.
      data: {"image" [K, b, ...], "label" [K, b, C]} of this replica.
    """
    images, codes = data["image"], data["label"]
    running = [v for v in self._backbone.non_trainable_variables if v.dtype.is_floating]
    before = [v.read_value() for v in running]
    if images.shape[0] == 1:
      added = self._of_batch(images[0], codes[0])
    else:
      _, added = tf.while_loop(
          lambda k, _: k < images.shape[0],
          lambda k, sums: (k + 1, [
              a + b for a, b in zip(sums, self._of_batch(images[k], codes[k]))]),
          (tf.constant(0), [tf.zeros_like(v) for v in self._variables]))
    for variable, value in zip(running, before):
      variable.assign(value)
    total = list(gradients)
    for place, gradient in zip(self._places, added):
      found = total[place]
      total[place] = gradient if found is None else tf.convert_to_tensor(found) + gradient
    return total

  def _of_batch(self, images: tf.Tensor, codes: tf.Tensor) -> list[tf.Tensor]:
    """Gradients of lambda times the mean loss of a batch [b, ...], this replica's share of it."""
    with tf.GradientTape() as tape:
      logits = self.head(self._backbone(images, training=True), training=True)
      each = coded_losses.cross_entropy(codes, logits, self._smoothing)
      loss = self.weight * losses.scaled_sum(each, self._divisor)
    found = self._scaling.gradients(tape, loss, self._variables)
    return [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g)
            for g, v in zip(found, self._variables)]
