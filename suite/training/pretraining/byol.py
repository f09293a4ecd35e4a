# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""BYOL (Grill et al., 2020): an encoder predicts a slowly moving one, without negatives.

Both see the two views of an image. The online net is backbone, projector and predictor; the target
is backbone and projector, and follows the online one after each update:

  target = tau_k * target + (1 - tau_k) * online,   tau_k = 1 - (1 - tau) (cos(pi k / K) + 1) / 2

The loss of a row is the sum over both directions of 2 - 2 cos(prediction, target) (eq. 2). Batch
norm is what keeps the constant answer away: norms are of the whole batch of a replica, in backbone,
projector and predictor; no groups are needed, since no positive is told apart from negatives.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import seeds as seeds_lib
from suite.models import initial
from suite.models import projection
from suite.training.pretraining import contrastive
from suite.training.pretraining import pretexts


class Byol(pretexts.Pretext):
  """The pretext.

  Args:
    dim, hidden: sizes of the embedding, and of the hidden layer of projector and predictor.
    momentum: tau of the target at first.
    updates: K, over which tau rises to 1 along a cosine; None: it stays.
  """

  num_views = 2

  def __init__(self, *, dim: int = 256, hidden: int = 4096, momentum: float = 0.996,
               updates: int | None = None):
    super().__init__()
    if not 0 <= momentum <= 1 or (updates is not None and updates < 1):
      raise ValueError(f"Byol was given momentum={momentum} and updates={updates}; the first is "
                       "between 0 and 1, the other at least 1, or None.")
    self._dim, self._hidden = dim, hidden
    self._momentum, self._num_updates = momentum, updates

  def build(self, make_backbone: pretexts.Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    del num_classes, batch_size
    self._distribution = distribution

    def project(size: int) -> tf.keras.Model:
      return projection.normalized_mlp(size, hidden=self._hidden, size=self._dim, name="projector")

    def predict() -> tf.keras.Model:
      return projection.normalized_mlp(
          self._dim, hidden=self._hidden, size=self._dim, name="predictor")

    self.backbone, self.model = pretexts.made(make_backbone, project, seeds)
    _, self.target = pretexts.made(make_backbone, project, seeds)
    weights = initial.initial_weights(predict, seeds.integer("predictor"))
    self.predictor = predict()
    self.predictor.set_weights(weights)
    self.variables_to_train = [
        *self.model.trainable_variables, *self.predictor.trainable_variables]

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    super().start_from(weights)
    pretexts.backbone_of(self.target).set_weights(weights)

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    first, second = batch["view0"], batch["view1"]
    return self._one_way(first, second) + self._one_way(second, first), step

  def _one_way(self, images: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    predicted = contrastive.normalized(
        self.predictor(self.model(images, training=True), training=True))
    wanted = contrastive.normalized(tf.stop_gradient(self.target(others, training=True)))
    return 2.0 - 2.0 * tf.reduce_sum(predicted * wanted, axis=1)

  def tau(self, step: tf.Tensor) -> tf.Tensor:
    """Returns the momentum of the target after update `step`, from 0."""
    if self._num_updates is None:
      return tf.constant(self._momentum)
    done = tf.cast(step, tf.float32) / self._num_updates
    return 1.0 - (1.0 - self._momentum) * (tf.cos(math.pi * tf.minimum(done, 1.0)) + 1.0) / 2.0

  def after_update(self, result: Any) -> None:
    step = contrastive.results_of_one(result, self._distribution)
    contrastive.follow(self.target.trainable_variables, self.model.trainable_variables,
                       self.tau(step), self._distribution.strategy)
