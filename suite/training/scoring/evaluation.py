# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores one test split: the numbers of a Predict event, and the predictions behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.metrics import classification
from suite.metrics import own_metrics
from suite.training.scoring import scoring

_NO_METRICS = own_metrics.OwnMetrics()


class Evaluation(NamedTuple):
  """Scores of a test split and the predictions behind them.

  Attributes:
    record: plain values.
    predictions: arguments of the function that saves predictions.
  """

  record: dict[str, Any]
  predictions: dict[str, Any]


def evaluate(
    predict: Callable[[tf.Tensor], tf.Tensor],
    image_set: Any,
    *,
    transform: examples.Transform,
    distribution: distribution_lib.Distribution,
    ledger: ledger_lib.Ledger,
    batch_size: int = 256,
    phase: str = "predict",
    forward: scoring.Forward | None = None,
    metrics: own_metrics.OwnMetrics = _NO_METRICS,
    allowed: np.ndarray | None = None,
) -> Evaluation:
  """Runs `predict` (images [B, H, W, 3] to logits [B, C]) over a set, every example once.

  `predict` is given images only; it sees no labels.

  Args:
    predict: traced.
    image_set: N labeled examples.
    transform: prepares them.
    distribution: its replicas work on different batches in parallel.
    ledger: charged.
    batch_size: largest B.
    phase: of the ledger.
    forward: `predict` compiled before, for a learner that predicts several sets without training
      in between: compiling takes longer than a small set.
    metrics: further metrics, of the user.
    allowed: the classes that may be answered, bool [C]; None: all. The logits of all others become
      -inf.
  """
  forward = forward or scoring.Forward(predict, distribution)
  batch_size = min(batch_size, 1 << (image_set.size - 1).bit_length())
  outputs = forward.run(
      image_set, transform=transform, batch_size=batch_size, ledger=ledger, phase=phase)
  if allowed is not None:
    outputs = outputs._replace(values=np.where(allowed, outputs.values, -np.inf))
  scored = score(outputs, image_set.kind, metrics)
  names = class_lists.of(image_set)
  return scored._replace(predictions={**scored.predictions, "class_names": names}) if names else (
      scored)


def score(outputs: scoring.Outputs, kind: str,
          metrics: own_metrics.OwnMetrics = _NO_METRICS) -> Evaluation:
  """Returns the error of logits [N, C]: 1 - top-1 accuracy, or 1 - mean average precision."""
  multi_label = kind == tasks.MULTI_LABEL
  top1 = classification.top1(outputs.values)
  correct = classification.is_correct(top1, outputs.labels)
  if multi_label:
    error = 1.0 - classification.mean_average_precision(outputs.values, outputs.labels)
  else:
    error = classification.error(int(np.sum(correct)), len(correct))
  record = {"metric": "1 - mAP" if multi_label else "error", "error": error, "seen": len(correct),
            "correct": int(np.sum(correct)),
            **metrics.of_predictions(outputs.labels, outputs.values)}
  predictions = dict(
      ids=outputs.ids, labels=outputs.labels, top1=top1, correct=correct,
      true_class_probability=classification.true_class_probability(outputs.values, outputs.labels),
      scores=outputs.values if multi_label else None)
  return Evaluation(record, predictions)
