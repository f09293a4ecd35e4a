# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The order of samples from easy to hard, without an array of it.

Samples are ordered by descending count (of models that solve them), ties by position. M models give
M + 1 counts, so a histogram of every run of positions is all that is needed to find the sample at a
rank, the rank of a sample, or what a cut predicts: 4 bytes x M a run of 65,536 samples instead of
8 bytes a sample.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

RUN = 1 << 16


class RankOrder:
  """Ranks 0..N-1 of N samples, 0 the easiest.

  Attributes:
    counts: unsigned [N], by sample.
    size: N.
  """

  def __init__(self, counts: np.ndarray):
    """`counts`: uint8 or uint16 [N]; kept, not copied."""
    if counts.dtype not in (np.uint8, np.uint16) or counts.ndim != 1 or not counts.size:
      raise ValueError(f"Got counts {counts.dtype} {list(counts.shape)}; expected uint8 or uint16 "
                       "[N], one sample at least.")
    self.counts, self.size = counts, len(counts)
    num_buckets = int(counts.max()) + 1
    runs = range(0, self.size, RUN)
    histogram = np.stack([np.bincount(counts[s:s + RUN], minlength=num_buckets) for s in runs])
    totals = histogram.sum(axis=0)
    # Bucket b holds the samples of count b; the hardest (0) comes last.
    self._bucket_start = totals[::-1].cumsum()[::-1] - totals
    # Samples of each bucket that lie before each run: [runs + 1, buckets].
    self._before = np.zeros((len(histogram) + 1, num_buckets), np.int64)
    np.cumsum(histogram, axis=0, out=self._before[1:])

  def samples_at(self, ranks: np.ndarray) -> np.ndarray:
    """Which samples stand at int [n] ranks: int64 [n]."""
    ranks = np.asarray(ranks, np.int64)
    if ranks.size and not 0 <= ranks.min() <= ranks.max() < self.size:
      raise ValueError(f"Ranks run from 0 to {self.size - 1}; got {ranks.min()} to {ranks.max()}.")
    buckets, places = self._in_bucket(ranks)
    found = np.empty(len(ranks), np.int64)
    for bucket in np.unique(buckets):
      chosen = np.flatnonzero(buckets == bucket)
      before = self._before[:, bucket]
      runs = np.searchsorted(before, places[chosen], side="right") - 1
      for run in np.unique(runs):  # One look at each run that has a wanted sample.
        here = chosen[runs == run]
        inside = np.flatnonzero(self.counts[run * RUN:(run + 1) * RUN] == bucket)
        found[here] = run * RUN + inside[places[here] - before[run]]
    return found

  def ranks_of(self, samples: np.ndarray) -> np.ndarray:
    """The ranks of int [n] samples: int64 [n]."""
    samples = np.asarray(samples, np.int64)
    ranks = np.empty(len(samples), np.int64)
    for index, sample in enumerate(samples):
      run, bucket = sample // RUN, self.counts[sample]
      inside = np.count_nonzero(self.counts[run * RUN:sample] == bucket)
      ranks[index] = self._bucket_start[bucket] + self._before[run, bucket] + inside
    return ranks

  def predicted(self, cut: int, first: int = 0, num: int | None = None) -> np.ndarray:
    """What a cut predicts of samples first ... first + num - 1: 1 for the `cut` easiest of all.

    Only what is asked for is made: bool [num].
    """
    if not 0 <= cut <= self.size:
      raise ValueError(f"Got cut={cut} for {self.size} samples; expected 0 <= cut <= {self.size}.")
    last = self.size if num is None else first + num
    counts = self.counts[first:last]
    if cut == self.size:
      return np.ones(len(counts), bool)
    buckets, places = self._in_bucket(np.array([cut]))
    bucket, place = int(buckets[0]), int(places[0])
    solved = counts > bucket
    if place:  # The first `place` samples of this bucket are solved, too.
      end = int(self.samples_at(np.array([cut]))[0])  # The first that is not.
      solved[:max(0, end - first)] |= counts[:max(0, end - first)] == bucket
    return solved

  def _in_bucket(self, ranks: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """(bucket, place in the bucket) of ranks: buckets begin at falling ranks."""
    starts = self._bucket_start[::-1]
    index = np.searchsorted(starts, ranks, side="right") - 1
    buckets = len(starts) - 1 - index
    # An empty bucket begins where the next harder one does; of equal starts the last one is found.
    return buckets, ranks - self._bucket_start[buckets]
