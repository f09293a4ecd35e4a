# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Anchor points (Vivek et al., 2024; tinyBenchmarks): evaluation of one sample of each cluster.

Samples are clustered by the known models that solve them. A new model is evaluated on each
cluster's most central sample, its anchor, and the anchor's answer is assigned to the whole cluster;
the accuracy is the mean of the anchors' answers, weighted by cluster size.

Anchors of different budgets are not nested, and clustering costs samples x models x anchors in each
round, at most `LIMIT`. Anchors are not a random sample, so there is no interval.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn import cluster
import tensorflow as tf

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator

LIMIT = 1e10
_BLOCK = 1 << 14
_ROUNDS = 20


class AnchorSearch(tf.Module):
  """Estimator by anchor points. It has no weights."""

  def __init__(self, kind: str = "kmeans", seed: int = 0):
    """`kind`: "kmeans" moves centers to means, "kmedoids" to samples."""
    super().__init__()
    if kind not in ("kmeans", "kmedoids"):
      raise ValueError(f"Got kind={kind!r}; expected 'kmeans' or 'kmedoids'.")
    self._kind, self._seed, self._last = kind, seed, estimator.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> estimator.Estimate:
    """See `estimator.Estimator`; asks fewer than `budget` if fewer answer patterns exist."""
    kept: dict[int, tuple[np.ndarray, np.ndarray]] = self._last.get((known,), dict)
    if budget not in kept:  # Otherwise `known` is what it was at the last call.
      ranking.checked_counts(known)
      num_models, num_samples = known.shape
      ranking.sample_positions(num_samples, budget)  # Checks the budget.
      if float(num_models) * num_samples * budget > LIMIT:
        raise ValueError(
            f"{budget} anchors of {num_samples} samples x {num_models} models are more work than "
            f"the limit of {LIMIT:.0e} products; lower the budget, or use FactorSearch (no limit).")
      points = np.ascontiguousarray(known.T, dtype=np.float32)
      # Equal answer patterns are one point: there are no more clusters than patterns.
      num = min(budget, len(np.unique(np.packbits(known, axis=0), axis=1).T))
      if self._kind == "kmeans":
        found = cluster.KMeans(num, n_init=1, max_iter=_ROUNDS, random_state=self._seed).fit(points)
        owner, centers = found.labels_.astype(np.int64), found.cluster_centers_
      else:
        start = np.random.default_rng(self._seed).choice(num_samples, num, replace=False)
        owner, centers = _medoids(points, points[start])
      anchors = _most_central(points, owner, centers)
      used, owner = np.unique(owner, return_inverse=True)
      kept[budget] = anchors[used], owner
    anchors, owner = kept[budget]  # The anchors [K], and the index of each sample's anchor [N].
    answers = answer_sampling.checked_answers(ask(anchors), len(anchors))
    every = answers[owner]
    asked = answer_sampling.Asked(anchors, np.arange(len(anchors)), answers)
    return estimator.Estimate(
        every, int(every.sum(dtype=np.int64)), float(every.mean(dtype=np.float64)),
        observed=anchors, observed_answers=answers,
        probabilities=lambda samples: asked.keep(samples, every[samples].astype(np.float64)))


def _medoids(points: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Alternates between nearest medoids and medoids of clusters: (owners [N], centers [K, M]).

  The sample with the least total distance to its cluster is the one nearest to the mean, because
  for 0/1 answers the number of differences is the squared distance. So no N x N distances are
  needed.
  """
  owner = _nearest(points, centers)
  for _ in range(_ROUNDS):
    sizes = np.bincount(owner, minlength=len(centers))[:, None]
    sums = np.stack([np.bincount(owner, column, minlength=len(centers)) for column in points.T], 1)
    anchors = _most_central(
        points, owner, np.where(sizes > 0, sums / np.maximum(sizes, 1), centers))
    centers = np.where((anchors >= 0)[:, None], points[np.maximum(anchors, 0)], centers)
    before, owner = owner, _nearest(points, centers)
    if np.array_equal(owner, before):
      break
  return owner, centers


def _nearest(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
  """Nearest center of each point: int64 [N]; ties give the first."""
  norms = (centers ** 2).sum(axis=1)
  return np.concatenate([np.argmin(norms - 2.0 * points[i:i + _BLOCK] @ centers.T, axis=1)
                         for i in range(0, len(points), _BLOCK)])


def _most_central(points: np.ndarray, owner: np.ndarray, centers: np.ndarray) -> np.ndarray:
  """Point nearest to the center of each cluster; ties give the first, no points -1."""
  distance = ((points - centers[owner]) ** 2).sum(axis=1)
  order = np.lexsort((np.arange(len(points)), distance, owner))
  found = np.full(len(centers), -1, np.int64)
  clusters, first = np.unique(owner[order], return_index=True)
  found[clusters] = order[first]
  return found
