# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
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
from suite.data.images import image_ops
from suite.learners import weight_imprinting
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
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account),
      delivery=deliveries.SEQUENCE)


def make(folder, **settings):
  learner = weight_imprinting.WeightImprinting(
      transform=image_ops.Plain(2), features=first_two, **settings)
  learner.begin(TASK, here(folder))
  return learner


def stored(num=8):
  rng = np.random.default_rng(0)
  codes = rng.normal(size=[num, 2]).astype(np.float32)
  return deliveries.Stored(codes, np.arange(num) % 2, np.array([True, True, False]), 0)


def test_two_phases_train_nothing_and_end_imprinting(tmp_path):
  learner, now = make(tmp_path, epochs=1), here(tmp_path)
  x = tf.constant([[0.0, 7.0]])
  learner.update(tf.constant([[3.0, 4.0]]), tf.constant([1], tf.int64))
  np.testing.assert_allclose(learner.answer(x), [[0, 4 * 0.8, 0]], rtol=1e-6)
  for _ in range(2):
    assert learner.stored_macs(8) == 0
    assert learner.learn_stored(stored(), now) == {"passes": 0, "imprinting": True}
  assert now.ledger.totals()["macs"] == 0
  before = learner.head.kernel.numpy()
  learner.update(tf.constant([[1.0, 0.0]]), tf.constant([2], tf.int64))
  np.testing.assert_array_equal(learner.head.kernel, before)  # It waits for the next phase.
  # Features that cost nothing; 3 classes of 2 features, forward and backward.
  assert learner.stored_macs(8) == 8 * 2 * 6
  assert learner.learn_stored(stored(), now)["passes"] == 8
  assert now.ledger.totals()["macs"] == 8 * 2 * 6
  views = mac_views.views(*learner.mac_layers(), num_samples=1, num_passes=8)
  assert views["macs_exact_cached"] == 6 + 8 * 2 * 6
  assert (learner.head.kernel.numpy()[:2] != before[:2]).any()


def test_training_moves_rows_and_scale_as_in_numpy(tmp_path):
  learner = make(tmp_path, imprint_phases=1, epochs=1, learning_rate=0.5, weight_decay=0.0)
  data = stored()
  learner.update(tf.constant(data.codes), tf.constant(data.labels))
  kernel = learner.head.kernel.numpy().astype(np.float64)
  for _ in range(2):
    learner.learn_stored(data, here(tmp_path))
  unit = data.codes / np.linalg.norm(data.codes, axis=1, keepdims=True)
  cosines = unit @ kernel.T
  exps = np.exp(4 * cosines) * data.known
  error = exps / exps.sum(1, keepdims=True) - np.eye(3)[data.labels]
  np.testing.assert_allclose(
      learner.head.kernel, kernel - 0.5 * 4 * error.T @ unit / 8, rtol=1e-4, atol=1e-5)
  assert float(learner.head.scale) == pytest.approx(
      4 - 0.5 * np.sum(error * cosines) / 8, rel=1e-5)


def test_the_scale_and_rows_are_in_a_checkpoint_and_so_is_the_count_of_phases(tmp_path):
  learner = make(tmp_path, imprint_phases=1)
  learner.learn_stored(stored(), here(tmp_path))
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again = make(tmp_path, imprint_phases=1)
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  assert again.learn_stored(stored(), here(tmp_path)) == (
      learner.learn_stored(stored(), here(tmp_path)))


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="imprint_phases is 0; it must be at least 1"):
    make(tmp_path, imprint_phases=0)
