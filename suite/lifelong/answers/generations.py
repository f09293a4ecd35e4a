# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One value of several generations of an answer, or epochs, of which some are right.

pass@k is the chance that one at least of k generations is right, maj@k that more than half of them
are. Of n generations c are right; each choice of k of them is as likely, so both estimates have no
bias (pass@k: Chen et al., 2021). The right answer must have an absolute majority, since logs say
what is right, and not which wrong answers are the same.
"""

from __future__ import annotations

import re

import numpy as np
from scipy import stats

MEAN = "mean"
_FORM = re.compile(r"(pass|maj)@([1-9]\d{0,5})")


def parsed(text: str) -> tuple[str, int]:
  """("pass" or "maj", k) of pass@5 or maj@5; ("mean", 0) of everything else."""
  found = _FORM.fullmatch(text)
  return (found.group(1), int(found.group(2))) if found else (MEAN, 0)


def reduced(num: np.ndarray, right: np.ndarray, kind: str, k: int) -> np.ndarray:
  """Estimates from `right` of `num` generations, [...]: 0 to 1.

  Args:
    num, right: whole numbers; all of `num` are k or more.
    kind: "pass" or "maj".
    k: number of generations that are looked at.
  """
  if np.any(num < k):
    raise ValueError(f"Got {int(np.min(num))} generations for k = {k}; expected {k} at least.")
  # More than 0, or than half, of k draws without replacement: 1 - C(n - c, k) / C(n, k) for 0.
  return np.clip(stats.hypergeom.sf(0 if kind == "pass" else k // 2, num, right, k), 0.0, 1.0)
