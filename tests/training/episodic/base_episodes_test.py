# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rates and sizes of the meta-training on base classes."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import protonet
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4
from suite.state import context as context_lib
from suite.state import journal
from suite.state import weight_store
from suite.training.episodic import base_episodes
from suite.training.episodic import episode_graphs
from suite.training.episodic import fomaml


@pytest.fixture(name="context")
def _context(tmp_path):
  made = ledger.Ledger()
  return context_lib.Context(
      event=0, ledger=made, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(tmp_path, 0), journal=journal.Journal(0, made))


def test_the_rate_is_halved_every_forty_epochs():
  made = base_episodes.BaseEpisodes(updates_per_epoch=10)
  stairs = base_episodes.Stairs(0.01, 0.5, 400)
  found = [float(stairs(tf.constant(step))) for step in (0, 399, 400, 799, 800, 999)]
  np.testing.assert_allclose(found, [0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025], rtol=1e-6)
  assert made.num_updates == 1000


def test_there_are_no_more_ways_than_base_classes():
  labels = np.repeat(np.arange(4), 12)
  source = base_episodes.BaseEpisodes(way=30, shot=5, targets=5).source(
      np.zeros([48, 2, 2, 3], np.uint8), labels, seed=0)
  assert source.setting.way == 4 and len(source.labels) == 4 * 10


def test_an_unknown_optimizer_is_refused():
  with pytest.raises(ValueError, match="'adam'; allowed are sgd, adamw"):
    base_episodes.BaseEpisodes(optimizer_name="adam")


def test_other_images_than_those_delivered_may_be_meta_trained_on():
  delivered = example_arrays.Examples(np.zeros([4, 2, 2, 3], np.uint8), np.array([0, 0, 1, 1]))
  transform = image_ops.Plain(2)
  assert base_episodes.BaseEpisodes().examples(delivered, transform) is delivered

  asked = []

  def pretraining():
    asked.append(True)
    return image_set.ImageSet.from_arrays(
        "pretraining", np.full([6, 2, 2, 3], 7, np.uint8), np.repeat(np.arange(3), 2),
        kind=tasks.SINGLE_LABEL, num_classes=3)

  made = base_episodes.BaseEpisodes(images=pretraining)
  assert not asked  # Read when the meta-training begins, not in a run that has done it.
  found = made.examples(delivered, transform)
  assert found.labels.tolist() == [0, 0, 1, 1, 2, 2] and found.images.max() == 7


def test_sizes_are_drawn_uniformly_and_none_is_above_what_the_images_allow():
  made = base_episodes.BaseEpisodes(
      way=(2, 9), shot=(1, 100), targets=2, epochs=3, updates_per_epoch=100)
  labels = np.repeat(np.arange(4), [5, 12, 12, 12])
  source = made.source(np.zeros([41, 2, 2, 3], np.uint8), labels, seed=0)
  assert (source.setting.way, source.setting.shot) == (4, 3)  # 4 classes, 5 images - 2 targets.
  drawn = made.sizes(source.setting, seed=1)
  counts = collections.Counter((one.way, one.shot) for one in drawn)
  assert len(drawn) == 300 and set(counts) == {(w, s) for w in (2, 3, 4) for s in (1, 2, 3)}
  assert max(counts.values()) < 60 and made.sizes(source.setting, seed=1) == drawn
  with pytest.raises(ValueError, match=r"way is \(9, 2\); it is a number from 2 on, or a pair"):
    base_episodes.BaseEpisodes(way=(9, 2))
  with pytest.raises(ValueError, match="FirstOrder's episodes have one size"):
    fomaml.FirstOrder(episodes=made)


def test_updates_of_drawn_sizes_are_those_of_their_episodes_and_cost_what_these_do(context):
  def update_of(variable):
    def update(batch):  # Costs 3 of each support image and 1 of each target.
      images, labels, target_images, _ = base_episodes.parts(batch)
      values = tf.reduce_sum(tf.cast(images, tf.float32), axis=[1, 2, 3])
      variable.assign_add(tf.reduce_sum(values * tf.cast(labels + 1, tf.float32)))
      return tf.reduce_sum(tf.cast(target_images[:, 0, 0, 0], tf.float32))
    return tf.function(update, autograph=False)

  images = np.random.default_rng(0).integers(0, 255, [48, 2, 2, 3], np.uint8)
  labels = np.repeat(np.arange(6), 8)
  made = base_episodes.BaseEpisodes(way=(2, 5), shot=(1, 4), targets=2, epochs=4,
                                    updates_per_epoch=5)
  total = tf.Variable(0.0)
  update = update_of(total)
  record = made.run(update, images, labels, context)
  source = made.source(images, labels, context.seeds.integer("episodes"))
  drawn = made.sizes(source.setting, context.seeds.integer("episodes"))
  wanted, cost, of_size = 0.0, 0, {}
  for number, setting in enumerate(drawn):
    batch = source.resized(setting).episode(number)
    assert batch.support_labels.shape == (1, setting.way * setting.shot)
    values = batch.support_images[0].astype(float).sum(axis=(1, 2, 3))
    wanted += values @ (batch.support_labels[0] + 1.0)
    one = type(batch)(*(tf.constant(part[None]) for part in batch))
    if setting not in of_size:
      of_size[setting] = flops.count(update_of(total).get_concrete_function(one)).flops
    cost += of_size[setting]
  np.testing.assert_allclose(total.numpy(), wanted, rtol=1e-6)
  assert context.ledger.totals()["flops_train"] == cost
  assert update.experimental_get_tracing_count() <= 4  # Counted; other sizes follow.
  assert (record["way"], record["least_way"], record["shot"], record["least_shot"]) == (5, 2, 4, 1)
  assert context.ledger.totals()["examples_train"] == sum(
      one.way * (one.shot + one.targets) for one in drawn)


@pytest.mark.parametrize("kind", ["euclidean", "cosine"])
def test_an_episode_of_fewer_ways_has_the_loss_of_a_net_of_as_many(kind, context):
  def losses_of(episodes):
    net = protonet.ProtoNet(
        embedding.Embedding(proto_conv4.ProtoConv4(filters=4, blocks=1)),
        transform=image_ops.Plain(4), training=episodes, similarity=kind)
    base_episodes.begin(net, episodes, context)
    return episode_graphs.Graphs(net, episodes.most_ways).update(batch)

  images = np.random.default_rng(0).integers(0, 255, [48, 4, 4, 3], np.uint8)
  few = base_episodes.BaseEpisodes(way=3, shot=2, targets=2, epochs=1, updates_per_epoch=1)
  source = few.source(images, np.repeat(np.arange(6), 8), seed=0)
  batch = source.gather(tf.constant(source.indices(0, 1)))
  many = dataclasses.replace(few, way=(2, 6))
  np.testing.assert_allclose(losses_of(many), losses_of(few), rtol=1e-6)


def test_a_net_is_trained_on_episodes_of_drawn_sizes(context):
  episodes = base_episodes.BaseEpisodes(
      way=(2, 4), shot=(1, 3), targets=2, epochs=1, updates_per_epoch=3)
  net = protonet.ProtoNet(embedding.Embedding(proto_conv4.ProtoConv4(filters=4, blocks=1)),
                          transform=image_ops.Plain(4), training=episodes)
  base_episodes.begin(net, episodes, context)
  before = [v.numpy() for v in net.trainable_variables]
  images = np.random.default_rng(0).integers(0, 255, [48, 4, 4, 3], np.uint8)
  labels = np.repeat(np.arange(6), 8)
  record = base_episodes.train(
      net, episodes, example_arrays.Examples(images, labels), image_ops.Plain(4), context)
  assert record["meta_updates"] == 3 and np.isfinite(record["meta_loss"])
  assert all(np.any(a != b.numpy()) for a, b in zip(before, net.trainable_variables))
  seed = context.seeds.integer("episodes")
  source = episodes.source(images, labels, seed)
  update, cost = episode_graphs.Graphs(net, 4).update, 0
  for setting in episodes.sizes(source.setting, seed):
    sized = source.resized(setting)
    batch = sized.gather(tf.constant(sized.indices(0, 1)))
    cost += flops.count(update.get_concrete_function(batch)).flops
  assert context.ledger.totals()["flops_train"] == pytest.approx(cost, rel=1e-3)
