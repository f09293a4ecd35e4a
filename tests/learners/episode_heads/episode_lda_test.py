# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming LDA within episodes against the recursion, by hand, and on digits."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners.episode_heads import episode_lda
from suite.models import conv4
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.episodic import discriminant
from suite.training.gradient import frozen_backbone
from suite.training.sequence import running_discriminant


@pytest.mark.parametrize("weights", running_discriminant.WEIGHTS)
def test_sets_give_what_the_recursion_gives_sample_by_sample(weights):
  rng = np.random.default_rng(0)
  features = rng.normal(size=[14, 3]).astype(np.float32)
  labels = rng.integers(0, 3, 14)
  sequential = running_discriminant.RunningDiscriminant(4, 3, shrinkage=0.2, weights=weights)
  state = discriminant.zeros(4, 3)
  for part in (slice(0, 5), slice(5, 6), slice(6, 14)):
    sequential.add(tf.constant(features[part]), tf.constant(labels[part]))
    state = discriminant.add(
        state, tf.constant(features[part]), tf.constant(labels[part]), weights)
  np.testing.assert_allclose(state.sums, sequential.sums, atol=1e-5)
  np.testing.assert_array_equal(state.counts, sequential.counts)
  np.testing.assert_allclose(state.scatter, sequential.scatter, rtol=1e-4, atol=1e-5)
  sequential.solve()
  queries = tf.constant(rng.normal(size=[6, 3]).astype(np.float32))
  found = discriminant.logits(state, queries, 0.2).numpy()
  np.testing.assert_allclose(found[:, :3], sequential.answer(queries)[:, :3], rtol=1e-4, atol=1e-4)
  assert (found[:, 3] == -1e9).all()


def test_logits_by_hand():
  # Class 0 at -1 and 1, class 1 at 3 and 5: means 0 and 4, scatter 4, so the covariance is 1.
  state = discriminant.add(
      discriminant.zeros(2, 1), tf.constant([[-1.0], [1.0], [3.0], [5.0]]),
      tf.constant([0, 0, 1, 1]), "class")
  np.testing.assert_allclose(state.scatter, [[4]])
  # Shrunk by 0.5 it is still 1: logits z m - m^2 / 2.
  found = discriminant.logits(state, tf.constant([[2.0], [3.0]]), 0.5)
  np.testing.assert_allclose(found, [[0, 0], [0, 4]], atol=1e-6)


def make(**settings):
  return episode_lda.EpisodeLda(transform=image_ops.Plain(8), **settings)


def test_digits_above_chance_without_meta_training(tmp_path):
  features = frozen_backbone.FrozenBackbone(
      lambda image_shape: conv4.conv4(image_shape, filters=16, blocks=2), 8)
  writer = run_writer.RunWriter(tmp_path, None, progress.Progress("x"))
  state = run_state.RunState(tmp_path, writer, name="x", seed=0, distribution=distribution.build())
  made = {split: digits.episodes(way=2, shot=3, num_support_sets=2, split=split,
                                 classes=(6, 7, 8, 9)) for split in ("train", "test")}
  summary = cfsl.run(make(features=features), state=state, episodes_train=made["train"],
                     episodes_test=made["test"], updates=0, test_episodes=40)
  assert summary["accuracy"] > 0.5  # By chance 0.25.
  assert summary["flops_predict"] > 0
  # Sums, counts and scatter over 12 images of 8 x 8 x 3 float32.
  assert summary["atm"] == pytest.approx((4 * 65 + 64 * 64) / (12 * 192))


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="shrinkage is 0; it must be above 0"):
    make(shrinkage=0)
  with pytest.raises(ValueError, match="weights is 'even'; allowed are steps, class"):
    make(weights="even")
  with pytest.raises(ValueError, match="'m' is multi_label"):
    make().begin(tasks.Task("m", tasks.MULTI_LABEL, 3), types.SimpleNamespace())
