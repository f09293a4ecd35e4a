# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The numbers of a Predict event, worked by hand; the labels never leave the evaluator."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.state import predictions
from suite.training.scoring import evaluation
from suite.training.scoring import scoring


def _set(answers, labels, kind="single_label", num_classes=3):
  """An image's red is the class that `_answer` will name."""
  images = np.zeros([len(answers), 2, 2, 3], np.uint8)
  images[..., 0] = np.asarray(answers)[:, None, None]
  return image_set.ImageSet.from_arrays(
      "s", images, np.asarray(labels), kind=kind, num_classes=num_classes)


def _answer(images):
  return tf.one_hot(tf.cast(images[:, 0, 0, 0], tf.int32), 3, on_value=2.0)


def _evaluate(predict, made, ledger=None, **values):
  return evaluation.evaluate(predict,
                             made,
                             transform=image_ops.Plain(2),
                             ledger=ledger or ledger_lib.Ledger(),
                             distribution=distribution.build(),
                             **values)


@pytest.mark.parametrize("batch_size", [1, 2, 5, 256])
def test_error_is_counted_over_every_example_once(batch_size):
  result = _evaluate(_answer, _set([0, 1, 2, 0, 1], [0, 1, 2, 1, 2]), batch_size=batch_size)
  assert result.record == {"metric": "error", "error": 0.4, "seen": 5, "correct": 3}
  assert result.predictions["ids"].tolist() == ["0", "1", "2", "3", "4"]
  assert result.predictions["top1"].tolist() == [0, 1, 2, 0, 1]
  share = np.exp(2) / (np.exp(2) + 2)
  np.testing.assert_allclose(result.predictions["true_class_probability"],
                             [share, share, share, (1 - share) / 2, (1 - share) / 2], rtol=1e-6)
  assert result.predictions["scores"] is None


def test_a_small_set_is_not_padded_to_a_large_batch():
  shapes = []

  def predict(images):
    shapes.append(images.shape[0])
    return _answer(images)

  _evaluate(predict, _set([0] * 5, [0] * 5))
  assert shapes == [8, 1]  # The power of two that holds 5; one row tells what 5 of them cost.


def test_the_cost_of_every_example_is_charged():
  ledger = ledger_lib.Ledger()

  def predict(images):
    return _answer(images) + 1.0  # One addition a logit: 2 images of 3.

  _evaluate(predict, _set([0] * 5, [0] * 5), ledger, batch_size=2, phase="predict")
  alone = ledger_lib.Ledger()
  _evaluate(predict, _set([0] * 2, [0] * 2), alone, batch_size=2, phase="predict")
  assert alone.totals()["flops_predict"] == 6
  assert ledger.totals()["flops_predict"] == 5 * 3
  assert ledger.totals()["examples_predict"] == 5


def test_predict_is_given_one_image_tensor_and_nothing_else():
  given = []

  def predict(*args, **kwargs):
    given.append((args, kwargs))
    return _answer(args[0])

  _evaluate(predict, _set([0, 1], [0, 1]))
  (args, kwargs), = given
  assert len(args) == 1 and not kwargs
  assert isinstance(args[0], tf.Tensor)
  assert (args[0].dtype, args[0].shape.as_list()) == (tf.uint8, [2, 2, 2, 3])


def test_a_multi_label_task_is_scored_by_mean_average_precision(tmp_path):
  scores = np.array([[0.9, 0.1, 0.3], [0.8, 0.7, 0.2], [0.1, 0.6, 0.4], [0.2, 0.5, 0.1]])
  labels = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]], np.uint8)
  made = _set([0, 1, 2, 3], labels, "multi_label")
  table = tf.constant(scores, tf.float32)
  result = _evaluate(lambda images: tf.gather(table, tf.cast(images[:, 0, 0, 0], tf.int32)), made)
  # Class 0: positives rank 1 and 4, (1/1 + 2/4) / 2. Class 1: rank 1 and 3, (1/1 + 2/3) / 2.
  # Class 2 has no positive and counts 0.
  expected = (0.75 + 5 / 6 + 0.0) / 3
  assert result.record["metric"] == "1 - mAP" and result.record["seen"] == 4
  assert result.record["error"] == pytest.approx(1 - expected, abs=1e-7)
  assert result.record["correct"] == 2  # Top 1 of images 0 and 3 is among their labels.
  path = tmp_path / "p.parquet"
  predictions.save(path, **result.predictions)
  saved = predictions.load(path)
  again = evaluation.score(scoring.Outputs(saved.id, saved.multi_hot(), saved.scores),
                           "multi_label")
  assert again.record == result.record


def test_a_model_that_answers_nan_is_wrong_and_does_not_crash():
  result = _evaluate(lambda images: _answer(images) * float("nan"), _set([0, 1], [0, 1]))
  assert result.record["error"] == 1.0
  assert result.predictions["true_class_probability"].tolist() == [0.0, 0.0]
