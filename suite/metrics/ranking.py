# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search: predict all answers of a model from a few (Prabhu et al., 2024, section 3).

Answers are 0/1, 1 for correct: a matrix [M, N] of M models on N samples. Samples are ordered from
easy to hard by how many models solve them. A new model is run on a few samples, evenly spaced in
that order; the best prediction of the form "solves every rank below the cut, none after" is found
by one pass and stretched to all N. The same functions on the transpose place a new sample among
models.

The cut is where the chance to be correct crosses one half. It is no estimate of accuracy (it is
biased even when all is known): estimate accuracy by the mean of the observed answers.
"""

from __future__ import annotations

import numpy as np


def sum_order(answers: np.ndarray) -> np.ndarray:
  """Samples from easy to hard: [M, N] -> int64 [N], by descending column sum, ties by index."""
  answers = np.asarray(answers)
  if answers.ndim != 2:
    raise ValueError(f"Got answers of shape {list(answers.shape)}; expected [M models, N samples].")
  _check_binary(answers)
  return order_by_count(np.sum(answers, axis=0, dtype=np.int64))


def order_by_count(counts: np.ndarray, ids: np.ndarray | None = None) -> np.ndarray:
  """Positions [N] by descending count, ties by id (by position without `ids`).

  Nearly all is tied (M models give M + 1 counts), so the tie rule makes the order.
  """
  counts = np.asarray(counts)
  if counts.dtype == bool or counts.dtype.kind == "u":
    counts = counts.astype(np.int64)  # Unsigned values have no negative.
  tie_break = np.arange(len(counts)) if ids is None else np.asarray(ids)
  return np.lexsort((tie_break, -counts))


def dp_threshold(row: np.ndarray) -> int:
  """Best cut of answers [n] that stand in rank order: k in 0..n, so that ranks < k are predicted 1.

  It has the fewest wrong predictions of all n + 1 cuts. Ones at rank >= k and zeros at rank < k are
  wrong, so the best k maximises the sum of (2 row - 1) over ranks < k. Of equally good cuts the
  smallest is taken.
  """
  row = np.asarray(row)
  if row.ndim != 1:
    raise ValueError(f"Got a row of shape {list(row.shape)}; expected [n] answers in rank order.")
  _check_binary(row)
  gains = np.cumsum(2 * row.astype(np.int64) - 1)
  return int(np.argmax(np.concatenate([[0], gains])))  # argmax takes the first of equals.


def sample_positions(num_samples: int, budget: int) -> np.ndarray:
  """Ranks to evaluate: floor((j + 1/2) n / m) for j < m, all different, the middles of m strata."""
  n, m = int(num_samples), int(budget)
  if not 1 <= m <= n:
    raise ValueError(f"Got a budget of {m} for {n} samples; expected 1 <= budget <= {n}.")
  return np.array([(2 * j + 1) * n // (2 * m) for j in range(m)], np.int64)  # Exact integers.


def extrapolate_cut(cut: int, budget: int, num_samples: int) -> int:
  """The cut k of m sampled answers in terms of all n: k n / m, rounded, a half upwards."""
  k, m, n = int(cut), int(budget), int(num_samples)
  if m < 1 or not 0 <= k <= m or n < m:
    raise ValueError(f"Got cut={k}, budget={m}, num_samples={n}; expected 0 <= cut <= budget <= "
                     "num_samples and budget >= 1.")
  return (2 * k * n + m) // (2 * m)


def step_predictions(order: np.ndarray, cut: int) -> np.ndarray:
  """Predicted answers by sample, not by rank: uint8 [N], 1 for the `cut` easiest."""
  order = np.asarray(order)
  if not 0 <= cut <= len(order):
    raise ValueError(f"Got cut={cut} for {len(order)} samples; expected 0 <= cut <= {len(order)}.")
  predicted = np.zeros(len(order), np.uint8)
  predicted[order[:cut]] = 1
  return predicted


def per_sample_error(answers: np.ndarray, predicted: np.ndarray) -> float:
  """Mean of |answer - prediction| over samples [N]; predictions may be probabilities."""
  answers, predicted = np.asarray(answers, np.float64), np.asarray(predicted, np.float64)
  if answers.shape != predicted.shape or not answers.size:
    raise ValueError(f"Got answers of shape {list(answers.shape)} and predictions of shape "
                     f"{list(predicted.shape)}; expected the same samples, one at least.")
  return float(np.mean(np.abs(answers - predicted)))


def aggregate_error(answers: np.ndarray, estimated_accuracy: float) -> float:
  """|mean answer - estimate|; the estimate is a mean of observed answers or of predictions."""
  return float(abs(np.mean(np.asarray(answers, np.float64)) - estimated_accuracy))


def _check_binary(answers: np.ndarray) -> None:
  wrong = np.unique(answers[(answers != 0) & (answers != 1)])
  if wrong.size:
    raise ValueError(f"Answers are 0 or 1; got {wrong[:5].tolist()} too. Leave out what was not "
                     "evaluated: a missing answer is not a wrong one.")
