# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML and MAML++ (Finn et al., 2017; Antoniou et al., 2019) over any number of support sets.

Meta-training learns the initial weights, a rate for each tensor and step of the inner loop, and
scales and offsets of the norms for each step. A task adapts the weights by gradient steps on its
support sets, one set after the other; each set continues from the weights after the set before it.
Every mechanism is an option of `InnerLoop` or `MetaTraining`.

Without meta-training it is "Init + Tune": gradient steps from random weights.
"""

from __future__ import annotations

import tensorflow as tf
from typing_extensions import override

from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import tasks
from suite.models.episodic import functional_conv4
from suite.state import context as context_lib
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


class Maml(learner.EpisodicLearner):
  """An `EpisodicLearner`; W classes of the whole task, C channels, S support sets.

  Args:
    net: the net that is adapted.
    inner: the inner loop that adapts it.
    transform: image preparation; its `size` is H = W.
    channels: C of the prepared images.
    training: how the variables are meta-trained; None: they are not (Init + Tune).
    parts: into how many parts the targets of a task are split in training, see `AdaptedNet`.

  Attributes:
    optimizer: of the meta-training; its `iterations` are the progress of all schedules.
  """

  def __init__(self, net: inner_loop.Net, *, inner: inner_loop.InnerLoop,
               transform: examples.Transform, channels: int = 3,
               training: meta_schedules.MetaTraining | None = None, parts: int = 1):
    super().__init__()
    self.transform, self._channels = transform, channels
    self._adapted = adapted_net.AdaptedNet(net, inner, training, owner="Maml", parts=parts)

  @override
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
  @override
  def transductive(self) -> bool:
    """Whether targets are normalized by their own statistics."""
    return self._adapted.inner.transductive

  @override
  def initial_state(self, num_classes: int) -> inner_loop.State:
    """Returns the meta-learned weights, before the first support set."""
    return self._adapted.begin(num_classes)

  @override
  def adapt(self, state: inner_loop.State, images: tf.Tensor, labels: tf.Tensor
            ) -> inner_loop.State:
    """Returns the state after a support set, images [B, H, W, C] and labels [B]; first order."""
    return self._adapted.adapt(state, images, labels)

  @override
  def logits(self, state: inner_loop.State, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of images [B, H, W, C]."""
    return self._adapted.logits(state, images)

  @override
  def meta_loss(self, episode: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, tuple[()]]:
    """Returns the cross-entropy [] of the targets after the last support set, by the schedules.

    Args:
      episode: S support sets, images [S, B, H, W, C] and labels [S, B]; T targets, images
        [T, H, W, C] and labels [T].
    """
    adapted = self._adapted
    training = adapted.trained()
    epoch = training.epoch(self.optimizer.iterations)
    support_images, support_labels, images, labels = episode[:4]
    support_images, images = adapted.prepared(support_images), adapted.prepared(images)

    def loss(parameters: inner_loop.Parameters, second_order: bool, multi_step: bool) -> tf.Tensor:
      states = adapted.inner.learn_all(adapted.net, parameters, support_images, support_labels,
                                       second_order=second_order)
      return adapted.target_loss(parameters, states, images, labels, epoch, multi_step=multi_step)

    return training.choose(epoch, adapted.parameters(), loss), ()

  @override
  def meta_loss_together(self, episodes: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, tuple[()]]:
    """Returns the mean of `meta_loss` [] over E episodes, computed by grouped convolutions.

    Args:
      episodes: as of `meta_loss`, each with a leading axis E.
    """
    adapted = self._adapted
    training = adapted.trained()
    if not isinstance(adapted.net, functional_conv4.Conv4):
      raise ValueError(f"Episodes of {type(adapted.net).__name__} cannot be grouped; "
                       "set cfsl.Compute.task_batching = 'loop', or take the net "
                       "functional_conv4.Conv4.")
    epoch = training.epoch(self.optimizer.iterations)
    net = functional_conv4.GroupedConv4(adapted.net, episodes[0].shape[0])
    support_images, images = (
        net.folded_images(adapted.prepared(part)) for part in (episodes[0], episodes[2]))
    support_labels, labels = (net.folded_labels(part) for part in (episodes[1], episodes[3]))

    def loss(parameters: inner_loop.Parameters, second_order: bool, multi_step: bool) -> tf.Tensor:
      folded = net.folded(parameters)
      states = adapted.inner.learn_all(net, folded, support_images, support_labels,
                                       second_order=second_order)
      return adapted.target_loss(folded, states, images, labels, epoch, multi_step=multi_step,
                                 net=net)

    return training.choose(epoch, adapted.parameters(), loss), ()

  @override
  def zero_statistics(self) -> tuple[()]:
    """Returns (): the norms keep no running statistics."""
    return ()

  @override
  def update_statistics(self, seen: tuple[()]) -> None:
    """Does nothing: the norms keep no running statistics."""
