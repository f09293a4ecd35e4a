# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A log of answers: worked by hand, cut up and put together."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite.metrics import sequence_log

INF, NAN = np.inf, np.nan
NEW = 3  # Of three classes.


def made(new_below=-5.0, score="max_logit"):
  """Five steps: labels 0 2 0 2 1; class 2 is unknown at its first two steps; NaN at the last."""
  return sequence_log.Novelty(score, new_below).log(
      labels=[0, 2, 0, 2, 1], unknown=[False, True, False, True, False],
      closed_answers=[0, 0, 0, 0, -1], max_logits=[-1.0, -6.0, -6.0, -1.0, NAN],
      energies=[-0.5, -5.5, -5.0, -1.0, NAN], num_classes=3)


def test_answers_worked_by_hand():
  log = made()
  # Right; "new", and it is; "new", but it is class 0; 0, but it is unknown; none, it diverged.
  assert log.answers.tolist() == [0, NEW, NEW, 0, -1]
  assert log.correct(3).tolist() == [True, True, False, False, False]
  assert log.closed_correct().tolist() == [True, False, True, False, False]


def test_without_a_threshold_only_the_first_is_new():
  log = sequence_log.Novelty().log([1], [True], [-1], [-INF], [-INF], num_classes=2)
  assert log.answers.tolist() == [2] and log.correct(2).tolist() == [True]
  assert made(new_below=None).answers.tolist() == [0, 0, 0, 0, -1]


def test_a_learner_may_have_a_threshold_of_its_own():
  assert sequence_log.Novelty().with_own(-2.5).new_below == -2.5
  assert sequence_log.Novelty("energy", -1.0).with_own(-2.5).new_below == -1.0
  assert sequence_log.Novelty().with_own(None).new_below == -INF


def test_scores_are_high_for_known_classes():
  log = made()
  np.testing.assert_allclose(log.scores("max_logit"), [-1, -6, -6, -1, -INF])
  np.testing.assert_allclose(log.scores("energy"), [-0.5, -5.5, -5, -1, -INF])
  np.testing.assert_allclose(
      log.scores("max_softmax"), [*np.exp([-0.5, -0.5, -1, 0]), -INF])
  assert made(0.5, "max_softmax").answers.tolist() == [0, 0, NEW, 0, -1]
  with pytest.raises(ValueError, match="score 'x'; allowed are max_logit, max_softmax, energy"):
    log.scores("x")


def test_a_log_goes_through_records_in_parts():
  log = made()
  later = sequence_log.SequenceLog(*(column[2:] for column in log))
  parts = [json.loads(json.dumps({"first_step": first, **part.columns()}))
           for first, part in ((0, log.first(2)), (2, later))]
  again = sequence_log.from_records([{"kind": "train"}, *parts, {"phase": 1}])
  for name, column in log._asdict().items():
    # What is not a number is saved as null, and read as "nothing is known".
    expected = np.where(np.isnan(column), -INF, column) if column.dtype == float else column
    np.testing.assert_array_equal(getattr(again, name), expected)
  summaries = [sequence_log.summary(one, [0, 1], 3, threshold=1) for one in (
      log, again, sequence_log.empty().merge(again))]
  assert str(summaries[0]) == str(summaries[1]) == str(summaries[2])


def test_a_summary_has_all_scores_and_names_their_direction():
  found = sequence_log.summary(made(), [0, 1], 3, threshold=1, window=2, matched_window=2,
                               segments=[0, 0, 0, 1, 1])
  assert found["overall"] == 2 / 5 and found["closed"]["overall"] == 2 / 5
  assert found["pretrain_head"] == 0.5 and found["pretrain_tail"] == 0.0
  assert found["by_window"] == [1.0, 0.0] and found["no_answer"] == 1
  assert found["by_segment"] == [pytest.approx(2 / 3), 0.0]
  # Unknown: steps 1 and 3. Newness 6 and 1 against 1, 6 and infinity: (1 + 1/2 + 1/2) of 6 pairs.
  assert found["new_class_auroc"] == pytest.approx(2 / 6)
  assert found["detection"]["max_logit"]["new_class_auroc"] == found["new_class_auroc"]
  # Windows of two: each has one of either; step 1 after 0, step 3 after 2.
  assert found["detection"]["clock"]["new_class_auroc_time_matched"] == 0.0
  assert {row["high_means"] for row in found["detection"].values()} == {"known"}
  assert found["majority_baseline"] == 1 / 5 and found["matched_window"] == 2
  assert list(found["detection"]) == [
      "max_logit", "max_softmax", "energy", "class_wise", "answer", "clock"]
  assert all("new_class_auroc_time_matched" in row for row in found["detection"].values())


def test_further_scores_are_those_that_the_log_has_what_they_need_for():
  """Three distances 1, 4 and 9 to the nearest class, 4, 5 and none to the second; then none."""
  def log(max_logits, new_below=-8.0, **more):
    return sequence_log.Novelty("max_logit", new_below).log(
        labels=[0, 1, 0, 1], unknown=[False, True, False, False], closed_answers=[0, 0, 0, -1],
        max_logits=max_logits, energies=max_logits, num_classes=2, **more)

  seconds = [-4.0, -5.0, -INF, -INF]
  full = log([-1.0, -4.0, -9.0, -INF], second_logits=seconds, neighbors=[-2.0, -3.0, -1.0, -INF])
  found = full.further_scores(2)
  assert list(found) == ["margin", "distance_ratio", "nearest", "answer"]
  np.testing.assert_allclose(found["margin"], [3, 1, INF, -INF])
  np.testing.assert_allclose(found["distance_ratio"], [-0.25, -0.8, 0, -INF])
  np.testing.assert_allclose(found["nearest"], [-2, -3, -1, -INF])
  np.testing.assert_allclose(found["answer"], [1, 1, 0, 0])
  again = sequence_log.from_record(json.loads(json.dumps(full.columns())))
  for one, other in zip(full, again):
    np.testing.assert_array_equal(one, other)
  rows = sequence_log.detection(full, "max_logit", 4, 2)["detection"]
  # Step 1 is new: newness .8 against .25, 0 and infinity; by the margin -1 against -3, -inf, inf.
  assert rows["distance_ratio"]["new_class_auroc"] == rows["margin"]["new_class_auroc"] == 2 / 3
  # Called new are steps 2 and 3: neither is.
  assert rows["answer"]["new_class_auroc"] == pytest.approx((0.5 + 0 + 0) / 3)

  of_products = log([1.0, 4.0, 9.0, -INF], second_logits=seconds, new_below=None)
  assert list(of_products.further_scores(2)) == ["margin"]
  old = log([-1.0, -4.0, -9.0, -INF], new_below=None)
  assert not old.further_scores(2) and "second_logits" not in old.columns()
