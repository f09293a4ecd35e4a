# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The name of nearest class mean in scripts that were written for suite 0.1."""

from __future__ import annotations

import warnings

from suite.contracts import examples
from suite.learners import statistics_learner
from suite.training.gradient import frozen_backbone
from suite.training.statistics import class_means


def NearestMean(
    *, transform: examples.Transform, features: frozen_backbone.FeatureFn | None = None,
    similarity: str = "euclidean", normalize: bool = False, batch_size: int = 256
) -> statistics_learner.StatisticsLearner:
  """A `StatisticsLearner` with `ClassMeans`, by its earlier name; a warning says the new one."""
  warnings.warn(
      "suite.learners.nearest_mean.NearestMean(...) is now "
      "statistics_learner.StatisticsLearner(class_means.ClassMeans(similarity), ...); the old name "
      "goes in version 0.3.", DeprecationWarning, stacklevel=2)
  return statistics_learner.StatisticsLearner(
      class_means.ClassMeans(similarity, normalize), transform=transform, features=features,
      batch_size=batch_size)
