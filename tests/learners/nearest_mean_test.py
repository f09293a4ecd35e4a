# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import experience
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import nearest_mean
from suite.state import context
from suite.state import journal
from suite.state import weight_store

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)
INF = np.inf


def first_two(images):
  """Two features that can be worked by hand: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def _learner():
  return nearest_mean.NearestMean(features=first_two, transform=image_ops.Plain(2), batch_size=2)


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
  return experience.Experience(task, images, images, experience.History())


def test_pixels_are_one_row_an_image_between_0_and_1():
  rows = nearest_mean.pixels(tf.constant(_images([[255, 51]])))
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
