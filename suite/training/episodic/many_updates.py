# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Many meta-updates, several in a call of a compiled function."""

from __future__ import annotations

import time
from typing import Any, Callable

import numpy as np
import tensorflow as tf

_SECONDS = 1.0  # Python answers signals, such as Ctrl-C, only between two calls.


class ManyUpdates:
  """Updates by the batches of an iterator, as many in a call as take about a second.

  Args:
    updates: `episode_graphs.Graphs.updates`.
    batches: the iterator.
  """

  def __init__(self, updates: Callable[[Any, tf.Tensor], tf.Tensor], batches: Any):
    self._updates, self._batches, self._at_once = updates, batches, 1

  def take(self, number: int) -> np.ndarray:
    """Does N updates; returns their losses, [N]."""
    losses: list[np.ndarray] = []
    done = 0
    while done < number:
      now = min(self._at_once, number - done)
      began = time.monotonic()
      losses.append(self._updates(self._batches, tf.constant(now)).numpy())
      self._at_once = max(1, int(_SECONDS * now / max(time.monotonic() - began, 1e-6)))
      done += now
    return np.concatenate(losses)
