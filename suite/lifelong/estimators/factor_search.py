# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The default estimator as a method of the lifelong benchmark; see `factor_model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

import numpy as np
import tensorflow as tf

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import random_sample
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib
from suite.lifelong.estimators import factor_model


class FactorSearch(tf.Module):
  """Estimator by factors. It has no weights: its data are in the cache."""

  def __init__(self, num_factors: Sequence[int] = factor_model.NUM_FACTORS, seed: int = 0,
               target_width: float | None = None, adaptive: float = 0.0):
    """Args:
      num_factors: numbers of factors to average over.
      seed: of the questions.
      target_width: stop asking when the 95% interval of the accuracy is no wider.
      adaptive: share of the budget that is spent on the samples that tell most about the model.
    """
    super().__init__()
    self.seed = seed
    self._num_factors, self._target_width = tuple(num_factors), target_width
    self._adaptive = adaptive
    self._last = estimator_lib.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int,
      groups: Sequence[np.ndarray] = (),
  ) -> estimator_lib.Estimate:
    """See `estimator_lib.Estimator`; `groups` (class, domain, ...) are int [N] each."""
    def prepare() -> tuple[rank_order.RankOrder, factor_model.FactorModel]:
      counts = ranking.checked_counts(known)
      return rank_order.RankOrder(counts), factor_model.build(
          counts, lambda samples: known[:, samples], groups=groups, num_factors=self._num_factors)

    order, model = self._last.get((known, *groups), prepare)
    first = max(1, round(budget * (1.0 - self._adaptive)))
    asked = answer_sampling.ask_nested(order.samples_at, model.num_samples, ask, first,
                                       seed=self.seed, target_width=self._target_width)
    by_rank = np.argsort(asked.ranks)
    sample = random_sample.in_order(len(by_rank), model.num_samples, asked.samples[by_rank],
                                    by_rank)
    samples, answers = asked.samples, asked.answers
    if self._adaptive:
      samples, answers = factor_model.ask_informative(model, ask, samples, answers, budget)
    return model.fit(samples, answers, sample).estimate()
