# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ranks to ask, in an order that serves every budget: budget m asks exactly the first m.

Answers asked under a small budget are so used again under a larger one. Ranks follow the van der
Corput sequence, scrambled: the first 2^k points lie one in each of 2^k equal strata, uniformly in
its stratum and apart from the others (Owen, 1995). Every point is uniform on its own, so that a
mean over any prefix is unbiased, and neighbouring pairs tell its variance (`metrics.intervals`).
"""

from __future__ import annotations

import numpy as np

_BITS = 32


def nested_ranks(num_samples: int, budget: int, seed: int = 0) -> np.ndarray:
  """The first m of a sequence of all ranks 0..n-1, each once: int64 [m].

  Args:
    num_samples: n < 2^32.
    budget: m.
    seed: another one gives another sequence.
  """
  n, m = int(num_samples), int(budget)
  if not 1 <= m <= n or n >= 1 << _BITS:
    raise ValueError(f"Got a budget of {m} for {n} samples; expected 1 <= budget <= {n} < 2^32.")
  length = 1 << max(0, (m - 1).bit_length())
  while True:
    points = _points(length, seed)
    ranks = (points.astype(np.uint64) * np.uint64(n) >> np.uint64(_BITS)).astype(np.int64)
    # Strata narrower than a rank fall on it more than once: the first counts. Of 2n points or more
    # every rank holds a whole stratum, so this ends.
    first = np.sort(np.unique(ranks, return_index=True)[1])
    if len(first) >= m:
      return ranks[first[:m]]
    length *= 2


def _points(num: int, seed: int) -> np.ndarray:
  """uint32 [num]: points of [0, 1) in units of 2^-32."""
  return _reversed_bits(_scrambled(np.arange(num, dtype=np.uint32), seed))


def _scrambled(values: np.ndarray, seed: int) -> np.ndarray:
  """A random bijection in which bit b of the result depends on bits 0..b only (Laine and Karras).

  Multiplying by an even number moves bits upwards only. Seen with its bits reversed it permutes
  halves, then the halves of each half, and so on: Owen's scrambling.
  """
  key = np.random.SeedSequence(seed).generate_state(2, np.uint32)
  values = values ^ values * np.uint32(0x3d20adea)
  values = (values + key[0]) * (key[1] | np.uint32(1))
  values = values ^ values * np.uint32(0x05526c56)
  values = values ^ values * np.uint32(0x53a22864)
  return values


def _reversed_bits(values: np.ndarray) -> np.ndarray:
  for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0f0f0f0f), (8, 0x00ff00ff)):
    low = np.uint32(mask)
    values = (values >> np.uint32(shift) & low) | (values & low) << np.uint32(shift)
  return values >> np.uint32(16) | values << np.uint32(16)
