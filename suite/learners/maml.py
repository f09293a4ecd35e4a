# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML and MAML++ (Finn et al., 2017; Antoniou et al., 2019) over any number of support sets.

Meta-training learns the initial weights, a rate for each tensor and step of the inner loop, and
scales and offsets of the norms for each step. A task adapts the weights by gradient steps on its
support sets, one set after the other; each set continues from the weights after the set before it.
Every mechanism is an option of `InnerLoop` or `MetaTraining`.

Without meta-training it is "Init + Tune": gradient steps from random weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.contracts import examples
from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


class Maml(adapted_net.AdaptingLearner):
  """An `EpisodicLearner`; W classes of the whole task, C channels, S support sets.

  Args:
    net: the net that is adapted.
    inner: the inner loop that adapts it.
    transform: image preparation; its `size` is H = W.
    channels: C of the prepared images.
    training: how the variables are meta-trained; None: they are not (Init + Tune).
    parts: into how many parts the targets of a task are split in training, see `AdaptedNet`.
  """

  def __init__(self, net: inner_loop.Net, *, inner: inner_loop.InnerLoop,
               transform: examples.Transform, channels: int = 3,
               training: meta_schedules.MetaTraining | None = None, parts: int = 1):
    super().__init__(adapted_net.AdaptedNet(net, inner, training, owner="Maml", parts=parts),
                     transform, channels)

  @override
  def meta_loss(self, episode: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, tuple[()]]:
    """Returns the cross-entropy [] of the targets after the last support set, by the schedules.

    Args:
      episode: S support sets, images [S, B, H, W, C] and labels [S, B]; T targets, images
        [T, H, W, C] and labels [T].
    """
    support_images, support_labels, images, labels = episode[:4]
    adapted = self._adapted
    return self._loss(adapted.net, adapted.prepared(support_images), support_labels,
                      adapted.prepared(images), labels)

  def _loss(self, net: inner_loop.AdaptedForm, support_images: tf.Tensor,
            support_labels: tf.Tensor, images: tf.Tensor, labels: tf.Tensor
            ) -> tuple[tf.Tensor, tuple[()]]:
    """Returns the loss [] of prepared images, which `net` computes; there are no statistics."""
    adapted = self._adapted
    training = adapted.trained()
    epoch = training.epoch(self.optimizer.iterations)

    def loss(parameters: inner_loop.Parameters, second_order: bool, multi_step: bool) -> tf.Tensor:
      if isinstance(net, functional_conv4.GroupedConv4):
        parameters = net.folded(parameters)
      states = adapted.inner.learn_all(net, parameters, support_images, support_labels,
                                       second_order=second_order)
      return adapted.target_loss(
          parameters, states, images, labels, epoch, multi_step=multi_step, net=net)

    return training.choose(epoch, adapted.parameters(), loss), ()

  @property
  @override
  def can_group(self) -> bool:
    """Whether the net has a grouped form."""
    return isinstance(self._adapted.net, functional_conv4.Conv4)

  @override
  def meta_loss_together(self, episodes: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, tuple[()]]:
    """Returns the mean of `meta_loss` [] over E episodes, computed by grouped convolutions.

    Args:
      episodes: as of `meta_loss`, each with a leading axis E.
    """
    net, support_images, support_labels, images = self._grouped(episodes)
    return self._loss(
        net, support_images, support_labels, images, net.folded_labels(episodes[3]))

  @override
  def answers_together(self, episodes: tuple[tf.Tensor, ...], *, unrolled: bool = False
                       ) -> tf.Tensor:
    net, images, labels, targets = self._grouped(episodes)
    inner, parameters = self._adapted.inner, net.folded(self._adapted.parameters())
    number = images.shape[0]
    state = inner_loop.over_sets(
        lambda s, state: inner.learn(net, parameters, state, images[s], labels[s],
                                     second_order=False)[-1],
        inner.begin(net, parameters), number, unrolled=unrolled or number == 1)
    return tf.transpose(inner.logits(net, parameters, state, targets), [1, 0, 2])

  def _grouped(self, episodes: Sequence[tf.Tensor]) -> tuple[Any, ...]:
    """The net of all episodes, and what it takes: support images and labels, target images."""
    adapted = self._adapted
    assert isinstance(adapted.net, functional_conv4.Conv4)  # `can_group`.
    net = functional_conv4.GroupedConv4(adapted.net, episodes[0].shape[0])
    return (net, net.folded_images(adapted.prepared(episodes[0])), net.folded_labels(episodes[1]),
            net.folded_images(adapted.prepared(episodes[2])))
