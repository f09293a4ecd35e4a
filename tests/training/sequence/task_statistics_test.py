# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Statistics by task key."""

from __future__ import annotations

import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.training.sequence import running_centroids
from suite.training.sequence import task_statistics


def single(name, num_classes=3, occurrence=1):
  return tasks.Task(name, tasks.SINGLE_LABEL, num_classes, occurrence)


def make():
  return task_statistics.TaskStatistics(running_centroids.RunningCentroids)


def test_a_key_keeps_its_statistics_and_another_occurrence_has_its_own():
  statistics = make()
  statistics.begin(single("a"), 2)
  first = statistics.current
  statistics.begin(single("a", occurrence=2), 2)
  assert statistics.current is not first
  statistics.begin(single("a"), 2)
  assert statistics.current is first and first.sums.shape == (3, 2)


def test_statistics_restore_when_their_task_begins(tmp_path):
  statistics = make()
  statistics.begin(single("a"), 2)
  statistics.current.add(tf.constant([[1.0, 2.0]]), tf.constant([1], tf.int64))
  path = tf.train.Checkpoint(it=statistics).write(str(tmp_path / "state"))
  again = make()
  status = tf.train.Checkpoint(it=again).read(path)
  again.begin(single("a"), 2)
  status.assert_existing_objects_matched()
  assert again.current.sums.numpy().tolist() == [[0, 0], [1, 2], [0, 0]]


def test_wrong_use_is_named():
  with pytest.raises(RuntimeError, match="No task has begun; call begin"):
    _ = make().current
  statistics = make()
  statistics.begin(single("a"), 2)
  with pytest.raises(ValueError, match="'a' begins with 4 classes, but began with 3"):
    statistics.begin(single("a", 4), 2)
  multi = tasks.Task("m", tasks.MULTI_LABEL, 3)
  with pytest.raises(ValueError, match="'m' is multi_label; SLDA counts .*take NearestMean"):
    task_statistics.check_single_label(multi, "SLDA")
