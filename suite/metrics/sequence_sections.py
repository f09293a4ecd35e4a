# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's accuracies by section (Wallingford et al., 2020, section 3), from saved answers.

An `Answers` is what a run has saved of n steps; those of a run that was stopped and resumed are put
together by `joined`, and every figure is computed from the whole. So nothing needs a state of its
own, and thresholds can be changed after the run.

    open     the answer is one of the K known classes or "new"; right if it is the label, or "new"
             at a first sight
    closed   the answer is the best known class; wrong at every first sight

Base classes are those known from pretraining; the others are novel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from suite.metrics import sequence_accuracy

COMPARISONS = (">", ">=")


class Answers(NamedTuple):
  """n consecutive steps of a sequence of C classes.

  Attributes:
    labels: int64 [n], 0..C-1.
    open: int64 [n], the answers with "new", which is C. -1 is none.
    closed: int64 [n], the answers without "new". -1 is none, while no class is known.
  """

  labels: np.ndarray
  open: np.ndarray
  closed: np.ndarray


def joined(parts: Sequence[Answers]) -> Answers:
  """The steps of all parts, in order."""
  if not parts:
    raise ValueError("There are no answers to join; a sequence has at least one step.")
  return Answers(*(np.concatenate([np.asarray(p[i], np.int64) for p in parts]) for i in range(3)))


def open_correct(answers: Answers, known: Iterable[int], num_classes: int,
                 is_new: np.ndarray | None = None) -> np.ndarray:
  """Which answers among K + 1 are right: bool [n].

  Args:
    answers: n steps. num_classes: C.
    known: the base classes.
    is_new: bool [n], where "new" is right; at first sights if not given, which is so unless labels
      come late.
  """
  if is_new is None:
    is_new = sequence_accuracy.first_sights(answers.labels, known)
  return np.asarray(answers.open) == np.where(is_new, num_classes, answers.labels)


def closed_correct(answers: Answers) -> np.ndarray:
  """Which answers among the known classes are right: bool [n]."""
  return np.asarray(answers.closed) == np.asarray(answers.labels)


def occurrences(labels: np.ndarray) -> np.ndarray:
  """How often the class of each step came before: int64 [n], 0 at its first time."""
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
  """Accuracy at the 1st, 2nd, ... `num`-th time a novel class is met.

  Returns:
    accuracies: float [num]; NaN where no class comes so often.
    counts: int64 [num], the steps behind each.
  """
  correct, times = _checked(correct, labels), occurrences(labels)
  chosen = ~np.isin(labels, [int(c) for c in known]) & (times < num)
  counts = np.bincount(times[chosen], minlength=num)
  hits = np.bincount(times[chosen], weights=correct[chosen], minlength=num)
  return np.where(counts > 0, hits / np.maximum(counts, 1), np.nan), counts


def first_sight(correct: np.ndarray, labels: np.ndarray, known: Iterable[int] = ()) -> float:
  """Accuracy at the steps that show a class for the first time; NaN if there is none."""
  correct, first = _checked(correct, labels), sequence_accuracy.first_sights(labels, known)
  return float(np.mean(correct[first])) if first.any() else float("nan")


def sliding(correct: np.ndarray, window: int, every: int = 1) -> np.ndarray:
  """Accuracy of the last `window` steps, after every `every` steps: [n // every].

  Before `window` steps have been made it is that of all so far.
  """
  if window < 1 or every < 1:
    raise ValueError(f"Got window={window} and every={every}; each is at least 1 step.")
  total = np.r_[0, np.cumsum(np.asarray(correct, bool))]
  ends = np.arange(every, len(total), every)
  starts = np.maximum(ends - window, 0)
  return (total[ends] - total[starts]) / (ends - starts)


def cross_sections(correct: np.ndarray, labels: np.ndarray, known: Iterable[int], *,
                   threshold: int = 50, head_is: str = ">") -> dict[str, float]:
  """Mean class accuracy of the four sections; NaN where a section has no class.

  Args:
    correct: bool [n].
    labels: int [n].
    known: the base classes.
    threshold: samples of a class in the sequence.
    head_is: ">" (the paper's table 2) or ">=" (its figure 4): how the samples of a head class
      compare with the threshold.
  """
  _check_comparison(head_is)
  return sequence_accuracy.cross_sections(correct, labels, known, threshold=threshold,
                               threshold_is_head=head_is == ">=")


def report(answers: Answers, known: Iterable[int], num_classes: int, *, threshold: int = 50,
           head_is: str = ">", num_occurrences: int = 20, is_new: np.ndarray | None = None
           ) -> dict[str, object]:
  """All scores of a run by name: those of open answers, "closed": the same of closed ones."""
  known = [int(c) for c in known]
  scores: dict[str, object] = {}
  right = {"open": open_correct(answers, known, num_classes, is_new),
           "closed": closed_correct(answers)}
  for name, correct in right.items():
    accuracies, counts = by_occurrence(correct, answers.labels, known, num=num_occurrences)
    found = {
        "overall": sequence_accuracy.overall(correct),
        "mean_per_class": sequence_accuracy.mean_per_class(correct, answers.labels),
        **cross_sections(correct, answers.labels, known, threshold=threshold, head_is=head_is),
        "first_sight": first_sight(correct, answers.labels, known),
        "by_occurrence": [None if np.isnan(a) else float(a) for a in accuracies]}
    if name == "open":
      scores.update(found, samples_by_occurrence=counts.tolist())
    else:
      scores[name] = found
  scores["majority_baseline"] = sequence_accuracy.overall(
      sequence_accuracy.majority_baseline(answers.labels))
  return scores


def section_sizes(labels: np.ndarray, known: Iterable[int], *, threshold: int = 50,
                  head_is: str = ">", num_classes: int | None = None
                  ) -> dict[str, tuple[int, int]]:
  """(classes, samples) of each section; classes that never occur are tail if `num_classes` is set.

  With these, the four sections give back the mean per class.
  """
  _check_comparison(head_is)
  counts = np.bincount(np.asarray(labels, np.int64), minlength=num_classes or 0)
  there = counts > 0 if num_classes is None else np.ones(len(counts), bool)
  is_known = np.isin(np.arange(len(counts)), [int(c) for c in known])
  is_head = counts >= threshold if head_is == ">=" else counts > threshold
  sizes = {}
  for name in sequence_accuracy.SECTIONS:
    origin, frequency = name.split("_")
    member = there & (is_known == (origin == "pretrain")) & (is_head == (frequency == "head"))
    sizes[name] = (int(np.sum(member)), int(np.sum(counts[member])))
  return sizes


def _check_comparison(head_is: str) -> None:
  if head_is not in COMPARISONS:
    raise ValueError(f"Unknown head_is={head_is!r}; allowed are {', '.join(COMPARISONS)}.")


def _checked(correct: np.ndarray, labels: np.ndarray) -> np.ndarray:
  correct, labels = np.asarray(correct, bool), np.asarray(labels)
  if labels.ndim != 1 or correct.shape != labels.shape:
    raise ValueError(f"Got correct of shape {list(correct.shape)} and labels of shape "
                     f"{list(labels.shape)}; expected [n] twice.")
  return correct
