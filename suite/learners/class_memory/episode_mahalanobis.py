# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The classifier of Simple CNAPS (Bateni et al., 2020) within an episode, on frozen features.

The state is that of `class_gaussians`: a support set is merged into it in closed form. It is the
head alone, as in `mahalanobis`: nothing is meta-trained, so run it with `cfsl.run.updates = 0`.
`simple_cnaps` is the whole method.
"""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import examples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.episodic import class_gaussians
from suite.training.episodic import episode_features
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_mahalanobis


class EpisodeMahalanobis(tf.Module):
  """An `EpisodicLearner` without meta-training; D features, W classes of the whole task.

  Args:
    transform: image preparation; its `size` is H = W.
    features: a function of images [B, H, W, C] to features [B, D], such as a `FrozenBackbone`;
      None: pixels.
    channels: C of the prepared images.
    ridge: see `running_mahalanobis`.
  """

  transductive = False

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, channels: int = 3,
               ridge: float = 1.0):
    super().__init__()
    running_mahalanobis.check(ridge)
    self.transform, self._ridge = transform, ridge
    self._features = episode_features.EpisodeFeatures(features, transform, channels)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Finds the width of the features."""
    del context
    self._features.begin(task)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]."""
    return self._features(images)

  def initial_state(self, num_classes: int) -> class_gaussians.ClassGaussians:
    """Returns statistics of no sample."""
    return class_gaussians.zeros(num_classes, self._features.width)

  def adapt(self, state: class_gaussians.ClassGaussians, codes: tf.Tensor, labels: tf.Tensor
            ) -> class_gaussians.ClassGaussians:
    """Returns the state after one more support set, features [B, D] and labels [B]."""
    return class_gaussians.add(state, codes, labels)

  def logits(self, state: class_gaussians.ClassGaussians, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of features [B, D]; `class_means.NOT_SHOWN` without a sample."""
    return class_gaussians.logits(state, codes, self._ridge)
