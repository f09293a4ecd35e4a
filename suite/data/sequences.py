# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sequences of single samples (FLUID): x_t is delivered, a prediction is due, then y_t is revealed.

Classes below `num_base_classes` are known from pretraining; the others are met in the sequence.
"""

from __future__ import annotations

from typing import Optional
from typing import Sequence as Strings

import numpy as np


class NotDeliveredError(LookupError):
  """A label was asked for before its sample was delivered."""


class Sequence:
  """T samples in order; a label is given out only after its sample.

  Attributes:
    num_base_classes: classes 0..num_base_classes-1 are the base classes.
    num_classes: base and novel classes together.
    ids: str [T].
  """

  def __init__(self, images: np.ndarray, labels: np.ndarray, ids: Strings[str],
               num_base_classes: int, num_classes: Optional[int] = None):
    if not len(images) == len(labels) == len(ids):
      raise ValueError(f"Got {len(images)} images, {len(labels)} labels and {len(ids)} ids; "
                       "a sequence has as many of each.")
    self.num_base_classes = num_base_classes
    self.num_classes = int(np.max(labels)) + 1 if num_classes is None else num_classes
    self.ids = np.asarray(ids)
    self._images, self._labels = images, np.asarray(labels, np.int64)
    self._num_delivered = 0

  def __len__(self) -> int:
    return len(self._images)

  def deliver(self, t: int) -> np.ndarray:
    """Sample t, uint8 [H, W, 3]; it and all samples before it count as delivered."""
    if not 0 <= t < len(self):
      raise IndexError(f"Sample {t} of a sequence of {len(self)}; the first is 0.")
    self._num_delivered = max(self._num_delivered, t + 1)
    return self._images[t]

  def reveal(self, t: int) -> int:
    """The label of sample t, once that has been delivered."""
    if not 0 <= t < self._num_delivered:
      raise NotDeliveredError(f"The label of sample {t} is revealed after the sample is delivered; "
                              f"{self._num_delivered} samples have been delivered so far.")
    return int(self._labels[t])

  def class_counts(self) -> np.ndarray:
    """Images of each class in the whole sequence, [C]; for scoring (head, tail), not learners."""
    return np.bincount(self._labels, minlength=self.num_classes)


def zipf_mandelbrot_counts(num_classes: int, total: int, *, offset: float = 2.0) -> np.ndarray:
  """`total` samples over ranks 1..C in proportion to 1 / (offset + rank), [C], none empty.

  FLUID's sequences follow this law with offset 25 for 1,000 classes.
  """
  if total < num_classes:
    raise ValueError(f"{total} samples are too few for {num_classes} classes; each needs one.")
  weights = 1.0 / (offset + np.arange(1, num_classes + 1))
  exact = weights / weights.sum() * (total - num_classes)
  counts = np.floor(exact).astype(np.int64)
  largest = np.argsort(counts - exact, kind="stable")[:total - num_classes - counts.sum()]
  counts[largest] += 1
  return counts + 1


def long_tailed(labels: np.ndarray, total: int, *, seed: int) -> np.ndarray:
  """Indices of `total` labelled images, long-tailed and shuffled; which class is rare is random."""
  rng = np.random.default_rng([seed, 300])
  classes = rng.permutation(np.unique(labels))
  chosen = []
  for label, count in zip(classes, zipf_mandelbrot_counts(len(classes), total)):
    available = np.flatnonzero(labels == label)
    if len(available) < count:
      raise ValueError(f"Class {label} has {len(available)} images, {count} are needed for a "
                       f"sequence of {total}. Ask for a shorter one.")
    chosen.append(rng.choice(available, count, replace=False))
  return rng.permutation(np.concatenate(chosen))
