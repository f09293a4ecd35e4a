# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cross-entropy on all rows, incoming and replayed: fine-tuning, and experience replay."""

from __future__ import annotations

import tensorflow as tf

from suite.training.objectives import losses
from suite.training.objectives import objective


class CrossEntropy(objective.Objective):
  """The mean cross-entropy over all rows.

  Args:
    smoothing: of labels; a number, tensor or variable. None: hard labels.
  """

  def __init__(self, smoothing: losses.Smoothing | None = None):
    super().__init__()
    self._smoothing = smoothing

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    return objective.cross_entropy(batch, self._smoothing)
