# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Codes of the samples of a sequence, computed in batches and kept (FLUID)."""

from __future__ import annotations

import collections
from concurrent import futures
import os
import pathlib
from typing import Deque, Optional

import numpy as np
import tensorflow as tf

from suite.compute import graph_rewrites
from suite.contracts import learner as learner_lib
from suite.contracts import rehearsal
from suite.contracts import user_code
from suite.data.sequences import sequences
from suite.training.sequence import kept_codes

# Batches encoded side by side. A network on small images keeps no more than one core busy with one.
_AT_ONCE = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
AHEAD = 4 * _AT_ONCE  # Batches in progress at most: enough work while records are written.


class SequenceCodes:
  """The output of a learner's `encode` for each sample of a sequence.

  Samples are encoded in batches of one size that begin at its multiples, the last one padded: a
  code depends on its position alone, not on where a run was stopped, and not on which batches are
  encoded side by side. No label is used, so encoding ahead changes no answer.

  Codes of a frozen backbone are kept in the sequence's folder for codes, if it has one.

  Args:
    learner: it has learned the base classes.
    sequence: of n samples.
    batch_size: samples encoded at once.
  """

  def __init__(self, learner: learner_lib.SequenceLearner, sequence: sequences.Sequence,
               batch_size: int = 64):
    self._learner, self._sequence = learner, sequence
    self._batch_size = min(batch_size, len(sequence))
    self._encode = user_code.compiled(self._learner.encode)
    self._codes: Optional[np.ndarray] = None
    self._path: Optional[pathlib.Path] = None
    self._num = 0  # Samples that are encoded.
    self._next = 0  # The first sample of the next batch to be submitted.
    self._coming: Deque[futures.Future[np.ndarray]] = collections.deque()
    self._workers = futures.ThreadPoolExecutor(
        _AT_ONCE, "encode", initializer=graph_rewrites.without_temporary_variables)

  def images(self, start: int, stop: int) -> tf.Tensor:
    """Samples start..stop-1 as `encode` takes them: prepared, or as numbers."""
    found = self._sequence.images(start, stop)
    return tf.constant(found) if self._learner.see else self._learner.transform.evaluate(found)

  def __getitem__(self, part: slice) -> np.ndarray:
    """Codes [B, ...] of samples start..stop-1; read-only views while no more are asked for."""
    if self._codes is None:
      self._begin()
    while self._num < part.stop:
      self._receive()
    assert self._codes is not None
    return self._codes[part]

  def _begin(self) -> None:
    if rehearsal.current() is not None:
      self._rehearse()
      return
    self._path = kept_codes.path(self._learner, self._sequence, self._batch_size)
    kept = kept_codes.read(self._path, len(self._sequence))
    if kept is not None:
      self._codes, self._num = kept, len(kept)

  def _rehearse(self) -> None:
    """Encodes one batch, which stands for all."""
    size = len(self._sequence)
    self._codes = rehearsal.rows(
        self._learner, "codes", size, self._batch_size, lambda num: self._batch(0)[:num])
    self._num = size

  def _receive(self) -> None:
    """Waits for the next batch and submits others behind it."""
    if self._codes is None:  # In this thread, so that errors of the trace are raised here.
      codes = self._batch(0)
      self._codes = np.empty([len(self._sequence), *codes.shape[1:]], codes.dtype)
      self._next = self._batch_size
    else:
      codes = self._coming.popleft().result()
    self._send()
    stop = min(self._num + self._batch_size, len(self._sequence))
    self._codes[self._num:stop] = codes[:stop - self._num]
    self._num = stop
    if stop == len(self._sequence):
      kept_codes.write(self._path, self._codes)

  def _send(self) -> None:
    while self._next < len(self._sequence) and len(self._coming) < AHEAD:
      self._coming.append(self._workers.submit(self._batch, self._next))
      self._next += self._batch_size

  def _batch(self, start: int) -> np.ndarray:
    """Codes [batch_size, ...] from a sample on; rows after the last sample are padding."""
    stop = min(start + self._batch_size, len(self._sequence))
    images = self.images(start, stop)
    missing = self._batch_size - (stop - start)
    if missing:
      images = tf.concat([images, tf.repeat(images[-1:], missing, axis=0)], 0)
    return self._encode(images).numpy()
