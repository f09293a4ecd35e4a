# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tuning within an episode: gradient steps on each support set, also with replay or a penalty.

Fine-tuning, ER, EWC and LwF are options of `SetTuning`. What is tuned is a linear head on features
that never change, or a whole small net. Nothing is meta-trained: run it with
`cfsl.run.updates = 0`. (Init + Tune of Antoniou et al., 2020, is `Maml` without meta-training.)
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.contracts import examples
from suite.contracts import tasks
from suite.models.episodic import functional_conv4
from suite.state import context as context_lib
from suite.training.episodic import episode_features
from suite.training.episodic import set_tuning
from suite.training.gradient import frozen_backbone
from suite.training.sequence import task_statistics


class TuneInEpisode(tf.Module):
  """An `EpisodicLearner` without meta-training; D features, W classes of the whole task.

  Args:
    tuning: the gradient steps on a support set.
    transform: image preparation; its `size` is H = W.
    features: a function of images [B, H, W, C] to features [B, D], such as a `FrozenBackbone`, for
      a linear head that starts at zero; None: pixels.
    net: a net whose weights are all tuned, from random ones, instead of a head. Its batch norms
      normalize each batch by its own statistics, so the learner is transductive.
    channels: C of the prepared images.
  """

  def __init__(self, tuning: set_tuning.SetTuning, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None,
               net: functional_conv4.Conv4 | None = None, channels: int = 3):
    super().__init__()
    if net is not None and features is not None:
      raise ValueError("TuneInEpisode has both features and a net; give features for a linear head "
                       "on them, or a net that is tuned as a whole.")
    self.transform, self._tuning, self._net = transform, tuning, net
    self._features = episode_features.EpisodeFeatures(
        features if net is None else net.prepare, transform, channels)
    self._image_shape = (transform.size, transform.size, channels)
    self._num_classes = 0

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the initial weights, once: all tasks start from them."""
    task_statistics.check_single_label(task, "an episode's learner")
    if self._num_classes:
      return
    self._num_classes = task.num_classes
    if self._net is None:
      self._features.begin(task)
      self._code_shape: tuple[int, ...] = (self._features.width,)
      weights = {"head/kernel": np.zeros([self._features.width, task.num_classes]),
                 "head/bias": np.zeros([task.num_classes])}
    else:
      self._code_shape = self._image_shape
      weights = self._net.initial(
          context.seeds.integer("initial weights"), self._image_shape, task.num_classes)
    with context.distribution.scope():
      self._weights = {name: tf.Variable(value, dtype=tf.float32, trainable=False, name=name)
                       for name, value in weights.items()}

  @property
  def transductive(self) -> bool:
    """Whether targets are normalized by their own statistics."""
    return self._net is not None

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]; for a net, images as it takes them."""
    return self._features(images)

  def initial_state(self, num_classes: int) -> set_tuning.TunedState:
    """Returns the initial weights, and an empty memory or penalty."""
    if num_classes != self._num_classes:
      raise ValueError(f"A task has {num_classes} classes, but the head was made for "
                       f"{self._num_classes}. Make another learner for it.")
    weights = {name: tf.convert_to_tensor(value) for name, value in self._weights.items()}
    return self._tuning.initial(weights, self._code_shape, num_classes)

  def adapt(self, state: set_tuning.TunedState, codes: tf.Tensor, labels: tf.Tensor
            ) -> set_tuning.TunedState:
    """Returns the state after a support set, codes [B, ...] and labels [B]."""
    return self._tuning.learn(self._apply, state, codes, labels)

  def logits(self, state: set_tuning.TunedState, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of codes [B, ...]."""
    return self._apply(state.weights, codes)

  def _apply(self, weights: set_tuning.Weights, codes: tf.Tensor) -> tf.Tensor:
    if self._net is None:
      return tf.matmul(codes, weights["head/kernel"]) + weights["head/bias"]
    row = functional_conv4.Norms(*(part[0] for part in self._net.initial_norms(1)))
    return self._net.apply(weights, row, codes)
