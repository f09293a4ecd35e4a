# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Detection of new classes, worked by hand and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from suite.data.sequences import fluid_sequences
from suite.metrics import sequence_accuracy
from suite.metrics import sequence_log

# By falling newness: new, old, new, old.
SCORES, IS_NEW = np.array([0.9, 0.7, 0.5, 0.3]), np.array([1, 0, 1, 0], bool)


def test_worked_by_hand():
  found = sequence_log.detection_scores(SCORES, IS_NEW, high_means="new")
  assert found == pytest.approx({
      "new_class_auroc": 3 / 4, "new_class_aupr": (1 + 2 / 3) / 2, "new_class_fpr95": 1 / 2,
      "new_class_f1": 4 / 5, "new_class_f1_threshold": 0.5, "new_class_auroc_time_matched": 3 / 4})


def test_the_direction_turns_everything_round():
  turned = sequence_log.detection_scores(-SCORES, IS_NEW, high_means="known")
  expected = sequence_log.detection_scores(SCORES, IS_NEW, high_means="new")
  assert turned == pytest.approx({**expected, "new_class_f1_threshold": -0.5})
  wrong = sequence_log.detection_scores(SCORES, IS_NEW, high_means="known")
  assert wrong["new_class_auroc"] == pytest.approx(1 / 4)
  with pytest.raises(ValueError, match="high_means='up'; allowed are new, known"):
    sequence_log.detection_scores(SCORES, IS_NEW, high_means="up")


@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_with_ties(seed):
  rng = np.random.default_rng(seed)
  is_new = rng.random(400) < 0.2
  scores = np.round(rng.normal(size=400) + is_new, 1)
  found = sequence_log.detection_scores(scores, is_new, high_means="new")
  assert found["new_class_auroc"] == pytest.approx(sklearn_metrics.roc_auc_score(is_new, scores))
  assert found["new_class_aupr"] == pytest.approx(
      sklearn_metrics.average_precision_score(is_new, scores))
  fpr, tpr, _ = sklearn_metrics.roc_curve(is_new, scores, drop_intermediate=False)
  assert found["new_class_fpr95"] == pytest.approx(fpr[np.argmax(tpr >= 0.95)])
  precision, recall, _ = sklearn_metrics.precision_recall_curve(is_new, scores)
  f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
  assert found["new_class_f1"] == pytest.approx(np.max(f1))
  called = scores >= found["new_class_f1_threshold"]
  assert sklearn_metrics.f1_score(is_new, called) == pytest.approx(found["new_class_f1"])


def test_infinite_scores_have_their_place():
  # Minus infinity: no known class, so nothing is newer.
  found = sequence_log.detection_scores([-np.inf, 1.0, 2.0], [1, 0, 0], high_means="known")
  assert found["new_class_auroc"] == 1.0 and found["new_class_f1"] == 1.0


def test_time_matched_pairs_stay_within_their_window():
  # Windows of 2: pairs (1, 2) and (7, 9), both wrong; of 3: also (1, 9), (7, 7) tied, (7, 3) right.
  scores = np.array([1, 2, 9, 7, 7, 3])
  is_new = np.array([1, 0, 0, 1, 0, 0], bool)
  assert sequence_log.time_matched(scores, is_new, high_means="new", window=2) == (0, 2)
  assert sequence_log.time_matched(scores, is_new, high_means="new", window=3) == (1.5, 4)
  whole = sequence_log.time_matched(scores, is_new, high_means="new", window=6)
  assert whole == sequence_log.pairs(scores, is_new, high_means="new")
  with pytest.raises(ValueError, match="window=0"):
    sequence_log.time_matched(scores, is_new, high_means="new", window=0)


def test_pairs_of_windows_merge_to_those_of_the_sequence():
  rng = np.random.default_rng(0)
  is_new, scores = rng.random(1000) < 0.1, rng.random(1000)
  whole = sequence_log.time_matched(scores, is_new, high_means="known", window=100)
  parts = [sequence_log.time_matched(scores[p], is_new[p], high_means="known", window=100)
           for p in (slice(0, 300), slice(300, 1000))]
  assert parts[0].merge(parts[1]) == pytest.approx(whole)
  assert 0.4 < whole.auroc < 0.6


def test_nothing_to_tell_apart_is_unknown():
  for is_new in (np.zeros(3), np.ones(3)):
    found = sequence_log.detection_scores(np.arange(3), is_new, high_means="new")
    assert all(math.isnan(v) for k, v in found.items() if "threshold" not in k), found


def test_a_nan_is_refused():
  with pytest.raises(ValueError, match="1 of 2 scores are NaN"):
    sequence_log.detection_scores([np.nan, 1], [1, 0], high_means="new")


@pytest.mark.parametrize("seed", range(3))
def test_the_clock_beats_every_published_method_until_pairs_are_matched(seed):
  rng = np.random.default_rng(seed)
  labels = rng.permutation(np.repeat(rng.permutation(1000), fluid_sequences.PAPER.counts()))
  is_new = sequence_accuracy.first_sights(labels, range(250))
  assert is_new.sum() == 750
  found = sequence_log.clock_baseline(is_new)
  # Measured on the published labels: AUROC .982-.984, best F1 .42-.45, time-matched .55.
  assert 0.980 < found["new_class_auroc"] < 0.986
  assert 0.40 < found["new_class_f1"] < 0.47
  assert 0.51 < found["new_class_auroc_time_matched"] < 0.62


def test_the_window_is_a_share_of_the_sequence():
  assert [sequence_log.matched_window(n) for n in (1, 300, 768, 7000, 90_000)] == [
      5, 5, 5, 38, 500]
  scores, is_new = np.random.default_rng(0).random(2000), np.arange(2000) % 7 == 0
  assert sequence_log.time_matched(scores, is_new, high_means="new") == (
      sequence_log.time_matched(scores, is_new, high_means="new", window=11))


@pytest.mark.parametrize("name, num_classes, images", [
    ("tiny", 200, 500), ("tiny", 200, 250), ("omniglot", 1623, 20), ("omniglot_turned", 1623, 80)])
def test_the_clock_is_near_chance_within_windows_of_any_sequence(name, num_classes, images):
  labels = np.repeat(np.arange(num_classes), images)
  plan = fluid_sequences.make([f"{i:06d}" for i in range(len(labels))], labels.tolist(),
                              fluid_sequences.SPECS[name], 0)
  for one in plan.test:
    is_new = sequence_accuracy.first_sights(one.labels, range(one.num_base))
    found = sequence_log.clock_baseline(is_new)
    assert 0.45 < found["new_class_auroc_time_matched"] < 0.57
    if name == "tiny":  # A window of 500 steps is most of the time in which classes are new.
      assert sequence_log.clock_baseline(is_new, 500)["new_class_auroc_time_matched"] > 0.65
