# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Samples are answered by one view, and teach by the other."""

import types

import numpy as np
import tensorflow as tf

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.data.images import image_ops
from suite.learners import crop_centroids
from suite.state import journal


class Noting(learner_lib.SequenceLearner):
  """Keeps what it is taught; features are the mean colors, and answers the features."""

  transform = image_ops.Plain(4)

  def begin(self, task, context):
    pass

  def learn(self, experience, context):
    return {}

  def predict(self, images):
    return self.answer(self.encode(images))

  def encode(self, images):
    return tf.reduce_mean(tf.cast(images, tf.float32), [1, 2])

  def answer(self, codes):
    return 10.0 * codes

  def update(self, codes, labels):
    self.taught = codes.numpy().tolist(), labels.numpy().tolist()

  def learn_stored(self, stored, context):
    return {"codes": stored.codes.tolist(), "labels": stored.labels.tolist()}


def test_answers_are_by_the_evaluated_view_and_labels_teach_the_crop():
  inner = Noting()
  learner = crop_centroids.CropCentroids(inner)
  images = tf.ones([1, 4, 4, 6]) * tf.range(1.0, 7.0)  # The views' channels are 1 2 3 and 4 5 6.
  codes = learner.encode(images)
  assert codes.numpy().tolist() == [[1, 2, 3, 4, 5, 6]]
  assert learner.answer(codes).numpy().tolist() == [[10, 20, 30]]
  assert learner.predict(images).numpy().tolist() == [[10, 20, 30]]
  learner.update(codes, tf.constant([2], tf.int64))
  assert inner.taught == ([[4, 5, 6]], [2])
  stored = deliveries.Stored(codes.numpy(), np.array([2]), np.ones(3, bool), 0)
  account = ledger.Ledger()
  context = types.SimpleNamespace(
      ledger=account, phase="train", journal=journal.Journal(0, account))
  assert learner.learn_stored(stored, context) == {"codes": [[4, 5, 6]], "labels": [2]}
  assert account.totals()["flops"] is None  # The learner inside charges nothing.


def test_both_views_are_stacked_and_the_random_one_follows_the_sample_alone():
  images = np.random.default_rng(0).integers(0, 256, [5, 12, 12, 3], np.uint8)
  crops = image_ops.Nevis(6, area=(0.3, 0.9))
  made = crop_centroids.WithCrop(crops)
  found = made.evaluate(images).numpy()
  assert found.shape == (5, *made.shape) == (5, 6, 6, 6)
  np.testing.assert_array_equal(found[..., :3], crops.evaluate(images))
  assert np.any(found[..., :3] != found[..., 3:], axis=(1, 2, 3)).all()
  for i in range(5):
    np.testing.assert_array_equal(made.evaluate(images[i:i + 1])[0], found[i])
  other = crop_centroids.WithCrop(crops, seed=1).evaluate(images).numpy()
  assert np.any(other[..., 3:] != found[..., 3:])
