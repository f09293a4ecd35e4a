# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The learner around `running_mahalanobis`: spreads that differ, phases, checkpoints, tasks."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.learners import streaming_lda
from suite.learners.class_memory import mahalanobis
from suite.state import context
from suite.state import journal
from suite.state import weight_store

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account))


def delivered(points, labels, task=TASK):
  data = feature_set.FeatureSet.from_arrays(
      "f", np.asarray(points, np.float32), np.asarray(labels), kind=task.kind,
      num_classes=task.num_classes)
  return deliveries.Experience(task, data, data, deliveries.History())


def make(folder, **settings):
  learner = mahalanobis.Mahalanobis(transform=feature_set.Features(2), **settings)
  learner.begin(TASK, here(folder))
  return learner


def around_zero(num=200):
  """Two classes about the same point, the second ten times as wide."""
  rng = np.random.default_rng(0)
  labels = np.arange(num) % 2
  return rng.normal(size=[num, 2]) * np.where(labels, 10, 1)[:, None], labels


def test_a_class_within_another_is_told_apart_by_its_spread(tmp_path):
  points, labels = around_zero()
  learner, now = make(tmp_path), here(tmp_path)
  assert learner.learn(delivered(points, labels), now) == {"classes_with_a_mean": 2}
  found = learner.predict(tf.constant(points, tf.float32)).numpy()
  assert np.isneginf(found[:, 2]).all()
  # Far from zero the second class is nearer in units of its spread, where means tell nothing.
  far = np.linalg.norm(points, axis=1) > 4
  assert (np.argmax(found, 1)[far] == labels[far]).mean() > 0.95
  lda = streaming_lda.StreamingLda(transform=feature_set.Features(2))
  lda.begin(TASK, here(tmp_path))
  lda.learn(delivered(points, labels), here(tmp_path))
  wrong = np.argmax(lda.predict(tf.constant(points, tf.float32)), 1)
  assert (wrong[far] == labels[far]).mean() < 0.8
  # 200 labels of two products 2 x 2; then the three inversions.
  assert now.ledger.totals()["macs"] == 200 * 2 * 4 + learner.stored_macs(0)


def test_an_offline_phase_inverts_and_trains_nothing(tmp_path):
  points, labels = around_zero(30)
  learner, now = make(tmp_path), here(tmp_path)
  learner.update(tf.constant(points, tf.float32), tf.constant(labels))
  before = learner.statistics.precision.numpy()
  np.testing.assert_array_equal(before, [np.eye(2)] * 3)
  stored = deliveries.Stored(points.astype(np.float32), labels, np.ones(3, bool), 0)
  assert learner.learn_stored(stored, now) == {"passes": 0}
  assert (learner.statistics.precision.numpy() != before).any()
  assert now.ledger.totals()["macs"] == learner.stored_macs(30)
  backbone, head = learner.mac_layers()
  assert backbone == [] and [layer.macs for layer in head] == [3 * (4 + 2)]


def test_a_checkpoint_holds_it_all_and_each_task_has_its_own(tmp_path):
  points, labels = around_zero(40)
  learner, other = make(tmp_path), tasks.Task("other", tasks.SINGLE_LABEL, 2)
  learner.learn(delivered(points, labels), here(tmp_path))
  learner.begin(other, here(tmp_path))
  learner.learn(delivered(points[:4], labels[:4], other), here(tmp_path))
  np.testing.assert_array_equal(learner.statistics.counts, [2, 2])
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again = make(tmp_path)
  again.begin(other, here(tmp_path))
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  for one in (learner, again):
    one.begin(TASK, here(tmp_path))
  x = tf.constant([[1.0, 2.0]])
  np.testing.assert_array_equal(again.answer(x), learner.answer(x))
  np.testing.assert_array_equal(again.statistics.counts, [20, 20, 0])


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="'m' is multi_label; Mahalanobis counts .*take NearestMean"):
    make(tmp_path).begin(tasks.Task("m", tasks.MULTI_LABEL, 3), here(tmp_path))
  with pytest.raises(ValueError, match="ridge is -1"):
    make(tmp_path, ridge=-1)
