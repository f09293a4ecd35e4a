# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Running scores: hand-worked, and at the end those of the summary."""

from __future__ import annotations

import nevis_runs
import numpy as np
import pytest

from suite.metrics import matrix
from suite.metrics import task_stream
from suite.reporting import records as records_lib
from suite.reporting.board import tensorboard


def _folded(records, **kwargs):
  """({tag: values in order}, the scores)."""
  scores, found = tensorboard.RunningScores(**kwargs), {}
  for record in records:
    for tag, value in scores.update(record).items():
      found.setdefault(tag, []).append(value)
  return found, scores


def test_scores_of_tasks_by_hand(tmp_path):
  folder = nevis_runs.write(tmp_path / "ft", [0.5, 0.25, 0.125, 0.375])
  found, scores = _folded(records_lib.read(folder / "records.jsonl"),
                          reference=dict(zip(nevis_runs.KEYS, [0.5, 0.5, 0.5, 0.25])))
  # Tasks 3 and 4 are meta-test; areas of the curves are 1 - 0.6 and 1 - 0.45.
  assert found["headline/mean_error"] == pytest.approx([0.125, 0.25])
  assert found["headline/mean_error_all_tasks"] == pytest.approx([0.5, 0.375, 0.875 / 3, 0.3125])
  assert found["headline/regret"] == pytest.approx([0, -0.25, -0.625, -0.5])
  assert found["headline/forward_transfer"] == pytest.approx([0.15 / 0.6])
  assert found["running_mean/predict/error"] == found["headline/mean_error_all_tasks"]
  assert scores.final({"protocol": "nevis", "mean_error": 0.25, "forward_transfer": None}) == {
      "headline/mean_error": 0.25, "headline/regret": pytest.approx(-0.5)}


def test_regret_ends_where_independent_has_not_learned_a_task(tmp_path):
  folder = nevis_runs.write(tmp_path / "ft", [0.5, 0.25, 0.125, 0.375])
  records = records_lib.read(folder / "records.jsonl")
  found, scores = _folded(records, reference={"a": 0.25, "a@2": 0.5, "c": 0.5})
  assert found["headline/regret"] == [0.25]
  assert "headline/regret" not in scores.final({"protocol": "nevis"})
  assert "headline/regret" not in _folded(records)[0]


@pytest.mark.parametrize("mode", ["iid", "streaming"])
def test_scores_of_buckets_end_at_those_of_the_matrix(mode):
  acc = np.random.default_rng(0).uniform(size=[4, 4])
  records, rows = [], 4 - (mode == "streaming")
  for i in range(rows):
    first = i + 1 if mode == "streaming" else 0
    for j in range(first, 4):
      row = [None] * first + list(acc[i, first:j + 1]) + [None] * (3 - j)
      records.append({"protocol": "clear", "kind": "predict", "mode": mode, "accuracy": acc[i, j],
                      "error": 1 - acc[i, j], "trained_bucket": i, "bucket": j, "row": row})
  found, scores = _folded(records)
  assert not any(tag.startswith("running_mean") for tag in found)
  parts = ("next_domain", "forward_transfer") if mode == "streaming" else (
      "next_domain", "forward_transfer", "in_domain", "accuracy", "backward_transfer")
  for name in parts:
    assert found[f"headline/{name}"][-1] == pytest.approx(getattr(matrix, name)(acc))
  assert found["headline/next_domain"][0] == pytest.approx(acc[0, 1])
  known = np.triu(np.ones([4, 4]), 1) if mode == "streaming" else np.ones([4, 4])
  np.testing.assert_array_equal(scores.matrix(), np.where(known, acc, np.nan))


def test_flops_of_a_step_are_those_of_the_event():
  record = {"kind": "train", "flops_train": 100, "steps_train": 10, "flops_validate": 7,
            "steps_validate": 0}
  found, _ = _folded([record, {**record, "kind": "predict"},
                      {**record, "flops_train": 500, "steps_train": 30, "flops_search": None,
                       "steps_search": 5}])
  assert found["one_event/flops_per_step_train"] == [10.0, 20.0]
  assert "one_event/flops_per_step_search" not in found
  assert found["headline/cumulative_flops"] == [107, 107]  # Unknown from the third on.


def test_streams_of_samples_have_the_share_of_right_answers():
  record = {"protocol": "fluid", "kind": "predict", "error": 0.5}
  found, _ = _folded([{**record, "seen_so_far": 4, "correct_so_far": 2},
                      {**record, "seen_so_far": 8, "correct_so_far": 6}])
  assert found["headline/accuracy"] == [0.5, 0.75] and "running_mean/predict/error" not in found


def test_forward_transfer_is_that_of_the_summary(tmp_path):
  folder = nevis_runs.write(tmp_path / "ft", [0.5, 0.25, 0.125, 0.375])
  records = records_lib.read(folder / "records.jsonl")
  wanted = task_stream.mean_forward_transfer(task_stream.forward_transfer_by_task(records))
  assert _folded(records)[0]["headline/forward_transfer"][-1] == wanted
