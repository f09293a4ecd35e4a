# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exact nearest-neighbor search by inner product of L2-normalized features, in blocks.

Every row of the features is read once. Scores are computed in float32, which is fast but rounds
differently with other block sizes and numbers of threads; so rows within the float32 error of the
best ones so far are scored again in float64, one row at a time, and only these scores decide. For
each query and bucket only the best k are stored: memory is O(Q B k + block).

From a million rows on, faiss finds these rows where it is installed; what is found is the same:
faiss searches exhaustively in float32, as CLEAR's released code does. All rows within the error
bound of the last of the best are returned, so the exact scores decide as without faiss.
"""

from __future__ import annotations

from collections.abc import Sequence
import importlib.util
from typing import NamedTuple

import numpy as np

from suite.beside.curation import errors
from suite.beside.curation import feature_files

ROWS = 1_000_000  # The least number of rows for which faiss is used.
BLOCK_ROWS = 1 << 18
_DECIMALS = 12  # Scores that differ by less are ties, which ids break.
_RESCORED_ROWS = 4096


def installed() -> bool:
  """Whether faiss can be imported."""
  return importlib.util.find_spec("faiss") is not None


def promising(vectors: np.ndarray, queries: np.ndarray, number: int, floors: np.ndarray,
              margin: float) -> list[np.ndarray]:
  """Finds, for each query, rows that may be among the best `number` by inner product.

  Args:
    vectors: float32 [n, D], of length 1.
    queries: float32 [Q, D], of length 1.
    number: k.
    floors: float [Q]; lower scores than these minus the margin are of no use.
    margin: twice the error bound of a score.

  Returns:
    Q arrays of rows: all within the margin of the k-th best score or of the floor, unordered.
  """
  try:
    import faiss
  except ImportError as error:
    raise errors.CurationError("faiss is not installed: pip install '.[curate]', or "
                               "search by numpy.") from error
  wanted, size = number, len(vectors)
  found: list[np.ndarray] = [np.zeros(0, np.int64)] * len(queries)
  open_queries = np.arange(len(queries))
  while open_queries.size:
    wanted = min(wanted + max(wanted // 8, 16), size)
    scores, rows = faiss.knn(queries[open_queries], vectors, wanted,
                             metric=faiss.METRIC_INNER_PRODUCT)
    bounds = np.maximum(scores[:, min(number, wanted) - 1], floors[open_queries]) - margin
    for place, query in enumerate(open_queries.tolist()):
      found[query] = rows[place][scores[place] >= bounds[place]]
    # A query is open while even its last row is within the margin: there may be more of them.
    open_queries = open_queries[(scores[:, -1] >= bounds) & (wanted < size)]
  return found


class Best(NamedTuple):
  """Best rows of one query in one bucket, in order: scores float64 [k], rows int64 [k]."""

  scores: np.ndarray
  rows: np.ndarray


class SearchTask(NamedTuple):
  """A search of Q queries in B buckets.

  Attributes:
    queries: float64 [Q, D], of length 1.
    buckets: int [N], the bucket of each row; -1 for rows that are left out.
    numbers: int [B], largest number of rows to find in each bucket, for every query.
    order: int [N]; of two rows with equal scores the one with the lower value is first.
  """

  queries: np.ndarray
  buckets: np.ndarray
  numbers: np.ndarray
  order: np.ndarray


def search(features: feature_files.FeatureFiles, task: SearchTask,
           block_rows: int | None = None, *, by_faiss: bool | None = None) -> list[list[Best]]:
  """Finds the best rows by bucket and query: found[b][q].

  Args:
    features: [N, D].
    task: queries, buckets and numbers.
    block_rows: number of rows that are read at once.
    by_faiss: whether faiss preselects rows; None: from `nearest_images.ROWS` on, if installed.
  """
  if task.queries.shape[1] != features.width:
    raise errors.CurationError(
        f"Queries are of width {task.queries.shape[1]}, features of {features.width}. Both must "
        "come from the same encoder.")
  if len(task.buckets) != features.size:
    raise errors.CurationError(f"There are {features.size} feature vectors, but "
                               f"{len(task.buckets)} images. Line i of the table must be row i.")
  if by_faiss is None:
    by_faiss = features.size >= ROWS and installed()
  preselect = _Faiss(task) if by_faiss else _Numpy(task)
  found = [[_EMPTY] * len(task.queries) for _ in task.numbers]
  for first, block in features.blocks(block_rows or preselect.block_rows):
    buckets = task.buckets[first:first + len(block)]
    preselect.read(block, first)
    for bucket, number in enumerate(task.numbers.tolist()):
      places = np.flatnonzero(buckets == bucket)
      if not number or not places.size:
        continue
      chosen = preselect.rows(places, found[bucket], number)
      for query, vector in enumerate(task.queries):
        rows = places[chosen[query]]
        if rows.size:
          near = block[rows]  # Row by row: an exact score does not depend on the other rows.
          parts = [(feature_files.normalized(near[i:i + _RESCORED_ROWS]) * vector).sum(axis=1)
                   for i in range(0, len(near), _RESCORED_ROWS)]
          exact = np.round(np.concatenate(parts), _DECIMALS) + 0.0  # No -0.
          found[bucket][query] = _merged(found[bucket][query], Best(exact, rows + first), number,
                                         task.order)
  return found


class _Numpy:
  """Rows of a block that may be among the best, by one matrix product a block."""

  block_rows = feature_files.BLOCK_ROWS

  def __init__(self, task: SearchTask):
    self._transposed = np.ascontiguousarray(task.queries.T, np.float32)
    self._scores = np.zeros(0)

  def read(self, block: np.ndarray, first: int) -> None:
    """Computes the cosines float32 [n, Q] of a block float32 [n, D]."""
    usable, lengths = _usable(block, first)
    self._scores = (usable @ self._transposed) / lengths[:, None]

  def rows(self, places: np.ndarray, found: Sequence[Best], number: int) -> list[np.ndarray]:
    """Indices into `places` for each query."""
    chosen = []
    for query, best in enumerate(found):
      scores, bound = self._scores[places, query], _floor(best, number)
      if len(scores) > number:
        last = len(scores) - number
        bound = max(bound, float(np.partition(scores, last)[last]))
      chosen.append(np.flatnonzero(scores >= bound - _margin(len(self._transposed))))
    return chosen


class _Faiss:
  """The same rows by faiss."""

  block_rows = BLOCK_ROWS

  def __init__(self, task: SearchTask):
    self._queries = np.ascontiguousarray(task.queries, np.float32)
    self._block, self._lengths = np.zeros([0, 0], np.float32), np.zeros(0, np.float32)

  def read(self, block: np.ndarray, first: int) -> None:
    """Takes a block float32 [n, D]."""
    self._block, self._lengths = _usable(block, first)

  def rows(self, places: np.ndarray, found: Sequence[Best], number: int) -> list[np.ndarray]:
    """Indices into `places` for each query."""
    vectors = self._block[places]
    vectors /= self._lengths[places, None]
    # Rounding of the normalized vectors adds to the error of the products.
    return promising(
        vectors, self._queries, number, np.array([_floor(best, number) for best in found]),
        2 * _margin(self._queries.shape[1]))


_EMPTY = Best(np.zeros(0), np.zeros(0, np.int64))


def _usable(block: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
  """Returns vectors float32 [n, D] of ordinary length, and their lengths float32 [n]."""
  lengths = feature_files.norms(block)
  odd, useless = feature_files.odd_rows(block, lengths)
  if useless.size:
    raise errors.CurationError(f"Features of row {first + useless[0]} are NaN, infinite or all "
                               "zero. Extract them again.")
  if odd.size:
    block, lengths = block.copy(), lengths.copy()
    block[odd], lengths[odd] = feature_files.normalized(block[odd]), 1
  return block, lengths


def _margin(width: int) -> float:
  """Twice the error bound of float32 sums of D products."""
  return (width + 8) * 2.0 ** -22


def _floor(best: Best, number: int) -> float:
  """Lowest score that can still be among the best `number`."""
  return float(best.scores[-1]) if len(best.scores) == number else -np.inf


def _merged(best: Best, fresh: Best, number: int, order: np.ndarray) -> Best:
  scores = np.concatenate([best.scores, fresh.scores])
  rows = np.concatenate([best.rows, fresh.rows])
  if len(scores) > number:  # Partition first: sorting all scores is slow.
    last = len(scores) - number
    kept = np.flatnonzero(scores >= np.partition(scores, last)[last])
    scores, rows = scores[kept], rows[kept]
  ranked = np.lexsort((order[rows], -scores))[:number]
  return Best(scores[ranked], rows[ranked])


def as_queries(vectors: np.ndarray, names: Sequence[str]) -> np.ndarray:
  """Normalizes queries to length 1: float64 [Q, D]; raises an error if one has no direction."""
  vectors = np.asarray(vectors, np.float64)
  usable = np.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)
  if not usable.all():
    raise errors.CurationError(
        f"The features of queries {errors.some(names[i] for i in np.flatnonzero(~usable))} are "
        "NaN, infinite or all zero. Encode them again.")
  return feature_files.normalized(vectors)
