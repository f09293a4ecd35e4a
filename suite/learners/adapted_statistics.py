# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means of a frozen transformer and of its adapted copy (APER; Zhou et al., 2023, section 4).

The first delivery trains adapters in the net, by gradients, with a head that is not used again.
From then on nothing is trained: the feature of an image is [f(x), f*(x)], those of the frozen net
and of the adapted one, and a class is answered by the cosine with its mean feature.

Each image passes both nets, which is charged. Other statistics of the same features work as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.state import context as context_lib
from suite.training.gradient import hooked_vit
from suite.training.statistics import statistic as statistic_lib


class AdaptedStatistics(statistics_learner.StatisticsLearner):
  """A `StatisticsLearner` on a transformer that is adapted first.

  Args:
    tuned: trains on the first delivery; its net must be a `HookedVit`, and its base None.
    statistic: what is summed of the features; the paper's is ClassMeans("cosine").
    transform: image preparation of what is summed; that of `tuned` may augment.
    batch_size: images whose features are computed at once in `learn`.
  """

  deliveries = (deliveries_lib.TASKS, deliveries_lib.BUCKETS, deliveries_lib.SEQUENCE)

  def __init__(self, tuned: gradient.GradientLearner, statistic: statistic_lib.Statistic, *,
               transform: examples.Transform, batch_size: int = 256):
    if not isinstance(tuned.net, hooked_vit.HookedVit):
      raise ValueError(f"AdaptedStatistics.tuned has the net {type(tuned.net).__name__}; give it a "
                       "HookedVit, with adapters or another layer of vit_hooks.")
    super().__init__(statistic, transform=transform, features=self._joined, batch_size=batch_size)
    self.tuned, self._net = tuned, tuned.net
    self._first = ""

  def _joined(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, 2 D] of images, of the frozen and of the adapted net."""
    return tf.concat([self._net.query(images), self.tuned.composed.features(images)], axis=1)

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the nets for the first task; selects the statistics of the task."""
    self._first = self._first or task.key
    if task.key == self._first:
      self.tuned.begin(task, context)
    super().begin(task, context)

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Adapts the net, if that was not done; then adds the training split to the statistics."""
    record: dict[str, Any] = {}
    if not int(self.tuned.phases):
      record = self.tuned.learn(experience, context)
      if not int(self.tuned.phases):  # The budget covers no step, and the features would change.
        return record
    return {**record, **super().learn(experience, context)}

  @override
  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Refuses base classes without examples, to which the net would be adapted."""
    raise refusals.RefusedError(
        f"{int(np.sum(known))} classes are known without an example of them, and "
        f"{type(self).__name__} adapts its net to the base classes. Give the sequence base classes "
        "with examples, or take StatisticsLearner, which adapts nothing.")

  @override
  def mac_layers(self) -> learner.Layers:
    """Returns both nets as one layer, and the statistics as another."""
    spec = tf.TensorSpec([1, *example_arrays.shape(self.transform)], tf.uint8)
    found = flops.count(tf.function(self.encode, autograph=False).get_concrete_function(spec))
    return ([mac_views.Layer("nets", found.macs or 0, trained=False)],
            [mac_views.Layer("statistics", self.statistics.answer_macs, trained=False)])


