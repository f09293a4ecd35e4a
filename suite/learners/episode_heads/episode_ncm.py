# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean (NCM) within an episode, on features that never change.

The state is a sum and a count of features for each class, so every support set counts and none has
to be kept. Nothing is meta-trained: run it with `cfsl.run.updates = 0`.
"""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import examples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.episodic import class_means
from suite.training.episodic import episode_features
from suite.training.gradient import frozen_backbone


class EpisodeNcm(tf.Module):
  """An `EpisodicLearner` without meta-training; D features, W classes of the whole task.

  Args:
    transform: image preparation; its `size` is H = W.
    features: a function of images [B, H, W, C] to features [B, D], such as a `FrozenBackbone`;
      None: pixels.
    channels: C of the prepared images.
    similarity: "euclidean" (logits are minus squared distances to the means), "cosine" or "dot".
  """

  transductive = False

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, channels: int = 3,
               similarity: str = "euclidean"):
    super().__init__()
    class_means.check(similarity, "EpisodeNcm")
    self.transform, self._similarity = transform, similarity
    self._features = episode_features.EpisodeFeatures(features, transform, channels)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Finds the width of the features."""
    del context
    self._features.begin(task)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]."""
    return self._features(images)

  def initial_state(self, num_classes: int) -> class_means.MeansState:
    """Returns sums [W, D] and counts [W] of features by class, all 0."""
    return class_means.zeros(num_classes, self._features.width)

  def adapt(self, state: class_means.MeansState, codes: tf.Tensor, labels: tf.Tensor
            ) -> class_means.MeansState:
    """Returns the state after one more support set, features [B, D] and labels [B]."""
    return class_means.add(state, codes, labels)

  def logits(self, state: class_means.MeansState, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of features [B, D]."""
    return class_means.logits(state, codes, self._similarity)
