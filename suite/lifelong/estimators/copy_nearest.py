# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CopyNearest&Expand, a baseline of Sort & Search (Prabhu et al., 2024, section 4).

The new model is predicted to answer like the known model that agrees with it on most of the samples
asked; its observed answers are kept. It benefits more from many known models than a single order.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
import tensorflow as tf

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib


class CopyNearest(tf.Module):
  """Estimator that copies the nearest known model. It has no weights."""

  def __init__(self, seed: int = 0):
    super().__init__()
    self.seed, self._last = seed, estimator_lib.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator_lib.Estimate:
    """See `estimator_lib.Estimator`; of equally near models the first is copied."""
    order = self._last.get((known,), lambda: ranking.order_by_count(ranking.checked_counts(known)))
    asked = answer_sampling.ask_nested(lambda ranks: order[ranks], len(order), ask, budget,
                                       seed=self.seed)
    differing = np.count_nonzero(known[:, asked.samples] != asked.answers, axis=1)
    nearest = int(np.argmin(differing))
    # The probability that its answer is that of the new model, below 1.
    alike = (budget - differing[nearest] + 1.0) / (budget + 2.0)

    def probabilities(samples: np.ndarray) -> np.ndarray:
      return asked.keep(samples, np.where(known[nearest, samples] == 1, alike, 1.0 - alike))

    answers = asked.keep(np.arange(len(order)), known[nearest]).astype(np.uint8)
    accuracy = intervals.accuracy(asked.by_rank()[1], len(order))
    return estimator_lib.make_estimate(answers, asked, accuracy, probabilities)
