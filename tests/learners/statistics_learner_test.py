# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One learner of statistics over tasks, buckets, sequences and episodes."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
import stopped_runs
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
from suite.learners import statistics_learner
from suite.models import conv4
from suite.protocols import cfsl
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import frozen_backbone
from suite.training.statistics import class_covariances
from suite.training.statistics import class_means
from suite.training.statistics import neighbors
from suite.training.statistics import ridge_sums
from suite.training.statistics import shared_covariance
from suite.training.statistics import statistic

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)
INF = np.inf


def first_two(images):
  """Two features that can be worked by hand: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def _learner(counted=None, **settings):
  settings = {**dict(features=first_two, transform=image_ops.Plain(2), batch_size=2), **settings}
  return statistics_learner.StatisticsLearner(counted or class_means.ClassMeans(), **settings)


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
  return deliveries.Experience(task, images, None, deliveries.History())


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
  graph = tf.function(learner.predict, autograph=False).get_concrete_function(spec)
  assert flops.count(graph).macs == 12
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
    np.testing.assert_array_equal(class_means.means(again.statistics.state)[1], point)
  status.assert_existing_objects_matched()


def test_cosines(tmp_path):
  learner, here = _learner(class_means.ClassMeans("cosine")), _context(tmp_path)
  learner.begin(TASK, here)
  learner.learn(_experience([[3, 4], [0, 9]], [0, 1]), here)
  np.testing.assert_allclose(
      learner.predict(tf.constant(_images([[0, 7]]))), [[0.8, 1, -INF]], rtol=1e-6)


def test_directions_are_averaged_if_asked_for(tmp_path):
  learner, here = _learner(class_means.ClassMeans("dot", normalize=True)), _context(tmp_path)
  learner.begin(TASK, here)
  learner.learn(_experience([[3, 4], [0, 9]], [0, 0]), here)
  np.testing.assert_allclose(class_means.means(learner.statistics.state)[0], [0.3, 0.9], rtol=1e-6)
  # As above, and a square, an addition and a division for each of two features of two samples.
  assert here.ledger.totals()["flops_train"] == (2 + 3 * 3 + 3 * 2) * 2


def test_buckets_of_feature_vectors_move_the_means(tmp_path):
  learner = statistics_learner.StatisticsLearner(
      class_means.ClassMeans(), transform=feature_set.Features(2))
  here = _context(tmp_path)
  for points in ([[0, 0], [10, 2]], [[4, 2], [10, 4]]):
    learner.begin(TASK, here)
    bucket = feature_set.FeatureSet.from_arrays(
        "f", np.asarray(points, np.float32), np.array([0, 1]), kind=TASK.kind, num_classes=3)
    learner.learn(deliveries.Experience(TASK, bucket, None, deliveries.History()), here)
  found = class_means.means(learner.statistics.state)
  np.testing.assert_array_equal(found, [[2, 1], [10, 3], [0, 0]])
  np.testing.assert_allclose(learner.predict(tf.constant([[2.0, 3.0]])), [[-4, -64, -INF]])


@pytest.mark.parametrize("similarity", class_means.SIMILARITIES)
def test_a_block_is_answer_and_update_in_turn(tmp_path, similarity):
  sequence = digits.sequence(num_samples=70, seed=0)
  images = tf.constant(np.stack([sequence.deliver(t) for t in range(len(sequence))]))
  labels = tf.constant([sequence.reveal(t) for t in range(len(sequence))], tf.int64)
  task = tasks.Task("digits", tasks.SINGLE_LABEL, sequence.num_classes)
  blocks, turns = (statistics_learner.StatisticsLearner(
      class_means.ClassMeans(similarity), transform=image_ops.Plain(int(images.shape[1])))
                   for _ in range(2))
  for learner in (blocks, turns):
    learner.begin(task, _context(tmp_path))
  codes = blocks.encode(images)
  answer, update = (tf.function(one, autograph=False) for one in (turns.answer, turns.update))
  expected, found, nearest = [], [], []
  for code, label in zip(codes, labels):
    means = class_means.means(turns.statistics.state).numpy()
    distances = np.sum((means - code.numpy()) ** 2, axis=1)
    nearest.append(np.where(turns.statistics.counts.numpy() > 0, distances, INF))
    expected.append(answer(code[None]).numpy())
    update(code[None], label[None])
  for i in range(0, 70, 30):
    found.append(blocks.answer_in_turn(codes[i:i + 30], labels[i:i + 30]))
    blocks.update(codes[i:i + 30], labels[i:i + 30])
  found, expected = np.concatenate(found), np.concatenate(expected)
  np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-4)
  np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(expected, 1))
  if similarity == "euclidean":
    np.testing.assert_array_equal(np.argmax(found, 1), np.argmin(nearest, 1))


def test_layers_of_the_head_and_of_no_backbone(tmp_path):
  learner = _learner()
  learner.begin(TASK, _context(tmp_path))
  assert learner.mac_layers() == ([], [mac_views.Layer("statistics", 3 * 2, trained=False)])


def test_wrong_use_is_named(tmp_path):
  here = _context(tmp_path)
  with pytest.raises(RuntimeError, match="No task has begun; call begin"):
    _learner().predict(tf.constant(_images([[0, 0]])))
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
  learner = _learner(transform=feature_set.Features(2), features=None)
  learner.begin(TASK, here)
  with pytest.raises(ValueError, match="'t' holds images, but .* transform is of features"):
    learner.learn(_experience([[0, 0]], [0]), here)
  learner = _learner()
  learner.begin(TASK, here)
  bucket = feature_set.FeatureSet.from_arrays(
      "f", np.zeros([1, 2], np.float32), np.array([0]), kind=TASK.kind, num_classes=3)
  with pytest.raises(ValueError, match="'f' has features of width .*, but an image was expected"):
    learner.learn(deliveries.Experience(TASK, bucket, None, deliveries.History()), here)


def _begun(folder, counted, **settings):
  """A learner that has begun, and a context."""
  learner, now = _learner(counted, **settings), _context(folder)
  learner.begin(TASK, now)
  return learner, now


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
  learner, now = _begun(tmp_path, shared_covariance.SharedCovariance(weights="class"))
  record = learner.learn(deliveries.Experience(TASK, data, None, deliveries.History()), now)
  assert record == {"classes_with_a_mean": 2, "condition_number": record["condition_number"]}
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
  assert now.ledger.totals()["steps"] == 0  # No gradient is followed.
  assert learner.stored_macs(0) >= 12


def test_an_offline_phase_inverts_and_trains_nothing(tmp_path):
  learner, now = _begun(tmp_path, shared_covariance.SharedCovariance())
  rng = np.random.default_rng(1)
  codes, labels = rng.normal(size=[30, 2]).astype(np.float32), np.arange(30) % 3
  learner.update(tf.constant(codes), tf.constant(labels))
  np.testing.assert_array_equal(learner.statistics.precision, np.eye(2))
  stored = deliveries.Stored(codes, labels, np.ones(3, bool), 0)
  assert learner.learn_stored(stored, now) == {"passes": 0, "condition_number": 1.15}
  assert (learner.statistics.precision.numpy() != np.eye(2)).all()
  assert now.ledger.totals()["macs"] == learner.stored_macs(30)
  assert now.ledger.totals()["steps"] == 0
  views = mac_views.views(*learner.mac_layers(), num_samples=30, num_passes=0)
  assert views["macs_exact_cached"] == 30 * 6


def test_each_task_has_its_own_statistics_and_a_bucket_adds_to_them(tmp_path):
  """Three features vectors a delivery, two deliveries of one task, another task in between."""
  learner = statistics_learner.StatisticsLearner(
      shared_covariance.SharedCovariance(weights="class"), transform=feature_set.Features(2))
  now, other = _context(tmp_path), tasks.Task("other", tasks.SINGLE_LABEL, 2)

  def deliver(task, points, labels):
    data = feature_set.FeatureSet.from_arrays(
        "f", np.asarray(points, np.float32), np.asarray(labels), kind=task.kind,
        num_classes=task.num_classes)
    learner.begin(task, now)
    learner.learn(deliveries.Experience(task, data, None, deliveries.History()), now)

  deliver(TASK, [[0, 0], [2, 0], [9, 1]], [0, 0, 1])
  deliver(other, [[5, 5], [7, 7]], [0, 1])
  np.testing.assert_array_equal(learner.statistics.counts, [1, 1])
  deliver(TASK, [[4, 6], [9, 3]], [0, 1])
  np.testing.assert_array_equal(learner.statistics.counts, [3, 2, 0])
  np.testing.assert_array_equal(learner.statistics.sums, [[6, 6], [18, 4], [0, 0]])
  # About the means (2, 2) and (9, 2): first axis 4 + 0 + 4, products 4 + 0 + 8, second 4 + 4 + 16
  # and 1 + 1.
  np.testing.assert_allclose(learner.statistics.scatter, [[8, 12], [12, 26]], rtol=1e-6)


COVARIANCES = class_covariances.ClassCovariances()


@pytest.fixture(name="of_features")
def _of_features(tmp_path):
  """A function: a statistic to a learner of feature vectors [2] that has begun, and a context."""
  def make(counted):
    learner = statistics_learner.StatisticsLearner(counted, transform=feature_set.Features(2))
    learner.begin(TASK, _context(tmp_path))
    return learner, _context(tmp_path)

  return make


def _features(points, labels, task=TASK):
  data = feature_set.FeatureSet.from_arrays(
      "f", np.asarray(points, np.float32), np.asarray(labels), kind=task.kind,
      num_classes=task.num_classes)
  return deliveries.Experience(task, data, None, deliveries.History())


def around_zero(num=200):
  """Two classes about the same point, the second ten times as wide."""
  rng = np.random.default_rng(0)
  labels = np.arange(num) % 2
  return rng.normal(size=[num, 2]) * np.where(labels, 10, 1)[:, None], labels


def test_a_class_within_another_is_told_apart_by_its_spread(of_features):
  points, labels = around_zero()
  learner, now = of_features(COVARIANCES)
  assert learner.learn(_features(points, labels), now) == {
      "classes_with_a_mean": 2, "condition_number": 1.23}
  found = learner.predict(tf.constant(points, tf.float32)).numpy()
  assert np.isneginf(found[:, 2]).all()
  # Far from zero the second class is nearer in units of its spread, where means tell nothing.
  far = np.linalg.norm(points, axis=1) > 4
  assert (np.argmax(found, 1)[far] == labels[far]).mean() > 0.95
  lda, other = of_features(shared_covariance.SharedCovariance())
  lda.learn(_features(points, labels), other)
  wrong = np.argmax(lda.predict(tf.constant(points, tf.float32)), 1)
  assert (wrong[far] == labels[far]).mean() < 0.8
  # 200 labels of two products 2 x 2; then the three inversions.
  assert now.ledger.totals()["macs"] == 200 * 2 * 4 + learner.stored_macs(0)


def test_a_checkpoint_holds_all_and_each_task_has_its_own_covariances(of_features, tmp_path):
  points, labels = around_zero(40)
  (learner, now), other = of_features(COVARIANCES), tasks.Task("other", tasks.SINGLE_LABEL, 2)
  learner.learn(_features(points, labels), now)
  learner.begin(other, now)
  learner.learn(_features(points[:4], labels[:4], other), now)
  np.testing.assert_array_equal(learner.statistics.counts, [2, 2])
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again, _ = of_features(COVARIANCES)
  again.begin(other, now)
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  for one in (learner, again):
    one.begin(TASK, now)
  x = tf.constant([[1.0, 2.0]])
  np.testing.assert_array_equal(again.answer(x), learner.answer(x))
  np.testing.assert_array_equal(again.statistics.counts, [20, 20, 0])


# Episodes.

EVERY = {
    "means": class_means.ClassMeans(), "shared": shared_covariance.SharedCovariance(0.1, "class"),
    "covariances": COVARIANCES, "ridge": ridge_sums.RidgeSums()}


def _in_episodes(folder, counted, **settings):
  learner = _learner(counted, **{**dict(transform=image_ops.Plain(8), features=None), **settings})
  learner.begin(TASK, dataclasses.replace(_context(folder), delivery=deliveries.EPISODES))
  return learner


@pytest.mark.parametrize("name", EVERY)
def test_support_sets_give_what_single_samples_of_a_sequence_give(name, tmp_path):
  rng = np.random.default_rng(0)
  images = tf.constant(rng.integers(0, 256, [14, 2, 2, 3]), tf.uint8)
  labels = rng.integers(0, 2, 14)
  settings = dict(transform=image_ops.Plain(2), features=first_two)
  episodes = _in_episodes(tmp_path, EVERY[name], **settings)
  assert not episodes.variables and not episodes.transductive
  codes, state = episodes.encode(images) / 255.0, episodes.initial_state(3)
  sequential, _ = _begun(tmp_path, EVERY[name])
  for part in (slice(0, 5), slice(5, 6), slice(6, 14)):
    state = episodes.adapt(state, codes[part], tf.constant(labels[part]))
    sequential.update(codes[part], tf.constant(labels[part]))
  sequential.statistics.solve()
  found, expected = episodes.logits(state, codes).numpy(), sequential.answer(codes).numpy()
  np.testing.assert_allclose(found[:, :2], expected[:, :2], rtol=1e-3, atol=1e-4)
  assert (found[:, 2] == statistic.NOT_SHOWN).all() and np.isneginf(expected[:, 2]).all()


def _run(learner, folder, **settings):
  made = {split: digits.episodes(way=2, num_support_sets=2, split=split, classes=(6, 7, 8, 9),
                                 **settings) for split in ("train", "test")}
  with stopped_runs.state(folder) as state:
    return cfsl.run(learner, state=state, episodes_train=made["train"], updates=0,
                    episodes_test=made["test"], test_episodes=40)


@pytest.mark.parametrize("features", [None, "random backbone"])
def test_digits_above_chance_without_meta_training(tmp_path, features):
  if features:
    features = frozen_backbone.FrozenBackbone(
        functools.partial(conv4.conv4, filters=16, blocks=2), 8)
  summary = _run(_learner(transform=image_ops.Plain(8), features=features), tmp_path)
  assert summary["accuracy"] > 0.45  # By chance 0.25.
  assert summary["flops_predict"] > 0 and summary["macs_per_task"] > 0
  # Sums and counts of 4 classes, over 4 images of 8 x 8 x 3 float32.
  width = 192 if features is None else 64
  assert summary["atm"] == pytest.approx(4 * (width + 1) / (4 * 192))


def test_both_forms_of_ridge_regression_answer_digits_alike_and_hold_what_they_say(tmp_path):
  def run(form):
    ridge = ridge_sums.RidgeSums(way=2, shot=3, num_support_sets=2, form=form)
    learner = _learner(ridge, lift=statistics_learner.unit_length, transform=image_ops.Plain(8),
                       features=None)
    return _run(learner, tmp_path / form, shot=3)

  dual, primal = run("cheaper"), run("primal")
  assert dual["accuracy"] == primal["accuracy"] > 0.6  # By chance 0.25.
  assert 0 < dual["flops_predict"] < primal["flops_predict"]
  # 12 images of 8 x 8 x 3 float32: their features, labels and 4 counts; or the sums.
  assert dual["atm"] == pytest.approx((12 * 192 + 12 + 4) / (12 * 192))
  assert primal["atm"] == pytest.approx((192 * (192 + 4) + 4) / (12 * 192))


def test_a_lift_makes_the_codes(tmp_path):
  learner = _learner(lift=statistics_learner.unit_length)
  learner.begin(TASK, _context(tmp_path))
  np.testing.assert_allclose(learner.encode(tf.constant(_images([[3, 4]]))), [[0.6, 0.8]])
  assert learner.frozen_features is None


def test_wrong_use_within_episodes_is_named(tmp_path):
  with pytest.raises(ValueError, match=r"feature vectors \(7,\), but these episodes are of images"):
    _run(_learner(EVERY["means"], transform=feature_set.Features(7), features=None),
         tmp_path / "run")
  with pytest.raises(ValueError, match="1 channels, but .* made for 3. Set its channels = 1"):
    _in_episodes(tmp_path, EVERY["means"]).encode(tf.zeros([2, 8, 8, 1], tf.uint8))
  with pytest.raises(ValueError, match="'m' is multi_label; SharedCovariance counts .*ClassMeans"):
    _in_episodes(tmp_path, EVERY["shared"]).begin(
        tasks.Task("m", tasks.MULTI_LABEL, 3), _context(tmp_path))


def test_scripts_for_the_first_version_find_nearest_mean():
  with pytest.warns(DeprecationWarning, match="is now statistics_learner.StatisticsLearner"):
    learner = nearest_mean.NearestMean(transform=image_ops.Plain(size=4), similarity="cosine")
  assert learner._statistic == class_means.ClassMeans("cosine")


CHOOSING = {
    "ranpac": lambda: ridge_sums.RidgeSums(strengths=(0.1, 1.0), exact=True),
    "fecam": lambda: class_covariances.ClassCovariances(
        matrices="correlations", shrinkages=((1.0, 0.0), (1.0, 1.0))),
    "knn": lambda: neighbors.Neighbors(size=20, ks=(1, 3))}


@pytest.mark.parametrize("budget", ["", "1 GFLOP"])
@pytest.mark.parametrize("name", [*EVERY, *CHOOSING])
def test_every_statistic_has_all_rows_of_a_bucket_whether_or_not_it_chooses(
    name, budget, tmp_path):
  learner, here = _learner(EVERY.get(name) or CHOOSING[name]()), _context(tmp_path)
  if budget:
    here.ledger.budget = ledger.Budget.parse(budget)
  learner.begin(TASK, here)
  train, dev = (_experience(points, labels).train for points, labels in (
      ([[0, 0], [2, 4], [10, 0], [3, 3]], [0, 0, 2, 1]), ([[1, 1], [9, 2]], [0, 2])))
  learner.learn(deliveries.Experience(TASK, train, dev, deliveries.History()), here)
  assert learner.chooses == (name in CHOOSING)
  np.testing.assert_array_equal(learner.statistics.state.counts, [3, 1, 2])


def test_a_random_projection_is_a_function_of_its_seed_and_the_width():
  lift = statistics_learner.RandomRelu(5, seed=3)
  x = np.random.default_rng(0).normal(size=[4, 2]).astype(np.float32)
  weights = tf.random.stateless_normal([2, 5], seed=[3, 2]).numpy()
  # Its weights are made outside of the graph.
  inside = tf.function(lift, autograph=False)(tf.constant(x))
  np.testing.assert_allclose(inside, np.maximum(x @ weights, 0), rtol=1e-5, atol=1e-6)
  np.testing.assert_array_equal(lift(tf.constant(x)), statistics_learner.RandomRelu(5, 3)(x))
  assert np.any(lift(x[:, :1]).numpy() != inside.numpy())  # Another width has other weights.


@pytest.mark.parametrize("size", [40, 180, 300])
def test_acil_is_the_recursion_of_its_authors_on_their_buffer(size):
  """With d features their weights are uniform within 1 / sqrt(d), and 0.1 is their strength."""
  rng, lift = np.random.default_rng(4), statistics_learner.RandomRelu(size, weights="uniform")
  labels = np.arange(180) // 36
  x = (rng.normal(size=[180, 24]) + labels[:, None] / 3).astype(np.float32)
  lift(tf.constant(x))
  weights = lift.weights[0].numpy().astype(np.float64)
  assert 0.9 / np.sqrt(24) < np.abs(weights).max() <= 1 / np.sqrt(24)
  np.testing.assert_allclose(weights.var(), 1 / (3 * 24), rtol=0.1)
  r, regression = np.eye(size) / 0.1, np.zeros([size, 5])
  learned = statistic.Running(ridge_sums.RidgeSums(0.1, exact=True), 5, size)
  for task in range(5):
    rows = labels == task
    z, y = np.maximum(x[rows].astype(np.float64) @ weights, 0), np.eye(5)[labels[rows]]
    r = r - r @ z.T @ np.linalg.solve(np.eye(len(z)) + z @ r @ z.T, z @ r)
    regression = regression + r @ z.T @ (y - z @ regression)
    learned.add_set(lift(tf.constant(x[rows])), labels[rows])
  learned.solve()
  tests = (rng.normal(size=[400, 24]) + rng.integers(0, 5, [400, 1]) / 3).astype(np.float32)
  expected = np.maximum(tests.astype(np.float64) @ weights, 0) @ regression
  found = learned.answer(lift(tf.constant(tests))).numpy()
  np.testing.assert_allclose(found, expected, atol=2e-4)
  np.testing.assert_array_equal(found.argmax(1), expected.argmax(1))


def test_tukeys_transform_by_hand():
  found = statistics_learner.Tukey()(tf.constant([[9.0, 16.0], [0.0, -4.0], [0.0, 0.0]]))
  np.testing.assert_allclose(found, [[0.6, 0.8], [0, -1], [0, 0]], rtol=1e-6)
  with pytest.raises(ValueError, match="power is 0; it must be above 0"):
    statistics_learner.Tukey(0)


def test_products_of_random_fourier_features_are_a_gaussian_kernel():
  x = np.random.default_rng(0).normal(size=[6, 3]).astype(np.float32)
  for gamma, variance, expected in (("scale", -1.0, 1 / 3), ("scale", 2.0, 1 / 6), (0.2, 2.0, 0.2)):
    lift = statistics_learner.RandomFourier(20000, gamma)
    lift.variance.assign(variance)
    found = tf.function(lift, autograph=False)(tf.constant(x)).numpy()
    squares = np.sum((x[:, None] - x) ** 2, axis=-1)
    np.testing.assert_allclose(found @ found.T, np.exp(-expected * squares), atol=0.03)
    again = statistics_learner.RandomFourier(20000, gamma)
    again.variance.assign(variance)
    np.testing.assert_array_equal(lift(tf.constant(x)), again(tf.constant(x)))
  for gamma in (0, "auto"):
    with pytest.raises(ValueError, match="size must be at least 1, and gamma above 0 or 'scale'"):
      statistics_learner.RandomFourier(5, gamma=gamma)


def test_the_first_examples_tell_the_variance_of_features(tmp_path):
  lift = statistics_learner.RandomFourier(30)
  learner, here = _learner(lift=lift), _context(tmp_path)
  learner.begin(TASK, here)
  assert not lift.is_measured
  points = [[0, 0], [2, 4], [10, 0]]
  learner.learn(_experience(points, [0, 0, 2]), here)
  assert float(lift.variance) == pytest.approx(np.var(points)) and lift.is_measured
  path = tf.train.Checkpoint(learner=learner).save(str(tmp_path / "c"))
  learner.learn(_experience([[90, 80]], [1]), here)
  assert float(lift.variance) == pytest.approx(np.var(points))
  other = _learner(lift=statistics_learner.RandomFourier(30))
  other.begin(TASK, here)
  tf.train.Checkpoint(learner=other).restore(path)
  assert float(other._lift.variance) == pytest.approx(np.var(points))
  assert statistics_learner.RandomFourier(5, gamma=0.1).is_measured
