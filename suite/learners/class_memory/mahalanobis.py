# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The classifier of Simple CNAPS (Bateni et al., 2020) on features that never change.

A class has a mean and a covariance of its own, which is mixed with that of all samples; logits are
minus half the squared Mahalanobis distances to the means. That is the paper's head, which has no
parameter to learn, and only that: `meta_mahalanobis` has the network that adapts the backbone to a
task, too (FiLM layers from a set encoder, which are meta-trained), as FLUID's row has, on a
backbone that was trained on ImageNet-1K. Take an encoder's weights for `features`.

Means and scatters move with every label; the C precisions [D, D] are computed after each task,
bucket or set of base classes, and in offline phases. FLUID's paper does not say when; its cost for
the row is that of a pass for each sample. See `suite/training/sequence/running_mahalanobis.py`.
"""

from __future__ import annotations

from suite.contracts import examples
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_mahalanobis
from suite.training.sequence import statistics_learner


class Mahalanobis(statistics_learner.StatisticsLearner[running_mahalanobis.RunningMahalanobis]):
  """Means and covariances of classes; see `StatisticsLearner`.

  Each task has two matrices [C, D, D], and an answer costs C D^2 multiply-adds: 2 GiB and 262
  million for 1,000 classes of 512 features.

  Args:
    transform, features, batch_size: see `StatisticsLearner`.
    ridge: the multiple of the identity in every covariance; the paper's 1.
  """

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, ridge: float = 1.0,
               batch_size: int = 256):
    running_mahalanobis.check(ridge)
    super().__init__(
        lambda num_classes, num_features: running_mahalanobis.RunningMahalanobis(
            num_classes, num_features, ridge=ridge),
        method="Mahalanobis", transform=transform, features=features, batch_size=batch_size)
