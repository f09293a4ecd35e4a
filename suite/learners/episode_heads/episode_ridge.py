# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression within an episode (Bertinetto et al., 2019), on features that never change.

One-hot labels are regressed on the features of all support images, in closed form; see `ridge`.
The paper's R2-D2 trains the features through this solution; here they come from a pretraining, and
nothing is meta-trained: run it with `cfsl.run.updates = 0`.
"""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import examples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.episodic import episode_features
from suite.training.episodic import ridge
from suite.training.gradient import frozen_backbone


class EpisodeRidge(tf.Module):
  """An `EpisodicLearner` without meta-training; D features, W classes of the whole task.

  Args:
    transform: image preparation; its `size` is H = W.
    features: a function of images [B, H, W, C] to features [B, D], such as a `FrozenBackbone`;
      None: pixels.
    channels: C of the prepared images.
    strength: lambda, the weight of the squared coefficients, above 0.
    normalize: whether each feature vector is divided by its length, so that one strength fits
      features of any scale.
    form: "primal", whose state is sums of D (D + W) numbers; "dual", which keeps the features of
      all support images; or "cheaper", the one of both that takes less memory and arithmetic.
    way, shot, num_support_sets: of the tasks; only the dual form and the choice need them.
  """

  transductive = False

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, channels: int = 3,
               strength: float = 1.0, normalize: bool = True, form: str = ridge.CHEAPER,
               way: int = 5, shot: int = 1, num_support_sets: int = 1):
    super().__init__()
    if not strength > 0:
      raise ValueError(f"EpisodeRidge.strength is {strength}; it must be above 0: without it the "
                       "coefficients of few images are not determined.")
    if form not in ridge.FORMS:
      raise ValueError(
          f"EpisodeRidge.form is {form!r}; allowed are {', '.join(ridge.FORMS)}.")
    self.transform, self._strength, self._normalize = transform, strength, normalize
    self._form, self._num_images = form, way * shot * num_support_sets
    self._features = episode_features.EpisodeFeatures(features, transform, channels)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Finds the width of the features."""
    del context
    self._features.begin(task)

  @property
  def held_form(self) -> str:
    """"primal" or "dual", once a task has begun."""
    if self._form == ridge.CHEAPER:
      return ridge.cheaper(self._num_images, self._features.width)
    return self._form

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]."""
    codes = self._features(images)
    return tf.math.l2_normalize(codes, axis=1) if self._normalize else codes

  def initial_state(self, num_classes: int) -> ridge.State:
    """Returns the state of no image."""
    return ridge.zeros(self.held_form, self._num_images, self._features.width, num_classes)

  def adapt(self, state: ridge.State, codes: tf.Tensor, labels: tf.Tensor) -> ridge.State:
    """Returns the state after one more support set, features [B, D] and labels [B]."""
    return ridge.add(state, codes, labels)

  def logits(self, state: ridge.State, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of features [B, D]."""
    return ridge.logits(state, codes, self._strength)
