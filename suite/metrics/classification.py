# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of one Predict event with N examples and C classes.

Labels are class indices [N] (single-label) or multi-hot [N, C] (multi-label); their rank decides.
NEVIS'22 (Bornschein et al., 2022, section 4) scores a single-label task by 1 - top-1 accuracy and a
multi-label task by 1 - mean average precision.

NaN logits (a diverged model) are scored as wrong instead of raising an error: the top-1 class is
-1, the probability of the true class 0, and NaN is last in a ranking.
"""

from __future__ import annotations

import numpy as np

ABSENT = ("zero", "skip")


def error(correct: int, seen: int) -> float:
  """Error rate from counts: (seen - correct) / seen."""
  if seen < 1 or not 0 <= correct <= seen:
    raise ValueError(
        f"Got correct={correct} of seen={seen}; expected 0 <= correct <= seen and seen >= 1.")
  return (int(seen) - int(correct)) / int(seen)


def error_of(predicted: np.ndarray, labels: np.ndarray) -> float:
  """Error rate from predicted classes [N] and labels [N] or multi-hot labels [N, C]."""
  return error(int(np.sum(is_correct(predicted, labels))), len(labels))


def top1(logits: np.ndarray) -> np.ndarray:
  """Most likely class: [N, C] -> int64 [N]; ties give the first, a NaN logit gives -1."""
  logits = _matrix(logits, "logits")
  return np.where(np.isnan(logits).any(axis=1), -1, np.argmax(logits, axis=1)).astype(np.int64)


def is_correct(predicted: np.ndarray, labels: np.ndarray) -> np.ndarray:
  """Whether the predicted class is the label, or one of the labels: [N] -> bool [N]."""
  predicted, labels = np.asarray(predicted), np.asarray(labels)
  if predicted.shape != labels.shape[:1] or labels.ndim not in (1, 2):
    raise ValueError(f"Got predicted classes {list(predicted.shape)} and labels "
                     f"{list(labels.shape)}; expected [N] and [N] or [N, C].")
  if labels.ndim == 1:
    return (predicted == labels) & (predicted >= 0)
  hit = labels[np.arange(len(labels)), np.maximum(predicted, 0)] > 0
  return hit & (predicted >= 0)


def mean_average_precision(
    scores: np.ndarray, labels: np.ndarray, *, absent: str = "zero") -> float:
  """Mean of the average precision over classes.

  Args:
    scores: [N, C], any monotone function of the model's confidence.
    labels: [N, C] multi-hot.
    absent: treatment of classes without a positive example. "zero" counts them as 0, as in the
      reference results of NEVIS'22 (scikit-learn's value); "skip" takes the mean over the other
      classes and is NaN if there are none.
  """
  scores, labels = _matrix(scores, "scores"), np.asarray(labels)
  if absent not in ABSENT:
    raise ValueError(f"Unknown absent={absent!r}; allowed are {', '.join(ABSENT)}.")
  if scores.shape != labels.shape:
    raise ValueError(f"Got scores {list(scores.shape)} and labels {list(labels.shape)}; expected "
                     "the same [N, C] twice, labels multi-hot.")
  from sklearn import metrics  # pylint: disable=import-outside-toplevel  # It takes a second.
  present = np.flatnonzero((labels > 0).any(axis=0))
  precisions = []
  for c in present:
    # Dense ranks have the same order and ties, but are finite, as scikit-learn requires.
    ordered = np.where(np.isnan(scores[:, c]), -np.inf, scores[:, c])
    ranks = np.unique(ordered, return_inverse=True)[1]
    precisions.append(metrics.average_precision_score(labels[:, c] > 0, ranks))
  count = scores.shape[1] if absent == "zero" else len(present)
  return float(np.sum(precisions) / count) if count else float("nan")


def probabilities(logits: np.ndarray, *, multi_label: bool) -> np.ndarray:
  """Softmax over classes, or a sigmoid per class if `multi_label`: [N, C] -> float64 [N, C]."""
  logits = _matrix(logits, "logits").astype(np.float64)
  if multi_label:
    tail = np.exp(-np.abs(logits))  # Never overflows.
    return np.where(logits >= 0, 1.0, tail) / (1.0 + tail)
  with np.errstate(invalid="ignore"):  # An infinite logit gives NaN here, which callers set to 0.
    exponentials = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=1, keepdims=True)


def true_class_probability(
    logits: np.ndarray, labels: np.ndarray) -> np.ndarray | list[np.ndarray]:
  """Predicted probability of the true class; NaN counts as 0.

  Single-label: float64 [N]. Multi-label: a list of N arrays, the probabilities of that example's
  positive classes in the order of classes.
  """
  labels = np.asarray(labels)
  found = np.nan_to_num(probabilities(logits, multi_label=labels.ndim == 2), nan=0.0)
  if len(labels) != len(found) or (labels.ndim == 2 and labels.shape != found.shape):
    raise ValueError(f"Got logits {list(found.shape)} and labels {list(labels.shape)}; expected "
                     "[N, C] and [N] or [N, C].")
  if labels.ndim == 2:
    return [row[label > 0] for row, label in zip(found, labels)]
  return found[np.arange(len(labels)), labels]


def _matrix(values: np.ndarray, name: str) -> np.ndarray:
  values = np.asarray(values)
  if values.ndim != 2:
    raise ValueError(f"Got {name} of shape {list(values.shape)}; expected [N, C].")
  return values
