# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search with sum sort (Prabhu et al., 2024, section 3).

Sort: order samples from easy to hard by the number of known models that solve them. Search:
evaluate the new model at evenly spaced ranks and take the cut with the fewest wrong sampled
answers; the model is predicted to solve the samples that are easier than the cut.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
import tensorflow as tf

from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib


class SumSearch(tf.Module):
  """Estimator with one order of the samples and one cut per model. It has no weights."""

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator_lib.Estimate:
    """Asks `budget` samples; the estimate is the paper's step, also at observed samples.

    The estimated accuracy is the mean of the observed answers, *not* cut / N, which is biased even
    when all answers are observed (at the cut the probability of a correct answer crosses 1/2).
    """
    num_samples = known.shape[1]
    order = ranking.sum_order(known)
    observed = ask(order[ranking.sample_positions(num_samples, budget)])
    cut = ranking.extrapolate_cut(ranking.dp_threshold(observed), budget, num_samples)
    answers = ranking.step_predictions(order, cut)
    return estimator_lib.Estimate(answers, cut, float(np.mean(observed)))
