# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search: prediction of all answers of a model from a few (Prabhu et al., 2024, section 3).

Answers are 0/1, 1 for correct: a matrix [M, N] of M models on N samples. Samples are ordered from
easy to hard by the number of models that solve them. A new model is evaluated on a few samples,
evenly spaced in that order; the best prediction of the form "solves every rank below the cut, none
after" is found in one pass and extrapolated to all N. The same functions on the transpose place a
new sample among models.

At the cut the probability of a correct answer crosses one half. The cut is not an estimate of the
accuracy (it is biased even when all answers are known): use the mean of the observed answers.
"""

from __future__ import annotations

import numpy as np

from suite.lifelong.answers import known_answers


def sum_order(answers: np.ndarray) -> np.ndarray:
  """Orders samples from easy to hard: [M, N] -> int64 [N], by column sum, ties by index."""
  if isinstance(answers, known_answers.KnownAnswers):
    return order_by_count(answers.counts())
  answers = np.asarray(answers)
  if answers.ndim != 2:
    raise ValueError(f"Got answers of shape {list(answers.shape)}; expected [M models, N samples].")
  _check_binary(answers)
  return order_by_count(np.sum(answers, axis=0, dtype=np.int64))


def checked_counts(answers: np.ndarray) -> np.ndarray:
  """Computes column sums of answers 0/1 [M, N], M >= 2, as uint8 or uint16 [N]."""
  if not isinstance(answers, known_answers.KnownAnswers):
    answers = np.asarray(answers)
  if answers.ndim != 2 or len(answers) < 2:
    raise ValueError(f"Got answers of shape {list(answers.shape)}; expected [M, N] of 2 models at "
                     "least, since an estimate is based on other models' answers.")
  if len(answers) > 65535:
    raise ValueError(f"Got {len(answers)} models; 65,535 at most are counted.")
  if isinstance(answers, known_answers.KnownAnswers):
    return answers.counts()
  _check_binary(answers)
  return answers.sum(axis=0, dtype=np.uint8 if len(answers) < 256 else np.uint16)


def order_by_count(counts: np.ndarray, ids: np.ndarray | None = None) -> np.ndarray:
  """Orders positions [N] by descending count, ties by id (by position without `ids`).

  Most samples are tied (M models give M + 1 counts), so the tie rule matters.
  """
  counts = np.asarray(counts)
  if counts.dtype == bool or counts.dtype.kind == "u":
    counts = counts.astype(np.int64)  # Unsigned values have no negative.
  tie_break = np.arange(len(counts)) if ids is None else np.asarray(ids)
  return np.lexsort((tie_break, -counts))


def recursive_order(answers: np.ndarray, passes: int = 1) -> np.ndarray:
  """Two-stage sort (section 3.1): reorders samples of one count by the models that divide them.

  Only models whose best cut falls inside a run of tied samples depend on the order within it: each
  run is reordered by the count over these models, ties again by index. Runs without a cut remain
  unchanged.

  Args:
    answers: 0/1 [M, N].
    passes: number of passes; each reorders the runs that are still tied after the previous one.
  """
  order = sum_order(answers)
  sums = (answers.counts() if isinstance(answers, known_answers.KnownAnswers) else
          np.sum(answers, axis=0, dtype=np.int64))[order]
  tied = np.concatenate([[0], np.cumsum(sums[1:] != sums[:-1])])  # Number of each rank's run.
  for _ in range(passes):
    if tied[-1] == len(order) - 1:  # Nothing is tied, as models by accuracy (footnote 4).
      break
    starts = np.searchsorted(tied, np.arange(int(tied[-1]) + 2))
    keys = np.zeros(len(order), np.int64)
    for model in range(len(answers)):
      row = np.asarray(answers[model])[order]
      cut = dp_threshold(row)
      if 0 < cut < len(row) and tied[cut - 1] == tied[cut]:  # It divides the run.
        run = slice(starts[tied[cut]], starts[tied[cut] + 1])
        keys[run] += row[run]
    again = np.lexsort((order, -keys, tied))
    order, keys = order[again], keys[again]
    changed = (tied[1:] != tied[:-1]) | (keys[1:] != keys[:-1])
    tied = np.concatenate([[0], np.cumsum(changed)])
  return order


def dp_threshold(row: np.ndarray) -> int:
  """Finds the best cut k in 0..n of answers [n] in rank order; ranks < k are predicted 1.

  It has the fewest wrong predictions of all n + 1 cuts. Ones at rank >= k and zeros at rank < k are
  wrong, so the best k maximizes the sum of (2 row - 1) over ranks < k. Ties give the smallest cut.
  """
  row = np.asarray(row)
  if row.ndim != 1:
    raise ValueError(f"Got a row of shape {list(row.shape)}; expected [n] answers in rank order.")
  _check_binary(row)
  gains = np.cumsum(2 * row.astype(np.int64) - 1)
  return int(np.argmax(np.concatenate([[0], gains])))  # Ties: argmax returns the first.


def dp_thresholds(rows: np.ndarray) -> np.ndarray:
  """Finds the best cut (`dp_threshold`) of each of S rows [S, n] in rank order: int64 [S]."""
  rows = np.asarray(rows)
  if rows.ndim != 2:
    raise ValueError(f"Got rows of shape {list(rows.shape)}; expected [S, n].")
  _check_binary(rows)
  num_rows, length = rows.shape
  cuts = np.zeros(num_rows, np.int64)
  if not length:
    return cuts
  step = max(1, (1 << 22) // length)  # Number of rows at a time: 16 MB of sums.
  for start in range(0, num_rows, step):
    gains = np.cumsum(2 * rows[start:start + step].astype(np.int8) - 1, axis=1, dtype=np.int32)
    best = np.argmax(gains, axis=1)  # Ties: the first.
    cuts[start:start + step] = np.where(gains[np.arange(len(best)), best] > 0, best + 1, 0)
  return cuts


def spaced_models(accuracies: np.ndarray, budget: int) -> np.ndarray:
  """Chooses `budget` of M models, evenly spaced in accuracy order, to evaluate on a new sample."""
  order = order_by_count(np.asarray(accuracies))
  return order[sample_positions(len(order), budget)]


def place_samples(answers: np.ndarray, num_models: int) -> np.ndarray:
  """Estimates how many of `num_models` solve new samples: answers [m, K] -> int64 [K].

  The answers are those of `spaced_models`; the estimate is their mean, halves rounded up. The cut
  among models, the transpose of the search, is biased as a count and ranks worse.
  """
  answers = np.asarray(answers)
  _check_binary(answers)
  asked = answers.shape[0]
  return (2 * num_models * answers.sum(axis=0, dtype=np.int64) + asked) // (2 * asked)


def decompose(answers: np.ndarray, predicted: np.ndarray, order: np.ndarray) -> dict[str, float]:
  """Decomposes the error of predicted answers [N] of one model (section 4.5).

  `aleatoric` (equation 3) is the error of the best cut of the order given every answer; `epistemic`
  (equation 4) is the distance of the prediction from that cut. total <= aleatoric + epistemic. The
  order is that of the models which the prediction is based on, in the paper the sort models.
  """
  answers = np.asarray(answers)
  best = step_predictions(order, dp_threshold(answers[order]))
  return {"total": per_sample_error(answers, predicted),
          "aleatoric": per_sample_error(answers, best),
          "epistemic": per_sample_error(best, predicted)}


def sample_positions(num_samples: int, budget: int) -> np.ndarray:
  """Ranks to evaluate: floor((j + 1/2) n / m) for j < m, the distinct middles of m strata."""
  n, m = int(num_samples), int(budget)
  if not 1 <= m <= n:
    raise ValueError(f"Got a budget of {m} for {n} samples; expected 1 <= budget <= {n}.")
  if 2 * m * n >= 1 << 63:
    return np.array([(2 * j + 1) * n // (2 * m) for j in range(m)], np.int64)
  return (2 * np.arange(m, dtype=np.int64) + 1) * n // (2 * m)  # Exact integers.


def extrapolate_cut(cut: int, budget: int, num_samples: int) -> int:
  """Extrapolates the cut k of m sampled answers to all n: k n / m, halves rounded up."""
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
  """|mean answer - estimate|, for a mean of observed answers or of predictions."""
  return float(abs(np.mean(np.asarray(answers, np.float64)) - estimated_accuracy))


def _check_binary(answers: np.ndarray) -> None:
  is_wrong = (answers != 0) & (answers != 1)
  if is_wrong.any():
    wrong = np.unique(answers[is_wrong])
    raise ValueError(f"Answers are 0 or 1; got {wrong[:5].tolist()} too. Leave out what was not "
                     "evaluated: a missing answer is not a wrong one.")
