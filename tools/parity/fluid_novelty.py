# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Minimum Distance Thresholding (MDT) on the authors' NCM: answers "new", AUROC and best F1.

MDT and its scores were not published. Here they are computed from the logits of the authors' NCM,
by the paper's text and scikit-learn, and compared with those of the suite's protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import parity_rows
from sklearn import metrics

_SHARE = 0.05  # Of the samples of known classes that are answered "new", about.
_WHAT = "MDT on NCM's squared distances"
# new_below -> (open answers int [T], C being "new"; summary of the run).
Run = Callable[[float], tuple[np.ndarray, dict[str, Any]]]


def threshold(logits: np.ndarray) -> float:
  """A logit between two neighbors that rounding does not exchange, near the share's quantile."""
  ordered = np.sort(logits[np.isfinite(logits)])
  first = int(_SHARE * len(ordered))
  near = ordered[first:first + 20]
  place = int(np.argmax(np.diff(near)))
  return float(near[place] + near[place + 1]) / 2


def rows(name: str, labels: np.ndarray, answers: np.ndarray, logits: np.ndarray, run: Run
         ) -> list[parity_rows.Row]:
  """The rows of a stream.

  Args:
    name: of the inputs.
    labels: int [T].
    answers, logits: int [T] and float [T], the authors' best known class, -1 where none is known,
      and its logit.
    run: the suite's side, with this `new_below`.
  """
  below, num_classes = threshold(logits), int(labels.max()) + 1
  is_new = np.zeros(len(labels), bool)
  is_new[np.unique(labels, return_index=True)[1]] = True
  theirs = np.where(np.isfinite(logits) & (logits >= below), answers, num_classes)
  mine, summary = run(below)
  newness = np.where(np.isfinite(logits), -logits, -logits[np.isfinite(logits)].min() + 1.0)
  precision, recall, _ = metrics.precision_recall_curve(is_new, newness)
  f1 = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
  found = [parity_rows.Row(
      f"{_WHAT}, threshold {-below:.4g}", name, f"{np.sum(theirs == num_classes)} times \"new\"",
      f"{np.sum(mine == num_classes)} times \"new\"", float(np.sum(theirs != mine)),
      "answers that differ")]
  for what, value, key in (("AUROC", metrics.roc_auc_score(is_new, newness), "new_class_auroc"),
                           ("best F1", f1, "new_class_f1")):
    found.append(parity_rows.Row(
        f"{_WHAT}: {what}, by scikit-learn", name, f"{value:.6f}", f"{summary[key]:.6f}",
        float(abs(value - summary[key])), "difference", 1e-5))
  return found
