# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Low-rank factors of samples, from the answers of M known models.

They are the leading right singular vectors of the centered answers [M, N], computed from the M x M
Gram matrix in blocks of columns. The factors of a sample are a fixed linear map of its M answers,
so they are computed on demand.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np

Columns = Callable[[np.ndarray], np.ndarray]  # Samples [n] -> answers uint8 [M, n].

_BLOCK = 1 << 14


@dataclasses.dataclass(frozen=True)
class Factors:
  """K factors: `scores(columns)` are loadings^T (columns - means), of variance 1 each."""

  means: np.ndarray  # [M]
  loadings: np.ndarray  # [M, K]
  gram: np.ndarray  # [M, M], covariance of the models' answers.

  def scores(self, columns: np.ndarray) -> np.ndarray:
    """Computes factors float32 [n, K] from the answers [M, n] of the known models."""
    return columns.T.astype(np.float32) @ self.loadings - self.means @ self.loadings


def build(columns: Columns, samples: np.ndarray, num_factors: int) -> Factors:
  """Computes factors from samples [n] (all of them, or an evenly spaced subset)."""
  num_models = len(columns(samples[:1]))
  sums, products = np.zeros(num_models), np.zeros([num_models, num_models])
  for start in range(0, len(samples), _BLOCK):  # Means and covariance in one pass.
    block = columns(samples[start:start + _BLOCK]).astype(np.float32)
    sums += block.sum(axis=1, dtype=np.float64)
    products += block @ block.T  # Exact: whole numbers < 2^24.
  means = sums / len(samples)
  gram = products / len(samples) - np.outer(means, means)
  values, vectors = np.linalg.eigh(gram)
  values, vectors = values[::-1], vectors[:, ::-1]
  # Directions without variance (from models with equal answers) would be divided by 0.
  num = min(num_factors, int(np.sum(values > 1e-9 * max(values[0], 1e-12))))
  vectors = vectors[:, :num]
  # The sign of a singular vector is arbitrary: a positive sum makes it reproducible.
  vectors = vectors * np.where(vectors.sum(axis=0) < 0, -1.0, 1.0)
  loadings = (vectors / np.sqrt(values[:num])).astype(np.float32)
  return Factors(means.astype(np.float32), loadings, gram)


def embedding(gram: np.ndarray, num: int) -> np.ndarray:
  """Embeds models as points [M, num] whose distances approximate those of their answers."""
  values, vectors = np.linalg.eigh(gram)
  values, vectors = np.maximum(values[::-1][:num], 0.0), vectors[:, ::-1][:, :num]
  return vectors * np.sqrt(values)
