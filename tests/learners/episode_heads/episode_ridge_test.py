# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression within episodes: the form it takes, its features, and a run on digits."""

from __future__ import annotations

import types

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners.episode_heads import episode_ridge
from suite.protocols import cfsl
from suite.training.episodic import ridge

TASK = tasks.Task("episode", tasks.SINGLE_LABEL, 4)


def make(**settings):
  return episode_ridge.EpisodeRidge(**{**dict(transform=image_ops.Plain(8)), **settings})


def run(learner, folder):
  made = {split: digits.episodes(way=2, shot=3, num_support_sets=2, split=split,
                                 classes=(6, 7, 8, 9)) for split in ("train", "test")}
  with stopped_runs.state(folder) as state:
    return cfsl.run(learner, state=state, episodes_train=made["train"],
                    episodes_test=made["test"], updates=0, test_episodes=40)


def test_both_forms_answer_digits_alike_and_hold_what_they_say(tmp_path):
  sizes = dict(way=2, shot=3, num_support_sets=2)
  dual = run(make(**sizes), tmp_path / "dual")
  primal = run(make(form=ridge.PRIMAL), tmp_path / "primal")
  assert dual["accuracy"] == primal["accuracy"] > 0.6  # By chance 0.25.
  assert 0 < dual["flops_predict"] < primal["flops_predict"]
  # 12 images of 8 x 8 x 3 float32: their features, labels and 4 counts; or the sums.
  assert dual["atm"] == pytest.approx((12 * 192 + 12 + 4) / (12 * 192))
  assert primal["atm"] == pytest.approx((192 * (192 + 4) + 4) / (12 * 192))


def test_the_form_follows_from_the_sizes_of_tasks():
  def six_values(images):
    return tf.reshape(tf.cast(images[:, 0, :2], tf.float32), [-1, 6])

  for shot, form in ((1, ridge.DUAL), (2, ridge.PRIMAL)):
    learner = make(features=six_values, way=2, shot=shot, num_support_sets=2)
    learner.begin(TASK, types.SimpleNamespace())
    assert learner.held_form == form
  assert not learner.variables and not learner.transductive


def test_features_have_the_length_1_unless_asked_otherwise():
  images = np.random.default_rng(0).integers(1, 256, [2, 8, 8, 3]).astype(np.uint8)
  for settings, lengths in (({}, [1, 1]), ({"normalize": False}, None)):
    learner = make(**settings)
    learner.begin(TASK, types.SimpleNamespace())
    found = np.linalg.norm(learner.encode(tf.constant(images)), axis=1)
    wanted = np.linalg.norm(images.reshape(2, -1) / 255.0, axis=1) if lengths is None else lengths
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="strength is 0.0; it must be above 0"):
    make(strength=0.0)
  with pytest.raises(ValueError, match="form is 'both'; allowed are primal, dual, cheaper"):
    make(form="both")
