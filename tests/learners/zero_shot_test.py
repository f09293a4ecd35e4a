# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLIP's answers by names of classes, against both towers called by hand."""

from __future__ import annotations

import functools
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import zero_shot
from suite.models.clip import byte_pairs
from suite.models.clip import weight_files
from suite.state import context
from suite.state import journal
from suite.state import weight_store

FOLDER = pathlib.Path(__file__).parents[1] / "models" / "clip" / "small_clip"
NAMES = ["one", "two_threes", "four"]
IMAGES = np.random.default_rng(0).integers(0, 256, [6, 12, 12, 3], dtype=np.uint8)


@pytest.fixture(autouse=True, scope="module")
def _towers_are_read_once():
  read = functools.cache(weight_files.load)
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(weight_files, "load", lambda folder, name=None: read(folder, name))
    yield


def part(names):
  return image_set.ImageSet.from_arrays(
      "t", IMAGES, np.arange(6) % 2, kind=tasks.SINGLE_LABEL, num_classes=3, class_names=names)


def context_of(tmp_path):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(tmp_path, 0), journal=journal.Journal(0, account))


def learned(learner, tmp_path, names):
  task, here = tasks.Task("t", tasks.SINGLE_LABEL, 3), context_of(tmp_path)
  learner.begin(task, here)
  record = learner.learn(deliveries.Experience(
      task, part(names), part(names), deliveries.History()), here)
  return record, here.ledger.totals()["flops"]


def test_answers_are_cosines_with_the_mean_directions_of_texts(tmp_path):
  templates = ("a {}.", "no {}")
  learner = zero_shot.ClipZeroShot(
      str(FOLDER), transform=image_ops.Plain(12), templates=templates, scale=10.0)
  record, cost = learned(learner, tmp_path, NAMES)
  assert record["classes_with_a_mean"] == 3
  towers, pairs = weight_files.load(FOLDER), byte_pairs.load(FOLDER, 534, 24)

  def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

  texts = [t.replace("{}", n) for n in ("one", "two threes", "four") for t in templates]
  directions = unit(unit(towers.text(pairs.batch(texts)).numpy()).reshape(3, 2, -1).mean(axis=1))
  images = tf.constant(IMAGES, tf.float32)
  expected = 10.0 * unit(towers.image(images).numpy()) @ directions.T
  np.testing.assert_allclose(learner.predict(images), expected, atol=1e-4)
  each = flops.count(tf.function(towers.text, autograph=False).get_concrete_function(
      tf.TensorSpec([1, 24], tf.int32))).flops
  assert 6 * each < cost < 6 * each + 1000  # Besides six texts, squares of the sums.


def test_names_are_needed_and_prompts_have_one_place_for_them(tmp_path):
  learner = zero_shot.ClipZeroShot(str(FOLDER), transform=image_ops.Plain(12))
  with pytest.raises(refusals.RefusedError, match="has 3 classes and 0 names of them"):
    learned(learner, tmp_path, None)
  given = zero_shot.ClipZeroShot(str(FOLDER), transform=image_ops.Plain(12), class_names=NAMES[:2])
  with pytest.raises(refusals.RefusedError, match="3 classes and 2 names"):
    learned(given, tmp_path, NAMES)
  with pytest.raises(refusals.RefusedError, match="3 classes and 0 names"):
    learner.know_base(np.array([True, True, False]), context_of(tmp_path))
  with pytest.raises(ValueError, match="each needs one {}, where the name of the class goes"):
    zero_shot.ClipZeroShot(str(FOLDER), transform=image_ops.Plain(12), templates=("a photo",))
