# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a FLUID sequence (Wallingford et al., 2020, section 3): one answer a step, in order.

Arrays run over the n steps of the sequence; labels are class indices. "Known" classes are those the
model was pre-trained on; the others are novel. Classes that never occur in the sequence have no
accuracy and count nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn import metrics as sklearn_metrics

SECTIONS = ("novel_head", "pretrain_head", "novel_tail", "pretrain_tail")
DIRECTIONS = ("new", "known")


def overall(correct: np.ndarray) -> float:
  """Share of correct answers of the whole sequence: bool [n]."""
  correct = np.asarray(correct, bool)
  if correct.ndim != 1 or not len(correct):
    raise ValueError(f"Got correct of shape {list(correct.shape)}; expected [n], n >= 1.")
  return float(np.mean(correct))


def per_class(correct: np.ndarray, labels: np.ndarray) -> dict[int, float]:
  """Accuracy of every class that occurs, by class index."""
  return {c: hits / count for c, (hits, count) in _counts(correct, labels).items()}


def mean_per_class(correct: np.ndarray, labels: np.ndarray) -> float:
  """Mean of the accuracies of all classes that occur, large and small alike."""
  return float(np.mean(list(per_class(correct, labels).values())))


def cross_sections(correct: np.ndarray, labels: np.ndarray, known: Iterable[int], *,
                   threshold: int = 50, threshold_is_head: bool = False) -> dict[str, float]:
  """Mean class accuracy of pre-trained and novel, head and tail classes; NaN where there is none.

  Args:
    correct: bool [n].
    labels: int [n].
    known: classes of the pre-training.
    threshold: a class with more samples in the sequence is head, with fewer tail.
    threshold_is_head: where a class of exactly `threshold` samples belongs; the paper's table 2
      says tail, its figure 4 head.
  """
  sections: dict[str, list[float]] = {name: [] for name in SECTIONS}
  known = {int(c) for c in known}
  for c, (hits, count) in _counts(correct, labels).items():
    is_head = count > threshold or (threshold_is_head and count == threshold)
    origin = "pretrain" if c in known else "novel"
    sections[f"{origin}_{'head' if is_head else 'tail'}"].append(hits / count)
  return {name: float(np.mean(v)) if v else float("nan") for name, v in sections.items()}


def windowed(correct: np.ndarray, window: int) -> np.ndarray:
  """Accuracy of each `window` steps in turn, the last one perhaps shorter: [ceil(n / window)]."""
  if window < 1:
    raise ValueError(f"Got window={window}; expected at least 1 step.")
  correct = np.asarray(correct, np.float64)
  starts = np.arange(0, len(correct), window)
  return np.add.reduceat(correct, starts) / np.diff([*starts, len(correct)])


def first_sights(labels: np.ndarray, known: Iterable[int] = ()) -> np.ndarray:
  """Which steps show a class that is neither known nor seen before: bool [n]."""
  labels = np.asarray(labels)
  first = np.zeros(len(labels), bool)
  first[np.unique(labels, return_index=True)[1]] = True
  return first & ~np.isin(labels, [int(c) for c in known])


def new_class_detection(
    scores: np.ndarray, is_new: np.ndarray, *, high_means: str) -> dict[str, float]:
  """How well a score tells first sights of a class from the rest; NaN if either is missing.

  Args:
    scores: float [n].
    is_new: bool [n], see `first_sights`; these are the positives.
    high_means: "new" if a high score says new class (a distance), "known" if it says known class (a
      largest logit or probability).

  Returns:
    new_class_auroc, and new_class_f1: the best over all thresholds, chosen on the same data as in
    the paper.
  """
  if high_means not in DIRECTIONS:
    raise ValueError(f"Unknown high_means={high_means!r}; allowed are {', '.join(DIRECTIONS)}.")
  scores, is_new = np.asarray(scores, np.float64), np.asarray(is_new, bool)
  if scores.ndim != 1 or scores.shape != is_new.shape:
    raise ValueError(f"Got scores of shape {list(scores.shape)} and is_new of shape "
                     f"{list(is_new.shape)}; expected [n] twice.")
  if is_new.all() or not is_new.any():
    return {"new_class_auroc": float("nan"), "new_class_f1": float("nan")}
  newness = scores if high_means == "new" else -scores
  precision, recall, _ = sklearn_metrics.precision_recall_curve(is_new, newness)
  total = precision + recall
  f1 = 2 * precision * recall / np.where(total > 0, total, 1)
  return {"new_class_auroc": float(sklearn_metrics.roc_auc_score(is_new, newness)),
          "new_class_f1": float(np.max(f1))}


def majority_baseline(labels: np.ndarray) -> np.ndarray:
  """What always answering the commonest class so far scores: bool [n].

  The first step has no answer and is wrong. Of equally common classes, the one that got there first
  stays the answer.
  """
  counts: dict[int, int] = {}
  answer, correct = None, []
  for label in np.asarray(labels).tolist():
    correct.append(label == answer)
    counts[label] = counts.get(label, 0) + 1
    if answer is None or counts[label] > counts[answer]:
      answer = label
  return np.array(correct, bool)


def summary(correct: np.ndarray, labels: np.ndarray, known: Iterable[int], *,
            threshold: int = 50, threshold_is_head: bool = False) -> dict[str, float]:
  """Overall, mean per class and the four sections by name."""
  return {
      "overall": overall(correct),
      "mean_per_class": mean_per_class(correct, labels),
      **cross_sections(correct, labels, known, threshold=threshold,
                       threshold_is_head=threshold_is_head),
      "majority_baseline": overall(majority_baseline(labels)),
  }


def _counts(correct: np.ndarray, labels: np.ndarray) -> dict[int, tuple[int, int]]:
  """Correct answers and samples by class."""
  correct, labels = np.asarray(correct, bool), np.asarray(labels)
  if labels.ndim != 1 or correct.shape != labels.shape or not len(labels):
    raise ValueError(f"Got correct of shape {list(correct.shape)} and labels of shape "
                     f"{list(labels.shape)}; expected [n] twice, n >= 1.")
  classes, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
  hits = np.bincount(inverse, weights=correct, minlength=len(classes))
  return {int(c): (int(h), int(n)) for c, h, n in zip(classes, hits, counts)}
