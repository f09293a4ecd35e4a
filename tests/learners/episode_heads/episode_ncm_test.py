# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean within episodes: values by hand, and a run on digits."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.learners.episode_heads import episode_ncm
from suite.models import conv4
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.gradient import frozen_backbone

TASK = tasks.Task("episode", tasks.SINGLE_LABEL, 3)
CONTEXT = types.SimpleNamespace()


def first_two(images):
  return tf.cast(images[:, 0, 0, :2], tf.float32)


def images_of(*points):
  """One image of one pixel (r, g, 0) for each point."""
  pixels = np.zeros([len(points), 1, 1, 3], np.uint8)
  pixels[:, 0, 0, :2] = points
  return tf.constant(pixels)


def make(**settings):
  learner = episode_ncm.EpisodeNcm(
      **{**dict(transform=image_ops.Plain(1), features=first_two), **settings})
  learner.begin(TASK, CONTEXT)
  return learner


def after(learner, *sets):
  state = learner.initial_state(3)
  for points, labels in sets:
    state = learner.adapt(
        state, learner.encode(images_of(*points)), tf.constant(labels, tf.int64))
  return state


def test_sets_add_to_means_and_logits_are_minus_squared_distances():
  learner = make()
  state = after(learner, ([(2, 0), (0, 8)], [0, 1]), ([(4, 0)], [0]))
  found = learner.logits(state, learner.encode(images_of((3, 4))))
  # Means (3, 0) and (0, 8); class 2 was not shown.
  np.testing.assert_allclose(found, [[-16, -25, -1e9]])


def test_cosines():
  learner = make(similarity="cosine")
  state = after(learner, ([(3, 4)], [0]), ([(0, 9)], [2]))
  found = learner.logits(state, learner.encode(images_of((0, 7))))
  np.testing.assert_allclose(found, [[0.8, -1e9, 1]], rtol=1e-6)


def test_nothing_is_trained():
  learner = make()
  assert not learner.variables and not learner.transductive


def run(learner, folder, **settings):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=0, distribution=distribution.build())
  made = {split: digits.episodes(way=2, num_support_sets=2, split=split, classes=(6, 7, 8, 9))
          for split in ("train", "test")}
  return cfsl.run(learner, state=state, episodes_train=made["train"], episodes_test=made["test"],
                  **{**dict(updates=0, test_episodes=60), **settings})


@pytest.mark.parametrize("features", [None, "random backbone"])
def test_digits_above_chance_without_meta_training(tmp_path, features):
  if features:
    features = frozen_backbone.FrozenBackbone(
        lambda image_shape: conv4.conv4(image_shape, filters=16, blocks=2), 8)
  learner = episode_ncm.EpisodeNcm(transform=image_ops.Plain(8), features=features)
  summary = run(learner, tmp_path)
  assert summary["accuracy"] > 0.45  # By chance 0.25.
  assert summary["flops_predict"] > 0 and summary["macs_per_task"] > 0
  # Sums and counts of 4 classes, over 4 images of 8 x 8 x 3 float32.
  width = 192 if features is None else 64
  assert summary["atm"] == pytest.approx(4 * (width + 1) / (4 * 192))


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="EpisodeNcm.similarity is 'l2'; allowed are euclidean"):
    make(similarity="l2")
  with pytest.raises(ValueError, match=r"feature vectors \(7,\), but episodes are of images"):
    make(transform=feature_set.Features(7))
  with pytest.raises(ValueError, match="1 channels, but .* made for 3. Set its channels = 1"):
    make().encode(tf.zeros([2, 1, 1, 1], tf.uint8))
  with pytest.raises(ValueError, match=r"shape \(1, 1, 1, 3\); a function to \[B, D\]"):
    make(features=tf.identity)
  with pytest.raises(ValueError, match="'m' is multi_label"):
    make().begin(tasks.Task("m", tasks.MULTI_LABEL, 3), CONTEXT)
