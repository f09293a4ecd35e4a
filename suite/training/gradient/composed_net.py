# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A trainable part and a head, put together for one set of classes, with the loop that trains both.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.contracts import tasks
from suite.models import initial
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import train_step
from suite.training.gradient import trainable_parts
from suite.training.objectives import objective as objective_lib

MakeOptimizer = Callable[[Any], train_step.Optimizer]


class ComposedNet(tf.Module):
  """Codes [B, ...] to logits [B, C].

  Args:
    part: prepared for the shape of examples.
    head: of this net alone.
    num_classes: C.
    upper: the trained part, shared with other nets; None: a new one.

  Attributes:
    model: codes to logits. top: features to logits.
    upper: codes to features; None where codes are features.
    trained_by: the loop that trains it; `TaskNets` sets it.
    optimizer: the loop's, set by `TaskNets` if its velocities are kept between phases.
    loss_scale: the variables of the loop's, set with the optimizer if the precision has one.
  """

  trained_by: array_loop.ArrayLoop
  optimizer: train_step.Optimizer
  loss_scale: list[tf.Variable]

  def __init__(self, part: trainable_parts.TrainablePart, head: class_heads.Linear,
               num_classes: int, upper: tf.keras.Model | None = None):
    super().__init__()
    self._part, self.head, self.num_classes = part, head, num_classes
    self.upper, self.top, self.model = self._made(upper or part.upper())
    head.attach(self.top, num_classes)

  def _made(self, upper: tf.keras.Model | None
            ) -> tuple[tf.keras.Model | None, tf.keras.Model, tf.keras.Model]:
    if upper is None:
      top = self.head.make(self._part.code_spec().shape[0], self.num_classes, is_input=True)
      return None, top, top
    top = self.head.make(upper.output_shape[-1], self.num_classes, is_input=False)
    if top.output_shape[-1] != self.num_classes:
      raise ValueError(f"The head has {top.output_shape[-1]} outputs, but the task has "
                       f"{self.num_classes} classes; give a head with one output for each.")
    inputs = tf.keras.Input(upper.input_shape[1:], dtype=upper.inputs[0].dtype)
    return upper, top, tf.keras.Model(inputs, top(upper(inputs)))

  @property
  def trained_variables(self) -> list[tf.Variable]:
    """The variables that gradients change."""
    if isinstance(self._part, trainable_parts.Drifting):
      return [*self._part.trained_variables(), *self.top.trainable_variables]
    return list(self.model.trainable_variables)

  def set_weights(self, seed: int) -> None:
    """First weights: those given for the trained part, others random, a pure function of the seed.
    """
    weights = initial.initial_weights(lambda: self._made(self._part.upper())[2], seed)
    num_backbone = len(self.upper.weights) if self.upper is not None else 0
    self.model.set_weights(
        trainable_parts.with_first(weights, self._part.first_weights(), num_backbone))
    self.head.set_start()

  def set_head(self, seed: int) -> None:
    """First weights of the head alone."""
    width, is_input = self.top.input_shape[-1], self.upper is None
    self.top.set_weights(initial.initial_weights(
        lambda: self.head.make(width, self.num_classes, is_input=is_input), seed))
    self.head.set_start()

  def features(self, codes: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of codes, as in evaluation."""
    return codes if self.upper is None else self.upper(codes, training=False)

  def features_of_all(self, codes: tf.Tensor) -> tuple[tf.Tensor, flops.Cost]:
    """Features [N, D] of codes [N, ...], of any number, and what they cost."""
    if self.upper is None:
      return codes, flops.ZERO
    return self.trained_by.forward("features", self.features, codes)

  def logits(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes, as in evaluation."""
    return self.model(codes, training=False)

  def loop(self, objective: objective_lib.Objective, optimizer: train_step.Optimizer, *,
           kind: str = tasks.SINGLE_LABEL, augment: array_loop.Augment | None = None,
           prepare: array_loop.Prepare | None = None, replay_batch: int = 0,
           devices: Sequence[str] = ()) -> array_loop.ArrayLoop:
    """The loop that trains all of it."""
    step = train_step.TrainStep(self.model, objective=objective, optimizer=optimizer, kind=kind,
                                variables=self.trained_variables,
                                parts=(self.upper, self.top) if objective.reads_features else None)
    return array_loop.ArrayLoop(
        step, augment=augment, prepare=prepare, replay_batch=replay_batch, devices=devices)

  def top_loop(self, optimizer: train_step.Optimizer) -> array_loop.ArrayLoop:
    """The loop that trains the head alone, on features, by cross-entropy."""
    step = train_step.TrainStep(
        self.top, objective=objective_lib.Objective(), optimizer=optimizer)
    return array_loop.ArrayLoop(step)


def arrays_of(codes: Any, labels: Any) -> tuple[tf.Tensor, tf.Tensor]:
  """Codes [N, ...] and labels as tensors; class indices as int64, multi-hot rows as float32."""
  labels = np.asarray(labels)
  return tf.convert_to_tensor(codes), tf.constant(
      labels, tf.int64 if labels.ndim == 1 else tf.float32)
