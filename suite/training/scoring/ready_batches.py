# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prepared batches of a set that many models pass over: decoded and transformed once."""

from __future__ import annotations

import math
from typing import Any, Iterator

import tensorflow as tf

MAX_BYTES = 2**30  # The 15,000 images of a kNN comparison at 64 x 64 pixels take 0.7 GiB.


class ReadyBatches:
  """The batches of a data set, kept in memory from the end of the first whole pass on.

  Args:
    batches: a data set of batches with "image"; every pass over it gives the same ones.
    size: N, the examples of all batches.
    max_bytes: a set whose prepared images take more is prepared in each pass.
  """

  def __init__(self, batches: tf.data.Dataset, size: int, max_bytes: int = MAX_BYTES):
    self.element_spec: Any = batches.element_spec
    image = self.element_spec["image"]
    self._batches, self._kept = batches, list[Any]()
    self._is_whole = False
    self._fits = size * math.prod(image.shape[1:]) * image.dtype.size <= max_bytes

  def __iter__(self) -> Iterator[Any]:
    if self._is_whole:
      yield from self._kept
      return
    self._kept = []  # Of a pass that stopped.
    for batch in self._batches:
      if self._fits:
        self._kept.append(batch)
      yield batch
    self._is_whole = self._fits
