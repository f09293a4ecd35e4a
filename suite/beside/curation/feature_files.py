# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features of many images in memory-mapped .npy files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import pathlib

import numpy as np

from suite.beside.curation import errors

BLOCK_ROWS = 1 << 15


class FeatureFiles:
  """N feature vectors of width D in one file or several consecutive files.

  Attributes:
    paths: the files.
    size, width: N and D.
  """

  def __init__(self, paths: Sequence[pathlib.Path]):
    self.paths = list(paths)
    self._parts = [_mapped(path) for path in self.paths]
    widths = [part.shape[1] for part in self._parts]
    if len(set(widths)) != 1:
      raise errors.CurationError(
          "Features are of different widths: "
          + ", ".join(f"{path} of {width}" for path, width in zip(self.paths, widths))
          + ". Give files of one encoder.")
    self.width = widths[0]
    self.size = sum(map(len, self._parts))

  def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, np.ndarray]]:
    """Yields consecutive blocks (first row, float32 [n, D]), n at most `rows`."""
    first = 0
    for part in self._parts:
      for start in range(0, len(part), rows):
        block = np.asarray(part[start:start + rows])
        yield first + start, np.ascontiguousarray(block, np.float32)
      first += len(part)

  def take(self, rows: np.ndarray) -> np.ndarray:
    """Reads int [n] rows as float64 [n, D]."""
    starts = np.cumsum([0, *map(len, self._parts)])
    found = np.empty([len(rows), self.width], np.float64)
    where = np.searchsorted(starts, rows, side="right") - 1
    for index in np.unique(where):
      chosen = where == index
      found[chosen] = self._parts[index][np.asarray(rows)[chosen] - starts[index]]
    return found

  def check(self, name: Callable[[int], str]) -> None:
    """Raises an error that names the rows without a direction: NaN, infinite, or all zero."""
    wrong: list[int] = []
    for first, block in self.blocks():
      wrong += (first + odd_rows(block, norms(block))[1]).tolist()
    if wrong:
      raise errors.CurationError(
          f"{len(wrong)} of {self.size} feature vectors are NaN, infinite or all zero; they have "
          f"no direction. They are of {errors.some(name(row) for row in wrong)}. Extract them "
          "again, or leave those images out of both the features and the table.")


def norms(block: np.ndarray) -> np.ndarray:
  """Lengths float32 [n] of vectors float32 [n, D]; may overflow, see `odd_rows`."""
  with np.errstate(over="ignore", invalid="ignore"):
    return np.sqrt(np.einsum("nd,nd->n", block, block))


def odd_rows(block: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Finds (rows too long or short for float32 arithmetic, rows without a direction)."""
  odd = np.flatnonzero(~((lengths > 1e-12) & (lengths < 1e12)))
  values = block[odd].astype(np.float64)
  usable = np.isfinite(values).all(axis=1) & (values != 0).any(axis=1)
  return odd[usable], odd[~usable]


def normalized(vectors: np.ndarray) -> np.ndarray:
  """Normalizes vectors to length 1: float64 [n, D]."""
  vectors = np.asarray(vectors, np.float64)
  vectors = vectors / np.abs(vectors).max(axis=1, keepdims=True)
  return vectors / np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))


def read(path: pathlib.Path) -> np.ndarray:
  """Reads one small file as float64 [n, D]."""
  return np.asarray(_mapped(path), np.float64)


def _mapped(path: pathlib.Path) -> np.ndarray:
  try:
    found = np.load(path, mmap_mode="r", allow_pickle=False)
  except (OSError, ValueError, EOFError) as error:
    raise errors.CurationError(f"{path} cannot be read as an .npy file of numbers: {error}."
                               ) from error
  if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind != "f":
    kind = f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else "an .npz archive"
    raise errors.CurationError(f"{path} holds {kind}; floats [N, D] in an .npy file are needed.")
  if not found.size:
    raise errors.CurationError(f"{path} is empty: its shape is {found.shape}.")
  return found
