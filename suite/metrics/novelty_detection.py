# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Detection of new classes by a score, in a FLUID sequence.

The positives are the steps at which a class occurs for the first time. Most of them are early: half
of the paper's are in the first 1% of the steps, so the score -t ("clock"), which only depends on
the step number, reaches an AUROC of .98, more than any published method. The time-matched AUROC
compares a positive only with steps of the same window, and the report includes the clock as a
baseline. The window must be short against the time in which new classes become rare: n / 180 of n
steps, which is 500 for the paper's sequences, leaves the clock .47 to .55 on Omniglot-FLUID,
Tiny-FLUID and sequences of the paper's size; 500 of Tiny-FLUID's 7,000 steps hold 86% of the
positives and leave it .66 to .76.

    AUROC   the probability that a positive has a higher newness than a negative, ties being half
    AUPR    the mean of the precision at each positive (average precision, not interpolated)
    FPR95   the lowest false positive rate at which at least 95% of the positives are found
    F1      the best over all thresholds, chosen on the same steps, as in the paper
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_WINDOWS = 180  # Windows of a sequence.
_SHORTEST = 5  # Steps; a window of fewer has hardly a pair.
DIRECTIONS = ("new", "known")


class Pairs(NamedTuple):
  """Number of (positive, negative) pairs that are in order; the counts of windows add up.

  Attributes:
    ordered: pairs whose positive has the higher newness; a tie is half a pair.
    total: number of all pairs.
  """

  ordered: float = 0.0
  total: int = 0

  def merge(self, other: Pairs) -> Pairs:
    return Pairs(self.ordered + other.ordered, self.total + other.total)

  @property
  def auroc(self) -> float:
    return self.ordered / self.total if self.total else float("nan")


def pairs(scores: np.ndarray, is_new: np.ndarray, *, high_means: str) -> Pairs:
  """Counts the pairs of n steps: float [n], bool [n]; `high_means` is "new" or "known"."""
  newness, positive = _newness(scores, is_new, high_means)
  num_new = int(np.sum(positive))
  # The mean rank of a positive is one more than the number of negatives and positives below it.
  _, inverse, counts = np.unique(newness, return_inverse=True, return_counts=True)
  ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse.reshape(-1)]
  ordered = float(np.sum(ranks[positive]) - num_new * (num_new + 1) / 2)
  return Pairs(ordered, num_new * (len(newness) - num_new))


def matched_window(num_steps: int) -> int:
  """The window of the time-matched AUROC for a sequence of n steps: n / 180, at least 5."""
  return max(_SHORTEST, num_steps // _WINDOWS)


def time_matched(scores: np.ndarray, is_new: np.ndarray, *, high_means: str,
                 window: int | None = None) -> Pairs:
  """Counts the pairs within each window of steps; windows without a positive have none.

  Args:
    scores, is_new, high_means: see `pairs`; in the order of the steps.
    window: steps; None: `matched_window`.
  """
  window = matched_window(len(is_new)) if window is None else window
  if window < 1:
    raise ValueError(f"Got window={window}; expected at least 1 step.")
  newness, positive = _newness(scores, is_new, high_means)
  found = Pairs()
  for start in range(0, len(newness), window):
    part = slice(start, start + window)
    if positive[part].any():
      found = found.merge(pairs(newness[part], positive[part], high_means="new"))
  return found


class Curve(NamedTuple):
  """Operating points of a score with k different values, the strictest threshold first.

  Attributes:
    thresholds: float [k], by falling newness; steps with at least this newness are called new.
    hits: int [k], number of positives called new.
    alarms: int [k], number of negatives called new.
    num_new: number of all positives. num_old: number of all negatives.
  """

  thresholds: np.ndarray
  hits: np.ndarray
  alarms: np.ndarray
  num_new: int
  num_old: int


def curve(scores: np.ndarray, is_new: np.ndarray, *, high_means: str) -> Curve:
  """Operating points of a score, one for each different value."""
  newness, positive = _newness(scores, is_new, high_means)
  order = np.argsort(-newness, kind="stable")
  newness, positive = newness[order], positive[order]
  ends = np.flatnonzero(np.r_[newness[1:] != newness[:-1], np.ones(min(len(newness), 1), bool)])
  hits = np.cumsum(positive)[ends]
  return Curve(newness[ends], hits, ends + 1 - hits, int(np.sum(positive)),
               int(np.sum(~positive)))


def average_precision(points: Curve) -> float:
  """AUPR: sum of precision times the increase in recall; NaN without a positive."""
  if not points.num_new:
    return float("nan")
  precision = points.hits / (points.hits + points.alarms)
  return float(np.sum(np.diff(points.hits, prepend=0) * precision) / points.num_new)


def false_alarms(points: Curve, recall: float = 0.95) -> float:
  """FPR95: false positive rate at the given recall; NaN if undefined."""
  if not points.num_new or not points.num_old:
    return float("nan")
  # In whole steps: a product such as 0.95 * 20 may be slightly above 19.
  needed = np.ceil(recall * points.num_new - 1e-9)
  first = int(np.argmax(points.hits >= needed))
  return float(points.alarms[first] / points.num_old)


def best_f1(points: Curve) -> tuple[float, float]:
  """The best F1 and its threshold as a newness; NaN without a positive."""
  if not points.num_new:
    return float("nan"), float("nan")
  f1 = 2 * points.hits / (points.hits + points.alarms + points.num_new)
  best = int(np.argmax(f1))
  return float(f1[best]), float(points.thresholds[best])


def detection(scores: np.ndarray, is_new: np.ndarray, *, high_means: str,
              window: int | None = None) -> dict[str, float]:
  """All metrics of a score over a sequence, by name; NaN where one is undefined.

  Args:
    scores: float [n], finite, in the order of the steps.
    is_new: bool [n], see `sequence_accuracy.first_sights`.
    high_means: "new" if a high score indicates a new class (a distance), "known" if it indicates a
      known class (a largest logit or probability).
    window: see `time_matched`.

  Returns:
    new_class_auroc, new_class_aupr, new_class_fpr95, new_class_f1, new_class_f1_threshold (in units
    of the score) and new_class_auroc_time_matched.
  """
  points = curve(scores, is_new, high_means=high_means)
  f1, threshold = best_f1(points)
  both = points.num_new > 0 and points.num_old > 0
  return {
      "new_class_auroc": pairs(scores, is_new, high_means=high_means).auroc,
      "new_class_aupr": average_precision(points) if both else float("nan"),
      "new_class_fpr95": false_alarms(points),
      "new_class_f1": f1 if both else float("nan"),
      "new_class_f1_threshold": threshold if high_means == "new" else -threshold,
      "new_class_auroc_time_matched": time_matched(
          scores, is_new, high_means=high_means, window=window).auroc}


def clock(num_steps: int) -> np.ndarray:
  """The step number as a score, float [n]; a high one means "known"."""
  return np.arange(num_steps, dtype=np.float64)


def clock_baseline(is_new: np.ndarray, window: int | None = None) -> dict[str, float]:
  """Metrics of the clock, the baseline that a score of the images should exceed."""
  return detection(clock(len(is_new)), is_new, high_means="known", window=window)


def _newness(scores: np.ndarray, is_new: np.ndarray, high_means: str
             ) -> tuple[np.ndarray, np.ndarray]:
  """Scores whose high values mean "new", float64 [n], and the positives, bool [n]."""
  if high_means not in DIRECTIONS:
    raise ValueError(
        f"Unknown high_means={high_means!r}; "
        f"allowed are {', '.join(DIRECTIONS)}.")
  scores, is_new = np.asarray(scores, np.float64), np.asarray(is_new, bool)
  if scores.ndim != 1 or scores.shape != is_new.shape:
    raise ValueError(f"Got scores of shape {list(scores.shape)} and is_new of shape "
                     f"{list(is_new.shape)}; expected [n] twice.")
  if np.isnan(scores).any():
    raise ValueError(f"{int(np.isnan(scores).sum())} of {len(scores)} scores are NaN. Give steps "
                     "at which no class is known a number, for example an infinite newness.")
  return (scores if high_means == "new" else -scores), is_new
