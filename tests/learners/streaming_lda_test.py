# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The learner around `running_discriminant`: base classes, offline phases, costs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import mac_views
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import streaming_lda
from suite.state import context
from suite.state import journal
from suite.state import weight_store

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)


def first_two(images):
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account))


def make(folder, **settings):
  learner = streaming_lda.StreamingLda(
      transform=image_ops.Plain(2), features=first_two, **settings)
  learner.begin(TASK, here(folder))
  return learner


def base():
  """Two classes side by side, each of them long and thin along both axes' sum."""
  rng = np.random.default_rng(0)
  labels = np.arange(80) % 2
  along, across = rng.normal(0, 40, 80), rng.normal(0, 2, 80) + np.where(labels, 8, -8)
  points = np.stack([128 + along + across, 128 + along - across], 1).clip(0, 255)
  images = np.zeros([80, 2, 2, 3], np.uint8)
  images[:, 0, :2] = points.round().astype(np.uint8)[:, :, None]
  return image_set.ImageSet.from_arrays("b", images, labels, kind=TASK.kind, num_classes=3), images


def test_base_classes_are_told_apart_where_means_alone_cannot(tmp_path):
  data, images = base()
  learner, now = make(tmp_path, weights="class"), here(tmp_path)
  record = learner.learn(deliveries.Experience(TASK, data, data, deliveries.History()), now)
  assert record == {"classes_with_a_mean": 2}
  found = learner.predict(tf.constant(images)).numpy()
  assert np.isneginf(found[:, 2]).all()
  assert np.mean(np.argmax(found, 1) == data.labels) > 0.95
  codes = first_two(tf.constant(images)).numpy()
  means = np.stack([codes[data.labels == c].mean(0) for c in (0, 1)])
  nearest = np.argmin(((codes[:, None] - means) ** 2).sum(2), 1)
  assert np.mean(nearest == data.labels) < 0.85
  # 80 labels of two 2 x 2 products; the inversion makes one of the means with P, 3 x 2 x 2, beside
  # what the solver itself is counted as.
  assert now.ledger.totals()["macs"] == 80 * 2 * 4 + learner.stored_macs(0)
  assert learner.stored_macs(0) >= 12


def test_an_offline_phase_inverts_and_trains_nothing(tmp_path):
  learner, now = make(tmp_path), here(tmp_path)
  rng = np.random.default_rng(1)
  codes, labels = rng.normal(size=[30, 2]).astype(np.float32), np.arange(30) % 3
  learner.update(tf.constant(codes), tf.constant(labels))
  np.testing.assert_array_equal(learner.discriminant.precision, np.eye(2))
  stored = deliveries.Stored(codes, labels, np.ones(3, bool), 0)
  assert learner.learn_stored(stored, now) == {"passes": 0}
  assert (learner.discriminant.precision.numpy() != np.eye(2)).all()
  assert now.ledger.totals()["macs"] == learner.stored_macs(30)
  views = mac_views.views(*learner.mac_layers(), num_samples=30, num_passes=0)
  assert views["macs_exact_cached"] == 30 * 6


def test_a_checkpoint_holds_it_all(tmp_path):
  data, _ = base()
  learner = make(tmp_path)
  learner.learn(deliveries.Experience(TASK, data, data, deliveries.History()), here(tmp_path))
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again = make(tmp_path)
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  x = tf.constant([[1.0, 2.0]])
  np.testing.assert_array_equal(again.answer(x), learner.answer(x))


def test_each_task_has_its_own_statistics_and_a_bucket_adds_to_them(tmp_path):
  """Three features vectors a delivery, two deliveries of one task, another task in between."""
  learner = streaming_lda.StreamingLda(transform=feature_set.Features(2), weights="class")
  now, other = here(tmp_path), tasks.Task("other", tasks.SINGLE_LABEL, 2)

  def deliver(task, points, labels):
    data = feature_set.FeatureSet.from_arrays(
        "f", np.asarray(points, np.float32), np.asarray(labels), kind=task.kind,
        num_classes=task.num_classes)
    learner.begin(task, now)
    learner.learn(deliveries.Experience(task, data, data, deliveries.History()), now)

  deliver(TASK, [[0, 0], [2, 0], [9, 1]], [0, 0, 1])
  deliver(other, [[5, 5], [7, 7]], [0, 1])
  np.testing.assert_array_equal(learner.discriminant.counts, [1, 1])
  deliver(TASK, [[4, 6], [9, 3]], [0, 1])
  np.testing.assert_array_equal(learner.discriminant.counts, [3, 2, 0])
  np.testing.assert_array_equal(learner.discriminant.sums, [[6, 6], [18, 4], [0, 0]])
  # About the means (2, 2) and (9, 2): first axis 4 + 0 + 4, products 4 + 0 + 8, second 4 + 4 + 16
  # and 1 + 1.
  np.testing.assert_allclose(learner.discriminant.scatter, [[8, 12], [12, 26]], rtol=1e-6)


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="'t' begins with 5 classes, but began with 3"):
    make(tmp_path).begin(tasks.Task("t", tasks.SINGLE_LABEL, 5), here(tmp_path))
  with pytest.raises(ValueError, match="'m' is multi_label; SLDA counts .*take NearestMean"):
    make(tmp_path).begin(tasks.Task("m", tasks.MULTI_LABEL, 3), here(tmp_path))
