# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The learner around statistics of frozen features whose means move with every label.

What is costly, the inverse of a covariance, follows now and then: after each task, bucket or set of
base classes (`learn`), and in the offline phases of a sequence, which train nothing. The update
strategy says how often.
"""

from __future__ import annotations

import functools
import time
from typing import Any, Callable, Generic, Protocol, TypeVar

import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.scoring import scoring
from suite.training.sequence import task_statistics

_CHUNK = 256  # Samples added in one call of `learn`.


class SolvedStatistics(task_statistics.ClassStatistics, Protocol):
  """Statistics of C classes with an inverse that `solve` computes.

  Attributes:
    add_chunk, solve_compiled: `add` and `solve`, compiled.
  """

  add_chunk: Callable[[tf.Tensor, tf.Tensor], None]
  solve_compiled: Callable[[], None]

  @property
  def num_nonempty(self) -> int:
    """The number of classes with a sample."""

  @property
  def answer_macs(self) -> int:
    """Multiply-adds of the answer to a sample."""

  def answer(self, features: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D]; -inf for classes without a sample."""

  def answer_in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C], each as if the samples before it had been added; adds nothing."""

  def add(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds samples [B, D] with labels int64 [B], in their order."""

  def solve_cost(self) -> flops.Cost:
    """Returns the cost of `solve`."""


S = TypeVar("S", bound=SolvedStatistics)


class StatisticsLearner(tf.Module, Generic[S]):
  """A `SequenceLearner` for single-label tasks, buckets and sequences.

  Deliveries of one task key add to the same statistics; another task has statistics for itself.

  Args:
    make: make(num_classes, num_features) returns empty statistics.
    method: its name in messages.
    transform: image preparation, or `feature_set.Features` for feature vectors.
    features: a function of prepared examples to features [B, D], such as a `FrozenBackbone`; None:
      pixels of images, and feature vectors unchanged.
    batch_size: examples whose features are computed at once in `learn`.
  """

  kinds = (tasks.SINGLE_LABEL,)

  def __init__(self, make: Callable[[int, int], S], *, method: str,
               transform: examples.Transform, features: frozen_backbone.FeatureFn | None,
               batch_size: int):
    super().__init__()
    self.transform, self._batch_size, self._method = transform, batch_size, method
    self._features = frozen_backbone.or_plain(features, transform)
    self._statistics: task_statistics.TaskStatistics[S] = task_statistics.TaskStatistics(make)

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return frozen_backbone.of_learner(self._features)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Selects the statistics of the task; makes them if it is new."""
    del context
    task_statistics.check_single_label(task, self._method)
    self._statistics.begin(task, self._num_features)

  @functools.cached_property
  def _num_features(self) -> int:
    # Once: a pass through the backbone takes as long as many answers, and `begin` comes often.
    return frozen_backbone.num_features(self._features, self.transform)

  @property
  def statistics(self) -> S:
    """The statistics of the task that began last."""
    return self._statistics.current

  def learn(
      self, experience: deliveries.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Adds the training split, each example once and not augmented; then inverts."""
    outputs = scoring.extract(self.encode, experience.train, transform=self.transform,
                              batch_size=self._batch_size, context=context)
    codes, labels = tf.cast(outputs.values, tf.float32), tf.cast(outputs.labels, tf.int64)
    began, num = time.monotonic(), len(outputs.labels)
    for start in range(0, num, _CHUNK):
      self.statistics.add_chunk(codes[start:start + _CHUNK], labels[start:start + _CHUNK])
    cost = self._cost_of_one(self.statistics.add) * num
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs,
                          seconds=time.monotonic() - began)
    self._invert(context)
    return {"classes_with_a_mean": self.statistics.num_nonempty}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of prepared examples."""
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of prepared examples; learning does not change them."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of features [B, D]; -inf for classes without a sample."""
    return self.statistics.answer(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] with labels int64 [B], in their order."""
    self.statistics.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; label t of int64 [B] is revealed after answer t."""
    return self.statistics.answer_in_turn(codes, labels)

  def learn_stored(
      self, stored: deliveries.Stored, context: context_lib.Context) -> dict[str, Any]:
    """Inverts the covariance of all labels so far."""
    del stored
    self._invert(context)
    return {"passes": 0}

  def stored_macs(self, num_stored: int) -> int | None:
    """Returns the MACs of an inversion, which do not depend on the number of samples."""
    del num_stored
    return self.statistics.solve_cost().macs

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Returns the layers of the backbone, and the means as a layer.

    MACs of labels and inversions are in the ledger only: the views count products with weights and
    their gradients.
    """
    return (frozen_backbone.layers(self._features),
            [mac_views.Layer("means", self.statistics.answer_macs, trained=False)])

  def _invert(self, context: context_lib.Context) -> None:
    start, cost = time.monotonic(), self.statistics.solve_cost()
    rehearsal.save(self.statistics, self.statistics.solve_compiled)
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs, steps=1,
                          seconds=time.monotonic() - start)

  def _cost_of_one(self, add: Callable[..., None]) -> flops.Cost:
    return flops.count(user_code.compiled(add).get_concrete_function(
        tf.TensorSpec([1, self._num_features]), tf.TensorSpec([1], tf.int64)))
