# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which of a model's answers are a random sample, of which samples, and the weight of each.

The N samples of a cache are divided into parts that were asked at different rates: those that were
there when the model was asked, those that were added later. An answer from a part of N_h samples,
m_h of which were asked at random, has the weight N_h / m_h. Within a part, every sample was equally
likely to be asked, however many question sets contributed. Questions that the model was asked and
did not answer, and parts that it was not asked, may be all right or all wrong: the interval is
widened by that.

Questions are drawn one by one, so clusters of samples, such as passages, change nothing about the
mean over the N samples. Answers that a user calls random may be to whole clusters: how often two of
one cluster were drawn together tells (`of_all`).
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class RandomSample:
  """m answers that were asked at random.

  Attributes:
    members: int64 [m], their indices among all answers of the model. Neighbors of one run are
      neighbors in the order of difficulty by which they were drawn.
    samples: int64 [m], the samples.
    runs: int64 [m], number of the run of each: runs were drawn independently.
    parts: int64 [m], number of the part of each, ascending.
    sizes: int64 [H], number of samples of each part; each has an answer.
    missing: float64 [H], share of the questions of each part that were not answered.
    num_samples: N.
    clusters: int64 [m], the cluster of each answer, where clusters may have been drawn.
    together: 0, samples of a cluster were drawn one by one, to 1, all together.
  """

  members: np.ndarray
  samples: np.ndarray
  runs: np.ndarray
  parts: np.ndarray
  sizes: np.ndarray
  missing: np.ndarray
  num_samples: int
  clusters: np.ndarray | None = None
  together: float = 0.0

  @property
  def _asked(self) -> np.ndarray:
    return np.bincount(self.parts, minlength=len(self.sizes))

  @property
  def unknown(self) -> float:
    """Share of the N samples about which the answers say nothing."""
    covered = float(self.sizes.sum()) / self.num_samples
    share = self.sizes / self.sizes.sum()
    return 1.0 - covered * (1.0 - float(share @ self.missing))

  def mean(self, values: np.ndarray) -> float:
    """Weighted mean of values [m]."""
    sums = np.bincount(self.parts, np.asarray(values, np.float64), len(self.sizes))
    return float(np.sum(self.sizes * (sums / self._asked)) / self.sizes.sum())

  def weights(self) -> np.ndarray:
    """Weight of each answer in the mean: [m], of sum 1."""
    return (self.sizes / self._asked)[self.parts] / self.sizes.sum()

  def effective(self, effect: float) -> float:
    """Equivalent number of random draws with replacement; infinite if all were observed.

    The variance of the weighted mean is effect * sum of W_h^2 (1 - m_h / N_h) / m_h times that of
    one answer, W_h being the share of part h.
    """
    asked, share = self._asked, self.sizes / self.sizes.sum()
    factor = effect * float(np.sum(share**2 * (1.0 - asked / self.sizes) / asked))
    return 1.0 / factor if factor > 0 else float("inf")

  def draws(self) -> float:
    """Equivalent number of draws of samples like these, of which there is no end."""
    share = self.sizes / self.sizes.sum()
    return 1.0 / float(np.sum(share**2 / self._asked))

  def widened(self, low: float, high: float) -> tuple[float, float]:
    """Bounds of the mean over N samples, from bounds over those that the answers are about."""
    return (1.0 - self.unknown) * low, (1.0 - self.unknown) * high + self.unknown

  def only(self, keep: np.ndarray) -> RandomSample:
    """The part of this sample where `keep` bool [m] is True; its `members` refer to all."""
    parts, numbers = np.unique(self.parts[keep], return_inverse=True)
    return RandomSample(self.members[keep], self.samples[keep], self.runs[keep], numbers,
                        self.sizes[parts], self.missing[parts], self.num_samples,
                        None if self.clusters is None else self.clusters[keep], self.together)

  def within(self, places: np.ndarray, num_samples: int) -> RandomSample:
    """The answers at `places` [n] as a random sample of a task of `num_samples` samples."""
    return dataclasses.replace(in_order(len(places), num_samples), clusters=None if (
        self.clusters is None) else self.clusters[places], together=self.together)


def in_order(num: int, num_samples: int, samples: np.ndarray | None = None,
             members: np.ndarray | None = None) -> RandomSample:
  """m answers that were drawn by one order of all N samples, in that order."""
  every, none = np.arange(num), np.zeros(num, np.int64)
  return RandomSample(every if members is None else members, every if samples is None else samples,
                      none, none, np.array([num_samples]), np.zeros(1), num_samples)


def of_all(samples: np.ndarray, num_samples: int, clusters: np.ndarray | None = None
           ) -> RandomSample:
  """Answers to samples [m] that are a random choice of all N, or of their `clusters`, in no order.

  Both of two samples of one cluster are asked with a chance q, the share of such pairs that was
  asked, and two of different clusters with a chance p. The covariance of two answers of one cluster
  counts by (1 - p / q) / (1 - m / N), the denominator being what `effective` has of it: 0 where
  samples were drawn one by one, 1 where clusters were.
  """
  num, together = len(samples), 0.0
  if clusters is not None and 1 < num < num_samples:
    here, every = (float(np.sum(sizes * (sizes - 1.0))) for sizes in (
        np.unique(some, return_counts=True)[1] for some in (clusters[samples], clusters)))
    if here:
      apart = num * (num - 1.0) / (num_samples * (num_samples - 1.0))
      together = float(np.clip((1.0 - apart * every / here) / (1.0 - num / num_samples), 0.0, 1.0))
  return RandomSample(np.arange(num), np.asarray(samples), np.arange(num), np.zeros(num, np.int64),
                      np.array([num_samples]), np.zeros(1), num_samples,
                      None if clusters is None else clusters[samples], together)
