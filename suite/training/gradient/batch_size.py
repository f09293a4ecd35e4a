# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The batch size that fits a training set (NEVIS'22, equation 4)."""

from __future__ import annotations

import math

FRACTION = 0.0025  # p of section 5.3.
LARGEST = 512  # B of the default baseline (figure 9, and the reference code).
SMALLEST = 16


def adaptive(num_examples: int, *, fraction: float = FRACTION, smallest: int = SMALLEST,
             largest: int = LARGEST) -> int:
  """Returns b = min(B, max(16, 2^floor(log2(p D)))).

  Args:
    num_examples: D, the size of the training set.
    fraction: p.
    smallest: 16 in the paper.
    largest: B.
  """
  if num_examples < 1:
    raise ValueError(f"num_examples is {num_examples}; a training set has at least one example.")
  exponent = int(math.log2(fraction * num_examples))
  return min(largest, max(smallest, int(2.0 ** exponent)))
