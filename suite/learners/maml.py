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
import dataclasses
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.contracts import examples
from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


@dataclasses.dataclass(frozen=True)
class FoldedMaml:
  """The episodes of L learners as groups of one net, see `functional_conv4.GroupedConv4`.

  L learners with E episodes each, those of the first learner first; S support sets of N images, T
  targets, W classes.

  Attributes:
    net: of an episode.
    learners: alike but for the values of their variables; all have had as many updates.
    optimizer: of the first one.
  """

  net: functional_conv4.Conv4
  learners: Sequence[adapted_net.AdaptedNet]
  optimizer: tf.keras.optimizers.Optimizer | None

  def losses(self, episodes: Sequence[tf.Tensor]) -> tf.Tensor:
    """Returns the mean meta-losses [L] of the learners, see `Maml.meta_loss`.

    Args:
      episodes: as of `Maml.meta_loss`, each with a leading axis L * E.
    """
    first = self.learners[0]
    training = first.trained()
    assert self.optimizer is not None
    epoch = training.epoch(self.optimizer.iterations)
    net, support_images, support_labels, images = self._grouped(episodes)
    labels = net.folded_labels(episodes[3])

    def loss(parameters: Sequence[inner_loop.Parameters], second_order: bool, multi_step: bool
             ) -> tf.Tensor:
      folded = net.folded(parameters)
      states = first.inner.learn_all(net, folded, support_images, support_labels,
                                     second_order=second_order)
      return first.target_loss(folded, states, images, labels, epoch, multi_step=multi_step,
                               net=net, learners=len(self.learners))

    return training.choose(epoch, [one.parameters() for one in self.learners], loss)

  def answers(self, episodes: Sequence[tf.Tensor], *, unrolled: bool = False) -> tf.Tensor:
    """Returns the logits [L * E, T, W] of the targets after all support sets.

    Args:
      episodes: images [L * E, S, N, H, W, C] and labels [L * E, S, N] of the support sets, and
        target images [L * E, T, H, W, C].
      unrolled: see `inner_loop.over_sets`.
    """
    inner = self.learners[0].inner
    net, images, labels, targets = self._grouped(episodes)
    folded = net.folded([one.parameters() for one in self.learners])
    number = images.shape[0]
    state = inner_loop.over_sets(
        lambda s, state: inner.learn(net, folded, state, images[s], labels[s],
                                     second_order=False)[-1],
        inner.begin(net, folded), number, unrolled=unrolled or number == 1)
    return tf.transpose(inner.logits(net, folded, state, targets), [1, 0, 2])

  def _grouped(self, episodes: Sequence[tf.Tensor]) -> tuple[Any, ...]:
    """The net of all episodes, and what it takes: support images and labels, target images."""
    prepared, net = self.learners[0].prepared, functional_conv4.GroupedConv4(
        self.net, episodes[0].shape[0])
    return (net, net.folded_images(prepared(episodes[0])), net.folded_labels(episodes[1]),
            net.folded_images(prepared(episodes[2])))


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
    return self.folded(()).losses(episodes)[0], ()

  @property
  @override
  def can_fold(self) -> bool:
    """Whether the net has a grouped form."""
    return isinstance(self._adapted.net, functional_conv4.Conv4)

  @override
  def folded(self, others: Sequence[Maml]) -> FoldedMaml:
    """Returns this learner and others of its settings as one net of grouped convolutions."""
    if not isinstance(net := self._adapted.net, functional_conv4.Conv4):
      raise ValueError(f"Episodes of {type(net).__name__} cannot be grouped; "
                       "set cfsl.Compute.task_batching = 'loop', or take the net "
                       "functional_conv4.Conv4.")
    return FoldedMaml(net, [self._adapted, *(one._adapted for one in others)], self.optimizer)
