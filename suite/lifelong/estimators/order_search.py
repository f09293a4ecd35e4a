# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search with several orders: one of all known models, one of each group of similar models.

Groups are found by k-means on the known models' answers. A new model is asked at ranks of the first
order; each order fits a cut to these answers, and the order with the fewest wrong answers is used.
Ties give the first order.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
from sklearn import cluster
import tensorflow as tf

from suite.lifelong.answers import answer_factors
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator as estimator_lib

_MOMENTS = 1 << 20  # Largest number of samples to compare models on; of more, evenly spaced ones.


class OrderSearch(tf.Module):
  """Estimator by several orders of 4 bytes per sample each. It has no weights."""

  def __init__(self, num_groups: int = 4, seed: int = 0):
    super().__init__()
    if num_groups < 0:
      raise ValueError(f"Got num_groups={num_groups}; expected 0 (one order only) or more.")
    self._num_groups, self.seed = num_groups, seed
    self._last = estimator_lib.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator_lib.Estimate:
    """See `estimator_lib.Estimator`. Probabilities are the share solved on each side of the cut."""
    orders, ranks = self._last.get((known,), lambda: self._prepare(known))
    num_samples = known.shape[1]
    asked = answer_sampling.ask_nested(lambda wanted: orders[0][wanted], num_samples, ask, budget,
                                       seed=self.seed)
    found = [_cut(rank[asked.samples], asked.answers, num_samples) for rank in ranks]
    chosen = int(np.argmin([wrong for wrong, _ in found]))  # Ties: the first.
    cut, rank = found[chosen][1], ranks[chosen]
    easy = rank[asked.samples] < cut
    solved, failed = _share(asked.answers[easy]), _share(asked.answers[~easy])

    def probabilities(samples: np.ndarray) -> np.ndarray:
      return asked.keep(samples, np.where(rank[samples] < cut, solved, failed))

    answers = asked.keep(np.arange(num_samples), rank < cut).astype(np.uint8)
    accuracy = intervals.accuracy(asked.by_rank()[1], num_samples)
    return estimator_lib.make_estimate(answers, asked, accuracy, probabilities)

  def _prepare(self, known: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Returns (samples by rank, ranks by sample) of each order, int32 or int64 [N]."""
    ranking.checked_counts(known)
    num_models, num_samples = known.shape
    stride = -(-num_samples // _MOMENTS)
    gram = answer_factors.build(lambda samples: known[:, samples],
                                np.arange(0, num_samples, stride), 1).gram
    num_groups = min(self._num_groups, num_models // 2)
    members = [np.arange(num_models)]
    if num_groups > 1:
      points = answer_factors.embedding(gram, num_models)
      groups = cluster.KMeans(num_groups, n_init=10, random_state=self.seed).fit(points).labels_
      members += [np.flatnonzero(groups == group) for group in range(num_groups)]
    width = np.int32 if num_samples < 1 << 31 else np.int64
    orders = [ranking.sum_order(known[rows]).astype(width) for rows in members]
    ranks = []
    for order in orders:
      rank = np.empty_like(order)
      rank[order] = np.arange(num_samples, dtype=width)
      ranks.append(rank)
    return orders, ranks


def _cut(ranks: np.ndarray, answers: np.ndarray, num_samples: int) -> tuple[int, int]:
  """Fits a cut to answers [m] at ranks [m] of an order: (number of wrong answers, cut)."""
  order = np.argsort(ranks)
  ranks, answers = ranks[order].astype(np.int64), answers[order]
  first = ranking.dp_threshold(answers)
  wrong = int(answers[first:].sum(dtype=np.int64) + (answers[:first] == 0).sum())
  if first in (0, len(ranks)):
    return wrong, num_samples if first else 0
  return wrong, int(ranks[first - 1] + ranks[first] + 1) // 2


def _share(answers: np.ndarray) -> float:
  """Laplace's estimate of a share, strictly between 0 and 1."""
  return (float(answers.sum(dtype=np.int64)) + 1.0) / (len(answers) + 2.0)
