# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prototypical Networks and Meta-Baseline in a sequence."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.learners import meta_baseline
from suite.learners import meta_centroids
from suite.learners import protonet
from suite.models import conv4
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.episodic import base_episodes
from suite.training.episodic import tuned_embedding

TRANSFORM = image_ops.Plain(8)
EPISODES: Any = base_episodes.BaseEpisodes(
    way=4, shot=3, targets=3, epochs=2, updates_per_epoch=10, every=1)


def small(image_shape):
  return conv4.conv4(image_shape, filters=8, blocks=2)


def make(name):
  if name == "protonet":
    net = protonet.ProtoNet(embedding.Embedding(proto_conv4.ProtoConv4(filters=8, blocks=2)),
                            transform=TRANSFORM, training=EPISODES)
    return meta_centroids.MetaCentroids(net, episodes=EPISODES, transform=TRANSFORM)
  net = meta_baseline.MetaBaseline(
      tuned_embedding.TunedEmbedding(small), transform=TRANSFORM, training=EPISODES)
  return meta_centroids.MetaCentroids(
      net, episodes=EPISODES, transform=TRANSFORM, similarity="cosine")


@pytest.mark.parametrize("name", ["protonet", "meta_baseline"])
def test_each_learns_and_goes_on_the_same_after_a_stop(name, digit_runs, tmp_path):
  def run(folder, stop_after=0):
    return digit_runs.run(make(name), folder, length=90, stop_after=stop_after, record_every=40)

  whole, again = run(tmp_path / "whole"), tmp_path / "stopped"
  assert whole["closed"]["overall"] > 0.6 and whole["updates"] == 0
  found = digit_runs.records(tmp_path / "whole")
  assert (found[0]["way"], found[0]["meta_updates"]) == (4, 20)
  assert found[0]["classes_with_a_mean"] == 4
  # Convolutions 3 -> 8 at 8 x 8 and 8 -> 8 at 4 x 4; 10 means of 32 features.
  assert whole["macs_predict"] == 90 * (8 * 8 * 27 * 8 + 4 * 4 * 72 * 8 + 320)
  assert found[-1]["macs_exact_cached"] == whole["macs_predict"]
  with pytest.raises(digit_runs.Stop):
    run(again, stop_after=2)
  assert run(again) == whole
  assert json.dumps(digit_runs.records(again)) == json.dumps(found)


class Identity:
  """Images [B, 1, 1, 3] are their own features."""

  def make(self, seed, image_shape):
    pass

  def encode(self, images):
    return tf.reshape(tf.cast(images, tf.float32), [-1, 3])

  def train(self, images):
    return self.encode(images), self.zero_statistics()

  def zero_statistics(self):
    return embedding.Seen(tf.zeros([0]), tf.zeros([0]), tf.constant(0.0))

  def update_statistics(self, seen):
    pass


def _context(tmp_path):
  writer = run_writer.RunWriter(tmp_path, None, progress.Progress("x"))
  return run_state.RunState(
      tmp_path, writer, name="x", seed=5, distribution=distribution.build()).context()


def test_logits_are_cosines_at_a_learned_temperature(tmp_path):
  net = meta_baseline.MetaBaseline(
      Identity(), transform=image_ops.Plain(1), training=EPISODES, scale=5.0)
  net.begin(tasks.Task("t", tasks.SINGLE_LABEL, 3), _context(tmp_path))
  codes = tf.constant([[2.0, 0, 0], [4.0, 8.0, 0], [0, 0, 9.0]])
  state = net.adapt(net.initial_state(3), codes, tf.constant([0, 0, 1], tf.int64))
  # Means (3, 4, 0) and (0, 0, 9); class 2 has none. The query (1, 0, 0).
  found = net.logits(state, tf.constant([[1.0, 0, 0]]))
  np.testing.assert_allclose(found, [[3, 0, -1e9]], rtol=1e-5)
  images = tf.reshape(codes, [1, 3, 1, 1, 3])
  loss, _ = net.meta_loss((images, tf.constant([[0, 0, 1]], tf.int64),
                           tf.constant([[[[1.0, 0, 0]]]]), tf.constant([0], tf.int64)))
  assert float(loss) == pytest.approx(np.log1p(np.exp(-3)), rel=1e-5)
  assert [v.name for v in net.trainable_variables] == ["log_scale:0"]


def test_the_temperature_multiplies_answers(tmp_path):
  net = meta_baseline.MetaBaseline(
      Identity(), transform=image_ops.Plain(1), training=EPISODES, scale=5.0)
  learner = meta_centroids.MetaCentroids(
      net, episodes=EPISODES, transform=image_ops.Plain(1), similarity="cosine")
  learner.begin(tasks.Task("t", tasks.SINGLE_LABEL, 3), _context(tmp_path))
  learner.update(tf.constant([[3.0, 4.0, 0]]), tf.constant([1], tf.int64))
  found = learner.answer(tf.constant([[1.0, 0, 0]]))
  np.testing.assert_allclose(found, [[-np.inf, 3, -np.inf]], rtol=1e-5)


def test_norms_of_a_pretrained_network_keep_their_statistics():
  made = tuned_embedding.TunedEmbedding(small)
  made.make(1, (8, 8, 3))
  before = [v.numpy() for v in made.model.non_trainable_variables]
  images = tf.random.stateless_uniform([6, 8, 8, 3], (1, 2), maxval=255.0)
  features, _ = made.train(images)
  np.testing.assert_allclose(features[2:3], made.encode(images[2:3]), rtol=1e-4, atol=1e-4)
  for variable, value in zip(made.model.non_trainable_variables, before):
    np.testing.assert_array_equal(variable, value)
  assert len(made.trainable_variables) == 6  # Kernel, scale and offset of two blocks.


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="scale is 0; it must be above 0"):
    meta_baseline.MetaBaseline(Identity(), transform=TRANSFORM, training=EPISODES, scale=0)
  with pytest.raises(ValueError, match="multi_label; MetaCentroids"):
    make("protonet").begin(tasks.Task("m", tasks.MULTI_LABEL, 3), _context(tmp_path))
