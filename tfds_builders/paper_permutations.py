# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The split of the NEVIS'22 reference for the training images of two counting data sets.

Like those of `paper_draws.py` it depends on positions; unlike them, its parts have exact sizes.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Permuted:
  """A permutation by `default_rng(seed)`, cut at fractions of its length, rounded down."""

  cuts: tuple[tuple[str, float], ...]
  seed: int = 1

  def assign(self, num_examples: int) -> list[str]:
    """Returns the part of each example, in the order of enumeration."""
    import numpy as np  # pylint: disable=g-import-not-at-top
    order = np.random.default_rng(self.seed).permutation(num_examples)
    parts = [""] * num_examples
    start = 0
    for name, until in self.cuts:
      end = int(until * num_examples)
      for index in order[start:end]:
        parts[index] = name
      start = end
    return parts

  @property
  def parts(self) -> tuple[str, ...]:
    return tuple(name for name, _ in self.cuts)


# The sum is the reference's: with it, 0.7 of 700 is 489.
TRAIN_ONLY = Permuted((("train", 1 - 0.15 - 0.15), ("dev", 1 - 0.15), ("dev_test", 1.0)))
