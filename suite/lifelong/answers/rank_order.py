# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The order of samples from easy to hard, represented by histograms instead of an array.

Samples are ordered by descending count (of models that solve them), ties by position. M models give
M + 1 counts, so a histogram of each run of positions suffices to find the sample at a rank or the
predictions of a cut: 8 bytes x (M + 1) for a run of 16,384 samples (or of 64 M, if that is more)
instead of 8 bytes for each sample.

Ranks to ask, nested over budgets: budget m asks exactly the first m.

Answers asked under a small budget are reused under a larger one. Ranks follow the scrambled van der
Corput sequence: the first 2^k points lie one in each of 2^k equal strata, uniformly distributed
within each (Owen, 1995). Every point is uniformly distributed, so the mean over any prefix is
unbiased, and neighboring pairs estimate its variance (`answers.intervals`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

RUN = 1 << 14  # Scanning one run takes a few microseconds.
PER_BUCKET = 64  # Least number of positions of a run per bucket: an eighth of a byte per sample.
_BITS = 32


class CutEdge(NamedTuple):
  """Position of a cut: counts above `bucket` are solved, equal ones at positions < `position`.

  It gives the prediction of the cut for any sample without its rank.
  """

  bucket: int
  position: int


class RankOrder:
  """Ranks 0..N-1 of N samples, 0 the easiest.

  Attributes:
    counts: unsigned [N], by sample.
    size: N.
  """

  def __init__(self, counts: np.ndarray):
    """`counts`: uint8 or uint16 [N]; referenced, not copied."""
    _check(counts)
    num_buckets = int(counts.max()) + 1
    run = RUN
    while run < PER_BUCKET * num_buckets:
      run *= 2
    self._index(counts, run, np.zeros([0, num_buckets], np.int64))

  def grown(self, counts: np.ndarray) -> RankOrder:
    """Returns the order after samples were appended; full runs are not scanned again.

    Args:
      counts: [N + new]; the first N are those of this order.
    """
    _check(counts)
    if len(counts) < self.size:
      raise ValueError(f"Got {len(counts)} counts for an order of {self.size} samples that grew.")
    full = self.size // self._run
    known = np.diff(self._before[:, :full + 1]).T
    highest = int(counts[full * self._run:].max(initial=0)) + 1
    if highest > known.shape[1]:
      known = np.pad(known, [(0, 0), (0, highest - known.shape[1])])
    order = RankOrder.__new__(RankOrder)
    order._index(counts, self._run, known)  # pylint: disable=protected-access
    return order

  def samples_at(self, ranks: np.ndarray) -> np.ndarray:
    """Samples at int [n] ranks: int64 [n]."""
    ranks = np.asarray(ranks, np.int64)
    if ranks.size and not 0 <= ranks.min() <= ranks.max() < self.size:
      raise ValueError(f"Ranks run from 0 to {self.size - 1}; got {ranks.min()} to {ranks.max()}.")
    # (bucket, place in the bucket) of ranks [n].
    # An empty bucket starts where the next harder one does; of equal starts the last one is found.
    index = np.searchsorted(self._starts, ranks, side="right") - 1
    buckets, places = len(self._starts) - 1 - index, ranks - self._starts[index]
    found = np.empty(len(ranks), np.int64)
    by_bucket = np.argsort(buckets, kind="stable")
    starts = np.flatnonzero(np.diff(buckets[by_bucket], prepend=-1))
    for chosen in np.split(by_bucket, starts[1:]) if len(ranks) else ():
      bucket = int(buckets[chosen[0]])
      before = self._before[bucket]
      runs = np.searchsorted(before, places[chosen], side="right") - 1
      for run in np.unique(runs).tolist():  # Scans each run that has a wanted sample once.
        here = chosen[runs == run]
        begin = run * self._run
        inside = np.flatnonzero(self.counts[begin:begin + self._run] == bucket)
        found[here] = begin + inside[places[here] - before[run]]
    return found

  def edge(self, cut: int) -> CutEdge:
    """Edge behind the `cut` easiest samples; scans one run."""
    if not 0 <= cut <= self.size:
      raise ValueError(f"Got cut={cut} for {self.size} samples; expected 0 <= cut <= {self.size}.")
    if cut == self.size:
      return CutEdge(0, self.size)
    index = int(self._starts.searchsorted(cut, side="right")) - 1
    bucket, place = len(self._starts) - 1 - index, int(cut - self._starts[index])
    if not place:
      return CutEdge(bucket, 0)
    before = self._before[bucket]
    run = int(before.searchsorted(place, side="right")) - 1
    begin = run * self._run
    inside = np.flatnonzero(self.counts[begin:begin + self._run] == bucket)
    return CutEdge(bucket, begin + int(inside[place - before[run]]))  # The first unsolved sample.

  def is_solved(self, samples: np.ndarray, edge: CutEdge) -> np.ndarray:
    """Predictions of a cut for int [n] samples: bool [n]; costs n lookups."""
    counts = self.counts[samples]
    return (counts > edge.bucket) | ((counts == edge.bucket) & (samples < edge.position))

  def predicted(self, cut: int, first: int = 0, num: int | None = None) -> np.ndarray:
    """Predictions of a cut for samples first ... first + num - 1: bool [num].

    True for the `cut` easiest of all samples.
    """
    edge = self.edge(cut)
    counts = self.counts[first:self.size if num is None else first + num]
    solved = counts > edge.bucket
    end = max(0, edge.position - first)
    solved[:end] |= counts[:end] == edge.bucket
    return solved

  def _index(self, counts: np.ndarray, run: int, known: np.ndarray) -> None:
    """Takes the histograms of the first runs, [runs, buckets], and computes those of the others."""
    self.counts, self.size, self._run = counts, len(counts), run
    num_runs, num_buckets = -(-self.size // run), known.shape[1]
    # Samples of each bucket that lie before each run: [buckets, runs + 1].
    self._before = np.zeros((num_buckets, num_runs + 1), np.int64)
    self._before[:, 1:len(known) + 1] = known.T
    for index in range(len(known), num_runs):
      self._before[:, index + 1] = np.bincount(counts[index * run:(index + 1) * run],
                                               minlength=num_buckets)
    np.cumsum(self._before, axis=1, out=self._before)
    # First rank of each bucket, from the highest count down; the hardest (count 0) is last.
    totals = self._before[::-1, -1]
    self._starts = totals.cumsum() - totals


def _check(counts: np.ndarray) -> None:
  if counts.dtype not in (np.uint8, np.uint16) or counts.ndim != 1 or not counts.size:
    raise ValueError(f"Got counts {counts.dtype} {list(counts.shape)}; expected uint8 or uint16 "
                     "[N], one sample at least.")


def nested_ranks(num_samples: int, budget: int, seed: int = 0) -> np.ndarray:
  """Returns the first m of a sequence of all ranks 0..n-1, each once: int64 [m].

  Args:
    num_samples: n < 2^32.
    budget: m.
    seed: another one gives another sequence.
  """
  n, m = int(num_samples), int(budget)
  if not 1 <= m <= n or n >= 1 << _BITS:
    raise ValueError(f"Got a budget of {m} for {n} samples; expected 1 <= budget <= {n} < 2^32.")
  length = 1 << max(0, (m - 1).bit_length())
  key = np.random.SeedSequence(seed).generate_state(2, np.uint32)
  while True:
    # A random bijection in which bit b depends on bits 0..b only (Laine and Karras): multiplying by
    # an even number moves bits upwards only. With reversed bits this permutes halves, then the
    # halves of each half, and so on: Owen's scrambling.
    values = np.arange(length, dtype=np.uint32)
    values = values ^ values * np.uint32(0x3d20adea)
    values = (values + key[0]) * (key[1] | np.uint32(1))
    values = values ^ values * np.uint32(0x05526c56)
    values = values ^ values * np.uint32(0x53a22864)
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0f0f0f0f), (8, 0x00ff00ff)):
      low = np.uint32(mask)
      values = (values >> np.uint32(shift) & low) | (values & low) << np.uint32(shift)
    points = values >> np.uint32(16) | values << np.uint32(16)
    ranks = (points.astype(np.uint64) * np.uint64(n) >> np.uint64(_BITS)).astype(np.int64)
    # Several strata narrower than a rank fall on it: the first point counts. From 2n points on,
    # every rank contains a whole stratum, so the loop ends.
    first = np.sort(np.unique(ranks, return_index=True)[1])
    if len(first) >= m:
      return ranks[first[:m]]
    length *= 2
