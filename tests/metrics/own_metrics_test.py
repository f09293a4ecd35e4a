# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Metrics of the user: values by hand, and what is refused before a run."""

from __future__ import annotations

import numpy as np
import pytest

from suite.metrics import own_metrics

LOGITS = np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0]])


def _share(labels, logits):
  return np.mean(labels == np.argmax(logits, axis=1))


def _last(records):
  return records[-1]["error"] if records[-1]["kind"] == "predict" else None


def test_values_in_records_and_summary():
  metrics = own_metrics.OwnMetrics({"share": _share, "last": _last})
  assert metrics.of_predictions(np.array([0, 1, 1]), LOGITS) == {"share": pytest.approx(2 / 3)}
  records = [{"kind": "train"}, {"kind": "predict", "error": 0.5}]
  assert metrics.of_records(records) == {"last": 0.5}
  assert metrics.of_records(records[:1]) == {"last": None}
  rows = [{"share": 0.25, "last": None}, {"share": None, "last": 0.5}, {"share": 0.75, "last": 0.1}]
  assert metrics.summary(rows) == {"share": 0.5, "last": 0.1}
  assert metrics.summary([]) == {"share": None, "last": None}
  assert own_metrics.OwnMetrics({"nan": lambda labels, logits: np.nan}).of_predictions(
      np.zeros(3), LOGITS) == {"nan": None}


@pytest.mark.parametrize("metrics, message", [
    ({"each": lambda labels, logits: labels == 0}, r"returned an array of shape \[10\]; it must r"),
    ({"name": lambda records: "high"}, "'name' returned 'high'; it must return one number"),
    ({"no": lambda a, b, c: 0.0}, "'no' has 3 required arguments"),
    ({"no": 3}, "is 3; give a function"),
    ({"error": _share}, "is called 'error'; give it a name"),
    ({"top 5": _share}, "is called 'top 5'"),
])
def test_no_number_is_refused_before_a_run(metrics, message):
  with pytest.raises(own_metrics.MetricError, match=message):
    own_metrics.OwnMetrics(metrics)


def test_a_metric_that_fails_in_a_run_is_named():
  metrics = own_metrics.OwnMetrics({"bad": lambda labels, logits: logits[:, 9].mean()})
  with pytest.raises(own_metrics.MetricError, match=r"'bad' failed on \[3\] and \[3, 2\]: IndexEr"):
    metrics.of_predictions(np.zeros(3, int), LOGITS)
  with pytest.raises(own_metrics.MetricError, match="fluid keeps no logits. Give a function of on"):
    metrics.refuse_logits("fluid")
