# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of an accuracy matrix, as CLEAR defines them (Lin et al., 2021, section 4), and its views.

R is [T, T] for T buckets: R[i, j] is the accuracy on bucket j after training on bucket i; NaN means
"not evaluated". CLEAR's scores are plain means of accuracies over a part of R, with no baseline
subtracted:

    in-domain   i = j       next-domain   j = i + 1     accuracy   j <= i
    backward    j < i       forward       j > i

A score is NaN unless every cell of its part has been evaluated: a mean over the available cells
would be a different score under the same name. The streaming protocol evaluates j > i only, so it
has the next-domain and forward scores.

Other papers use the same words for differences; those functions are named after their authors.

Scores of a series whose classes appear over time.

The head has a place for every class of the series from the start. A test image of a class that has
not occurred in any training set so far counts as an error in the accuracy like any other: a model
in use meets such images, too. Beside it stands the accuracy on images of known classes only.

Views of the matrix and of predictions are drift, plasticity, stability and confusions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suite.metrics import schema


def in_domain(acc: np.ndarray) -> float:
  """Mean of R[i, i]."""
  return _mean(np.diagonal(checked(acc)))


def next_domain(acc: np.ndarray) -> float:
  """Mean of R[i, i + 1]; NaN for one bucket."""
  return _mean(np.diagonal(checked(acc), offset=1))


def accuracy(acc: np.ndarray) -> float:
  """Mean accuracy on the buckets seen so far, the current one included: j <= i."""
  acc = checked(acc)
  return _mean(acc[np.tril_indices(len(acc))])


def backward_transfer(acc: np.ndarray) -> float:
  """CLEAR's BwT: mean accuracy on earlier buckets, j < i."""
  acc = checked(acc)
  return _mean(acc[np.tril_indices(len(acc), k=-1)])


def forward_transfer(acc: np.ndarray) -> float:
  """CLEAR's FwT: mean accuracy on later buckets, j > i."""
  acc = checked(acc)
  return _mean(acc[np.triu_indices(len(acc), k=1)])


def challenge_score(acc: np.ndarray) -> float:
  """The CLEAR challenge's ranking: mean of in-domain, next-domain, BwT and FwT."""
  return _mean(np.array([
      in_domain(acc), next_domain(acc), backward_transfer(acc), forward_transfer(acc)]))


def lopez_paz_backward_transfer(acc: np.ndarray) -> float:
  """Mean over j < T-1 of R[T-1, j] - R[j, j] (Lopez-Paz and Ranzato, 2017, equation 3).

  Negative values are forgetting.
  """
  acc = checked(acc)
  return _mean((acc[-1] - np.diagonal(acc))[:-1])


def chaudhry_forgetting(acc: np.ndarray) -> float:
  """Mean over j < T-1 of max_{i < T-1} R[i, j] - R[T-1, j] (Chaudhry et al., 2018, section 3).

  Positive values are forgetting. The maximum is over all earlier rows, including those before
  training on j; only these (i < j) may be missing.
  """
  acc = checked(acc)
  if len(acc) < 2:
    return float("nan")
  earlier = acc[:-1, :-1]
  may_be_missing = np.triu(np.ones(earlier.shape, bool), k=1)
  candidates = np.where(np.isnan(earlier) & may_be_missing, -np.inf, earlier)
  return _mean(np.max(candidates, axis=0) - acc[-1, :-1])


def final_average_accuracy(acc: np.ndarray) -> float:
  """Mean of the last row, R[T-1, j]: the accuracy at the end, all tasks counting alike."""
  return _mean(checked(acc)[-1])


def average_accuracy(acc: np.ndarray, t: int) -> float:
  """A_t, the mean over j <= t of R[t, j] (Chaudhry et al., 2018, section 3)."""
  return _mean(checked(acc)[t, :t + 1])


def average_incremental_accuracy(acc: np.ndarray) -> float:
  """Mean over t of A_t, see `average_accuracy` (Rebuffi et al., 2017, section 4).

  All tasks count alike; iCaRL's own protocol counts all images alike, which is the same where tasks
  have equally many test images.
  """
  return _mean(np.array([average_accuracy(acc, t) for t in range(len(checked(acc)))]))


def lopez_paz_forward_transfer(acc: np.ndarray, baseline: float) -> float:
  """Mean over j > 0 of R[j-1, j] - baseline (Lopez-Paz and Ranzato, 2017, equation 4).

  Args:
    baseline: the accuracy of a learner that has learned nothing, here that of chance.
  """
  return next_domain(acc) - baseline


def forgetting_of_each(acc: np.ndarray) -> np.ndarray:
  """[T]: for each task the best accuracy since it was learned, minus the last one; 0 at the end."""
  acc = checked(acc)
  return np.array([np.max(acc[j:, j]) - acc[-1, j] for j in range(len(acc))])


def row(acc: np.ndarray, t: int) -> dict[str, float]:
  """Scores of row t: of the model that has been trained up to bucket t."""
  acc = checked(acc)
  return {
      "in_domain": float(acc[t, t]),
      "next_domain": float(acc[t, t + 1]) if t + 1 < len(acc) else float("nan"),
      "backward_transfer": _mean(acc[t, :t]),
      "forward_transfer": _mean(acc[t, t + 1:]),
  }


def summary(acc: np.ndarray) -> dict[str, float]:
  """All scores of a matrix [T, T] by name; NaN where cells are missing."""
  return {name: score(acc) for name, score in scores().items()}


def scores() -> dict[str, Callable[[np.ndarray], float]]:
  """The functions of `summary` by name."""
  return {
      "in_domain": in_domain,
      "next_domain": next_domain,
      "accuracy": accuracy,
      "backward_transfer": backward_transfer,
      "forward_transfer": forward_transfer,
      "challenge_score": challenge_score,
      "lopez_paz_backward_transfer": lopez_paz_backward_transfer,
      "chaudhry_forgetting": chaudhry_forgetting,
  }


def checked(acc: np.ndarray) -> np.ndarray:
  """The matrix as float64 [T, T]; other shapes are refused."""
  acc = np.asarray(acc, np.float64)
  if acc.ndim != 2 or acc.shape[0] != acc.shape[1] or not len(acc):
    raise ValueError(f"Got an accuracy matrix of shape {list(acc.shape)}; expected [T, T], NaN "
                     "where nothing was evaluated.")
  return acc


def _mean(values: np.ndarray) -> float:
  """Mean; NaN without a warning if there are no values."""
  return float(np.mean(values)) if len(values) else float("nan")


def known_classes(labels: Sequence[np.ndarray], num_classes: int) -> np.ndarray:
  """Whether a class has occurred in training sets 0..t: bool [T, C].

  Args:
    labels: for each of T training sets, int [N].
    num_classes: C.
  """
  found = np.zeros([len(labels), num_classes], bool)
  for t, own in enumerate(labels):
    found[t:, np.unique(own)] = True
  return found


def grows(known: np.ndarray, tests: Sequence[np.ndarray]) -> bool:
  """Whether some training set or test set has a class that the first training set lacks.

  Args:
    known: bool [T, C], of `known_classes`.
    tests: labels of each test set, int [N].
  """
  occurring = known[-1].copy()
  for labels in tests:
    occurring[np.unique(labels)] = True
  return bool((occurring & ~known[0]).any())


def of_known(labels: np.ndarray, correct: np.ndarray, known: np.ndarray) -> dict[str, Any]:
  """The part of a test set whose classes are known.

  Args:
    labels: int [N].
    correct: bool [N].
    known: bool [C].

  Returns:
    num_known_classes; seen_unknown, the number of test images of other classes; and
    accuracy_known, the accuracy on the rest, None if there is none.
  """
  is_known = known[labels]
  num = int(is_known.sum())
  return {schema.NUM_KNOWN_CLASSES: int(known.sum()), schema.SEEN_UNKNOWN: len(labels) - num,
          schema.ACCURACY_KNOWN: float(correct[is_known].sum() / num) if num else None}


def interval(score: Callable[[np.ndarray], float], acc: np.ndarray, low: np.ndarray,
             high: np.ndarray) -> tuple[float, float]:
  """Bounds of a score of a matrix whose cells are estimates, from the bounds of the cells.

  Estimates of one column are of the same images: in the worst case their errors add up. Those of
  different columns are independent, so the squares of their sums add up.

  Args:
    score: matrix [T, T] -> a mean, or a difference of means or maxima, of cells.
    acc: estimates [T, T]; NaN is not evaluated.
    low, high: their bounds, the same as `acc` where it is exact.
  """
  value = score(acc)
  down, up = (np.zeros(acc.shape[1]) for _ in range(2))
  for i, j in np.argwhere(high > low):
    moved = []
    for bound in (low, high):
      other = acc.copy()
      other[i, j] = bound[i, j]
      moved.append(score(other) - value)
    down[j] += max(0.0, -min(moved))
    up[j] += max(0.0, *moved)
  return float(value - np.sqrt(np.sum(down**2))), float(value + np.sqrt(np.sum(up**2)))


def by_distance(acc: np.ndarray) -> np.ndarray:
  """Mean of R[i, i + d] for each distance d = 1 - T, ..., T - 1; [2 T - 1].

  Distance 0 is in-domain, 1 is next-domain; negative ones are earlier buckets.
  """
  acc = checked(acc)
  return np.array([np.mean(np.diagonal(acc, d)) for d in range(1 - len(acc), len(acc))])


def plasticity(acc: np.ndarray) -> np.ndarray:
  """What training on bucket i adds on it: R[i, i] - R[i - 1, i]; [T], the first is NaN."""
  acc = checked(acc)
  return np.array([np.nan, *(np.diagonal(acc)[1:] - np.diagonal(acc, 1))])


def stability(acc: np.ndarray) -> np.ndarray:
  """What training on bucket i changes on earlier ones; [T], the first is NaN.

  The mean over j < i of R[i, j] - R[i - 1, j]; negative values are forgetting.
  """
  acc = checked(acc)
  return np.array([np.nan, *(np.mean(acc[i, :i] - acc[i - 1, :i]) for i in range(1, len(acc)))])


def anytime(acc: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Accuracy on the buckets so far, after each bucket, and its mean up to there; both [T].

  The first is the mean over j <= i of R[i, j]; the last value of the second is the average anytime
  accuracy (Caccia et al., 2022). `accuracy` weights all cells alike instead.
  """
  acc = checked(acc)
  now = np.array([np.mean(acc[i, :i + 1]) for i in range(len(acc))])
  return now, np.cumsum(now) / np.arange(1, len(acc) + 1)


def confusion(labels: np.ndarray, predicted: np.ndarray, num_classes: int) -> np.ndarray:
  """Counts [C, C]: entry [c, d] is the number of examples of class c that d was predicted for.

  Args:
    labels: int [N]. predicted: int [N]; -1, no answer, is counted nowhere.
  """
  from sklearn import metrics  # pylint: disable=import-outside-toplevel  # It takes a second.
  return metrics.confusion_matrix(labels, predicted, labels=np.arange(num_classes))


def class_accuracy(labels: np.ndarray, correct: np.ndarray, num_classes: int) -> np.ndarray:
  """Accuracy of each class, [C]; NaN for a class without an example.

  Args:
    labels: int [N]. correct: bool [N].
  """
  labels = np.asarray(labels)
  seen = np.bincount(labels, minlength=num_classes)
  right = np.bincount(labels[np.asarray(correct, bool)], minlength=num_classes)
  return np.where(seen > 0, right / np.maximum(seen, 1), np.nan)


def class_drift(acc: np.ndarray) -> np.ndarray:
  """Mean over i of the accuracy of each class at each distance d = 0, ..., T - 1; [C, T].

  Args:
    acc: [T, T, C], accuracy of each class, as R. A bucket without an example of a class, NaN, is
      left out of that class's means; a mean is NaN if all of its buckets are left out.
  """
  acc = np.asarray(acc, np.float64)
  means = []
  for d in range(acc.shape[0]):
    values = np.diagonal(acc, d)
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(-1)
    means.append(np.where(known.any(-1), sums / np.maximum(known.sum(-1), 1), np.nan))
  return np.stack(means, axis=1)


def top_confusions(counts: np.ndarray, num: int) -> list[tuple[int, int]]:
  """The pairs (class, predicted other class) with the most examples, at most `num`, most first.

  Args:
    counts: [C, C] of `confusion`, such as the sum over buckets. Pairs without an example are left
      out; of equal ones the lower classes come first.
  """
  counts = np.array(counts)
  np.fill_diagonal(counts, 0)
  order = np.argsort(-counts.ravel(), kind="stable")[:num]
  return [divmod(int(i), len(counts)) for i in order if counts.ravel()[i] > 0]
