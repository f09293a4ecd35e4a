# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Accuracies of a FLUID sequence (Wallingford et al., 2020, section 3): one answer per step.

Arrays run over the n steps of the sequence; labels are class indices. Base ("known") classes are
those of the pre-training; the others are novel. Classes that never occur in the sequence have no
accuracy and are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

SECTIONS = ("novel_head", "pretrain_head", "novel_tail", "pretrain_tail")
COMPARISONS = (">", ">=")


def overall(correct: np.ndarray) -> float:
  """Accuracy over the whole sequence, from bool [n]."""
  correct = np.asarray(correct, bool)
  if correct.ndim != 1 or not len(correct):
    raise ValueError(f"Got correct of shape {list(correct.shape)}; expected [n], n >= 1.")
  return float(np.mean(correct))


def per_class(correct: np.ndarray, labels: np.ndarray) -> dict[int, float]:
  """Accuracy of each class that occurs, by class index."""
  return {c: hits / count for c, (hits, count) in _counts(correct, labels).items()}


def mean_per_class(correct: np.ndarray, labels: np.ndarray) -> float:
  """Unweighted mean of the accuracies of the classes that occur."""
  return float(np.mean(list(per_class(correct, labels).values())))


def cross_sections(correct: np.ndarray, labels: np.ndarray, known: Iterable[int], *,
                   threshold: int = 50, head_is: str = ">") -> dict[str, float]:
  """Mean class accuracy of the four sections; NaN where a section has no class.

  Args:
    correct: bool [n].
    labels: int [n].
    known: the base classes.
    threshold: number of samples of a class in the sequence.
    head_is: how the number of samples of a head class compares with `threshold`: ">" (table 2 of
      the paper) or ">=" (its figure 4).
  """
  if head_is not in COMPARISONS:
    raise ValueError(f"Unknown head_is={head_is!r}; allowed are {', '.join(COMPARISONS)}.")
  sections: dict[str, list[float]] = {name: [] for name in SECTIONS}
  known = {int(c) for c in known}
  for c, (hits, count) in _counts(correct, labels).items():
    is_head = count > threshold or (head_is == ">=" and count == threshold)
    origin = "pretrain" if c in known else "novel"
    sections[f"{origin}_{'head' if is_head else 'tail'}"].append(hits / count)
  return {name: float(np.mean(v)) if v else float("nan") for name, v in sections.items()}


def first_sights(labels: np.ndarray, known: Iterable[int] = ()) -> np.ndarray:
  """Steps at which a class that is not known occurs for the first time: bool [n]."""
  labels = np.asarray(labels)
  first = np.zeros(len(labels), bool)
  first[np.unique(labels, return_index=True)[1]] = True
  return first & ~np.isin(labels, [int(c) for c in known])


def majority_baseline(labels: np.ndarray) -> np.ndarray:
  """Correctness [n] of the baseline that answers the most frequent class so far.

  The first step has no answer and is wrong. Of equally frequent classes, the one that reached the
  count first remains the answer.
  """
  counts: dict[int, int] = {}
  answer, correct = None, []
  for label in np.asarray(labels).tolist():
    correct.append(label == answer)
    counts[label] = counts.get(label, 0) + 1
    if answer is None or counts[label] > counts[answer]:
      answer = label
  return np.array(correct, bool)


def _counts(correct: np.ndarray, labels: np.ndarray) -> dict[int, tuple[int, int]]:
  """(number of correct answers, number of samples) by class."""
  correct, labels = np.asarray(correct, bool), np.asarray(labels)
  if labels.ndim != 1 or correct.shape != labels.shape or not len(labels):
    raise ValueError(f"Got correct of shape {list(correct.shape)} and labels of shape "
                     f"{list(labels.shape)}; expected [n] twice, n >= 1.")
  classes, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
  hits = np.bincount(inverse, weights=correct, minlength=len(classes))
  return {int(c): (int(h), int(n)) for c, h, n in zip(classes, hits, counts)}
