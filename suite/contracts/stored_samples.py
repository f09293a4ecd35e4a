# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a sequence has shown so far, for offline phases (FLUID)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Stored(NamedTuple):
  """N samples in the order in which their labels came; nothing is ever dropped.

  Attributes:
    codes: [N, ...], what the learner's `encode` made of each: cached features, or images.
    labels: int64 [N].
    known: bool [C], base classes and those of the labels.
    num_old: samples that the offline phase before this one saw, too: the first ones. 0 at first.
  """

  codes: np.ndarray
  labels: np.ndarray
  known: np.ndarray
  num_old: int
