# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML and MAML++ (Finn et al., 2017; Antoniou et al., 2019) over any number of support sets.

What is meta-trained is where the inner loop starts and how it goes: initial weights, a rate for
each tensor and step, scales and offsets of the norms for each step. A task adapts the weights by
gradient steps on its support sets, one set after the other; each set goes on where the one before
it stopped. Every mechanism is a switch of `InnerLoop` or `MetaTraining`.

Without meta-training it is "Init + Tune": gradient steps from random weights.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import tensorflow as tf

from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


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

  def __init__(self, net: inner_loop.Net, *, inner: inner_loop.InnerLoop, transform: Any,
               channels: int = 3, training: Optional[meta_schedules.MetaTraining] = None):
    super().__init__()
    self.transform, self._channels = transform, channels
    self._adapted = adapted_net.AdaptedNet(net, inner, training)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes all variables and the optimizer, once: all tasks share them."""
    adapted = self._adapted
    if adapted.weights:
      return
    shape = (self.transform.size, self.transform.size, self._channels)
    with context.distribution.scope():
      adapted.make(context.seeds.integer("initial weights"), shape, task.num_classes)
      if adapted.training is not None:
        self.optimizer = adapted.training.optimizer()
        self.optimizer.build(self.trainable_variables)

  @property
  def transductive(self) -> bool:
    """Whether targets are normalised by their own statistics."""
    return self._adapted.inner.transductive

  def initial_state(self, num_classes: int) -> inner_loop.State:
    """The meta-learned weights, before the first support set."""
    return self._adapted.begin(num_classes)

  def adapt(self, state: inner_loop.State, images: tf.Tensor, labels: tf.Tensor
            ) -> inner_loop.State:
    """The state after a support set, images [B, H, W, C] and labels [B]; first order only."""
    return self._adapted.adapt(state, self._prepared(images), labels)

  def logits(self, state: inner_loop.State, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for images [B, H, W, C]."""
    return self._adapted.logits(state, self._prepared(images))

  def meta_loss(self, episode: Tuple[tf.Tensor, ...]) -> Tuple[tf.Tensor, Tuple[()]]:
    """Cross-entropy [] of the targets after the last support set, as the epoch's schedules want it.

    Args:
      episode: S support sets, images [S, B, H, W, C] and labels [S, B]; T targets, images
        [T, H, W, C] and labels [T].
    """
    adapted = self._adapted
    training = adapted_net.trained(adapted.training, self)
    epoch = training.epoch(self.optimizer.iterations)
    support_images, support_labels, images, labels = episode[:4]
    support_images, images = self._prepared(support_images), self._prepared(images)

    def loss(parameters: inner_loop.Parameters, second_order: bool, multi_step: bool) -> tf.Tensor:
      states = adapted.inner.learn_all(adapted.net, parameters, support_images, support_labels,
                                       second_order=second_order)
      return adapted.target_loss(parameters, states, images, labels, epoch, multi_step=multi_step)

    return training.choose(epoch, adapted.parameters(), loss), ()

  def zero_statistics(self) -> Tuple[()]:
    """As `meta_loss` returns it."""
    return ()

  def update_statistics(self, seen: Tuple[()]) -> None:
    """Nothing: the norms keep no running statistics."""

  def _prepared(self, images: tf.Tensor) -> tf.Tensor:
    return self._adapted.net.prepare(
        adapted_net.checked_channels(images, self._channels, self))
