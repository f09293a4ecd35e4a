# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Data and costs at the edge: one class, copies of test images, NaN, FLOPs above 2^53."""

from __future__ import annotations

import json

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.learners import statistics_learner
from suite.protocols import clear
from suite.protocols import fluid
from suite.reporting import quantities
from suite.training.statistics import class_means

FLOPS = 2**53 + 1  # The first integer that a float does not hold.


class Remembers(tf.Module):
  """Answers with the label of the training image of this color, class 0 if it met none.

  An event costs FLOPS; logits are multiplied by `factor`.
  """

  transform = image_ops.Plain(2)

  def __init__(self, factor=1.0):
    super().__init__()
    self._factor, self.by_color = factor, tf.Variable(tf.zeros(256, tf.int64))

  def begin(self, task, context):
    self._num_classes = task.num_classes

  def learn(self, experience, context):
    labels = self.by_color.numpy()
    for batch in experience.train.eval_batches(1, transform=self.transform):
      labels[int(batch["image"][0, 0, 0, 0])] = int(batch["label"][0])
    self.by_color.assign(labels)
    context.ledger.charge("train", flops=FLOPS, macs=FLOPS // 2)
    return {"loss": float("nan")}

  def predict(self, images):
    labels = tf.gather(self.by_color, tf.cast(images[:, 0, 0, 0], tf.int32))
    return self._factor * tf.one_hot(labels, self._num_classes)


def _set(name, values, labels, num_classes):
  images = np.zeros([len(values), 2, 2, 3], np.uint8) + np.array(values, np.uint8)[:, None, None,
                                                                                   None]
  return image_set.ImageSet.from_arrays(
      name, images, labels, kind=tasks.SINGLE_LABEL, num_classes=num_classes,
      ids=[f"{name}/{i}" for i in range(len(values))])


def _clear(folder, learner, train, test, num_classes=2, num_buckets=2):
  """Runs buckets that all have these (values of pixels, labels)."""
  task = tasks.Task("t", tasks.SINGLE_LABEL, num_classes)
  made = buckets.Buckets(task, tuple(buckets.Bucket(
      f"bucket_{b}", train=_set(f"train{b}", *train, num_classes),
      test=_set(f"test{b}", *test, num_classes)) for b in range(num_buckets)))
  with stopped_runs.state(folder) as state:
    return clear.run(learner, state=state, buckets=made)


TRAIN = [10, 20, 90, 200] * 3, [0, 0, 1, 1] * 3


def test_flops_above_2_to_the_53_are_exact_in_records_summaries_and_tables(tmp_path):
  summary = _clear(tmp_path / "run", Remembers(), TRAIN, ([10, 200], [0, 1]))
  last = stopped_runs.records(tmp_path / "run")[-1]
  assert last["flops_train"] == summary["flops_train"] == 2 * FLOPS
  assert f'"flops_train": {2 * FLOPS},' in (tmp_path / "run" / "records.jsonl").read_text()
  assert json.loads(json.dumps(summary))["macs_train"] == 2 * (FLOPS // 2)
  # Of three seeds: whole, and not whole. A float would be 9007199254740992 for the first.
  assert quantities.mean([FLOPS, FLOPS, FLOPS]) == FLOPS
  assert quantities.mean([FLOPS - 1, FLOPS, FLOPS + 1]) == FLOPS
  assert quantities.mean([1, 2]) == 1.5 and quantities.mean([1.0, 2]) == 1.5


def test_a_copy_of_a_training_image_is_tested_like_any_other(tmp_path):
  """Both copies are right answers of a learner that remembers; the third image is none."""
  summary = _clear(tmp_path / "run", Remembers(), TRAIN, ([10, 200, 95], [0, 1, 1]))
  assert summary["matrix"] == [[2 / 3] * 2] * 2
  assert summary["examples_predict"] == 4 * 3


def test_a_task_of_one_class_is_refused_before_its_first_event(tmp_path):
  with pytest.raises(ValueError, match="Task 't' has 1 class; .* needs at least 2"):
    _clear(tmp_path / "run", Remembers(), ([10, 20] * 6, [0] * 12), ([30], [0]), 1)
  assert stopped_runs.records(tmp_path / "run") == []
  images = np.zeros([3, 2, 2, 3], np.uint8)
  learner = statistics_learner.StatisticsLearner(
      class_means.ClassMeans(), transform=image_ops.Plain(2))
  with stopped_runs.state(tmp_path / "fluid") as state, pytest.raises(ValueError, match="class"):
    fluid.run(learner, state=state,
              sequence=sequences.Sequence(images, [0, 0, 0], list("abc"), 1, 1))
  with pytest.raises(ValueError, match="of class 0"):  # Two classes, of which training shows one.
    _clear(tmp_path / "one", Remembers(), ([10, 20] * 6, [0] * 12), ([30, 90], [0, 1]))
  with pytest.raises(ValueError, match="way"):
    episodes.Episodes(images, np.zeros(3, int), task_types.Setting(
        1, shot=1, targets=1, num_support_sets=1), seed=0)


def test_test_images_of_one_class_have_their_accuracy(tmp_path):
  summary = _clear(tmp_path / "run", Remembers(), TRAIN, ([90, 200, 20], [1, 1, 1]))
  assert summary["matrix"] == [[2 / 3] * 2] * 2


def test_nan_is_a_wrong_answer_and_a_loss_of_nan_is_unknown(tmp_path):
  summary = _clear(tmp_path / "run", Remembers(float("nan")), TRAIN, ([10, 200], [0, 1]))
  assert summary["matrix"] == [[0.0, 0.0]] * 2
  record = stopped_runs.records(tmp_path / "run")[0]
  assert record["loss"] is None
  assert "NaN" not in (tmp_path / "run" / "records.jsonl").read_text()
