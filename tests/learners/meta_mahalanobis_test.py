# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Simple CNAPS in sequences: FiLM layers of the first delivery, then running statistics."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.compute import flops
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import example_arrays
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.learners import meta_statistics
from suite.learners import protonet
from suite.learners import simple_cnaps
from suite.learners import statistics_learner
from suite.models import conv4
from suite.models.episodic import embedding
from suite.models.episodic import film
from suite.models.episodic import proto_conv4
from suite.training.episodic import base_episodes
from suite.training.gradient import frozen_backbone
from suite.training.statistics import class_covariances

TRANSFORM = image_ops.Plain(8)
EPISODES: Any = base_episodes.BaseEpisodes(
    way=4, shot=3, targets=3, epochs=2, updates_per_epoch=10, every=1, optimizer_name="adamw")


small = functools.partial(conv4.conv4, filters=4, blocks=1)


def make(episodes=EPISODES, transform=TRANSFORM):
  net = simple_cnaps.SimpleCnaps(
      small, set_encoder=film.SetEncoder(proto_conv4.ProtoConv4(filters=4, blocks=1)),
      adaptation=film.AdaptationNet(), transform=TRANSFORM, training=episodes)
  return meta_statistics.MetaMahalanobis(net, episodes=episodes, transform=transform)


@pytest.fixture(name="context")
def _context(tmp_path):
  with stopped_runs.state(tmp_path / "context") as state:
    yield state.context()


def delivered(bucket, task):
  return deliveries.Experience(task, bucket.train, None, deliveries.History())


def test_the_first_delivery_of_each_task_makes_its_film_layers(context):
  learner, (first, second) = make(), digits.buckets(2)
  task, other = digits.buckets(2).task, tasks.Task("other", tasks.SINGLE_LABEL, 10)
  found, counts, weights = [], [], []
  for one, bucket in ((task, first), (task, second), (other, second)):
    learner.begin(one, context)
    record = learner.learn(delivered(bucket, one), context)
    assert ("meta_updates" in record) == (not found)
    if not found:
      assert (record["way"], record["meta_updates"], record["classes_with_a_mean"]) == (4, 20, 10)
    assert record.get("film_images") == (
        bucket.train.size if bucket is first or one is other else None)
    found.append(np.concatenate(learner.statistics.film))
    counts.append(float(tf.reduce_sum(learner.statistics.counts)))
    weights.append([v.numpy() for v in learner.net.trainable_variables])
  for one in weights[1:]:
    for a, b in zip(weights[0], one):
      np.testing.assert_array_equal(a, b)
  assert counts == [first.train.size, first.train.size + second.train.size, second.train.size]
  np.testing.assert_array_equal(found[0], found[1])
  for bucket, layers in ((first, found[0]), (second, found[2])):
    images = example_arrays.read([bucket.train], task, TRANSFORM).images
    expected = learner.net.film(tf.reduce_mean(learner.net.embed(tf.constant(images)), 0))
    np.testing.assert_allclose(layers, np.concatenate(expected), rtol=1e-4, atol=1e-6)
    assert np.abs(layers[:4] - 1).max() > 1e-3
  # A convolution 3 -> 4 at 8 x 8; ten matrices and vectors of 64 features.
  net, head = 8 * 8 * 27 * 4, 10 * 64 * 65
  (layer,), (answers,) = learner.mac_layers()
  assert (layer.macs, layer.trained, answers.macs) == (net, False, head)
  code = tf.TensorSpec([1, 64])
  graph = tf.function(learner.answer, autograph=False).get_concrete_function(code)
  assert flops.count(graph).macs == head
  tested = example_arrays.read([second.test], other, TRANSFORM)
  answers = np.argmax(learner.predict(tf.constant(tested.images)), axis=1)
  assert np.mean(answers == tested.labels) > 0.4  # By chance 0.1.


def test_without_a_delivery_it_is_the_head_on_the_backbone(context):
  learner, task = make(), tasks.Task("t", tasks.SINGLE_LABEL, 3)
  head = statistics_learner.StatisticsLearner(
      class_covariances.ClassCovariances(), transform=TRANSFORM,
      features=frozen_backbone.FrozenBackbone(small, 8))
  images = np.random.default_rng(0).integers(0, 256, [6, 8, 8, 3]).astype(np.uint8)
  for one in (learner, head):
    one.begin(task, context)
    one.update(one.encode(tf.constant(images)), tf.constant([0, 1, 1, 0, 1, 0], tf.int64))
    one.statistics.solve()
  np.testing.assert_array_equal(
      learner.encode(tf.constant(images)), head.encode(tf.constant(images)))
  np.testing.assert_array_equal(
      learner.predict(tf.constant(images)), head.predict(tf.constant(images)))


def test_wrong_use_is_named(context):
  with pytest.raises(ValueError, match=r"MetaMahalanobis.transform makes feature vectors \(7,\), "
                                       ".*or take StatisticsLearner on the features"):
    make(transform=feature_set.Features(7))
  net = protonet.ProtoNet(embedding.Embedding(proto_conv4.ProtoConv4()), transform=TRANSFORM)
  with pytest.raises(ValueError, match="ProtoNet cannot be run here: it has no embed, film, featu"
                                       ".* for example SimpleCnaps"):
    meta_statistics.MetaMahalanobis(net, episodes=EPISODES, transform=TRANSFORM)
  with pytest.raises(ValueError, match="'m' is multi_label; ClassCovariances counts each image"):
    make().begin(tasks.Task("m", tasks.MULTI_LABEL, 3), context)
