# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Codes of the samples of a sequence, computed in batches and kept (FLUID).

Codes of a sequence by a frozen backbone, kept on disk for all learners and runs that need them.

They are the same for each learner: a file belongs to the samples, the backbone with its weights,
the preparation of images, and the batches, on which the last digits may depend. What a run is
charged does not change: it counts as if each had encoded the samples itself.
"""

from __future__ import annotations

import collections
from concurrent import futures
import hashlib
import os
import pathlib

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.compute import user_code
from suite.contracts import learner as learner_lib
from suite.contracts import rehearsal
from suite.data.sequences import sequences
from suite.state import snapshots
from suite.training.gradient import frozen_backbone

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
    frozen = learner.frozen_features
    self._encode = (frozen if isinstance(frozen, frozen_backbone.FrozenBackbone)  # Encodes once.
                    else user_code.compiled(self._learner.encode))
    self._codes: np.ndarray | None = None
    self._path: pathlib.Path | None = None
    self._num = 0  # Samples that are encoded.
    self._next = 0  # The first sample of the next batch to be submitted.
    self._coming: collections.deque[futures.Future[np.ndarray]] = collections.deque()
    self._workers = futures.ThreadPoolExecutor(
        _AT_ONCE, "encode", initializer=private_tensorflow.without_temporary_variables)

  def images(self, start: int, stop: int) -> tf.Tensor:
    """Samples start..stop-1 as `encode` takes them: prepared, or as numbers."""
    found = self._sequence.images(start, stop)
    return tf.constant(found) if self._learner.see else self._learner.transform.evaluate(found)

  def __getitem__(self, part: slice) -> np.ndarray:
    """Codes [B, ...] of samples start..stop-1; read-only views while no more are asked for."""
    size = len(self._sequence)
    if self._codes is None and rehearsal.current() is not None:  # One batch stands for all.
      self._codes = rehearsal.rows(
          self._learner, "codes", size, self._batch_size, lambda num: self._batch(0)[:num],
          lambda: np.asarray(self._learner.encode(tf.convert_to_tensor(self.images(0, 1)))))
      self._num = size
    elif self._codes is None:
      self._path = path(self._learner, self._sequence, self._batch_size)
      kept = read(self._path, size)
      if kept is not None:
        self._codes, self._num = kept, len(kept)
    while self._num < part.stop:
      if self._codes is None:  # In this thread, so that errors of the trace are raised here.
        codes = self._batch(0)
        self._codes = np.empty([size, *codes.shape[1:]], codes.dtype)
        self._next = self._batch_size
      else:
        codes = self._coming.popleft().result()
      while self._next < size and len(self._coming) < AHEAD:
        self._coming.append(self._workers.submit(self._batch, self._next))
        self._next += self._batch_size
      stop = min(self._num + self._batch_size, size)
      self._codes[self._num:stop] = codes[:stop - self._num]
      self._num = stop
      if stop == size:
        write(self._path, self._codes)
    assert self._codes is not None
    return self._codes[part]

  def _batch(self, start: int) -> np.ndarray:
    """Codes [batch_size, ...] from a sample on; rows after the last sample are padding."""
    stop = min(start + self._batch_size, len(self._sequence))
    images = self.images(start, stop)
    missing = self._batch_size - (stop - start)
    if missing:
      images = tf.concat([images, tf.repeat(images[-1:], missing, axis=0)], 0)
    return self._encode(tf.convert_to_tensor(images)).numpy()


def path(learner: learner_lib.SequenceLearner, sequence: sequences.Sequence, batch_size: int
         ) -> pathlib.Path | None:
  """The file of the codes; None where they are not to be kept, or not of a frozen backbone."""
  frozen = learner.frozen_features
  if sequence.codes_folder is None or frozen is None:
    return None
  about = [frozen.digest, repr(learner.transform), str(batch_size), *sequence.ids.tolist()]
  key = hashlib.sha256("\n".join(about).encode()).hexdigest()
  return pathlib.Path(sequence.codes_folder) / f"codes_{key[:24]}.npy"


def read(file: pathlib.Path | None, size: int) -> np.ndarray | None:
  """Codes [T, ...] of T samples, mapped; None if there are none."""
  if file is None or not file.is_file():
    return None
  try:
    found = np.load(file, mmap_mode="r", allow_pickle=False)
  except ValueError as error:
    raise ValueError(f"The codes in {file} cannot be read ({error}). Remove the file: the run "
                     "makes it again.") from error
  if len(found) != size:
    raise ValueError(f"{file} holds {len(found)} codes of {size} samples. Remove the file: the run "
                     "makes it again.")
  logging.info("The samples were encoded before: %s", file)
  return found


def write(file: pathlib.Path | None, codes: np.ndarray | None) -> None:
  """Keeps codes [T, ...]."""
  if file is None or codes is None:
    return
  file.parent.mkdir(parents=True, exist_ok=True)
  with snapshots.saving("codes of the samples", file) as temporary:
    np.save(temporary, codes)
