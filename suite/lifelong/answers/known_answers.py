# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Answers of known models as bits: an array [M, N] that is unpacked only where it is read.

At the size of the paper (31,250 models, 1.7 million samples) a dense matrix has 53 GB, its bits
6.6 GB. `KnownAnswers` is used like the array: `known.shape`, `known[:, samples]`, `known[3]`,
`known.sum(axis=0)`, `known == 1`. What it does not unpack in part, such as the last two, it unpacks
as a whole; estimators for large caches use `row`, `columns` and `counts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np


class Rows(Protocol):
  """Where answers are stored: M rows of N answers 0/1."""

  shape: tuple[int, int]

  def row(self, index: int) -> np.ndarray:
    """One row: uint8 [N]."""

  def columns(self, rows: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Answers of int [m] rows to int [n] samples: uint8 [m, n]."""

  def counts(self, rows: np.ndarray) -> np.ndarray:
    """Column sums of int [m] rows: unsigned or int64 [N]."""

  def confidences(self, rows: np.ndarray) -> np.ndarray:
    """Column sums of the confidences of int [m] rows, float64 [N]; a ValueError without them."""


class PackedRows:
  """Rows of bits in memory.

  Attributes:
    shape: (M, N).
    with_confidence: rows that have confidences.
  """

  def __init__(self, rows: Sequence[np.ndarray], num_samples: int,
               confidences: Mapping[int, np.ndarray] | None = None):
    """Args:
      rows: M rows uint8 [ceil(N / 8)], the first answer in the highest bit.
      num_samples: N.
      confidences: row -> probability of the true class, float [N].
    """
    self.shape = len(rows), num_samples
    self._rows, self._confidences = list(rows), dict(confidences or {})

  @property
  def with_confidence(self) -> np.ndarray:
    return np.array(sorted(self._confidences), np.int64)

  def row(self, index: int) -> np.ndarray:
    return np.unpackbits(self._rows[index], count=self.shape[1])

  def columns(self, rows: np.ndarray, samples: np.ndarray) -> np.ndarray:
    found = np.empty((len(rows), len(samples)), np.uint8)
    if 16 * len(samples) > self.shape[1]:  # To unpack whole rows is faster than many lookups.
      for place, row in enumerate(rows.tolist()):
        found[place] = self.row(row)[samples]
      return found
    places, shift = samples >> 3, (7 - (samples & 7)).astype(np.uint8)
    for place, row in enumerate(rows.tolist()):
      found[place] = self._rows[row][places] >> shift
    found &= np.uint8(1)
    return found

  def counts(self, rows: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.zeros(self.shape[1], _counter(len(rows)))
    for row in rows.tolist():
      found += self.row(row)
    return found

  def confidences(self, rows: np.ndarray) -> np.ndarray:
    missing = [row for row in rows.tolist() if row not in self._confidences]
    if missing:
      raise ValueError(f"{len(missing)} of the {len(rows)} known models have no confidences (the "
                       "probability of the true class), which sort=\"confidence\" needs. Take "
                       "saved predictions, or an npz with conf and conf_models.")
    found = np.zeros(self.shape[1])
    for row in rows.tolist():
      found += self._confidences[row]
    return found


class TransposedRows:
  """Samples as rows and models as columns, to insert samples as models are inserted (section 3.3).

  Attributes:
    shape: (number of the samples, M).
  """

  def __init__(self, known: KnownAnswers, samples: np.ndarray):
    """The rows are int [n] samples of `known`."""
    self._known, self._samples = known, np.asarray(samples, np.int64)
    self.shape = len(self._samples), known.shape[0]

  def row(self, index: int) -> np.ndarray:
    return self._known.columns(self._samples[index:index + 1])[:, 0]

  def columns(self, rows: np.ndarray, samples: np.ndarray) -> np.ndarray:
    return np.stack([self._known.row(model)[self._samples[rows]] for model in samples.tolist()],
                    axis=1)

  def counts(self, rows: np.ndarray) -> np.ndarray:
    chosen = self._samples[rows]
    return np.array([self._known.row(model)[chosen].sum(dtype=np.int64)
                     for model in range(self.shape[1])])

  def confidences(self, rows: np.ndarray) -> np.ndarray:
    chosen = self._samples[rows]
    return np.array([self._known.chosen(np.array([model])).confidence_sums()[chosen].sum()
                     for model in range(self.shape[1])])


class KnownAnswers(np.lib.mixins.NDArrayOperatorsMixin):
  """Answers 0/1 of M models to N samples.

  Attributes:
    shape: (M, N).
  """

  dtype, ndim = np.dtype(np.uint8), 2

  def __init__(self, source: Rows, rows: np.ndarray | None = None,
               added: Sequence[np.ndarray] = (), counts: np.ndarray | None = None):
    """Args:
      source: where the answers are.
      rows: int [m], those of the source to take; None: all.
      added: further rows of bits.
      counts: column sums, if they are known.
    """
    self._source, self._added, self._counts = source, list(added), counts
    self._rows = np.arange(source.shape[0]) if rows is None else np.asarray(rows, np.int64)
    self.shape = len(self._rows) + len(self._added), source.shape[1]

  def row(self, index: int) -> np.ndarray:
    """Answers of one model: uint8 [N]."""
    index = range(len(self))[index]
    if index < len(self._rows):
      return self._source.row(int(self._rows[index]))
    return np.unpackbits(self._added[index - len(self._rows)], count=self.shape[1])

  def columns(self, samples: np.ndarray) -> np.ndarray:
    """Answers of all models to int [n] samples: uint8 [M, n]."""
    samples = np.asarray(samples, np.int64)
    found = self._source.columns(self._rows, samples)
    if not self._added:
      return found
    every = np.arange(len(self._added))
    return np.concatenate([found, PackedRows(self._added, self.shape[1]).columns(every, samples)])

  def counts(self) -> np.ndarray:
    """Number of models that solve each sample: uint8, uint16 or int64 [N]."""
    if self._counts is None:
      counts: np.ndarray = self._source.counts(self._rows).astype(_counter(len(self)))
      for row in self._added:
        counts += np.unpackbits(row, count=self.shape[1])
      self._counts = counts
    return self._counts

  def confidence_sums(self) -> np.ndarray:
    """Sum over models of the probability of the true class, float64 [N]; added rows as 0 or 1."""
    found = self._source.confidences(self._rows)
    for row in self._added:
      found = found + np.unpackbits(row, count=self.shape[1])
    return found

  def chosen(self, rows: np.ndarray) -> KnownAnswers:
    """Some of the models; nothing is copied."""
    if self._added:
      raise ValueError("Choose models before predicted answers are added.")
    return KnownAnswers(self._source, self._rows[np.asarray(rows, np.int64)])

  def without(self, row: int) -> KnownAnswers:
    """All models but one; nothing is copied."""
    found = self.chosen(np.delete(np.arange(len(self)), row))
    found._counts = (self.counts() - self.row(row)).astype(_counter(len(found)))  # pylint: disable=protected-access
    return found

  def with_row(self, answers: np.ndarray) -> KnownAnswers:
    """The models and one more, whose answers 0/1 [N] may be predicted ones."""
    answers = np.asarray(answers, bool)
    counts = self.counts().astype(_counter(len(self) + 1)) + answers
    return KnownAnswers(self._source, self._rows, [*self._added, np.packbits(answers)], counts)

  def __len__(self) -> int:
    return self.shape[0]

  def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
    del copy
    found = np.empty(self.shape, np.uint8)
    for index in range(len(self)):
      found[index] = self.row(index)
    return found if dtype is None else found.astype(dtype)

  def __getitem__(self, key: Any) -> Any:
    if isinstance(key, (int, np.integer)):
      return self.row(int(key))
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], slice) and (
        key[0] == slice(None)):
      samples = np.arange(self.shape[1])[key[1]]
      return (self.columns(samples) if samples.ndim == 1 else
              self.columns(samples.reshape(-1)).reshape(len(self), *samples.shape))
    if isinstance(key, np.ndarray) and key.ndim == 1 and key.dtype.kind in "iu":
      return np.stack([self.row(index) for index in key.tolist()])
    return self.__array__()[key]

  def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
    return getattr(ufunc, method)(
        *(one.__array__() if isinstance(one, KnownAnswers) else one for one in inputs), **settings)

  def __getattr__(self, name: str) -> Any:
    if name.startswith("_"):
      raise AttributeError(name)
    return getattr(self.__array__(), name)


def pack(answers: np.ndarray, confidences: Mapping[int, np.ndarray] | None = None) -> KnownAnswers:
  """Packs answers 0/1 [M, N]; with `confidences` of some rows, see `PackedRows`."""
  answers = np.asarray(answers)
  bits = np.packbits(answers.astype(bool), axis=1)
  return KnownAnswers(PackedRows(list(bits), answers.shape[1], confidences))


def _counter(num: int) -> type:
  """The type of counts of `num` rows."""
  return np.uint8 if num < 1 << 8 else np.uint16 if num < 1 << 16 else np.int64
