# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretrain + Tune (Antoniou et al., 2020): a classifier of all training classes, tuned to a task.

Training is supervised: each update takes one step on the cross-entropy of all images of its
episodes, support and target alike, against their classes in the data set, with a head for these
classes. A task starts with another, untrained head, and is tuned by plain gradient steps on its
support sets, one after the other.
"""

from __future__ import annotations

import tensorflow as tf
from typing_extensions import override

from suite.compute import seeds as seeds_lib
from suite.contracts import examples
from suite.data.episodes import episodes
from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

_HEAD = ("head/bias", "head/kernel")


class PretrainTune(adapted_net.AdaptingLearner):
  """An `EpisodicLearner` whose training needs `EpisodeWithClasses`; W classes of the whole task.

  Args:
    net: the net that is trained and tuned.
    inner: the inner loop that tunes it; its rates are not learned.
    transform: image preparation; its `size` is H = W.
    training: its optimizer; its other options are not used.
    num_classes: the number of classes of the data set's training split.
    channels: C of the prepared images.
  """

  def __init__(self, net: inner_loop.Net, *, inner: inner_loop.InnerLoop,
               transform: examples.Transform, training: meta_schedules.MetaTraining,
               num_classes: int, channels: int = 3):
    if inner.learn_rates:
      raise ValueError("Pretraining does not run the inner loop, so it cannot learn its rates. Set "
                       "InnerLoop.learn_rates = False.")
    super().__init__(
        adapted_net.AdaptedNet(net, inner, training, owner="PretrainTune"), transform, channels)
    self._num_classes = num_classes

  @override
  def _make(self, num_classes: int, seeds: seeds_lib.Seeds, shape: tuple[int, ...]) -> None:
    adapted = self._adapted
    adapted.make(seeds.integer("initial weights"), shape, num_classes, fixed=_HEAD)
    every = adapted.net.initial(seeds.integer("initial class head"), shape, self._num_classes)
    self._class_head = {name: tf.Variable(every[name], name=f"class_{name}") for name in _HEAD}

  @override
  def meta_loss(self, episode: episodes.EpisodeWithClasses) -> tuple[tf.Tensor, tuple[()]]:
    """Returns the cross-entropy [] of all images of an episode, as one batch, and their classes."""
    if not hasattr(episode, "support_classes"):
      raise ValueError("PretrainTune trains on the classes of the data set, which these episodes "
                       "do not hold. Set train/cfsl_data.episodes.with_classes = True.")
    images = tf.concat([_flat(episode.support_images, 4), episode.target_images], axis=0)
    classes = tf.concat([_flat(episode.support_classes, 1), episode.target_classes], axis=0)
    parameters = self._adapted.parameters()
    head = {name: tf.convert_to_tensor(value) for name, value in self._class_head.items()}
    first_row = functional_conv4.Norms(*(part[0] for part in parameters.norms))
    logits = self._adapted.net.apply({**parameters.weights, **head}, first_row,
                                     self._adapted.prepared(images))
    return inner_loop.cross_entropy(classes, logits), ()


def _flat(x: tf.Tensor, rank: int) -> tf.Tensor:
  """Returns [S * B, ...] of x [S, B, ...]; the result has `rank` axes."""
  return tf.reshape(x, [x.shape[0] * x.shape[1], *x.shape[2:2 + rank - 1]])
