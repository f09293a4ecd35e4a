# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The answers of a FLUID run so far, and all scores computed from them.

A `SequenceLog` holds columns over steps. Logs of consecutive parts are concatenated, a resumed run
reads its log from its records, and every score is computed from the whole log, so the scores do not
depend on how a sequence was divided.

    open     the answer is one of the K known classes or "new" (K + 1); correct if it is the label,
             or "new" where the label's class is not known yet
    closed   the answer is the best known class; wrong where the label's class is not known yet

Novelty scores, all high for known classes (C classes, of which K are known):

    max_logit     largest logit of a known class; thresholding it is Minimum Distance Thresholding
                  where logits are negative squared distances
    max_softmax   largest probability among known classes
    energy        log sum exp of the logits of known classes

Further ones are reported where a run has what they need, and decide nothing:

    margin          largest minus second largest logit
    distance_ratio  minus the ratio of the squared distances to the nearest and the second nearest
                    class, where logits are negative squared distances
    class_wise      the largest logit against those of the answered class so far
    nearest         minus the squared distance to the k-th nearest earlier sample
    answer          1 for a known class, 0 for "new": the score and threshold that decided, such as
                    Minimum Distance Thresholding (MDT); its F1 is that of the answers

Detection of new classes by a score, in a FLUID sequence.

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

from collections.abc import Iterable, Mapping, Sequence
import typing
from typing import Any, Literal, NamedTuple

import numpy as np

from suite.metrics import classification
from suite.metrics import novelty_scores
from suite.metrics import schema
from suite.metrics import sequence_accuracy

NoveltyScore = Literal["max_logit", "max_softmax", "energy"]
NOVELTY_SCORES = typing.get_args(NoveltyScore)
MAX_LOGIT = NOVELTY_SCORES[0]
FURTHER_SCORES = ("margin", "distance_ratio", "class_wise", "nearest", "answer")
NO_ANSWER = -1
_WHOLE = ("labels", "answers", "closed_answers", "unknown")
_FLOATS = ("max_logits", "energies", "second_logits", "neighbors")
_OPTIONAL = ("second_logits", "neighbors")
_COUNTED = (schema.SEEN, schema.CORRECT, schema.CLOSED_CORRECT, schema.NEW)
_WINDOWS = 180  # Windows of a sequence.
_SHORTEST = 5  # Steps; a window of fewer has hardly a pair.
DIRECTIONS = ("new", "known")


class SequenceLog(NamedTuple):
  """n consecutive steps.

  Attributes:
    labels: int64 [n], 0..C-1.
    answers: int64 [n], open answers; "new" is C, -1 none.
    closed_answers: int64 [n]; -1 is none.
    unknown: bool [n], whether the label's class was unknown when the answer was given.
    max_logits: float64 [n], -inf while no class is known, NaN if the learner returned NaN.
    energies: float64 [n], likewise.
    second_logits: float64 [n], second largest logits of known classes; -inf while fewer than two
      are known, and in records of earlier versions.
    neighbors: float64 [n], the score "nearest"; -inf while there are fewer than k samples, or where
      nobody asked for it.
  """

  labels: np.ndarray
  answers: np.ndarray
  closed_answers: np.ndarray
  unknown: np.ndarray
  max_logits: np.ndarray
  energies: np.ndarray
  second_logits: np.ndarray
  neighbors: np.ndarray

  def merge(self, later: SequenceLog) -> SequenceLog:
    """Concatenates this log and that of the steps after it."""
    return SequenceLog(*(np.concatenate(pair) for pair in zip(self, later)))

  def first(self, num: int) -> SequenceLog:
    """Returns the first `num` steps."""
    return SequenceLog(*(column[:num] for column in self))

  def correct(self, num_classes: int) -> np.ndarray:
    """Which open answers are correct, bool [n]."""
    return self.answers == np.where(self.unknown, num_classes, self.labels)

  def closed_correct(self) -> np.ndarray:
    """Which closed answers are correct, bool [n]; False where the class is unknown."""
    return self.closed_answers == self.labels

  def scores(self, name: str) -> np.ndarray:
    """Novelty score [n] by name, high for known classes; -inf where there is no answer."""
    best, second = self.max_logits, self.second_logits
    best = np.where(np.isnan(best), -np.inf, best)
    if name == "margin":
      return novelty_scores.margin_of(best, second)
    if name == "distance_ratio":
      return -novelty_scores.distance_ratio_of(best, second)
    if name == "class_wise":
      return novelty_scores.class_wise(best, self.closed_answers, self.labels)
    if name == "nearest":
      return self.neighbors
    return novelty(name, self.max_logits, self.energies)

  def further_scores(self, num_classes: int) -> dict[str, np.ndarray]:
    """Those of `FURTHER_SCORES` that the log has what they need for, by name."""
    found = {}
    there = np.isfinite(self.max_logits)
    if np.isfinite(self.second_logits).any():
      found["margin"] = self.scores("margin")
      if not np.any(self.max_logits[there] > 0.0):
        found["distance_ratio"] = self.scores("distance_ratio")
    by_class = self.scores("class_wise")
    if np.any(by_class[there]):  # Some classes have a spread.
      found["class_wise"] = by_class
    if np.isfinite(self.neighbors).any():
      found["nearest"] = self.scores("nearest")
    is_new = self.answers == num_classes
    if np.any(is_new & there):  # While no class is known, every answer is "new".
      found["answer"] = np.where(is_new, 0.0, 1.0)
    return found

  def record(self, num_classes: int, before: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns scores of these steps, running counts over the sequence so far, and the columns.

    Args:
      num_classes: C.
      before: the records so far.
    """
    num, correct = len(self.labels), int(np.sum(self.correct(num_classes)))
    found: dict[str, Any] = {
        schema.SEEN: num, schema.CORRECT: correct, schema.ERROR: classification.error(correct, num),
        schema.CLOSED_CORRECT: int(np.sum(self.closed_correct())),
        schema.NEW: int(np.sum(self.unknown))}
    last = next(reversed(schema.of_steps(before)), {})
    so_far = {f"{name}_so_far": last.get(f"{name}_so_far", 0) + found[name] for name in _COUNTED}
    return {**found, **so_far, **self.columns()}

  def predictions(self, num_classes: int, probabilities: np.ndarray) -> dict[str, Any]:
    """Returns the predictions of the steps; "new" is a top-1 of C.

    Args:
      num_classes: C.
      probabilities: float [n], those of the true classes.
    """
    return dict(labels=self.labels, top1=self.answers, correct=self.correct(num_classes),
                true_class_probability=probabilities)

  def columns(self) -> dict[str, list[Any]]:
    """Converts the log to lists of plain values for a record; non-finite numbers become None, and
    columns without any other are left out.
    """
    found: dict[str, list[Any]] = {
        name: getattr(self, name).astype(np.int64).tolist() for name in _WHOLE}
    for name in _FLOATS:
      values = getattr(self, name)
      if name in _OPTIONAL and not np.isfinite(values).any():
        continue
      listed: list[Any] = values.tolist()
      for i in np.flatnonzero(~np.isfinite(values)):
        listed[i] = None
      found[name] = listed
    return found


def novelty(name: str, max_logits: np.ndarray, energies: np.ndarray) -> np.ndarray:
  """Computes a novelty score [n] by name; see the module."""
  if name not in NOVELTY_SCORES:
    raise ValueError(f"Unknown novelty score {name!r}; allowed are {', '.join(NOVELTY_SCORES)}.")
  max_logits, energies = np.asarray(max_logits, np.float64), np.asarray(energies, np.float64)
  there = np.isfinite(max_logits)
  if name == "max_softmax":
    chosen = np.exp(np.where(there, max_logits - np.where(there, energies, 0.0), 0.0))
  else:
    chosen = max_logits if name == "max_logit" else energies
  return np.where(there, chosen, -np.inf)


class Novelty(NamedTuple):
  """Rule for the answer "new": a novelty score is below a threshold.

  Attributes:
    score: one of `NOVELTY_SCORES`.
    new_below: the threshold; None takes the learner's.
  """

  score: NoveltyScore = "max_logit"
  new_below: float | None = None

  def with_own(self, new_below: float | None) -> Novelty:
    """Returns a copy with the learner's threshold where none is set; None: it has none either."""
    if self.new_below is not None:
      return self
    return Novelty(self.score, -np.inf if new_below is None else new_below)

  def log(self, labels: np.ndarray, unknown: np.ndarray, closed_answers: np.ndarray,
          max_logits: np.ndarray, energies: np.ndarray, *, num_classes: int,
          second_logits: np.ndarray | None = None, neighbors: np.ndarray | None = None
          ) -> SequenceLog:
    """Builds the log of n steps from the learner's output; arguments are its columns, [n].

    "new" is also the answer while no class is known.
    """
    max_logits = np.asarray(max_logits, np.float64)
    below = novelty(self.score, max_logits, energies) < (
        -np.inf if self.new_below is None else self.new_below)
    answers = np.where(np.isneginf(max_logits) | below, num_classes, closed_answers)
    # NaN or plus infinity: the learner has diverged.
    answers = np.where(np.isnan(max_logits) | np.isposinf(max_logits), NO_ANSWER, answers)
    return SequenceLog(np.asarray(labels, np.int64), answers.astype(np.int64),
                     np.asarray(closed_answers, np.int64), np.asarray(unknown, bool), max_logits,
                     np.asarray(energies, np.float64), _or_none(second_logits, len(max_logits)),
                     _or_none(neighbors, len(max_logits)))


def _or_none(values: np.ndarray | None, num: int) -> np.ndarray:
  """A column, float64 [num]; -inf where it is not given, or NaN."""
  if values is None:
    return np.full(num, -np.inf)
  values = np.asarray(values, np.float64)
  return np.where(np.isnan(values), -np.inf, values)


def empty() -> SequenceLog:
  """Returns a log of 0 steps."""
  whole = np.zeros(0, np.int64)
  return SequenceLog(whole, whole, whole, whole.astype(bool), *[np.zeros(0)] * len(_FLOATS))


def from_record(record: Mapping[str, Any]) -> SequenceLog:
  """Reads the columns that `SequenceLog.columns` wrote; None is read as "no class is known"."""
  labels, answers, closed, unknown = (np.asarray(record[name], np.int64) for name in _WHOLE)
  floats = (np.array([-np.inf if v is None else v for v in record.get(name, ())])
            for name in _FLOATS)
  return SequenceLog(labels, answers, closed, unknown.astype(bool), *(
      column if len(column) else np.full(len(labels), -np.inf) for column in floats))


def from_records(records: Iterable[Mapping[str, Any]]) -> SequenceLog:
  """Reads and concatenates the logs of the steps among a run's records."""
  parts = [from_record(r) for r in schema.of_steps(records)]
  return SequenceLog(*(np.concatenate(columns) for columns in zip(*parts))) if parts else empty()


def detection(log: SequenceLog, novelty_score: str, window: int | None = None,
              num_classes: int | None = None) -> dict[str, Any]:
  """Detection metrics of the score that decides, of every score and of the clock baseline.

  The clock scores a step by its number alone. What remains of it in the time-matched AUROC, which
  compares steps of the same `window` only (see `sequence_log.time_matched`), is its own
  time-matched AUROC. With C given, `FURTHER_SCORES` have rows, too.
  """
  if window is None:
    window = matched_window(len(log.labels))
  found: dict[str, Any] = {
      "matched_window": window,
      "new_class_score": novelty_score, "new_class_score_high_means": "known",
      **detection_scores(
          log.scores(novelty_score), log.unknown, high_means="known", window=window)}
  rows = {name: detection_scores(
      log.scores(name), log.unknown, high_means="known", window=window) for name in NOVELTY_SCORES}
  further = {} if num_classes is None else log.further_scores(num_classes)
  rows.update({name: detection_scores(
      values, log.unknown, high_means="known", window=window) for name, values in further.items()})
  rows["clock"] = clock_baseline(log.unknown, window)
  found["detection"] = {name: {"high_means": "known", **row} for name, row in rows.items()}
  return found


def summary(log: SequenceLog, known: Iterable[int], num_classes: int, *, threshold: int = 50,
            head_is: str = ">", window: int = 500, matched_window: int | None = None,
            novelty_score: str = "max_logit", segments: np.ndarray | None = None
            ) -> dict[str, Any]:
  """All scores of a run by name; NaN where one is undefined.

  Args:
    log: all n steps.
    known: base classes. num_classes: C.
    threshold, head_is: see `sequence_accuracy.cross_sections`.
    window: number of steps of the sliding accuracy.
    matched_window: number of steps of a window of the time-matched AUROC; None: n / 180.
    novelty_score: name of the score that decides what is "new".
    segments: int [n], the segment of a non-stationary sequence that each step belongs to.
  """
  known, correct = [int(c) for c in known], log.correct(num_classes)
  answers = sequence_accuracy.SequenceAnswers(log.labels, log.answers, log.closed_answers)
  majority = sequence_accuracy.majority_baseline(log.labels)
  found: dict[str, Any] = {
      **sequence_accuracy.report(answers, known, num_classes, threshold=threshold, head_is=head_is,
                               is_new=log.unknown),
      "majority_baseline_mean_per_class": sequence_accuracy.mean_per_class(majority, log.labels),
      "by_window": sequence_accuracy.sliding(correct, window, every=window).tolist(),
      "no_answer": int(np.sum(log.answers == NO_ANSWER)),
      **detection(log, novelty_score, matched_window, num_classes)}
  if segments is not None and len(np.unique(segments)) > 1:
    found["by_segment"] = [float(np.mean(correct[segments == s])) for s in np.unique(segments)]
  return found


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


class ThresholdAccuracies(NamedTuple):
  """Accuracy of known and of new classes at each threshold of a score (figure 5 of the paper).

  Attributes:
    thresholds: float [k], rising; steps with a lower score are called new.
    known: float [k], share of the steps of known classes that are not called new and whose closed
      answer is right.
    new: float [k], share of the first sights that are called new.
  """

  thresholds: np.ndarray
  known: np.ndarray
  new: np.ndarray

  @property
  def crossing(self) -> tuple[float, float]:
    """The threshold at which the lower of both is highest, and that accuracy."""
    lower = np.minimum(self.known, self.new)
    best = int(np.argmax(lower))
    return float(self.thresholds[best]), float(lower[best])


def threshold_accuracies(log: SequenceLog, name: str) -> ThresholdAccuracies:
  """The accuracies at all thresholds that differ, of steps with a finite score.

  Without a step of a known class or without a first sight there are none.
  """
  scores, right = log.scores(name), log.closed_correct()
  there = np.isfinite(scores)
  scores, right, is_new = scores[there], right[there], log.unknown[there]
  if not is_new.any() or is_new.all():
    return ThresholdAccuracies(*(np.zeros(0) for _ in range(3)))
  thresholds = np.r_[np.unique(scores), np.inf]
  kept = np.sort(scores[right & ~is_new])
  return ThresholdAccuracies(
      thresholds, (len(kept) - np.searchsorted(kept, thresholds)) / np.sum(~is_new),
      np.searchsorted(np.sort(scores[is_new]), thresholds) / np.sum(is_new))


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


def detection_scores(scores: np.ndarray, is_new: np.ndarray, *, high_means: str,
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
  return detection_scores(clock(len(is_new)), is_new, high_means="known", window=window)


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
