# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Novelty scores of samples, from the logits of the known classes, and from earlier samples.

    max_softmax        largest probability                      high means known
    max_logit          largest logit                            high means known
    energy             T log sum exp(logits / T)                high means known
    minimum_distance   minus the largest logit                  high means new
    margin             largest logit minus the second largest   high means known
    distance_ratio     largest logit over the second largest    high means new

`distance_ratio` is for negative squared distances: d_1^2 / d_2^2 of the nearest and second nearest
class mean, 0 at a mean and 1 halfway between two. With a single known class the margin is infinite
and the ratio 0. `neighbor_distances` has no logits: the distance to the k-th nearest earlier
sample, whatever its class. `class_wise` standardizes
another score by class.

Where logits are negative squared Euclidean distances, `minimum_distance` is the squared distance to
the nearest class mean; comparing it with a threshold is Minimum Distance Thresholding (MDT), and
`dp_means_threshold` gives such a threshold without a search. While no class is known every score is
infinite, with the sign that means "new".

Arrays: logits float [n, C]; known bool [n, C] or [C], the classes known at each step.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np

_PRIOR = 5  # Samples of all classes that a class begins with.


class Score(NamedTuple):
  """A function (logits, known) -> scores [n], and the meaning of a high score."""

  function: Callable[[np.ndarray, np.ndarray], np.ndarray]
  high_means: str


def max_logit(logits: np.ndarray, known: np.ndarray) -> np.ndarray:
  """Largest logit of a known class; high means known."""
  return _masked(logits, known)[1]


def minimum_distance(logits: np.ndarray, known: np.ndarray) -> np.ndarray:
  """Negative largest logit of a known class; high means new."""
  return -max_logit(logits, known)


def energy(logits: np.ndarray, known: np.ndarray, temperature: float = 1.0) -> np.ndarray:
  """Negative free energy (Liu et al., 2020); high means known."""
  best, total = _exponentials(logits, known, temperature)
  with np.errstate(divide="ignore"):  # No known class: log 0.
    return np.where(np.isfinite(best), best, 0.0) + temperature * np.log(total)


def max_softmax(logits: np.ndarray, known: np.ndarray, temperature: float = 1.0) -> np.ndarray:
  """Largest softmax probability; high means known. With a single known class it is always 1."""
  best, total = _exponentials(logits, known, temperature)
  return np.where(np.isfinite(best), 1.0 / np.maximum(total, 1.0), -np.inf)


def margin(logits: np.ndarray, known: np.ndarray) -> np.ndarray:
  """Largest minus second largest logit of known classes; high means known."""
  return margin_of(*_two_largest(logits, known))


def margin_of(best: np.ndarray, second: np.ndarray) -> np.ndarray:
  """The margin [n] of the two largest logits, [n] each; see `margin`."""
  there = np.isfinite(best)
  return np.where(there, np.where(there, best, 0.0) - second, -np.inf)


def distance_ratio(logits: np.ndarray, known: np.ndarray) -> np.ndarray:
  """Squared distance to the nearest class mean over that to the second; high means new."""
  return distance_ratio_of(*_two_largest(logits, known))


def distance_ratio_of(best: np.ndarray, second: np.ndarray) -> np.ndarray:
  """The ratio [n] of the two largest logits, [n] each; see `distance_ratio`.

  0 / 0, at two means in the same place, is 1.

  Raises:
    ValueError: a logit is above 0, and so no negative squared distance.
  """
  there = np.isfinite(best)
  if np.any(best[there] > 0.0):
    raise ValueError(f"distance_ratio got a logit of {best[there].max():.4g}; minus a squared "
                     "distance is never above 0. Take margin, or NCM with squared distances.")
  below = np.where(there & (second < 0.0), second, -1.0)
  ratio = np.where(there, best, 0.0) / below
  return np.where(there, np.where(second == 0.0, 1.0, ratio), np.inf)


def neighbor_distances(features: np.ndarray, first: int, k: int) -> np.ndarray:
  """Squared distances of samples to their k-th nearest among all that came before; high means new.

  Args:
    features: [n, D], in the order of their steps.
    first: the first step that is asked for.
    k: 1 for the nearest sample.

  Returns:
    float64 [n - first]; infinite where fewer than k samples came before.
  """
  if features.ndim != 2 or k < 1:
    raise ValueError(f"Got features of shape {list(features.shape)} and k={k}; expected [n, D] and "
                     "a k of at least 1. Take a learner on frozen features.")
  every = features.astype(np.float64)
  squares = np.sum(every ** 2, axis=1)
  found = squares[first:, None] - 2.0 * every[first:] @ every.T + squares
  rows = np.arange(first, len(every))
  found[np.arange(len(every)) >= rows[:, None]] = np.inf
  if k > len(every):
    return np.full(len(rows), np.inf)
  return np.maximum(np.partition(found, k - 1, axis=1)[:, k - 1], 0.0)


def class_wise(scores: np.ndarray, answers: np.ndarray, labels: np.ndarray) -> np.ndarray:
  """Standardizes a score by the answered class: one threshold is then one for each class.

  Mean and variance of a class are those of its samples that were answered rightly before, beside
  5 of the mean and variance of all classes. The label of a step is known at later steps.

  Args:
    scores: float [n], in the order of the steps, high for known classes; -inf where none is known.
    answers: int [n], the best known class. labels: int [n].

  Returns:
    float64 [n], high for known classes; 0 before a class has a variance, -inf where `scores` is.
  """
  scores = np.asarray(scores, np.float64)
  found = np.where(np.isfinite(scores), 0.0, -np.inf)
  num, total, squares = 0, 0.0, 0.0  # Of samples of all classes; deviations from their class.
  classes: dict[int, tuple[int, float, float]] = {}  # Samples, their mean, squared deviations.
  for step in np.flatnonzero(np.isfinite(scores)):
    value, answer = float(scores[step]), int(answers[step])
    count, mean, deviations = classes.get(answer, (0, 0.0, 0.0))
    if squares > 0.0:
      center = (_PRIOR * total / num + count * mean) / (_PRIOR + count)
      variance = (_PRIOR * squares / num + deviations) / (_PRIOR + count)
      found[step] = (value - center) / math.sqrt(variance)
    if answer == labels[step]:
      moved = mean + (value - mean) / (count + 1)
      more = (value - mean) * (value - moved)
      classes[answer] = count + 1, moved, deviations + more
      num, total, squares = num + 1, total + value, squares + more
  return found


SCORES = {
    "max_softmax": Score(max_softmax, "known"),
    "max_logit": Score(max_logit, "known"),
    "energy": Score(energy, "known"),
    "minimum_distance": Score(minimum_distance, "new"),
    "margin": Score(margin, "known"),
    "distance_ratio": Score(distance_ratio, "new"),
}


def score(name: str, logits: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, str]:
  """Computes scores [n] by name; also returns the meaning of a high score, "known" or "new"."""
  if name not in SCORES:
    raise ValueError(f"Unknown novelty score {name!r}; allowed are {', '.join(SCORES)}.")
  return SCORES[name].function(logits, known), SCORES[name].high_means


def dp_means_threshold(within: float, between: float, concentration: float, num_features: int
                       ) -> float:
  """Threshold of the squared distance to the nearest mean above which a sample is of a new class.

  DP-means (Kulis and Jordan, 2012). Classes are Gaussians of covariance s I, their means have the
  prior N(0, r I), and sizes follow a Dirichlet process of concentration a. In d dimensions, with
  n_c samples of class c so far, sample x is

      of class c with weight     n_c (2 pi s)^(-d/2) exp(-|x - m_c|^2 / 2s)
      of a new class with        a (2 pi (s + r))^(-d/2) exp(-|x|^2 / 2(s + r))

  Times (2 pi s)^(d/2) these are n_c exp(-|x - m_c|^2 / 2s) and a (1 + r/s)^(-d/2) exp(..). Let the
  factor of the second be exp(-t / 2s), that is

      a = (1 + r/s)^(d/2) exp(-t / 2s)      t = 2s log((1 + r/s)^(d/2) / a)

  The new class wins if -t/2s - |x|^2 / 2(s + r) > log n_c - |x - m_c|^2 / 2s for all c. Multiplied
  by 2s, with s -> 0 and t and r fixed, this becomes

      new class    if and only if    min_c |x - m_c|^2 > t

  So samples far from all means are new. (FLUID's paper prints "<", and t with the other sign.) The
  rule holds for squared Euclidean distances only; the limit is independent of sizes and prior.

  Args:
    within: s, the variance of a feature within a class.
    between: r, the variance of a feature of class means.
    concentration: a; the larger, the more often a sample is of a new class.
    num_features: d.
  """
  if within <= 0 or between < 0 or concentration <= 0:
    raise ValueError(f"Got within={within}, between={between} and concentration={concentration}; "
                     "allowed are variances above 0 (between: 0 too) and a concentration above 0.")
  return within * num_features * math.log1p(between / within) - 2 * within * math.log(concentration)


def variances(features: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
  """Estimates (within, between) from labeled features [N, D], averaged over features.

  Unbiased for balanced classes: N samples in K classes have N - K degrees of freedom within
  classes, and the part of the variance of the means that is due to the variance within is
  subtracted.
  """
  features, labels = np.asarray(features, np.float64), np.asarray(labels)
  classes, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
  if len(classes) < 2 or len(classes) == len(labels):
    raise ValueError(f"Got {len(labels)} samples of {len(classes)} classes; variances within and "
                     "between need two classes, and a class of two samples.")
  sums = np.zeros([len(classes), features.shape[1]])
  np.add.at(sums, places.reshape(-1), features)
  means = sums / counts[:, None]
  within = np.sum((features - means[places.reshape(-1)]) ** 2)
  within /= (len(labels) - len(classes)) * features.shape[1]
  between = np.mean(np.var(means, axis=0, ddof=1)) - within * np.mean(1 / counts)
  return float(within), float(max(between, 0.0))


def _exponentials(logits: np.ndarray, known: np.ndarray, temperature: float
                  ) -> tuple[np.ndarray, np.ndarray]:
  """Largest logits b [n] and sums of exp((logits - b) / temperature); 0 without a known class."""
  masked, best = _masked(logits, known)
  shift = np.where(np.isfinite(best), best, 0.0).astype(masked.dtype)
  return best, np.sum(np.exp((masked - shift[:, None]) / temperature), axis=1, dtype=np.float64)


def _two_largest(logits: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """The two largest logits of known classes, float64 [n] each; -inf where there is none."""
  masked, best = _masked(logits, known)
  rest = np.array(masked, np.float64)
  rest[np.arange(len(rest)), np.argmax(rest, axis=1)] = -np.inf
  return best, np.max(rest, axis=1)


def _masked(logits: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Logits with -inf where a class is not known, and their maximum, float64 [n]."""
  logits = np.asarray(logits)
  if logits.ndim != 2 or np.shape(known)[-1:] != logits.shape[1:]:
    raise ValueError(f"Got logits of shape {list(logits.shape)} and known of shape "
                     f"{list(np.shape(known))}; expected [n, C], and [n, C] or [C].")
  if not np.issubdtype(logits.dtype, np.floating):
    logits = logits.astype(np.float64)
  masked = np.where(known, logits, logits.dtype.type(-np.inf))
  best = np.max(masked, axis=1).astype(np.float64)
  if np.isnan(best).any():
    raise ValueError(f"{int(np.isnan(best).sum())} of {len(logits)} samples have NaN as the logit "
                     "of a known class; the learner diverged.")
  return masked, best
