# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prototypical Networks, Meta-Baseline and ConstellationNet in a sequence."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pixel_embedding
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import example_arrays
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.learners import meta_statistics
from suite.learners import protonet
from suite.models import conv4
from suite.models.episodic import constellation
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


small = functools.partial(conv4.conv4, filters=8, blocks=1)


def make(name):
  if name == "protonet":
    net = protonet.ProtoNet(embedding.Embedding(proto_conv4.ProtoConv4(filters=8, blocks=1)),
                            transform=TRANSFORM, training=EPISODES)
    return meta_statistics.MetaCentroids(net, episodes=EPISODES, transform=TRANSFORM)
  net = protonet.ProtoNet(
      constellation.ClusteredEmbedding(constellation.ConstellationConv4(
          filters=8, blocks=2, clusters=4, heads=2, attended=1)),
      transform=TRANSFORM, training=EPISODES, similarity="cosine")
  return meta_statistics.MetaCentroids(net, episodes=EPISODES, transform=TRANSFORM)


def learned(learner, folder):
  """The record of four base classes out of ten, and the share of their images that is answered."""
  task, base = tasks.Task("t", tasks.SINGLE_LABEL, 10), digits.sequence_base()
  context = _context(folder)
  learner.begin(task, context)
  record = learner.learn(deliveries.Experience(task, base, base, deliveries.History()), context)
  read = example_arrays.read([base], task, TRANSFORM)
  answers = np.argmax(learner.predict(tf.constant(read.images)), axis=1)
  return record, np.mean(answers == read.labels)


def macs(learner, num_features):
  """Multiply-adds of encoding an image and of an answer, counted; the views' layers have the same.
  """
  (net,), (head,) = learner.mac_layers()
  image, code = tf.TensorSpec([1, 8, 8, 3], tf.uint8), tf.TensorSpec([1, num_features])
  found = [flops.count(tf.function(function, autograph=False).get_concrete_function(spec)).macs
           for function, spec in ((learner.encode, image), (learner.answer, code))]
  assert found == [net.macs, head.macs] and not net.trained
  return found


def test_a_net_of_clusters_costs_what_its_layers_say_and_moves_its_centers(tmp_path):
  learner = make("constellation")
  record, accuracy = learned(learner, tmp_path)
  assert accuracy > 0.5 and record["classes_with_a_mean"] == 4
  # Convolution, clusters and merging of 64 and 16 cells; self-attention on the latter has six dense
  # layers, and products of cells with cells; 10 means of 8 features.
  first = 64 * (27 * 8 + 8 * 4 + 12 * 8)
  second = 16 * (72 * 8 + 8 * 4 + 12 * 8 + 6 * 4 * 4) + 2 * 16 * 16 * 4
  assert macs(learner, 8) == [first + second, 80]
  # 20 episodes of 4 classes with 3 + 3 images of 64 and 16 cells; each center began with one.
  np.testing.assert_allclose(np.sum(learner.net._embedding.counts, axis=1),
                             [4 + 20 * 24 * 64, 4 + 20 * 24 * 16], rtol=1e-4)
  # Centers began with norm 1; means of several directions are shorter.
  assert (np.linalg.norm(learner.net._embedding.centers, axis=-1) < 0.999).all()


def test_the_net_may_be_meta_trained_on_a_pretraining_set(tmp_path):
  only = digits.buckets(1)[0]  # All ten digits; the sequence has four base classes.
  episodes = dataclasses.replace(EPISODES, way=6, images=functools.partial(getattr, only, "train"))
  net = protonet.ProtoNet(embedding.Embedding(proto_conv4.ProtoConv4(filters=8, blocks=1)),
                          transform=TRANSFORM, training=episodes)
  made = meta_statistics.MetaCentroids(net, episodes=episodes, transform=TRANSFORM)
  record, accuracy = learned(made, tmp_path)
  assert (record["way"], record["meta_classes"], record["classes_with_a_mean"]) == (6, 10, 4)
  assert record["meta_updates"] == 20 and accuracy > 0.6
  # A convolution 3 -> 8 at 8 x 8; 10 means of 128 features.
  assert macs(made, 128) == [8 * 8 * 27 * 8, 1280]


def _context(tmp_path):
  writer = run_writer.RunWriter(tmp_path, None, progress.Progress("x"))
  return run_state.RunState(
      tmp_path, writer, name="x", seed=5, distribution=distribution.build()).context()


def test_logits_are_cosines_at_a_learned_temperature(tmp_path):
  net = protonet.ProtoNet(pixel_embedding.Pixels(), transform=image_ops.Plain(1), training=EPISODES,
                          similarity="cosine", scale=5.0)
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


def test_buckets_move_the_means_and_only_the_first_trains_the_net_for_later_tasks(tmp_path):
  learner, context = make("protonet"), _context(tmp_path)
  buckets = digits.buckets(2)
  weights, counts = [], []
  for bucket in (buckets[0], buckets[1]):
    learner.begin(buckets.task, context)
    record = learner.learn(deliveries.Experience(
        buckets.task, bucket.train, None, deliveries.History()), context)
    weights.append([v.numpy() for v in learner.net.trainable_variables])
    counts.append(learner.statistics.counts.numpy().sum())
    assert ("meta_updates" in record) == (len(weights) == 1)
  assert counts == [buckets[0].train.size, buckets[0].train.size + buckets[1].train.size]
  for first, second in zip(*weights):
    np.testing.assert_array_equal(first, second)
  tested = example_arrays.read([buckets[0].test], buckets.task, TRANSFORM)
  answers = np.argmax(learner.predict(tf.constant(tested.images)), axis=1)
  assert np.mean(answers == tested.labels) > 0.3  # By chance 0.1.
  # A later task may be multi-label, and has its own means.
  stream = digits.nevis_stream(max_train_images=200)
  event, = (e for e in stream.events() if e.kind == "train" and e.entry_index == 3)
  delivered = stream.deliver(event)
  learner.begin(delivered.task, context)
  assert "meta_updates" not in learner.learn(delivered, context)
  assert delivered.task.kind == tasks.MULTI_LABEL
  assert learner.statistics.counts.numpy().sum() == sum(
      part.labels.sum() for part in delivered.fitted)


def test_the_temperature_multiplies_answers(tmp_path):
  net = protonet.ProtoNet(pixel_embedding.Pixels(), transform=image_ops.Plain(1), training=EPISODES,
                          similarity="cosine", scale=5.0)
  learner = meta_statistics.MetaCentroids(net, episodes=EPISODES, transform=image_ops.Plain(1))
  learner.begin(tasks.Task("t", tasks.SINGLE_LABEL, 3), _context(tmp_path))
  learner.update(tf.constant([[3.0, 4.0, 0]]), tf.constant([1], tf.int64))
  found = learner.answer(tf.constant([[1.0, 0, 0]]))
  np.testing.assert_allclose(found, [[-np.inf, 3, -np.inf]], rtol=1e-5)
  # In a block, too: label 2 is revealed between the two answers.
  found = learner.answer_in_turn(tf.constant([[1.0, 0, 0]] * 2), tf.constant([2, 2], tf.int64))
  np.testing.assert_allclose(found, [[-np.inf, 3, -np.inf], [-np.inf, 3, 5]], rtol=1e-5)


def test_norms_of_a_pretrained_network_keep_their_statistics():
  made = tuned_embedding.TunedEmbedding(small)
  made.make(1, (8, 8, 3))
  before = [v.numpy() for v in made.model.non_trainable_variables]
  images = tf.random.stateless_uniform([6, 8, 8, 3], (1, 2), maxval=255.0)
  features, _ = made.train(images)
  np.testing.assert_allclose(features[2:3], made.encode(images[2:3]), rtol=1e-4, atol=1e-4)
  for variable, value in zip(made.model.non_trainable_variables, before):
    np.testing.assert_array_equal(variable, value)
  assert len(made.trainable_variables) == 3  # Kernel, scale and offset of the block.


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="scale is 0; it must be above 0"):
    protonet.ProtoNet(pixel_embedding.Pixels(), transform=TRANSFORM, training=EPISODES, scale=0)
  with pytest.raises(ValueError, match="multi_label and the first one; .*ClassMeans"):
    make("protonet").begin(tasks.Task("m", tasks.MULTI_LABEL, 3), _context(tmp_path))
  net = protonet.ProtoNet(pixel_embedding.Pixels(), transform=TRANSFORM, training=EPISODES)
  with pytest.raises(ValueError, match=r"makes feature vectors \(7,\).*StatisticsLearner"):
    meta_statistics.MetaCentroids(net, episodes=EPISODES, transform=feature_set.Features(7))
