# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming linear discriminant analysis (SLDA; Hayes & Kanan, 2020) on features that never change.

Means and scatter move with every label. The covariance is inverted after each task, bucket or set
of base classes (`learn`), and in offline phases of a sequence, which train nothing: the update
strategy says how often; `Never` gives the paper's SLDA with a fixed covariance. See
`suite/training/sequence/running_discriminant.py`.
"""

from __future__ import annotations

import functools
import time
from typing import Any, Callable

import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import experience as experience_lib
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.scoring import scoring
from suite.training.sequence import running_discriminant
from suite.training.sequence import task_statistics

_CHUNK = 256  # Samples added in one call of `learn`.


class StreamingLda(tf.Module):
  """An `InstanceLearner` and `OfflineLearner` for single-label tasks, buckets and sequences.

  Deliveries of one task key add to the same statistics; another task has statistics for itself,
  two matrices [D, D] among them.

  Args:
    transform: image preparation, or `feature_set.Features` for feature vectors.
    features: a function of prepared examples to features [B, D], such as a `FrozenBackbone`; None:
      pixels of images, and feature vectors unchanged.
    shrinkage: the share of the identity in the covariance that is inverted; the paper's 1e-4.
    weights: "steps" as published, or "class"; see `running_discriminant`.
    batch_size: examples whose features are computed at once in `learn`.
  """

  kinds = (tasks.SINGLE_LABEL,)

  def __init__(self, *, transform: transform_lib.Transform,
               features: frozen_backbone.FeatureFn | None = None, shrinkage: float = 1e-4,
               weights: str = "steps", batch_size: int = 256):
    super().__init__()
    running_discriminant.check(shrinkage, weights)
    self.transform, self._batch_size = transform, batch_size
    self._features = frozen_backbone.or_plain(features, transform)
    self._statistics: task_statistics.TaskStatistics[running_discriminant.RunningDiscriminant] = (
        task_statistics.TaskStatistics(
            lambda num_classes, num_features: running_discriminant.RunningDiscriminant(
                num_classes, num_features, shrinkage=shrinkage, weights=weights)))

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return frozen_backbone.of_learner(self._features)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Selects the statistics of the task; makes them if it is new."""
    del context
    task_statistics.check_single_label(task, "SLDA")
    self._statistics.begin(task, self._num_features)

  @functools.cached_property
  def _num_features(self) -> int:
    # Once: a pass through the backbone takes as long as many answers, and `begin` comes often.
    return frozen_backbone.num_features(self._features, self.transform)

  @property
  def discriminant(self) -> running_discriminant.RunningDiscriminant:
    """The statistics of the task that began last."""
    return self._statistics.current

  def learn(
      self, experience: experience_lib.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Adds the training split, each example once and not augmented; then inverts."""
    outputs = scoring.extract(self.encode, experience.train, transform=self.transform,
                              batch_size=self._batch_size, context=context)
    codes, labels = tf.cast(outputs.values, tf.float32), tf.cast(outputs.labels, tf.int64)
    began, num = time.monotonic(), len(outputs.labels)
    for start in range(0, num, _CHUNK):
      self.discriminant.add_chunk(codes[start:start + _CHUNK], labels[start:start + _CHUNK])
    cost = self._cost_of_one(self.discriminant.add) * num
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs,
                          seconds=time.monotonic() - began)
    self._invert(context)
    return {"classes_with_a_mean": self.discriminant.num_nonempty}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of prepared examples."""
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of prepared examples; learning does not change them."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of features [B, D]; -inf for classes without a sample."""
    return self.discriminant.answer(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] with labels int64 [B], in their order."""
    self.discriminant.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; label t of int64 [B] is revealed after answer t."""
    return self.discriminant.answer_in_turn(codes, labels)

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> dict[str, Any]:
    """Inverts the covariance of all labels so far."""
    del stored
    self._invert(context)
    return {"passes": 0}

  def stored_macs(self, num_stored: int) -> int | None:
    """Returns the MACs of an inversion, which do not depend on the number of samples."""
    del num_stored
    return self.discriminant.solve_cost().macs

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Returns the layers of the backbone, and the means as a layer.

    The 2 D^2 MACs of a label and the inversions are in the ledger only: the views count products
    with weights and their gradients.
    """
    macs = self.discriminant.sums.shape.num_elements()
    return (frozen_backbone.layers(self._features),
            [mac_views.Layer("means", macs, trained=False)])

  def _invert(self, context: context_lib.Context) -> None:
    start, cost = time.monotonic(), self.discriminant.solve_cost()
    self.discriminant.solve_compiled()
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs, steps=1,
                          seconds=time.monotonic() - start)

  def _cost_of_one(self, add: Callable[..., None]) -> flops.Cost:
    return flops.count(tf.function(add).get_concrete_function(
        tf.TensorSpec([1, self._num_features]), tf.TensorSpec([1], tf.int64)))
