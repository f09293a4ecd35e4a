# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean over tasks, buckets and blocks of a sequence."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.compute import mac_views
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import nearest_mean
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_centroids

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)
INF = np.inf


def first_two(images):
  """Two features that can be worked by hand: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def _learner(**settings):
  return nearest_mean.NearestMean(
      **{**dict(features=first_two, transform=image_ops.Plain(2), batch_size=2), **settings})


def _context(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account))


def _images(points):
  images = np.zeros([len(points), 2, 2, 3], np.uint8)
  images[:, 0, :2] = np.asarray(points)[:, :, None]
  return images


def _experience(points, labels, task=TASK):
  images = image_set.ImageSet.from_arrays(
      "t", _images(points), np.asarray(labels), kind=task.kind, num_classes=task.num_classes)
  return deliveries.Experience(task, images, images, deliveries.History())


def test_pixels_are_one_row_an_image_between_0_and_1():
  rows = frozen_backbone.pixels(tf.constant(_images([[255, 51]])))
  np.testing.assert_allclose(rows, [[1, 1, 1, .2, .2, .2, 0, 0, 0, 0, 0, 0]], rtol=1e-6)


def test_logits_are_minus_squared_distances_to_the_means(tmp_path):
  learner, here = _learner(), _context(tmp_path)
  learner.begin(TASK, here)
  record = learner.learn(_experience([[0, 0], [2, 4], [10, 0]], [0, 0, 2]), here)
  assert record == {"classes_with_a_mean": 2}
  # Means (1, 2) and (10, 0); class 1 has none.
  logits = learner.predict(tf.constant(_images([[1, 2], [4, 6]])))
  np.testing.assert_allclose(logits, [[0, -INF, -85], [-25, -INF, -72]])


def test_a_task_that_goes_on_keeps_its_means_and_another_has_its_own(tmp_path):
  learner, here = _learner(), _context(tmp_path)
  other = tasks.Task("other", tasks.SINGLE_LABEL, 2)
  learner.begin(TASK, here)
  learner.learn(_experience([[0, 0], [4, 0]], [1, 1]), here)
  learner.begin(other, here)
  learner.learn(_experience([[7, 7]], [0], other), here)
  learner.begin(TASK, here)
  learner.learn(_experience([[8, 0]], [1]), here)
  np.testing.assert_allclose(learner.predict(tf.constant(_images([[4, 3]]))), [[-INF, -9, -INF]])
  learner.begin(other, here)
  np.testing.assert_allclose(learner.predict(tf.constant(_images([[7, 5]]))), [[-4, -INF]])


def test_an_image_with_two_labels_counts_in_both_means(tmp_path):
  learner, here = _learner(), _context(tmp_path)
  task = tasks.Task("m", tasks.MULTI_LABEL, 2)
  learner.begin(task, here)
  learner.learn(_experience([[0, 0], [6, 0]], [[1, 1], [0, 1]], task), here)
  np.testing.assert_allclose(learner.predict(tf.constant(_images([[0, 0]]))), [[0, -9]])


def test_one_by_one_gives_the_means_of_learning_at_once(tmp_path):
  rng = np.random.default_rng(0)
  points, labels = rng.integers(0, 256, [60, 2]), rng.integers(0, 3, 60)
  at_once, one_by_one, here = _learner(), _learner(), _context(tmp_path)
  at_once.begin(TASK, here)
  at_once.learn(_experience(points, labels), here)
  one_by_one.begin(TASK, here)
  codes = one_by_one.encode(tf.constant(_images(points)))
  for i in range(30):
    one_by_one.update(codes[i:i + 1], tf.constant(labels[i:i + 1]))
  one_by_one.update(codes[30:], tf.constant(labels[30:]))
  images = tf.constant(_images(rng.integers(0, 256, [5, 2])))
  np.testing.assert_allclose(one_by_one.predict(images), at_once.predict(images), rtol=1e-4)


def test_an_answer_is_the_prediction_of_a_batch_of_one(tmp_path):
  learner, here = _learner(), _context(tmp_path)
  learner.begin(TASK, here)
  codes = learner.encode(tf.constant(_images([[3, 4]])))
  assert learner.answer(codes).numpy().tolist() == [[-INF, -INF, -INF]]
  learner.update(codes, tf.constant([2], tf.int64))
  np.testing.assert_allclose(learner.answer(tf.zeros([1, 2])), [[-INF, -INF, -25]])


def test_costs_are_counted_by_hand(tmp_path):
  learner, here = _learner(), _context(tmp_path)
  learner.begin(TASK, here)
  # A batch of 2 with D = 2 and C = 3: the product is 2 * 2 * 3 multiply-adds.
  spec = tf.TensorSpec([2, 2, 2, 3], tf.uint8)
  assert flops.count(tf.function(learner.predict).get_concrete_function(spec)).macs == 12
  learner.learn(_experience([[0, 0], [2, 4], [10, 0]], [0, 0, 2]), here)
  totals = here.ledger.totals()
  # Features only copy; 3 samples and 3 operations for each of the 3 means, of 2 features.
  assert (totals["flops_train"], totals["macs"], totals["examples_train"]) == (24, 0, 3)


def test_a_checkpoint_holds_all_it_knows(tmp_path):
  learner, here = _learner(), _context(tmp_path)
  learner.begin(TASK, here)
  learner.learn(_experience([[0, 0], [2, 4], [10, 0]], [0, 0, 2]), here)
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "learner"))
  again = _learner()
  again.begin(TASK, here)
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  images = tf.constant(_images([[1, 2], [4, 6]]))
  np.testing.assert_array_equal(again.predict(images), learner.predict(images))


def test_a_checkpoint_holds_the_means_of_every_task(tmp_path):
  other = tasks.Task("u", tasks.SINGLE_LABEL, 3)
  learner, here = _learner(), _context(tmp_path)
  for task, point in ((TASK, [2, 4]), (other, [8, 8])):
    learner.begin(task, here)
    learner.learn(_experience([point], [1], task), here)
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again = _learner()
  status = tf.train.Checkpoint(learner=again).read(path)
  for task, point in ((TASK, [2, 4]), (other, [8, 8])):
    again.begin(task, here)
    np.testing.assert_array_equal(again.centroids.means()[1], point)
  status.assert_existing_objects_matched()


def test_cosines(tmp_path):
  learner, here = _learner(similarity="cosine"), _context(tmp_path)
  learner.begin(TASK, here)
  learner.learn(_experience([[3, 4], [0, 9]], [0, 1]), here)
  np.testing.assert_allclose(
      learner.predict(tf.constant(_images([[0, 7]]))), [[0.8, 1, -INF]], rtol=1e-6)


def test_directions_are_averaged_if_asked_for(tmp_path):
  learner, here = _learner(similarity="dot", normalize=True), _context(tmp_path)
  learner.begin(TASK, here)
  learner.learn(_experience([[3, 4], [0, 9]], [0, 0]), here)
  np.testing.assert_allclose(learner.centroids.means()[0], [0.3, 0.9], rtol=1e-6)
  # As above, and a square, an addition and a division for each of two features of two samples.
  assert here.ledger.totals()["flops_train"] == (2 + 3 * 3 + 3 * 2) * 2


def test_buckets_of_feature_vectors_move_the_means(tmp_path):
  learner = nearest_mean.NearestMean(transform=feature_set.Features(2))
  here = _context(tmp_path)
  for points in ([[0, 0], [10, 2]], [[4, 2], [10, 4]]):
    learner.begin(TASK, here)
    bucket = feature_set.FeatureSet.from_arrays(
        "f", np.asarray(points, np.float32), np.array([0, 1]), kind=TASK.kind, num_classes=3)
    learner.learn(deliveries.Experience(TASK, bucket, bucket, deliveries.History()), here)
  np.testing.assert_array_equal(learner.centroids.means(), [[2, 1], [10, 3], [0, 0]])
  np.testing.assert_allclose(learner.predict(tf.constant([[2.0, 3.0]])), [[-4, -64, -INF]])


@pytest.mark.parametrize("similarity", running_centroids.SIMILARITIES)
def test_a_block_is_answer_and_update_in_turn(tmp_path, similarity):
  sequence = digits.sequence(num_samples=120, seed=0)
  images = tf.constant(np.stack([sequence.deliver(t) for t in range(len(sequence))]))
  labels = tf.constant([sequence.reveal(t) for t in range(len(sequence))], tf.int64)
  task = tasks.Task("digits", tasks.SINGLE_LABEL, sequence.num_classes)
  blocks, turns = (nearest_mean.NearestMean(
      transform=image_ops.Plain(int(images.shape[1])), similarity=similarity) for _ in range(2))
  for learner in (blocks, turns):
    learner.begin(task, _context(tmp_path))
  codes = blocks.encode(images)
  answer, update = tf.function(turns.answer), tf.function(turns.update)
  expected, found, nearest = [], [], []
  for code, label in zip(codes, labels):
    distances = np.sum((turns.centroids.means().numpy() - code.numpy()) ** 2, axis=1)
    nearest.append(np.where(turns.centroids.counts.numpy() > 0, distances, INF))
    expected.append(answer(code[None]).numpy())
    update(code[None], label[None])
  for i in range(0, 120, 50):
    found.append(blocks.answer_in_turn(codes[i:i + 50], labels[i:i + 50]))
    blocks.update(codes[i:i + 50], labels[i:i + 50])
  found, expected = np.concatenate(found), np.concatenate(expected)
  np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-4)
  np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(expected, 1))
  if similarity == "euclidean":
    np.testing.assert_array_equal(np.argmax(found, 1), np.argmin(nearest, 1))


def test_layers_of_the_head_and_of_no_backbone(tmp_path):
  learner = _learner()
  learner.begin(TASK, _context(tmp_path))
  assert learner.mac_layers() == ([], [mac_views.Layer("centroids", 3 * 2, trained=False)])


def test_wrong_use_is_named(tmp_path):
  here = _context(tmp_path)
  with pytest.raises(RuntimeError, match="No task has begun; call begin"):
    _learner().predict(tf.constant(_images([[0, 0]])))
  with pytest.raises(ValueError, match="similarity 'l2'"):
    _learner(similarity="l2")
  learner = _learner()
  learner.begin(TASK, here)
  with pytest.raises(ValueError, match="'t' begins with 5 classes, but began with 3.*another name"):
    learner.begin(tasks.Task("t", tasks.SINGLE_LABEL, 5), here)
  with pytest.raises(ValueError, match=r"shape \(1, 2, 2, 3\); a function to \[B, D\]"):
    _learner(features=tf.identity).begin(TASK, here)
  backbone = frozen_backbone.FrozenBackbone(
      lambda image_shape: tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=image_shape)]),
      2)
  with pytest.raises(ValueError, match=r"takes images.*was given \(1, 7\).*features to None"):
    _learner(features=backbone, transform=feature_set.Features(7)).begin(TASK, here)


def test_images_are_refused_by_a_learner_of_features_and_the_reverse(tmp_path):
  here = _context(tmp_path)
  learner = nearest_mean.NearestMean(transform=feature_set.Features(2))
  learner.begin(TASK, here)
  with pytest.raises(ValueError, match="'t' holds images, but .* transform is of features"):
    learner.learn(_experience([[0, 0]], [0]), here)
  learner = _learner()
  learner.begin(TASK, here)
  bucket = feature_set.FeatureSet.from_arrays(
      "f", np.zeros([1, 2], np.float32), np.array([0]), kind=TASK.kind, num_classes=3)
  with pytest.raises(ValueError, match="'f' has features of width .*, but an image was expected"):
    learner.learn(deliveries.Experience(TASK, bucket, bucket, deliveries.History()), here)
