# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Codes of a sequence's samples, made in batches and kept: what no update changes (FLUID)."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import tensorflow as tf


class StreamCodes:
  """What a learner's `encode` makes of each sample of a sequence.

  Samples are encoded in batches of one size that begin at its multiples, the last one padded: a
  code depends on its position alone, not on where a run was stopped. No label is looked at, so it
  makes no difference to any answer that codes are there before their samples' turn.

  Args:
    learner: a `StreamLearner` that has learned the base classes.
    sequence: of n samples.
    batch_size: samples encoded at once.
  """

  def __init__(self, learner: Any, sequence: Any, batch_size: int = 64):
    self._learner, self._sequence = learner, sequence
    self._batch_size = min(batch_size, len(sequence))
    self._encode = tf.function(learner.encode)
    self._codes: Optional[np.ndarray] = None
    self._num = 0

  def images(self, start: int, stop: int) -> tf.Tensor:
    """Samples start..stop-1 as the learner wants them."""
    return self._learner.transform.evaluate(self._sequence.images(start, stop))

  def __getitem__(self, part: slice) -> np.ndarray:
    """Codes [B, ...] of samples start..stop-1; read-only views while no more are asked for."""
    while self._num < part.stop:
      self._encode_next()
    assert self._codes is not None
    return self._codes[part]

  def _encode_next(self) -> None:
    start = self._num
    stop = min(start + self._batch_size, len(self._sequence))
    images = self.images(start, stop)
    missing = self._batch_size - (stop - start)
    if missing:
      images = tf.concat([images, tf.repeat(images[-1:], missing, axis=0)], 0)
    codes = self._encode(images).numpy()
    if self._codes is None:
      self._codes = np.empty([len(self._sequence), *codes.shape[1:]], codes.dtype)
    self._codes[start:stop] = codes[:stop - start]
    self._num = stop
