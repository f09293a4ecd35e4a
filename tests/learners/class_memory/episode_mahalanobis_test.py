# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Within episodes: support sets give what the same samples give one by one."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import image_ops
from suite.learners.class_memory import episode_mahalanobis
from suite.training.sequence import running_mahalanobis


def make(**settings):
  learner = episode_mahalanobis.EpisodeMahalanobis(
      transform=image_ops.Plain(2), features=lambda images: tf.cast(images[:, 0, 0], tf.float32),
      **settings)
  learner.begin(tasks.Task("t", tasks.SINGLE_LABEL, 4), None)
  return learner


def test_sets_give_what_the_recursion_gives_sample_by_sample():
  rng = np.random.default_rng(0)
  codes = rng.normal(size=[14, 3]).astype(np.float32) * [3, 1, 2]
  codes, labels = codes.astype(np.float32), rng.integers(0, 3, 14)
  sequential = running_mahalanobis.RunningMahalanobis(4, 3, ridge=0.5)
  learner = make(ridge=0.5)
  state = learner.initial_state(4)
  for part in (slice(0, 5), slice(5, 6), slice(6, 14)):
    sequential.add(tf.constant(codes[part]), tf.constant(labels[part]))
    state = learner.adapt(state, tf.constant(codes[part]), tf.constant(labels[part]))
  np.testing.assert_allclose(state.sums, sequential.sums, atol=1e-5)
  np.testing.assert_array_equal(state.counts, sequential.counts)
  np.testing.assert_allclose(state.scatter, sequential.scatter, rtol=1e-4, atol=1e-4)
  sequential.solve()
  queries = tf.constant(rng.normal(size=[6, 3]).astype(np.float32))
  found = learner.logits(state, queries).numpy()
  np.testing.assert_allclose(found[:, :3], sequential.answer(queries)[:, :3], rtol=1e-3, atol=1e-4)
  assert (found[:, 3] == -1e9).all()


def test_logits_of_one_sample_a_class_by_hand():
  learner = make()
  images = np.zeros([2, 2, 2, 3], np.uint8)
  images[1, 0, 0] = [4, 0, 0]
  codes = learner.encode(tf.constant(images))
  state = learner.adapt(learner.initial_state(2), codes, tf.constant([0, 1]))
  # S is 8 along the first axis, so Q = diag(8 / 2 + 1, 1, 1) for both classes.
  found = learner.logits(state, tf.constant([[0.0, 3, 0], [5, 0, 0]]))
  np.testing.assert_allclose(found, [[-4.5, -4.5 - 16 / 10], [-2.5, -0.1]], rtol=1e-6)


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="ridge is 0"):
    make(ridge=0)
