# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search with several orders: one of all known models, one of each group of similar models.

Groups are found by k-means on the known models' answers. A new model is asked at ranks of the first
order; each order fits a cut to these answers, and the order with the fewest wrong answers is used.
Ties give the first order.

Sort & Search with sum sort (Prabhu et al., 2024, section 3).

Sort: order samples from easy to hard by the number of known models that solve them. Search:
evaluate the new model at evenly spaced ranks and take the cut with the fewest wrong sampled
answers; the model is predicted to solve the samples that are easier than the cut.

CopyNearest&Expand, a baseline of Sort & Search (Prabhu et al., 2024, section 4).

The new model is predicted to answer like the known model that agrees with it on most of the samples
asked; its observed answers are kept. It benefits more from many known models than a single order.

Random samples and their mean: the baseline that uses no other models.
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
from suite.lifelong.estimators import estimator

_MOMENTS = 1 << 20  # Largest number of samples to compare models on; of more, evenly spaced ones.


class OrderSearch(tf.Module):
  """Estimator by several orders of 4 bytes per sample each. It has no weights."""

  def __init__(self, num_groups: int = 4, seed: int = 0):
    super().__init__()
    if num_groups < 0:
      raise ValueError(f"Got num_groups={num_groups}; expected 0 (one order only) or more.")
    self._num_groups, self.seed = num_groups, seed
    self._last = estimator.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """See `estimator.Estimator`. Probabilities are the share solved on each side of the cut."""
    orders, ranks = self._last.get((known,), lambda: self._prepare(known))
    num_samples = known.shape[1]
    asked = answer_sampling.ask_nested(lambda wanted: orders[0][wanted], num_samples, ask, budget,
                                       seed=self.seed)
    found = []  # (number of wrong answers, cut) of each order.
    for rank in ranks:
      by_rank = np.argsort(rank[asked.samples])
      places = rank[asked.samples][by_rank].astype(np.int64)
      right = asked.answers[by_rank]
      first = ranking.dp_threshold(right)
      wrong = int(right[first:].sum(dtype=np.int64) + (right[:first] == 0).sum())
      if first in (0, len(places)):
        found.append((wrong, num_samples if first else 0))
      else:
        found.append((wrong, int(places[first - 1] + places[first] + 1) // 2))
    chosen = int(np.argmin([wrong for wrong, _ in found]))  # Ties: the first.
    cut, rank = found[chosen][1], ranks[chosen]
    easy = rank[asked.samples] < cut
    solved, failed = _share(asked.answers[easy]), _share(asked.answers[~easy])

    def probabilities(samples: np.ndarray) -> np.ndarray:
      return asked.keep(samples, np.where(rank[samples] < cut, solved, failed))

    answers = asked.keep(np.arange(num_samples), rank < cut).astype(np.uint8)
    accuracy = intervals.accuracy(asked.by_rank()[1], num_samples)
    return estimator.make_estimate(answers, asked, accuracy, probabilities)

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


def _share(answers: np.ndarray) -> float:
  """Laplace's estimate of a share, strictly between 0 and 1."""
  return (float(answers.sum(dtype=np.int64)) + 1.0) / (len(answers) + 2.0)


class SumSearch(tf.Module):
  """Estimator with one order of the samples and one cut per model. It has no weights."""

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """Asks `budget` samples; the estimate is the paper's step, also at observed samples.

    The estimated accuracy is the mean of the observed answers, *not* cut / N, which is biased even
    when all answers are observed (at the cut the probability of a correct answer crosses 1/2).
    """
    num_samples = known.shape[1]
    order = ranking.sum_order(known)
    observed = ask(order[ranking.sample_positions(num_samples, budget)])
    cut = ranking.extrapolate_cut(ranking.dp_threshold(observed), budget, num_samples)
    answers = ranking.step_predictions(order, cut)
    return estimator.Estimate(answers, cut, float(np.mean(observed)))


class CopyNearest(tf.Module):
  """Estimator that copies the nearest known model. It has no weights."""

  def __init__(self, seed: int = 0):
    super().__init__()
    self.seed, self._last = seed, estimator.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """See `estimator.Estimator`; of equally near models the first is copied."""
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
    return estimator.make_estimate(answers, asked, accuracy, probabilities)


class RandomMean(tf.Module):
  """Estimator with the mean of random answers for every sample. It has no weights."""

  def __init__(self, seed: int = 0):
    super().__init__()
    self.seed = seed

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """See `estimator.Estimator`; only the number of samples is taken from `known`."""
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
    return estimator.make_estimate(every, asked, accuracy, probabilities)
