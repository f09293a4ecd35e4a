# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The batch size that fits a training set (NEVIS'22, equation 4)."""

from __future__ import annotations

import math


def adaptive(num_examples: int, *, fraction: float = 0.0025, smallest: int = 16,
             largest: int = 512) -> int:
  """The power of two below fraction * N, kept within [smallest, largest].

  The exponent is cut towards zero; that only matters for N < 1 / fraction, where `smallest` wins
  anyway.
  """
  if num_examples < 1:
    raise ValueError(f"num_examples is {num_examples}; a training set has at least one example.")
  exponent = int(math.log2(fraction * num_examples))
  return min(largest, max(smallest, int(2.0 ** exponent)))
