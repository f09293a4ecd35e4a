# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The labeled samples of a sequence so far, for offline phases (FLUID)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Stored(NamedTuple):
  """N samples in the order in which their labels came; none is ever dropped.

  Attributes:
    codes: [N, ...], the output of the learner's `encode`: cached features, or images.
    labels: int64 [N].
    known: bool [C], base classes and those of the labels.
    num_old: the first `num_old` samples were in the previous offline phase, too; 0 at first.
  """

  codes: np.ndarray
  labels: np.ndarray
  known: np.ndarray
  num_old: int
