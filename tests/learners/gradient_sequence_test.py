# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners with penalties, memories and meta-training: their costs by formula.

They learn and are resumed in tests/contracts/method_matrix_test.py.
"""

from __future__ import annotations

import functools

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
from suite.learners import gradient
from suite.models import conv4
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.episodic import base_episodes
from suite.training.episodic import fomaml
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import gss
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import lwf
from suite.training.objectives import mer
from suite.training.objectives import mir

EPISODES = base_episodes.BaseEpisodes(
    way=4, shot=2, targets=2, epochs=1, updates_per_epoch=3, every=1)


def held():
  return memory.Memory(50, reservoir.Reservoir())


def meta():
  return fomaml.FirstOrder(episodes=EPISODES, steps=2)


tiny = functools.partial(conv4.conv4, filters=8, blocks=1)


def make(features=None, **settings):
  net = (trainable_parts.AllLayers(tiny) if features is None
         else trainable_parts.HeadOnly(features))
  defaults = {"net": net, "head": class_heads.Linear("zeros"), "train_on": "all", "epochs": 2,
              "base": composition.Base(3), "batch_size": 16, "learning_rate": 0.05,
              "observe_batch": 30, "optimizer": optimizers.Momentum(0.9, 1e-4, keep=True)}
  return gradient.GradientLearner(transform=image_ops.Plain(8), **{**defaults, **settings})


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account),
      delivery=deliveries.SEQUENCE)


def stored(num, num_old=0, num_classes=5):
  rng = np.random.default_rng(0)
  images = rng.integers(0, 256, [num, 8, 8, 3]).astype(np.uint8)
  return deliveries.Stored(
      images, np.arange(num) % num_classes, np.ones(num_classes, bool), num_old)


def stored_pixels(num, num_old=0):
  """As `frozen_backbone.pixels` makes codes."""
  data = stored(num, num_old)
  return data._replace(codes=data.codes.reshape([num, -1]) / np.float32(255))


def begun(folder, **settings):
  learner = make(**settings)
  learner.begin(tasks.Task("t", tasks.SINGLE_LABEL, 5), here(folder))
  return learner


# Of one image of 8 x 8: a convolution 3 -> 8, and 4 * 4 * 8 features. Two convolutions are counted
# in gradient_nets_test.py.
FIRST, TINY_HEAD = 8 * 8 * 27 * 8, 128 * 5
TINY_FORWARD = FIRST + TINY_HEAD
TINY_PASS = 3 * TINY_FORWARD - FIRST  # No gradient of the images.
# The head alone, on pixels: a pass has the gradient of the weights besides.
HEAD_FORWARD = 8 * 8 * 3 * 5
HEAD_PASS = 2 * HEAD_FORWARD


def test_macs_of_a_teacher(tmp_path):
  learner, now = begun(tmp_path, objective=lwf.Lwf(0.8, 2.0, teacher="first")), here(tmp_path)
  record = learner.learn_stored(stored(20), now)
  assert (record["passes"], record["teacher_passes"]) == (40, 40)
  totals = now.ledger.totals()
  assert totals["macs"] == learner.stored_macs(20) == 40 * (TINY_PASS + TINY_FORWARD)
  assert (totals["examples_train"], totals["steps_train"]) == (40, 4)
  found = mac_views.views(
      *learner.mac_layers(), num_samples=20, num_passes=40, teacher_passes=40)
  assert found["macs_exact_cached"] == 20 * TINY_FORWARD + totals["macs"]
  # The convolution once for each sample, and for each pass forward, backward and of the teacher.
  assert found["macs_paper_1x_cached"] == (20 + 2 * 40 + 40) * FIRST


def test_macs_of_a_teacher_of_the_head_alone(tmp_path):
  learner = begun(tmp_path, objective=lwf.Lwf(0.8, 2.0, teacher="first"),
                  features=frozen_backbone.pixels)
  now = here(tmp_path)
  record = learner.learn_stored(stored_pixels(20), now)
  assert (record["passes"], record["teacher_passes"]) == (40, 40)
  # A forward pass and the weights' gradient, and one forward pass of the teacher.
  assert now.ledger.totals()["macs"] == learner.stored_macs(20) == 40 * (HEAD_PASS + HEAD_FORWARD)
  found = mac_views.views(
      *learner.mac_layers(), num_samples=20, num_passes=40, teacher_passes=40)
  assert found["macs_exact_cached"] == 20 * HEAD_FORWARD + now.ledger.totals()["macs"]


def test_macs_of_gradients_that_a_memory_compares(tmp_path):
  learner = begun(tmp_path, features=frozen_backbone.pixels, replay_batch=8,
                  memory=memory.Memory(12, gss.Gss(subset=3, block=8)))
  # 20 new ones in three blocks, nothing held before the first; then 10 in two, 12 being held.
  for num, num_old, compared in ((20, 0, 12 + 2 * 3), (30, 20, 10 + 2 * 3)):
    now, planned = here(tmp_path), learner.stored_macs(num)
    record = learner.learn_stored(stored_pixels(num, num_old), now)
    replayed = 8 * now.ledger.totals()["steps_train"] if num_old else 0
    assert record["passes"] == 2 * num + replayed + compared
    assert now.ledger.totals()["macs"] == planned == record["passes"] * HEAD_PASS


def test_macs_of_updates_on_single_rows(tmp_path):
  learner = begun(tmp_path, features=frozen_backbone.pixels, objective=mer.Mer(batches=2),
                  memory=held(), replay_batch=8)
  now, planned = here(tmp_path), learner.stored_macs(20)
  record = learner.learn_stored(stored_pixels(20), now)
  assert record["passes"] == 2 * 2 * 20  # Two epochs, two batches; nothing to replay as yet.
  assert now.ledger.totals()["macs"] == planned == record["passes"] * HEAD_PASS


def test_macs_of_a_memory(tmp_path):
  learner = begun(tmp_path, features=frozen_backbone.pixels, objective=der.Der(), memory=held(),
                  replay_batch=8)
  first, second = here(tmp_path), here(tmp_path)
  expected = learner.stored_macs(20)
  record = learner.learn_stored(stored_pixels(20), first)
  # 20 samples twice, and once more for the logits that are stored; nothing to replay as yet.
  assert (record["passes"], record["teacher_passes"], record["memory_held"]) == (40, 20, 20)
  assert first.ledger.totals()["macs"] == expected == 40 * HEAD_PASS + 20 * HEAD_FORWARD
  found = mac_views.views(
      *learner.mac_layers(), num_samples=20, num_passes=40, teacher_passes=20)
  assert found["macs_exact_cached"] == 20 * HEAD_FORWARD + expected
  expected = learner.stored_macs(30)
  record = learner.learn_stored(stored_pixels(30, num_old=20), second)
  # 60 rows are 4 steps of 16 with 8 of the memory besides.
  assert record["passes"] == 60 + 32 and record["teacher_passes"] == 10
  assert second.ledger.totals()["macs"] == expected == 92 * HEAD_PASS + 10 * HEAD_FORWARD


def test_macs_that_are_foretold_charged_and_viewed_are_the_same(tmp_path):
  learner = begun(tmp_path, features=frozen_backbone.pixels, objective=mir.Mir(12), memory=held(),
                  replay_batch=4)
  num_old = 0
  for num in (20, 90):  # Replayed from a memory in part full; then full.
    now, expected = here(tmp_path), learner.stored_macs(num)
    record = learner.learn_stored(stored_pixels(num, num_old=num_old), now)
    found = mac_views.views(*learner.mac_layers(), num_samples=0, num_passes=record["passes"],
                            teacher_passes=record["teacher_passes"])
    assert expected == now.ledger.totals()["macs"] == found["macs_exact_cached"] > 0
    num_old = num


def test_replay_on_new_samples_alone(tmp_path):
  learner = begun(tmp_path, features=frozen_backbone.pixels, memory=held(), train_on="current",
                  replay_batch=8)
  learner.learn_stored(stored_pixels(20), here(tmp_path))
  expected = learner.stored_macs(28)
  record = learner.learn_stored(stored_pixels(28, num_old=20), here(tmp_path))
  # Two epochs of 8 new samples are two steps, each with 8 of the memory besides.
  assert record["passes"] == 32 and expected == 32 * HEAD_PASS


def test_a_memory_stores_logits_of_known_classes_after_the_phase(tmp_path):
  learner = begun(tmp_path, features=frozen_backbone.pixels, objective=der.Der(), memory=held(),
                  replay_batch=8)
  known = np.array([True, True, True, False, True])
  data = stored_pixels(8)._replace(known=known, labels=np.array([0, 1, 2, 4] * 2))
  learner.learn_stored(data, here(tmp_path))
  places, _, logits = learner.memory.held()
  expected = learner.composed.logits(tf.constant(data.codes)).numpy()[places]
  np.testing.assert_allclose(logits.numpy()[:, known], expected[:, known], rtol=1e-4, atol=1e-5)
  assert np.isnan(logits.numpy()[:, 3]).all()


def test_one_batch_of_features_is_gradient_descent(tmp_path):
  features = np.random.default_rng(0).normal(size=[12, 3]).astype(np.float32)
  learner = begun(tmp_path, features=lambda images: tf.cast(images[:, 0, 0], tf.float32), epochs=1,
                  batch_size=12, learning_rate=0.5, optimizer=optimizers.Momentum())
  known = np.array([True, True, False, True, False])
  labels = np.array([0, 1, 3] * 4)
  learner.learn_stored(deliveries.Stored(features, labels, known, 0), here(tmp_path))
  # At zero all known classes have probability 1 / 3.
  error = np.where(known, 1 / 3, 0.0) - np.eye(5)[labels]
  np.testing.assert_allclose(learner.head.kernel, -0.5 * features.T @ error / 12, atol=1e-6)
  np.testing.assert_allclose(learner.head.bias, -0.5 * error.mean(0), atol=1e-6)


def test_a_new_class_begins_at_its_prototype_and_is_no_answer_before(tmp_path):
  learner = begun(tmp_path, features=lambda images: tf.cast(images[:, 0, 0], tf.float32),
                  head=class_heads.Linear("prototypes"), epochs=1, learning_rate=1e-9)
  assert np.isneginf(learner.answer(tf.ones([1, 3]))).all()
  codes = np.array([[1, 0, 0], [3, 0, 0], [0, 1, 1]], np.float32)
  learner.learn_stored(
      deliveries.Stored(codes, np.array([2, 2, 4]), np.ones(5, bool), 0), here(tmp_path))
  found = learner.answer(tf.constant([[1.0, 2.0, 0.0]])).numpy()[0]
  # Means (2, 0, 0) and (0, 1, 1): |f|^2 - |f - c|^2 = 5 - 5 and 5 - 3.
  np.testing.assert_allclose(found, [-np.inf, -np.inf, 0, -np.inf, 2], atol=1e-5)


def test_logits_of_heads_at_random_are_no_prototypes():
  with pytest.raises(ValueError, match="start is 'ones'; allowed are glorot, pytorch, zeros, pro"):
    class_heads.Linear("ones")


@pytest.mark.parametrize("arguments, message", [
    ({"meta": meta(), "memory": held(), "replay_batch": 8}, "the net AllLayers and no memory"),
    ({"meta": meta(), "features": tf.identity}, "the net AllLayers and no memory"),
    ({"meta": meta(), "head": class_heads.Linear()}, "learns no head; give one that starts at"),
])
def test_impossible_compositions_are_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    make(**arguments)


def test_losses_of_layers_are_refused_in_meta_training(tmp_path):
  net = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(8, 8, 3)),
                             tf.keras.layers.Dense(4, kernel_regularizer="l2", name="regular")])
  with pytest.raises(ValueError, match="adds losses in regular .*and meta-training has no place"):
    begun(tmp_path, net=trainable_parts.AllLayers(net), base=None, meta=meta())


def test_tasks_of_many_labels_are_refused(tmp_path):
  with pytest.raises(ValueError, match="multi_label; GradientLearner has one class an image"):
    make().begin(tasks.Task("m", tasks.MULTI_LABEL, 3), here(tmp_path))


def test_nothing_to_train_on_is_an_error(tmp_path):
  with pytest.raises(ValueError, match="nothing to train on"):
    begun(tmp_path).learn_stored(stored(0), here(tmp_path))
