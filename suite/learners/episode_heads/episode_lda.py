# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming LDA (Hayes & Kanan, 2020) within an episode, on features that never change.

The state is class means and one covariance, so every support set counts and none has to be kept.
Nothing is meta-trained: run it with `cfsl.run.updates = 0`. The state has D^2 numbers and an answer
costs about D^3 / 3 multiply-adds: take a backbone with few features.
"""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import examples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.episodic import discriminant
from suite.training.episodic import episode_features
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_discriminant


class EpisodeLda(tf.Module):
  """An `EpisodicLearner` without meta-training; D features, W classes of the whole task.

  Args:
    transform: image preparation; its `size` is H = W.
    features: a function of images [B, H, W, C] to features [B, D], such as a `FrozenBackbone`;
      None: pixels.
    channels: C of the prepared images.
    shrinkage: the share of the identity in the covariance that is inverted. Episodes have few
      samples: the default is far above the 1e-4 of a long sequence.
    weights: "class" (the scatter about the final means) or "steps", see `running_discriminant`.
  """

  transductive = False

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, channels: int = 3,
               shrinkage: float = 0.1, weights: str = "class"):
    super().__init__()
    running_discriminant.check(shrinkage, weights)
    self.transform, self._shrinkage, self._weights = transform, shrinkage, weights
    self._features = episode_features.EpisodeFeatures(features, transform, channels)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Finds the width of the features."""
    del context
    self._features.begin(task)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]."""
    return self._features(images)

  def initial_state(self, num_classes: int) -> discriminant.LdaState:
    """Returns statistics of no sample."""
    return discriminant.zeros(num_classes, self._features.width)

  def adapt(self, state: discriminant.LdaState, codes: tf.Tensor, labels: tf.Tensor
            ) -> discriminant.LdaState:
    """Returns the state after one more support set, features [B, D] and labels [B]."""
    return discriminant.add(state, codes, labels, self._weights)

  def logits(self, state: discriminant.LdaState, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of features [B, D]."""
    return discriminant.logits(state, codes, self._shrinkage)
