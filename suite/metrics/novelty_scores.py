# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores that tell whether a sample is of a new class, from the logits of the known ones.

    max_softmax        largest probability                      high means known
    max_logit          largest logit                            high means known
    energy             T log sum exp(logits / T)                high means known
    minimum_distance   minus the largest logit                  high means new

Where logits are minus squared Euclidean distances, the last one is the squared distance to the
nearest class mean; comparing it with a threshold is Minimum Distance Thresholding (MDT), and
`dp_means_threshold` gives one without trying. While no class is known every score says "new", by an
infinite value of the right sign.

Arrays: logits float [n, C]; known bool [n, C] or [C], the classes known at each step.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

import numpy as np


class Score(NamedTuple):
  """A function of (logits, known) to scores [n], and what a high one means."""

  function: Callable[[np.ndarray, np.ndarray], np.ndarray]
  high_means: str


def max_logit(logits: np.ndarray, known: np.ndarray) -> np.ndarray:
  """High means known."""
  return _masked(logits, known)[1]


def minimum_distance(logits: np.ndarray, known: np.ndarray) -> np.ndarray:
  """High means new."""
  return -max_logit(logits, known)


def energy(logits: np.ndarray, known: np.ndarray, temperature: float = 1.0) -> np.ndarray:
  """Minus the free energy (Liu et al., 2020): high means known."""
  best, total = _exponentials(logits, known, temperature)
  with np.errstate(divide="ignore"):  # No known class: log 0.
    return np.where(np.isfinite(best), best, 0.0) + temperature * np.log(total)


def max_softmax(logits: np.ndarray, known: np.ndarray, temperature: float = 1.0) -> np.ndarray:
  """High means known. With a single known class it is 1, whatever the sample."""
  best, total = _exponentials(logits, known, temperature)
  return np.where(np.isfinite(best), 1.0 / np.maximum(total, 1.0), -np.inf)


SCORES = {
    "max_softmax": Score(max_softmax, "known"),
    "max_logit": Score(max_logit, "known"),
    "energy": Score(energy, "known"),
    "minimum_distance": Score(minimum_distance, "new"),
}


def score(name: str, logits: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, str]:
  """Scores [n] by name, and what a high one means: "known" or "new"."""
  if name not in SCORES:
    raise ValueError(f"Unknown novelty score {name!r}; allowed are {', '.join(SCORES)}.")
  return SCORES[name].function(logits, known), SCORES[name].high_means


def dp_means_threshold(within: float, between: float, concentration: float, num_features: int
                       ) -> float:
  """The squared distance to the nearest mean above which a sample is of a new class.

  DP-means (Kulis and Jordan, 2012). Classes are Gaussians of covariance s I, their means have the
  prior N(0, r I), and sizes follow a Dirichlet process of concentration a. In d dimensions, with
  n_c samples of class c so far, sample x is

      of class c with weight     n_c (2 pi s)^(-d/2) exp(-|x - m_c|^2 / 2s)
      of a new class with        a (2 pi (s + r))^(-d/2) exp(-|x|^2 / 2(s + r))

  Times (2 pi s)^(d/2) these are n_c exp(-|x - m_c|^2 / 2s) and a (1 + r/s)^(-d/2) exp(..). Let the
  factor of the second be exp(-t / 2s), that is

      a = (1 + r/s)^(d/2) exp(-t / 2s)      t = 2s log((1 + r/s)^(d/2) / a)

  The new class wins if -t/2s - |x|^2 / 2(s + r) > log n_c - |x - m_c|^2 / 2s for all c. Times 2s,
  and for s -> 0 with t and r kept, what is left is

      new class    if and only if    min_c |x - m_c|^2 > t

  So samples far from all means are new. (FLUID's paper prints "<", and t with the other sign.) It
  holds for squared Euclidean distances only; sizes and the prior have no part in the limit.

  Args:
    within: s, the variance of a feature within a class.
    between: r, the variance of a feature of class means.
    concentration: a; the larger, the sooner a class is new.
    num_features: d.
  """
  if within <= 0 or between < 0 or concentration <= 0:
    raise ValueError(f"Got within={within}, between={between} and concentration={concentration}; "
                     "allowed are variances above 0 (between: 0 too) and a concentration above 0.")
  return within * num_features * math.log1p(between / within) - 2 * within * math.log(concentration)


def variances(features: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
  """(within, between) of labelled features [N, D], averaged over features.

  Unbiased for balanced classes: of N samples in K classes, N - K are free within them; the spread
  of means has the part of it taken out that is only the spread within.
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
  """Largest logits b [n], and sums of exp((logits - b) / temperature), 0 without a known class."""
  masked, best = _masked(logits, known)
  shift = np.where(np.isfinite(best), best, 0.0).astype(masked.dtype)
  return best, np.sum(np.exp((masked - shift[:, None]) / temperature), axis=1, dtype=np.float64)


def _masked(logits: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Logits with -inf where a class is not known, and their largest, float64 [n]."""
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
