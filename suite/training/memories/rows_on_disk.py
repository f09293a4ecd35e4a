# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training examples on disk, for buckets and memories that are larger than a device or the host.

  rows = rows_on_disk.RowsOnDisk(storage, tf.uint8)
  rows.open(context.store)                              # in the event that gets examples
  numbers = rows.keep(batches)                          # int64 [N], one for each example
  images = rows.train(tf.constant(numbers[:64]), seeds) # reads 64 examples, in a graph, too

A learner holds numbers in the place of examples: its bucket, its memory, what it keeps of earlier
buckets and its checkpoints take 8 bytes an example. A number says the event, the file of that event
and the row in it. A file is written once and never changed; an event that begins again writes the
same bytes again, so a run that is stopped goes on the same. Files stay until the run's directory is
removed: a memory may hold any row.
"""

from __future__ import annotations

from collections.abc import Iterable
import os
import pathlib

import numpy as np
import tensorflow as tf

from suite.contracts import examples
from suite.contracts import rehearsal
from suite.state import snapshots
from suite.state import weight_store
from suite.system import atomic_files

DEVICE, DISK = PLACES = ("device", "disk")
_ROW_BITS, _PART_BITS = 32, 8


class RowsOnDisk(examples.Storage):
  """A `examples.Storage` whose stored examples are numbers, int64 []; 0 is an example of zeros.

  Args:
    form: the storage whose rows are kept.
    dtype: of these rows.
  """

  holds_numbers = is_on_disk = True

  def __init__(self, form: examples.Storage, dtype: tf.DType):
    self.form = form
    self._row, self._dtype = tuple(form.shape), tf.as_dtype(dtype)
    self._folder, self._event, self._parts = pathlib.Path(), 0, 0
    self._files: dict[int, np.ndarray] = {}

  def kept_form(self) -> examples.Storage:
    return self.form

  @property
  def shape(self) -> tuple[int, ...]:
    """(): a number."""
    return ()

  def open(self, store: weight_store.WeightStore) -> None:
    """Begins an event: rows are read from, and written to, a folder in that of the store."""
    self._folder, self._event, self._parts = store.folder / "examples", store.event, 0
    atomic_files.sweep(self._folder)

  def keep(self, batches: Iterable[np.ndarray]) -> np.ndarray:
    """Writes rows [n, ...], batch by batch, to a new file; returns their numbers, int64 [N]."""
    self._parts += 1
    file, size = self._event << _PART_BITS | self._parts, 0
    self._files.pop(file, None)
    with snapshots.saving("training examples", self._path(file)) as path, open(
        path, "wb") as opened:
      for batch in batches:
        rows = np.ascontiguousarray(batch, self._dtype.as_numpy_dtype)
        if rehearsal.current() is None:
          opened.write(rows.data)
        else:  # What is learned there means nothing: a hole of that size does.
          opened.truncate(opened.seek(rows.nbytes, os.SEEK_CUR))
        size += len(rows)
    return (file << _ROW_BITS) + np.arange(size, dtype=np.int64)

  def read(self, numbers: np.ndarray) -> np.ndarray:
    """The rows of numbers int64 [B], [B, ...]."""
    found = np.empty([len(numbers), *self._row], self._dtype.as_numpy_dtype)
    for place, number in enumerate(numbers.tolist()):  # One copy each; a mask would make two.
      file = number >> _ROW_BITS
      if number and file not in self._files:
        path = self._path(file)
        with snapshots.reading("the training examples", path):  # Read by the system as it is used.
          self._files[file] = np.memmap(path, self._dtype.as_numpy_dtype, "r").reshape(
              [-1, *self._row])
      found[place] = self._files[file][number % (1 << _ROW_BITS)] if number else 0
    return found

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> the rows that `keep` takes."""
    return self.form.store(images)

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Numbers int64 [B], seeds uint64 [B] -> augmented examples."""
    return self.form.train(self._read(rows), seeds)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """Numbers int64 [B] -> prepared examples."""
    return self.form.evaluate(self._read(rows))

  def _read(self, numbers: tf.Tensor) -> tf.Tensor:
    with tf.device("CPU:0"):
      found = tf.numpy_function(self.read, [numbers], self._dtype, stateful=False)
    return tf.ensure_shape(found, [numbers.shape[0], *self._row])

  def _path(self, file: int) -> pathlib.Path:
    event, part = file >> _PART_BITS, file % (1 << _PART_BITS)
    return self._folder / f"{event:06d}.{part}.rows"


def begin_event(storage: examples.Storage | None, store: weight_store.WeightStore) -> None:
  """Opens a storage that is on disk; others need nothing."""
  if isinstance(storage, RowsOnDisk):
    storage.open(store)
