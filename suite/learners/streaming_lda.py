# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming linear discriminant analysis (SLDA; Hayes & Kanan, 2020) on features that never change.

Means and scatter move with every label. The covariance is inverted after each task, bucket or set
of base classes (`learn`), and in offline phases of a sequence, which train nothing: the update
strategy says how often; `Never` gives the paper's SLDA with a fixed covariance. See
`suite/training/sequence/running_discriminant.py`.
"""

from __future__ import annotations

from suite.contracts import examples
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_discriminant
from suite.training.sequence import statistics_learner


class StreamingLda(statistics_learner.StatisticsLearner[running_discriminant.RunningDiscriminant]):
  """SLDA; see `StatisticsLearner`. Each task has two matrices [D, D].

  Args:
    transform, features, batch_size: see `StatisticsLearner`.
    shrinkage: the share of the identity in the covariance that is inverted; the paper's 1e-4.
    weights: "steps" as published, or "class"; see `running_discriminant`.
  """

  def __init__(self, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None, shrinkage: float = 1e-4,
               weights: str = "steps", batch_size: int = 256):
    running_discriminant.check(shrinkage, weights)
    super().__init__(
        lambda num_classes, num_features: running_discriminant.RunningDiscriminant(
            num_classes, num_features, shrinkage=shrinkage, weights=weights),
        method="SLDA", transform=transform, features=features, batch_size=batch_size)

  @property
  def discriminant(self) -> running_discriminant.RunningDiscriminant:
    """The statistics of the task that began last."""
    return self.statistics
