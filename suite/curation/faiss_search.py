# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The promising rows of a block by faiss, where it is installed.

faiss searches exhaustively in float32, as CLEAR's released code does. All rows within the error
bound of the last of the best are returned, so the exact scores decide as without faiss.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from suite.curation import errors

ROWS = 1_000_000  # The least number of rows for which faiss is used.
BLOCK_ROWS = 1 << 18


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
    raise errors.CurationError("faiss is not installed: pip install 'lifelong-suite[curate]', or "
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
