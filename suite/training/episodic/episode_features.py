# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features of an episode's images that neither meta-training nor episodes change."""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.training.gradient import frozen_backbone
from suite.training.sequence import task_statistics


class EpisodeFeatures:
  """Maps images [B, S, S, C] to features [B, D].

  Args:
    features: a function of images to features, such as a `FrozenBackbone`; None: pixels.
    transform: image preparation; its `size` is S.
    channels: C.

  Attributes:
    width: D, known once a task has begun.
  """

  def __init__(self, features: frozen_backbone.FeatureFn | None,
               transform: examples.Transform, channels: int):
    shape = example_arrays.shape(transform)
    if len(shape) != 3:
      raise ValueError(f"The transform makes feature vectors {shape}, but episodes are of images. "
                       "Give the learner a transform of images, for example image_ops.Plain.")
    self._fn = frozen_backbone.or_plain(features, transform)
    self._image_shape = (transform.size, transform.size, channels)
    self.width = 0

  def begin(self, task: tasks.Task) -> None:
    """Finds D; refuses multi-label tasks."""
    task_statistics.check_single_label(task, "an episode's learner")
    if not self.width:
      found = self(tf.zeros([1, *self._image_shape], tf.uint8)).shape
      if found.rank != 2:
        raise ValueError(f"Features of images {self._image_shape} have shape {found}; a function "
                         "to [B, D] is expected. Flatten or pool them.")
      self.width = int(found[1])

  def __call__(self, images: tf.Tensor) -> tf.Tensor:
    if images.shape[-1] != self._image_shape[-1]:
      raise ValueError(
          f"Images have {images.shape[-1]} channels, but the learner was made for "
          f"{self._image_shape[-1]}. Set its channels = {images.shape[-1]}.")
    return self._fn(images)
