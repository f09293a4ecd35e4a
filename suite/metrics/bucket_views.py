# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Views of CLEAR's accuracy matrix and predictions: drift, plasticity, stability, confusions.

R [T, T] is as in `matrix`: R[i, j] is the accuracy on bucket j after training on bucket i, NaN
where nothing was evaluated. A mean is NaN unless all of its cells have been evaluated.
"""

from __future__ import annotations

import numpy as np

from suite.metrics import matrix


def by_distance(acc: np.ndarray) -> np.ndarray:
  """Mean of R[i, i + d] for each distance d = 1 - T, ..., T - 1; [2 T - 1].

  Distance 0 is in-domain, 1 is next-domain; negative ones are earlier buckets.
  """
  acc = matrix.checked(acc)
  return np.array([np.mean(np.diagonal(acc, d)) for d in range(1 - len(acc), len(acc))])


def plasticity(acc: np.ndarray) -> np.ndarray:
  """What training on bucket i adds on it: R[i, i] - R[i - 1, i]; [T], the first is NaN."""
  acc = matrix.checked(acc)
  return np.array([np.nan, *(np.diagonal(acc)[1:] - np.diagonal(acc, 1))])


def stability(acc: np.ndarray) -> np.ndarray:
  """What training on bucket i changes on earlier ones; [T], the first is NaN.

  The mean over j < i of R[i, j] - R[i - 1, j]; negative values are forgetting.
  """
  acc = matrix.checked(acc)
  return np.array([np.nan, *(np.mean(acc[i, :i] - acc[i - 1, :i]) for i in range(1, len(acc)))])


def anytime(acc: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Accuracy on the buckets so far, after each bucket, and its mean up to there; both [T].

  The first is the mean over j <= i of R[i, j]; the last value of the second is the average anytime
  accuracy (Caccia et al., 2022). `matrix.accuracy` weights all cells alike instead.
  """
  acc = matrix.checked(acc)
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
