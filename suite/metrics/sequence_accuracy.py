# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Accuracies of a FLUID sequence (Wallingford et al., 2020, section 3): one answer per step.

Arrays run over the n steps of the sequence; labels are class indices. Base ("known") classes are
those of the pre-training; the others are novel. Classes that never occur in the sequence have no
accuracy and are not counted.

FLUID's accuracies by section (Wallingford et al., 2020, section 3), from saved answers.

Every score is computed from the answers of the whole run, so thresholds can be changed after it.

    open     the answer is one of the K known classes or "new"; correct if it is the label, or "new"
             at the first occurrence of a class
    closed   the answer is the best known class; wrong at every first occurrence

Base classes are those known from pre-training; the others are novel.
"""

from __future__ import annotations

from collections.abc import Iterable
import typing
from typing import Literal, NamedTuple

import numpy as np

SECTIONS = ("novel_head", "pretrain_head", "novel_tail", "pretrain_tail")
Comparison = Literal[">", ">="]
COMPARISONS = typing.get_args(Comparison)


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


class SequenceAnswers(NamedTuple):
  """SequenceAnswers of n consecutive steps of a sequence of C classes.

  Attributes:
    labels: int64 [n], 0..C-1.
    open: int64 [n], the open answers; C is "new", -1 no answer.
    closed: int64 [n], the closed answers; -1 is no answer, while no class is known.
  """

  labels: np.ndarray
  open: np.ndarray
  closed: np.ndarray


def open_correct(answers: SequenceAnswers, known: Iterable[int], num_classes: int,
                 is_new: np.ndarray | None = None) -> np.ndarray:
  """Which open answers (among K + 1) are correct: bool [n].

  Args:
    answers: n steps.
    num_classes: C.
    known: the base classes.
    is_new: bool [n], where "new" is correct. Default: the first occurrence of each class, which
      holds unless labels are delayed.
  """
  if is_new is None:
    is_new = first_sights(answers.labels, known)
  return np.asarray(answers.open) == np.where(is_new, num_classes, answers.labels)


def closed_correct(answers: SequenceAnswers) -> np.ndarray:
  """Which closed answers (among the known classes) are correct: bool [n]."""
  return np.asarray(answers.closed) == np.asarray(answers.labels)


def occurrences(labels: np.ndarray) -> np.ndarray:
  """Number of earlier steps with the same class, for each step: int64 [n]."""
  labels = np.asarray(labels)
  if not len(labels):
    return np.zeros(0, np.int64)
  order = np.argsort(labels, kind="stable")
  in_order = labels[order]
  starts = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]])
  ranks = np.arange(len(labels)) - np.repeat(starts, np.diff(np.r_[starts, len(labels)]))
  before = np.empty(len(labels), np.int64)
  before[order] = ranks
  return before


def by_occurrence(correct: np.ndarray, labels: np.ndarray, known: Iterable[int] = (), *,
                  num: int = 20) -> tuple[np.ndarray, np.ndarray]:
  """Accuracy at the 1st, 2nd, ... `num`-th occurrence of novel classes.

  Returns:
    accuracies: float [num]; NaN where no class occurs that often.
    counts: int64 [num], the number of steps behind each accuracy.
  """
  correct, times = _checked(correct, labels), occurrences(labels)
  chosen = ~np.isin(labels, [int(c) for c in known]) & (times < num)
  counts = np.bincount(times[chosen], minlength=num)
  hits = np.bincount(times[chosen], weights=correct[chosen], minlength=num)
  return np.where(counts > 0, hits / np.maximum(counts, 1), np.nan), counts


def first_sight(correct: np.ndarray, labels: np.ndarray, known: Iterable[int] = ()) -> float:
  """Accuracy at the first occurrences of novel classes; NaN if there is none."""
  correct, first = _checked(correct, labels), first_sights(labels, known)
  return float(np.mean(correct[first])) if first.any() else float("nan")


def sliding(correct: np.ndarray, window: int, every: int = 1) -> np.ndarray:
  """Accuracy over the last `window` steps, after every `every` steps: [n // every].

  Before step `window` it is the accuracy over all steps so far.
  """
  if window < 1 or every < 1:
    raise ValueError(f"Got window={window} and every={every}; each is at least 1 step.")
  total = np.r_[0, np.cumsum(np.asarray(correct, bool))]
  ends = np.arange(every, len(total), every)
  starts = np.maximum(ends - window, 0)
  return (total[ends] - total[starts]) / (ends - starts)


def report(answers: SequenceAnswers, known: Iterable[int], num_classes: int, *, threshold: int = 50,
           head_is: str = ">", num_occurrences: int = 20, is_new: np.ndarray | None = None
           ) -> dict[str, object]:
  """All scores of a run by name: those of the open answers, and under "closed" the closed ones'."""
  known = [int(c) for c in known]
  scores: dict[str, object] = {}
  right = {"open": open_correct(answers, known, num_classes, is_new),
           "closed": closed_correct(answers)}
  for name, correct in right.items():
    accuracies, counts = by_occurrence(correct, answers.labels, known, num=num_occurrences)
    found = {
        "overall": overall(correct),
        "mean_per_class": mean_per_class(correct, answers.labels),
        **cross_sections(correct, answers.labels, known, threshold=threshold,
                                           head_is=head_is),
        "first_sight": first_sight(correct, answers.labels, known),
        "by_occurrence": [None if np.isnan(a) else float(a) for a in accuracies]}
    if name == "open":
      scores.update(found, samples_by_occurrence=counts.tolist())
    else:
      scores[name] = found
  scores["majority_baseline"] = overall(
      majority_baseline(answers.labels))
  return scores


def _checked(correct: np.ndarray, labels: np.ndarray) -> np.ndarray:
  correct, labels = np.asarray(correct, bool), np.asarray(labels)
  if labels.ndim != 1 or correct.shape != labels.shape:
    raise ValueError(f"Got correct of shape {list(correct.shape)} and labels of shape "
                     f"{list(labels.shape)}; expected [n] twice.")
  return correct
