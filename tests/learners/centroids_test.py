# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean in blocks: the learner around `running_centroids`."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import mac_views
from suite.compute import seeds
from suite.contracts import experience
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import centroids
from suite.learners import nearest_mean
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.sequence import running_centroids

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)


def first_two(images):
  """Two features that can be worked by hand: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def make(**kwargs):
  return centroids.Centroids(
      **{**dict(features=first_two, transform=image_ops.Plain(2), batch_size=2), **kwargs})


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account))


def images_of(points):
  images = np.zeros([len(points), 2, 2, 3], np.uint8)
  images[:, 0, :2] = np.asarray(points)[:, :, None]
  return images


def delivered(points, labels, task=TASK):
  images = image_set.ImageSet.from_arrays(
      "t", images_of(points), np.asarray(labels), kind=task.kind, num_classes=task.num_classes)
  return experience.Experience(task, images, images, experience.History())


def test_distances_after_learning_a_split(tmp_path):
  learner, now = make(), here(tmp_path)
  learner.begin(TASK, now)
  record = learner.learn(delivered([[0, 0], [2, 4], [10, 0]], [0, 0, 2]), now)
  assert record == {"classes_with_a_mean": 2}
  # Means (1, 2) and (10, 0); class 1 has none. The point (4, 2).
  found = learner.predict(tf.constant(images_of([[4, 2]]))).numpy()
  np.testing.assert_allclose(found, [[-9, -np.inf, -40]], rtol=1e-5)
  assert now.ledger.totals()["flops"] > 0


def test_cosines(tmp_path):
  learner, now = make(similarity="cosine"), here(tmp_path)
  learner.begin(TASK, now)
  learner.learn(delivered([[3, 4], [0, 9]], [0, 1]), now)
  np.testing.assert_allclose(
      learner.predict(tf.constant(images_of([[0, 7]]))), [[0.8, 1, -np.inf]], rtol=1e-6)


@pytest.mark.parametrize("similarity", running_centroids.SIMILARITIES)
def test_a_block_is_answer_and_update_in_turn(tmp_path, similarity):
  sequence = digits.sequence(num_samples=120, seed=0)
  images = tf.constant(np.stack([sequence.deliver(t) for t in range(len(sequence))]))
  labels = tf.constant([sequence.reveal(t) for t in range(len(sequence))], tf.int64)
  task = tasks.Task("digits", tasks.SINGLE_LABEL, sequence.num_classes)
  transform = image_ops.Plain(int(images.shape[1]))
  blocks, turns, plain = (
      centroids.Centroids(transform=transform, similarity=similarity),
      centroids.Centroids(transform=transform, similarity=similarity),
      nearest_mean.NearestMean(transform=transform))
  for learner in (blocks, turns, plain):
    learner.begin(task, here(tmp_path))
  codes = blocks.encode(images)

  def one_by_one(learner):
    answer, update, found = tf.function(learner.answer), tf.function(learner.update), []
    for code, label in zip(codes, labels):
      found.append(answer(code[None]).numpy())
      update(code[None], label[None])
    return np.concatenate(found)

  expected = one_by_one(turns)
  found = []
  for i in range(0, 120, 50):
    found.append(blocks.answer_in_turn(codes[i:i + 50], labels[i:i + 50]))
    blocks.update(codes[i:i + 50], labels[i:i + 50])
  found = np.concatenate(found)
  np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-4)
  np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(expected, 1))
  if similarity == "euclidean":
    np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(one_by_one(plain), 1))


def test_a_checkpoint_holds_the_means_of_every_task(tmp_path):
  other = tasks.Task("u", tasks.SINGLE_LABEL, 3)
  learner, now = make(), here(tmp_path)
  for task, point in ((TASK, [2, 4]), (other, [8, 8])):
    learner.begin(task, now)
    learner.learn(delivered([point], [1], task), now)
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "state"))
  again = make()
  status = tf.train.Checkpoint(learner=again).read(path)
  for task, point in ((TASK, [2, 4]), (other, [8, 8])):
    again.begin(task, now)
    np.testing.assert_array_equal(again.centroids.means()[1], point)
  status.assert_existing_objects_matched()


def test_layers_of_the_head_and_of_no_backbone(tmp_path):
  learner = make()
  learner.begin(TASK, here(tmp_path))
  assert learner.mac_layers() == ([], [mac_views.Layer("centroids", 3 * 2, trained=False)])


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(RuntimeError, match="begin"):
    make().predict(tf.constant(images_of([[0, 0]])))
  with pytest.raises(ValueError, match="multi_label; Centroids adds each image"):
    make().begin(tasks.Task("m", tasks.MULTI_LABEL, 3), here(tmp_path))
  with pytest.raises(ValueError, match="similarity 'l2'"):
    make(similarity="l2")
