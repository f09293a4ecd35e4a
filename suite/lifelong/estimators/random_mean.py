# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Random samples and their mean: the baseline that uses no other models."""

from __future__ import annotations

from typing import Callable

import numpy as np
import tensorflow as tf

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib


class RandomMean(tf.Module):
  """Estimator with the mean of random answers for every sample. It has no weights."""

  def __init__(self, seed: int = 0):
    super().__init__()
    self.seed = seed

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator_lib.Estimate:
    """See `estimator_lib.Estimator`; only the number of samples is taken from `known`."""
    num_samples = known.shape[1]
    ranking.sample_positions(num_samples, budget)  # Checks the budget.
    rng = np.random.default_rng(self.seed)
    samples = rng.permutation(num_samples)[:budget].astype(np.int64)  # Nested over budgets.
    answers = answer_sampling.checked_answers(ask(samples), budget)
    # There is no order: ranks are the order of asking, in which neighbors are unrelated.
    asked = answer_sampling.Asked(samples, np.arange(budget), answers)
    mean = float(answers.mean())
    effective = budget / (1.0 - budget / num_samples) if budget < num_samples else float("inf")
    accuracy = intervals.Interval(mean, *intervals.wilson(mean, effective))

    def probabilities(wanted: np.ndarray) -> np.ndarray:
      return asked.keep(wanted, np.full(len(wanted), mean))

    every = asked.keep(np.arange(num_samples), np.full(num_samples, mean > 0.5)).astype(np.uint8)
    return estimator_lib.make_estimate(every, asked, accuracy, probabilities)
