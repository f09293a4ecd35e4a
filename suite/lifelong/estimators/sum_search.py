# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search (Prabhu et al., 2024, section 3), sum sort: all answers of a model from a few.

Sort: samples from easy to hard, by how many known models solve them. Search: ask the new model at
evenly spaced ranks and take the cut with the fewest wrong sampled answers; the model is thought to
solve what is easier than the cut and to fail what is harder.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
import tensorflow as tf

from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib


class SumSearch(tf.Module):
  """One order of the samples, one cut a model. It has no weights: what it knows is in the cache."""

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator_lib.Estimate:
    """Asks for `budget` answers; the estimate is the paper's step, at observed samples too.

    The estimated accuracy is the mean of the observed answers, *not* cut / N, which is biased even
    when all is observed (at the cut the chance to be correct crosses 1/2).
    """
    num_samples = known.shape[1]
    order = ranking.sum_order(known)
    observed = ask(order[ranking.sample_positions(num_samples, budget)])
    cut = ranking.extrapolate_cut(ranking.dp_threshold(observed), budget, num_samples)
    answers = ranking.step_predictions(order, cut)
    return estimator_lib.Estimate(answers, cut, float(np.mean(observed)))
