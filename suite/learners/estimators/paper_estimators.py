# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search with several orders: one of all known models, one of each group of similar models.

Groups are found by k-means on the known models' answers. A new model is asked at ranks of the first
order; each order fits a cut to these answers, and the order with the fewest wrong answers is used.
Ties give the first order.

Sort & Search (Prabhu et al., 2024, section 3).

Sort: order samples from easy to hard by the number of known models that solve them, or by the sum
of the probabilities of the true class, or recursively. Search: evaluate the new model at evenly
spaced ranks (or at random ones) and take the cut with the fewest wrong sampled answers; the model
is predicted to solve the samples that are easier than the cut.

CopyNearest&Expand, a baseline of Sort & Search (Prabhu et al., 2024, section 4.2).

The new model is predicted to answer like the known model that agrees with it on most of the samples
asked; its observed answers are kept. It benefits more from many known models than a single order.

Random samples and their mean: the baseline that uses no other models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sklearn import cluster
import tensorflow as tf

from suite.lifelong.answers import answer_factors
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.answers import known_answers
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator

_MOMENTS = 1 << 20  # Largest number of samples to compare models on; of more, evenly spaced ones.
_SORTS = ("sum", "recursive", "confidence")


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

  def __init__(self, sort: str = "sum", sampling: str = "uniform", seed: int = 0, passes: int = 1):
    """Args:
      sort: "sum", "recursive" or "confidence" (section 3.1.1); the last one needs known models with
        the probability of the true class (`known_answers.KnownAnswers`).
      sampling: "uniform", evenly spaced ranks, or "random", others for each model.
      seed: of random ranks.
      passes: of the recursive sort.
    """
    super().__init__()
    if sort not in _SORTS:
      raise ValueError(f"Got sort={sort!r}; expected one of {', '.join(_SORTS)}.")
    self._sort, self._passes, self._last = sort, passes, estimator.LastResult()
    self._sampling = _Sampling(sampling, ("uniform", "random"), seed)

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """Asks `budget` samples; the estimate is the paper's step, also at observed samples.

    The estimated accuracy is the mean of the observed answers, *not* cut / N, which is biased even
    when all answers are observed (at the cut the probability of a correct answer crosses 1/2).
    """
    order = self._last.get((known,), lambda: self._order(known))
    num_samples = len(order)
    observed = ask(order[self._sampling.ranks(num_samples, budget)])
    cut = ranking.extrapolate_cut(ranking.dp_threshold(observed), budget, num_samples)
    return estimator.Estimate(lambda: ranking.step_predictions(order, cut), cut,
                              float(np.mean(observed)), order=order)

  def _order(self, known: np.ndarray) -> np.ndarray:
    if self._sort == "recursive":
      return ranking.recursive_order(known, self._passes)
    if self._sort == "sum":
      return ranking.sum_order(known)
    if not isinstance(known, known_answers.KnownAnswers):
      raise ValueError("sort=\"confidence\" needs known models with the probability of the true "
                       "class, known_answers.pack(answers, confidences); got an array of answers.")
    return ranking.order_by_count(known.confidence_sums())


class _Sampling(tf.Module):
  """The ranks at which models are asked; random ones differ from call to call.

  Resuming a run repeats them, since the number of calls is a variable of the estimator.
  """

  def __init__(self, name: str, allowed: Sequence[str], seed: int):
    super().__init__()
    if name not in allowed:
      raise ValueError(f"Got sampling={name!r}; expected one of {', '.join(allowed)}.")
    self._name, self._seed = name, seed
    self.calls = tf.Variable(0, trainable=False, dtype=tf.int64) if name == "random" else None

  def ranks(self, num_samples: int, budget: int) -> np.ndarray:
    """Ranks int64 [budget] of `num_samples`, ascending."""
    ranks = ranking.sample_positions(num_samples, budget)  # Also checks the budget.
    if self.calls is None:
      return ranks
    rng = np.random.default_rng([self._seed, int(self.calls.assign_add(1))])
    return np.sort(rng.choice(num_samples, budget, replace=False, shuffle=False))


class CopyNearest(tf.Module):
  """Estimator that copies the nearest known model. It has no weights."""

  def __init__(self, seed: int = 0, sampling: str = "nested"):
    """Args:
      seed: of the ranks.
      sampling: "nested", ranks spread over the order of difficulty, the same for all models; or
        "random", others for each model, as in the paper, whose baseline does not sort.
    """
    super().__init__()
    self.seed, self._last = seed, estimator.LastResult()
    self._sampling = _Sampling(sampling, ("nested", "random"), seed)

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """See `estimator.Estimator`; of equally near models the first is copied."""
    order = self._last.get((known,), lambda: ranking.order_by_count(ranking.checked_counts(known)))
    if self._sampling.calls is None:
      asked = answer_sampling.ask_nested(lambda ranks: order[ranks], len(order), ask, budget,
                                         seed=self.seed)
    else:
      ranks = self._sampling.ranks(len(order), budget)
      answers = answer_sampling.checked_answers(ask(order[ranks]), budget)
      asked = answer_sampling.Asked(order[ranks], ranks, answers)
    differing = np.count_nonzero(known[:, asked.samples] != asked.answers, axis=1)
    nearest = int(np.argmin(differing))
    # The probability that its answer is that of the new model, below 1.
    alike = (budget - differing[nearest] + 1.0) / (budget + 2.0)

    def probabilities(samples: np.ndarray) -> np.ndarray:
      return asked.keep(samples, np.where(known[nearest][samples] == 1, alike, 1.0 - alike))

    answers = np.array(known[nearest], np.uint8)
    answers[asked.samples] = asked.answers
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
