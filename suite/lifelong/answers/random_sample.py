# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which of a model's answers are a random sample, of which samples, and the weight of each.

The N samples of a cache are divided into parts that were asked at different rates: those that were
there when the model was asked, those that were added later. An answer from a part of N_h samples,
m_h of which were asked at random, has the weight N_h / m_h. Within a part, every sample was equally
likely to be asked, however many question sets contributed. Questions that the model was asked and
did not answer, and parts that it was not asked, may be all right or all wrong: the interval is
widened by that.
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
  """

  members: np.ndarray
  samples: np.ndarray
  runs: np.ndarray
  parts: np.ndarray
  sizes: np.ndarray
  missing: np.ndarray
  num_samples: int

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
                        self.sizes[parts], self.missing[parts], self.num_samples)


def in_order(num: int, num_samples: int, samples: np.ndarray | None = None,
             members: np.ndarray | None = None) -> RandomSample:
  """m answers that were drawn by one order of all N samples, in that order."""
  every, none = np.arange(num), np.zeros(num, np.int64)
  return RandomSample(every if members is None else members, every if samples is None else samples,
                      none, none, np.array([num_samples]), np.zeros(1), num_samples)


def of_all(samples: np.ndarray, num_samples: int) -> RandomSample:
  """Answers to samples [m] that are a random choice of all N, in no order."""
  num = len(samples)
  return RandomSample(np.arange(num), np.asarray(samples), np.arange(num), np.zeros(num, np.int64),
                      np.array([num_samples]), np.zeros(1), num_samples)
