# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import functools
import shutil

import numpy as np
import pytest
import stopped_runs

from suite.data.digits import digits
from suite.data.images import feature_set
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.learners.semi_supervised import pseudo_labels
from suite.protocols import clear
from suite.protocols import run_state
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means

FEATURES = feature_set.Features(64)
BUCKETS = digits.buckets(2, as_features=True, labelled_share=0.1)


def _linear(train_on="current"):
  return gradient.GradientLearner(
      transform=FEATURES, net=trainable_parts.HeadOnly(), train_on=train_on, epochs=3,
      batch_size=32, learning_rate=0.5)


def _run(folder, make, threshold, **stops):
  learner = pseudo_labels.PseudoLabels(make=make, threshold=threshold)
  with stopped_runs.state(folder, **stops) as state:
    return clear.run(learner, state=state, buckets=BUCKETS), learner


def test_sure_rows_worked_by_hand():
  # Probabilities: 3/4 of class 1; 1/2 of class 0; 0.9 of class 0 at logits that overflow.
  logits = np.array([[0.0, np.log(3.0)], [2.0, 2.0], [1000.0 + np.log(9.0), 1000.0]])
  for threshold, want in ((0.7, [0, 2]), (0.5, [0, 1, 2]), (0.91, [])):
    places, labels = pseudo_labels.chosen(logits, threshold)
    assert places.tolist() == want
    assert labels.tolist() == [{0: 1, 1: 0, 2: 0}[place] for place in want]


def test_the_student_learns_what_the_teacher_says_and_both_are_charged(tmp_path):
  mean = functools.partial(
      statistics_learner.StatisticsLearner, class_means.ClassMeans(), transform=FEATURES)
  summary, learner = _run(tmp_path, mean, threshold=0.0)
  sizes = [bucket.unlabelled.size for bucket in BUCKETS]
  learned = [r for r in stopped_runs.records(tmp_path) if r["kind"] == "train"]
  # At threshold 0 every unlabelled image gets a label; those of the tests stay unseen.
  assert [r["pseudo_labels"] for r in learned] == sizes
  assert [r["unlabelled_size"] for r in learned] == sizes
  assert summary["examples_select"] == sum(sizes)
  assert summary["examples_train"] == sum(
      2 * (r["train_size"] + r["validation_size"]) + r["unlabelled_size"] for r in learned)
  assert summary["flops_select"] > 0 and sum(map(sum, summary["matrix"])) > 0
  student = learner.student.statistics.counts.numpy()
  teacher = learner.teacher.statistics.counts.numpy()
  given = np.sum([r["pseudo_labels_by_class"] for r in learned], axis=0)
  np.testing.assert_array_equal(student - teacher, given)


def test_without_a_sure_image_the_student_is_the_learner_alone(tmp_path):
  summary, _ = _run(tmp_path / "with", _linear, threshold=1.0)
  with stopped_runs.state(tmp_path / "alone") as state:
    alone = clear.run(_linear(), state=state, buckets=BUCKETS)
  assert summary["matrix"] == alone["matrix"]
  assert summary["flops_train"] == 2 * alone["flops_train"]


def test_stopped_in_the_second_bucket_and_resumed_gives_the_same_records(tmp_path, monkeypatch):
  make = functools.partial(_linear, "all")  # Teacher and student store examples, each its own.
  commit = run_state.RunState.commit

  def copying(state, *arguments):
    if state.done == 3:
      shutil.copytree(tmp_path / "whole", tmp_path / "killed")
    commit(state, *arguments)

  with monkeypatch.context() as patch:
    patch.setattr(run_state.RunState, "commit", copying)
    _run(tmp_path / "whole", make, 0.4)
  whole = stopped_runs.records(tmp_path / "whole")
  assert whole[0]["pseudo_labels"] > 0
  _run(tmp_path / "killed", make, 0.4)
  assert stopped_runs.records(tmp_path / "killed") == whole


def test_what_cannot_be_run_is_refused(tmp_path):
  with pytest.raises(ValueError, match="threshold is 1.5, a probability: give 0 to 1"):
    pseudo_labels.PseudoLabels(make=_linear, threshold=1.5)
  learner = pseudo_labels.PseudoLabels(make=_linear)
  with stopped_runs.state(tmp_path) as state, pytest.raises(
      ValueError, match="bucket_01 train' comes without. Take buckets of .*partly_labelled"):
    clear.run(learner, state=state, buckets=digits.buckets(2, as_features=True))
