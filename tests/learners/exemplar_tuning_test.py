# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exemplar Tuning: centroids by hand, residuals against a numpy loop."""

from __future__ import annotations

import dataclasses

import matrix_runs
import numpy as np
import pytest
import tensorflow as tf
import unconverted

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import mac_views
from suite.compute import seeds
from suite.configs import methods
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import exemplar_tuning
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 4)


@unconverted.unconverted
def first_two(images):
  """Two features that can be worked by hand: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account),
      delivery=deliveries.SEQUENCE)


def make(folder, **kwargs):
  learner = exemplar_tuning.ExemplarTuning(
      features=first_two, transform=image_ops.Plain(2), **{**dict(batch_size=64), **kwargs})
  learner.begin(TASK, here(folder))
  return learner


def tune(learner, codes, labels, folder):
  """An offline phase; its record, and the totals of its ledger."""
  now = here(folder)
  stored = deliveries.Stored(np.asarray(codes), np.asarray(labels), np.ones(4, bool), 0)
  return learner.learn_stored(stored, now), now.ledger.totals()


def samples(num=60, seed=0):
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  centers = np.array([[3.0, 0.0], [0.0, 3.0], [-2.0, -2.0]])
  return ((centers[labels] + rng.normal(size=[num, 2])).astype(np.float32),
          labels.astype(np.int64))


def numpy_step(weights, codes, labels, known):
  """Loss and gradient of the residuals in float64; weights = means + residuals."""
  logits = np.where(known, codes @ weights.T, -np.inf)
  exps = np.exp(logits - logits.max(1, keepdims=True))
  p = exps / exps.sum(1, keepdims=True)
  loss = -np.mean(np.log(p[np.arange(len(labels)), labels]))
  return loss, (p - np.eye(len(weights))[labels]).T @ codes / len(labels)


def test_without_residuals_logits_are_products_with_mean_directions(tmp_path):
  learner = make(tmp_path)
  for code, label in (([3., 4.], 1), ([0., 2.], 1), ([5., 0.], 2)):
    learner.update(tf.constant([code]), tf.constant([label], tf.int64))
  # Means (.3, .9) and (1, 0); classes 0 and 3 have none.
  np.testing.assert_allclose(
      learner.answer(tf.constant([[10., 20.]])), [[-np.inf, 21, 10, -np.inf]], rtol=1e-6)


def test_one_full_batch_is_gradient_descent_with_momentum(tmp_path):
  codes, labels = samples()
  learner = make(tmp_path, epochs=3, learning_rate=0.2, momentum=0.5, weight_decay=0.1)
  learner.head.centroids.add(codes, labels)
  record, totals = tune(learner, codes, labels, tmp_path)
  means = class_means.means(learner.head.centroids.state).numpy().astype(np.float64)
  known = np.array([True, True, True, False])
  residuals, velocity, losses = np.zeros([4, 2]), np.zeros([4, 2]), []
  for _ in range(3):
    loss, gradient = numpy_step(means + residuals, codes.astype(np.float64), labels, known)
    losses.append(loss)
    velocity = 0.5 * velocity + gradient + 0.1 * residuals
    residuals -= 0.2 * velocity
  np.testing.assert_allclose(learner.head.residuals, residuals, rtol=1e-4, atol=1e-6)
  assert (learner.head.residuals.numpy()[3] == 0).all()  # A class without a sample.
  assert record["train_loss"] == pytest.approx(np.mean(losses), rel=1e-5)
  assert totals["steps_train"] == 3 and record["passes"] == totals["examples_train"] == 180


def test_an_epoch_of_batches_takes_each_sample_once(tmp_path):
  # Without momentum and with a tiny rate, steps add up as if weights had not moved.
  codes, labels = samples(num=50)
  learner = make(tmp_path, epochs=1, learning_rate=1e-4, momentum=0.0, batch_size=16)
  learner.head.centroids.add(codes, labels)
  assert tune(learner, codes, labels, tmp_path)[1]["steps_train"] == 4
  means = class_means.means(learner.head.centroids.state).numpy().astype(np.float64)
  one = make(tmp_path, epochs=1, learning_rate=1e-4, momentum=0.0, batch_size=50)
  one.head.centroids.add(codes, labels)
  tune(one, codes, labels, tmp_path)
  loss = numpy_step(means, codes, labels, np.array([True] * 3 + [False]))[0]
  again = make(tmp_path, epochs=1, learning_rate=1e-12, batch_size=50)
  again.head.centroids.add(codes, labels)
  assert tune(again, codes, labels, tmp_path)[0]["train_loss"] == pytest.approx(loss)
  # Four steps.
  assert np.linalg.norm(learner.head.residuals) > 2 * np.linalg.norm(one.head.residuals)


def test_a_block_is_answer_and_update_in_turn(tmp_path):
  codes, labels = samples()
  turns, *learners = (make(tmp_path) for _ in range(3))
  for learner in (turns, *learners):
    learner.head.centroids.add(codes[:20], labels[:20])
    tune(learner, codes[:20], labels[:20], tmp_path)
  expected = []
  for code, label in zip(codes, labels):
    expected.append(turns.answer(tf.constant(code[None])).numpy()[0])
    turns.update(tf.constant(code[None]), tf.constant([label]))
  for size, blocks in zip((13, 60), learners):
    found = []
    for i in range(0, 60, size):
      part = tf.constant(codes[i:i + size]), tf.constant(labels[i:i + size])
      found.append(blocks.answer_in_turn(*part))
      blocks.update(*part)
    found = np.concatenate(found)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(expected, 1))


def test_tuning_lowers_the_loss_and_base_classes_are_learned_first(tmp_path):
  rng = np.random.default_rng(0)
  labels = rng.integers(0, 2, 40)
  images = np.zeros([40, 2, 2, 3], np.uint8)
  images[:, 0, :2] = (np.array([[6, 5], [5, 6]])[labels] + rng.integers(0, 2, [40, 2]))[:, :, None]
  data = image_set.ImageSet.from_arrays(
      "t", images, labels, kind=TASK.kind, num_classes=TASK.num_classes)
  learner, now = make(tmp_path, learning_rate=0.01, epochs=30), here(tmp_path)
  delivered = deliveries.Experience(TASK, data, data, deliveries.History())
  first = learner.learn(delivered, now)
  codes = learner.encode(tf.constant(images))
  assert first["classes_with_a_mean"] == 2 and first["trained_on"] == 40
  assert now.ledger.totals()["macs"] == 2 * 30 * 40 * 4 * 2
  assert tune(learner, codes, labels, tmp_path)[0]["train_loss"] < first["train_loss"]
  assert np.mean(np.argmax(learner.predict(tf.constant(images)), 1) == labels) > 0.7


def test_an_offline_phase_is_charged_as_counted(tmp_path):
  codes, labels = samples(num=50)
  learner, now = make(tmp_path, epochs=3, batch_size=16), here(tmp_path)
  learner.update(tf.constant(codes), tf.constant(labels))
  stored = deliveries.Stored(codes, labels, np.ones(4, bool), 0)
  record = learner.learn_stored(stored, now)
  totals = now.ledger.totals()
  assert record["passes"] == totals["examples_train"] == 150
  assert totals["steps_train"] == 3 * 4
  # 4 classes of 2 features: a product and the gradient of the residuals.
  assert totals["macs"] == learner.stored_macs(50) == 150 * 2 * 8
  assert totals["flops"] > 2 * totals["macs"]
  backbone, head = learner.mac_layers()
  found = mac_views.views(backbone, head, num_samples=50, num_passes=150)
  assert found["macs_exact_cached"] == 50 * 8 + totals["macs"]


def test_a_run_that_goes_on_in_another_event_draws_the_same(tmp_path):
  codes, labels = samples()
  found = []
  for event in (0, 7):
    learner = exemplar_tuning.ExemplarTuning(
        features=first_two, transform=image_ops.Plain(2), batch_size=16)
    now = here(tmp_path)
    learner.begin(TASK, dataclasses.replace(now, seeds=now.seeds.child("event", event)))
    learner.head.centroids.add(codes, labels)
    tune(learner, codes, labels, tmp_path)
    found.append(learner.head.residuals.numpy())
  np.testing.assert_array_equal(*found)


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="nothing to train on"):
    tune(make(tmp_path), np.zeros([0, 2], np.float32), np.zeros(0, np.int64), tmp_path)
  with pytest.raises(ValueError, match="multi_label; GradientLearner has one class"):
    exemplar_tuning.ExemplarTuning(features=first_two, transform=image_ops.Plain(2)).begin(
        tasks.Task("m", tasks.MULTI_LABEL, 3), here(tmp_path))


def test_by_the_codes_rule_centroids_stay_with_the_second_phase_and_the_third_trains(tmp_path):
  learner = make(tmp_path, rules="code", epochs=1, learning_rate=0.5)
  def reveal(code, label):
    learner.update(tf.constant([code]), tf.constant([label], tf.int64))

  reveal([3.0, 4.0], 0)
  x = tf.constant([[10.0, 20.0]])
  codes, labels = np.array([[3, 4], [0, 2]], np.float32), np.array([0, 1])
  for phase in (1, 2):
    record, totals = tune(learner, codes[:phase], labels[:phase], tmp_path)
    assert record == {"passes": 0, "waiting": True} and totals["macs"] == 0
    if phase == 1:
      assert learner.stored_macs(9) == 0
      reveal([0.0, 2.0], 1)  # The second class has the centroid (0, 1).
      np.testing.assert_allclose(learner.answer(x), [[22, 20, -np.inf, -np.inf]], rtol=1e-6)
  reveal([1.0, 0.0], 0)  # Too late for a centroid,
  reveal([1.0, 0.0], 2)  # as is a new class, which is answered by zeros.
  np.testing.assert_allclose(learner.answer(x), [[22, 20, 0, 0]], rtol=1e-6)
  np.testing.assert_allclose(learner.answer_in_turn(x, tf.constant([3], tf.int64)),
                             [[22, 20, 0, 0]], rtol=1e-6)
  all_codes, all_labels = np.array([[3, 4], [0, 2], [1, 0]], np.float32), np.array([0, 1, 2])
  stored = deliveries.Stored(all_codes, all_labels, np.array([True, True, True, False]), 0)
  assert learner.learn_stored(stored, here(tmp_path))["passes"] == 3
  rows = np.array([[0.6, 0.8], [0, 1], [0, 0], [0, 0]])
  gradient = numpy_step(rows, all_codes.astype(np.float64), all_labels,
                        np.array([True, True, True, False]))[1]
  np.testing.assert_allclose(learner.head.residuals, -0.5 * gradient, rtol=1e-5, atol=1e-7)


def test_that_rule_is_for_sequences_and_known_by_its_name(tmp_path):
  learner = exemplar_tuning.ExemplarTuning(
      features=first_two, transform=image_ops.Plain(2), rules="code")
  with pytest.raises(ValueError, match="counts the offline phases of a sequence; here are"):
    learner.begin(TASK, dataclasses.replace(here(tmp_path), delivery=deliveries.BUCKETS))
  with pytest.raises(ValueError, match="rules is 'late'; allowed are paper, code"):
    make(tmp_path, rules="late")
  with pytest.raises(ValueError, match="both features and a net"):
    make(tmp_path, net=trainable_parts.HeadOnly())


def normed():
  """A net that only normalizes: features are the two red values, by running statistics."""
  def build(image_shape):
    images = tf.keras.Input(image_shape)
    red = tf.keras.layers.Lambda(lambda x: x[:, :1, :, :1])(images)
    return tf.keras.Model(images, tf.keras.layers.Flatten()(
        tf.keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-3)(red)))

  return frozen_backbone.FrozenBackbone(build, 2)


def test_norms_drift_in_a_phase_and_answers_follow_them(tmp_path):
  """Four values of one channel: 10, 20, 30, 40; mean 25, variance 125, unbiased 500 / 3."""
  images = np.zeros([2, 2, 2, 3], np.uint8)
  images[:, 0, :, 0] = [[10, 20], [30, 40]]
  labels = np.array([0, 1])
  learner = exemplar_tuning.ExemplarTuning(
      transform=image_ops.Plain(2), net=trainable_parts.Drifting(normed), learning_rate=0.5,
      momentum=0.0, epochs=1)
  learner.begin(TASK, here(tmp_path))
  learner.update(tf.constant(images), tf.constant(labels))
  values = images[:, 0, :, 0].astype(np.float64)
  # Running mean 0 and variance 1: directions are those of the values.
  means = values / np.linalg.norm(values, axis=1, keepdims=True)
  np.testing.assert_allclose(learner.answer(tf.constant(images))[:, :2],
                             values @ means.T / np.sqrt(1.001), rtol=1e-5)
  stored = deliveries.Stored(images, labels, np.array([True, True, False, False]), 0)
  now = here(tmp_path)
  assert learner.learn_stored(stored, now)["passes"] == 2
  assert now.ledger.totals()["macs"] == learner.stored_macs(2) == 2 * 2 * 8
  # Training is by the batch's statistics, answers by 0.9 of the old ones and 0.1 of the batch's.
  trained = (values - 25) / np.sqrt(125 + 1e-3)
  gradient = numpy_step(np.concatenate([means, np.zeros([2, 2])]), trained, labels,
                        np.array([True, True, False, False]))[1]
  np.testing.assert_allclose(learner.head.residuals, -0.5 * gradient, rtol=1e-4, atol=1e-6)
  answered = (values - 2.5) / np.sqrt(0.9 + 0.1 * 500 / 3 + 1e-3)
  np.testing.assert_allclose(learner.answer(tf.constant(images))[:, :2],
                             answered @ (means - 0.5 * gradient[:2]).T, rtol=1e-4)
  learner.update(tf.constant(images[:1]), tf.constant([2], tf.int64))
  np.testing.assert_allclose(learner.head.centroids.sums[2],
                             answered[0] / np.linalg.norm(answered[0]), rtol=1e-4)


@pytest.mark.parametrize("name", ["exemplar_tuning", "head_only", "split_head"])
@pytest.mark.parametrize("rules, part", [
    ("paper", trainable_parts.HeadOnly), ("code", trainable_parts.Drifting)])
def test_one_macro_of_gin_chooses_the_rules(name, rules, part, tmp_path):
  method = {method.name: method for method in methods.load()}[name]
  cell = matrix_runs.CellRun(tmp_path, method, "fluid", (
      f"RULES = '{rules}'\nFEATURES = @frozen_backbone.FrozenBackbone()\n"))
  learner = cell._make()
  tuned = learner.learner if name == "exemplar_tuning" else learner
  assert isinstance(tuned.net, part)
  assert hasattr(learner, "waited") == (rules == "code" and name == "exemplar_tuning")
