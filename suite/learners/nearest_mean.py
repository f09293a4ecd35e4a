# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean (NCM) on features that never change, by distance or by angle.

Nothing is trained by gradient: learning a task, a bucket or a single sample adds features to the
means of their classes. A block of single samples is answered at once (`answer_in_turn`), with the
answers that one-by-one steps give, up to rounding; see
`suite/training/sequence/running_centroids.py`.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import tensorflow as tf

from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.scoring import scoring
from suite.training.sequence import running_centroids
from suite.training.sequence import task_statistics


class NearestMean(tf.Module):
  """A `SequenceLearner` for tasks, buckets and sequences.

  Deliveries of one task key (the buckets of a series, the samples of a sequence) add to the same
  means; another task has means for itself. An image with several labels is added to the mean of
  each of its labels.

  Args:
    transform: image preparation, or `feature_set.Features` for feature vectors.
    features: a function of prepared examples to features [B, D], such as a `FrozenBackbone`; None:
      pixels of images, and feature vectors unchanged.
    similarity: "euclidean" (logits are minus squared distances to the means), "cosine" or "dot".
    normalize: whether features are divided by their lengths before they are averaged.
    batch_size: examples whose features are computed at once in `learn`.
  """

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, similarity: str = "euclidean",
               normalize: bool = False, batch_size: int = 256):
    super().__init__()
    running_centroids.check(similarity)
    self.transform, self._batch_size = transform, batch_size
    self._features = frozen_backbone.or_plain(features, transform)
    self._statistics: task_statistics.TaskStatistics[running_centroids.RunningCentroids] = (
        task_statistics.TaskStatistics(
            lambda num_classes, num_features: running_centroids.RunningCentroids(
                num_classes, num_features, similarity, normalize)))

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return frozen_backbone.of_learner(self._features)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Selects the means of the task; makes them if it is new."""
    del context
    self._statistics.begin(task, self._num_features)

  @functools.cached_property
  def _num_features(self) -> int:
    # Once: a pass through the backbone takes as long as many answers, and `begin` comes often.
    return frozen_backbone.num_features(self._features, self.transform)

  @property
  def centroids(self) -> running_centroids.RunningCentroids:
    """The means of the task that began last."""
    return self._statistics.current

  def learn(
      self, experience: deliveries.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Adds the training split to the means, each example once and not augmented."""
    outputs = scoring.extract(self.encode, experience.train, transform=self.transform,
                              batch_size=self._batch_size, context=context)
    start = time.monotonic()
    num_flops = self.centroids.add_set(outputs.values, outputs.labels)
    context.ledger.charge(
        context.phase, flops=num_flops, macs=0, seconds=time.monotonic() - start)
    return {"classes_with_a_mean": self.centroids.num_nonempty}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of prepared examples."""
    return self.centroids.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of prepared examples; learning does not change them."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of features [B, D]; -inf for classes without a sample."""
    return self.centroids.answer(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] to the means of their classes, int64 [B]."""
    self.centroids.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; label t of int64 [B] is revealed after answer t."""
    return self.centroids.answer_in_turn(codes, labels)

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Returns the layers of the backbone, and the means as a layer."""
    macs = self.centroids.sums.shape.num_elements()
    return (frozen_backbone.layers(self._features),
            [mac_views.Layer("centroids", macs, trained=False)])
