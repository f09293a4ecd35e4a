# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ranks to ask, nested over budgets: budget m asks exactly the first m.

Answers asked under a small budget are reused under a larger one. Ranks follow the scrambled van der
Corput sequence: the first 2^k points lie one in each of 2^k equal strata, uniformly distributed
within each (Owen, 1995). Every point is uniformly distributed, so the mean over any prefix is
unbiased, and neighboring pairs estimate its variance (`answers.intervals`).
"""

from __future__ import annotations

import numpy as np

_BITS = 32


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
  while True:
    points = _points(length, seed)
    ranks = (points.astype(np.uint64) * np.uint64(n) >> np.uint64(_BITS)).astype(np.int64)
    # Several strata narrower than a rank fall on it: the first point counts. From 2n points on,
    # every rank contains a whole stratum, so the loop ends.
    first = np.sort(np.unique(ranks, return_index=True)[1])
    if len(first) >= m:
      return ranks[first[:m]]
    length *= 2


def _points(num: int, seed: int) -> np.ndarray:
  """The first points of the sequence in [0, 1), in units of 2^-32: uint32 [num]."""
  return _reversed_bits(_scrambled(np.arange(num, dtype=np.uint32), seed))


def _scrambled(values: np.ndarray, seed: int) -> np.ndarray:
  """Applies a random bijection in which bit b depends on bits 0..b only (Laine and Karras).

  Multiplying by an even number moves bits upwards only. With reversed bits this permutes halves,
  then the halves of each half, and so on: Owen's scrambling.
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
