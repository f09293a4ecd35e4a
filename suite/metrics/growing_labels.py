# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a series whose classes appear over time.

The head has a place for every class of the series from the start. A test image of a class that has
not occurred in any training set so far counts as an error in the accuracy like any other: a model
in use meets such images, too. Beside it stands the accuracy on images of known classes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


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
  return {"num_known_classes": int(known.sum()), "seen_unknown": len(labels) - num,
          "accuracy_known": float(correct[is_known].sum() / num) if num else None}
