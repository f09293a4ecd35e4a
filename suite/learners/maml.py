# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML and MAML++ (Finn et al., 2017; Antoniou et al., 2019) over any number of support sets.

What is meta-trained is where the inner loop starts and how it goes: initial weights, a rate for
each tensor and step, scales and offsets of the norms for each step. A task adapts the weights by
gradient steps on its support sets, one set after the other; each set goes on where the one before
it stopped. Every mechanism is a switch of `InnerLoop` or `MetaTraining`.

Without meta-training it is "Init + Tune": gradient steps from random weights.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import tensorflow as tf

from suite.data import tasks
from suite.models import functional_conv4
from suite.training import context as context_lib
from suite.training import inner_loop
from suite.training import meta_schedules


class Maml(tf.Module):
  """An `EpisodicLearner`; W classes of the whole task, C channels, S support sets.

  Args:
    net: what is adapted. inner: how.
    transform: image preparation; its `size` is H = W.
    channels: C of the images that it returns.
    training: how the rest is meta-trained; None: it is not (Init + Tune).

  Attributes:
    optimizer: of the meta-training; its `iterations` are the progress of all schedules.
  """

  def __init__(self, net: functional_conv4.Conv4, *, inner: inner_loop.InnerLoop, transform: Any,
               channels: int = 3, training: Optional[meta_schedules.MetaTraining] = None):
    super().__init__()
    self.transform = transform
    self._net, self._inner, self._training = net, inner, training
    self._channels = channels
    self._weights: Dict[str, tf.Variable] = {}

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes all variables and the optimizer, once: all tasks share them."""
    if self._weights:
      return
    seed = context.seeds.integer("initial weights")
    shape = (self.transform.size, self.transform.size, self._channels)
    with context.distribution.scope():
      self._make_variables(self._net.initial(seed, shape, task.num_classes))
      if self._training is not None:
        self.optimizer = self._training.optimizer()
        self.optimizer.build(self.trainable_variables)

  def _make_variables(self, weights: Dict[str, Any]) -> None:
    inner, trains = self._inner, self._training is not None
    self._weights = {name: tf.Variable(value, trainable=trains, name=name)
                     for name, value in weights.items()}
    rates = tf.fill([inner.num_steps, len(weights)], tf.constant(inner.rate, self._net.dtype))
    self._rates = tf.Variable(rates, trainable=trains and inner.learn_rates, name="inner_rates")
    norms = self._net.initial_norms(inner.num_norm_rows)
    self._scale = tf.Variable(norms.scale, trainable=trains, name="norm_scale")
    self._offset = tf.Variable(norms.offset, trainable=trains, name="norm_offset")

  def _parameters(self) -> inner_loop.Parameters:
    """All variables, read once."""
    read = tf.convert_to_tensor
    return inner_loop.Parameters(
        {name: read(value) for name, value in sorted(self._weights.items())}, read(self._rates),
        functional_conv4.Norms(read(self._scale), read(self._offset)))

  def initial_state(self, num_classes: int) -> inner_loop.State:
    """The meta-learned weights, before the first support set."""
    made_for = self._weights["head/bias"].shape[0]
    if num_classes != made_for:
      raise ValueError(f"A task of {num_classes} classes, but the head was made for {made_for}. "
                       "Begin another learner for it.")
    return self._inner.begin(self._net, self._parameters())

  def adapt(self, state: inner_loop.State, images: tf.Tensor, labels: tf.Tensor
            ) -> inner_loop.State:
    """The state after a support set, images [B, H, W, C] and labels [B]; first order only."""
    return self._inner.learn(self._net, self._parameters(), state, self._prepared(images), labels,
                             second_order=False)[-1]

  def logits(self, state: inner_loop.State, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for images [B, H, W, C]."""
    return self._inner.logits(self._net, self._parameters(), state, self._prepared(images))

  def meta_loss(self, episode: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    """Cross-entropy [] of the targets after the last support set, as the epoch's schedules want it.

    The multi-step loss takes the targets after each step on the *last* set: before, they hold
    classes that were not shown yet.

    Args:
      episode: S support sets, images [S, B, H, W, C] and labels [S, B]; T targets, images
        [T, H, W, C] and labels [T].
    """
    if self._training is None:
      raise ValueError("This learner was made without meta-training: set cfsl.run.updates = 0, or "
                       "Maml.training = @MetaTraining().")
    epoch = self._training.epoch(self.optimizer.iterations)
    return self._training.choose(
        epoch, self._parameters(), lambda parameters, second_order, multi_step: self._loss(
            parameters, episode, epoch, second_order, multi_step))

  def _loss(self, parameters: inner_loop.Parameters, episode: Tuple[tf.Tensor, ...],
            epoch: tf.Tensor, second_order: bool, multi_step: bool) -> tf.Tensor:
    support_images, support_labels, images, labels = episode
    support_images, images = self._prepared(support_images), self._prepared(images)
    states = self._inner.learn_all(self._net, parameters, support_images, support_labels,
                                   second_order=second_order)

    def loss(state: inner_loop.State) -> tf.Tensor:
      return inner_loop.cross_entropy(
          labels, self._inner.logits(self._net, parameters, state, images))

    if not multi_step:
      return loss(states[-1])
    assert self._training is not None
    weights = meta_schedules.step_weights(
        epoch, len(states), self._training.multi_step_epochs, self._net.dtype)
    return tf.reduce_sum(weights * tf.stack([loss(state) for state in states]))

  def _prepared(self, images: tf.Tensor) -> tf.Tensor:
    if images.shape[-1] != self._channels:
      raise ValueError(f"Images have {images.shape[-1]} channels, the net was made for "
                       f"{self._channels}. Set Maml.channels = {images.shape[-1]}.")
    return self._net.prepare(images)
