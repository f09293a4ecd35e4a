# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A backbone with one head, compiled once per shape of task; weights are swapped in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import user_code
from suite.models import heads
from suite.models import initial
from suite.models.own import own_model
from suite.training.gradient import gradient_loop
from suite.training.gradient import optimizers
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.scoring import scoring

# What batch norm of `Network.extract` takes means and variances from.
STATISTICS = ("batch", "running")


class Network:
  """Backbone, head and gradient loop for one kind of task and number of classes.

  Args:
    backbone: a Keras model of images to features [B, D], or a function that makes one of
      image_shape (H, W, C); see `own_model`.
    image_size: H = W of the images. channels: C.
    kind, num_classes: of the task.
    momentum, weight_decay, optimizer, loss, schedule_names: see `GradientLoop`.
    distribution: where the variables live.
  """

  def __init__(
      self,
      backbone: own_model.Given,
      *,
      image_size: int,
      kind: str,
      num_classes: int,
      momentum: float,
      weight_decay: float,
      distribution: distribution_lib.Distribution,
      optimizer: str | optimizers.OwnOptimizer = "sgd",
      channels: int = 3,
      loss: Callable[..., tf.Tensor] | None = None,
      schedule_names: Sequence[str] = ("cosine",),
  ):
    self._arguments: dict[str, Any] = dict(
        image_size=image_size, kind=kind, num_classes=num_classes, momentum=momentum,
        weight_decay=weight_decay, optimizer=optimizer, channels=channels,
        loss=loss, schedule_names=schedule_names)
    self._make = own_model.as_backbone(backbone, "Finetune.backbone")
    self._distribution = distribution
    self._counted: Network | None = None  # Whose steps are counted.
    self._latest: tuple[auxiliary_lib.Shape, gradient_loop.GradientLoop] | None = None
    with distribution.scope():
      self.backbone, self.head, self.model = self._build()
    self._make_loop = functools.partial(
        gradient_loop.GradientLoop, self.model, kind, momentum=momentum, weight_decay=weight_decay,
        optimizer=optimizer, distribution=distribution, loss=loss,
        schedule_names=schedule_names)
    self.loop = self._make_loop()
    self.logits = tf.function(
        lambda images: self.model(images, training=False),
        autograph=user_code.is_reached(self.model))
    # Over whole sets: images to logits [N, C], and to the backbone's features [N, D].
    self.score = scoring.Forward(self.logits, distribution)
    self._extract = {
        "running": scoring.Forward(
            lambda images: self.backbone(images, training=False), distribution),
        "batch": scoring.Forward(
            lambda images: self.backbone(images, training=True), distribution, pads=False)}

  def loop_of(self, auxiliary: auxiliary_lib.Shape) -> gradient_loop.GradientLoop:
    """Returns the loop whose steps have auxiliary batches of a shape; the latest one is kept."""
    if self._latest is None or self._latest[0] != auxiliary:
      self._latest = (auxiliary, self._make_loop(backbone=self.backbone, auxiliary=auxiliary))
    return self._latest[1]

  def extract(self, statistics: str) -> scoring.Forward:
    """Returns the function from images to the backbone's features [N, D].

    Args:
      statistics: "running": a norm uses its running averages. "batch": it uses the mean and the
        variance of each batch, as in training, so features depend on the batch size and on the
        order of the images; the running averages in use move, those in the store do not.
    """
    return self._extract[statistics]

  def _build(self):
    size, num_classes = self._arguments["image_size"], self._arguments["num_classes"]
    backbone = self._make(image_shape=(size, size, self._arguments["channels"]))
    head = (self._make.own_head(num_classes) if self._make.keeps_head
            else heads.linear(num_classes, backbone.output_shape[-1]))
    images = tf.keras.Input(backbone.input_shape[1:], dtype=backbone.inputs[0].dtype)
    return backbone, head, tf.keras.Model(images, head(backbone(images)))

  def new_model(self) -> tf.keras.Model:
    """A further model of images to logits, with variables of its own."""
    with self._distribution.scope():
      return self._build()[2]

  def initial_weights(self, seed: int) -> list[np.ndarray]:
    """Random weights of backbone and head: a pure function of the seed."""
    return initial.initial_weights(lambda: self._build()[2], seed)

  @property
  def num_backbone_weights(self) -> int:
    return len(self.backbone.weights)

  def set_weights(self, weights: Sequence[np.ndarray]) -> None:
    """Assigns backbone weights, then head weights, in Keras order."""
    for variable, value in zip([*self.backbone.weights, *self.head.weights], weights):
      variable.assign(value)

  def get_weights(self) -> list[np.ndarray]:
    return [v.numpy() for v in [*self.backbone.weights, *self.head.weights]]

  def set_backbone(self, weights: Sequence[np.ndarray]) -> None:
    self.set_weights(weights[:self.num_backbone_weights])

  def step_cost(self, batch_spec: dict[str, Any]) -> flops.Cost:
    """The cost of one training step on the *global* batch, and its auxiliary batches if any."""
    return self.counted_loop(batch_spec).cost(batch_spec)

  def counted_loop(self, batch_spec: dict[str, Any]) -> gradient_loop.GradientLoop:
    """The loop whose step on such a global batch is counted.

    It is of one device whatever the strategy: an update that every replica repeats on its own copy
    is one update of the algorithm, so the count does not depend on the number of devices.
    """
    if self._counted is None:
      self._counted = self if self._distribution.is_single else Network(
          self._make, **self._arguments, distribution=distribution_lib.build("one_device"))
    if "auxiliary" not in batch_spec:
      return self._counted.loop
    groups, size, num_classes = batch_spec["auxiliary"]["label"].shape
    return self._counted.loop_of(auxiliary_lib.Shape(num_classes, groups, size))
