# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search (Prabhu et al., 2024, section 3), sum sort: all answers of a model from a few.

Sort: samples from easy to hard, by how many known models solve them. Search: ask the new model at
evenly spaced ranks and take the cut with the fewest wrong sampled answers; the model is thought to
solve what is easier than the cut and to fail what is harder.
"""

from __future__ import annotations

from typing import Callable, NamedTuple

import numpy as np
import tensorflow as tf

from suite.metrics import ranking


class Estimate(NamedTuple):
  """What a method says of a model that it asked a few times. N samples.

  Attributes:
    answers: uint8 [N], the estimated answer to each sample.
    cut: how many of the easiest samples the model is thought to solve.
    accuracy: the estimated share of correct answers: the mean of the observed ones, *not* cut / N,
      which is biased even when all is observed (at the cut the chance to be correct crosses 1/2).
  """

  answers: np.ndarray
  cut: int
  accuracy: float


class SumSearch(tf.Module):
  """One order of the samples, one cut a model. It has no weights: what it knows is in the cache."""

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> Estimate:
    """Estimates all answers of one more model.

    Args:
      known: [M, N] answers of the models evaluated before, 1 for correct.
      ask: evaluates the new model: indices int64 [n] of samples to its answers [n].
      budget: n, how many answers to ask for.

    Returns:
      The paper's step prediction: where an answer was observed, too, the step is what counts.
    """
    num_samples = known.shape[1]
    order = ranking.sum_order(known)
    observed = ask(order[ranking.sample_positions(num_samples, budget)])
    cut = ranking.extrapolate_cut(ranking.dp_threshold(observed), budget, num_samples)
    return Estimate(ranking.step_predictions(order, cut), cut, float(np.mean(observed)))
