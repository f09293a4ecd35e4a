# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners of sequences, small: each has an answer, codes or updates that no other one has."""

from __future__ import annotations

import functools

import tensorflow as tf

from suite.contracts import deliveries
from suite.contracts import learner
from suite.data.images import image_ops
from suite.learners import crop_centroids
from suite.learners import exemplar_tuning
from suite.learners import gradient
from suite.learners import meta_statistics
from suite.learners import minimum_distance
from suite.learners import protonet
from suite.learners import simple_cnaps
from suite.learners import statistics_learner
from suite.learners import weight_imprinting
from suite.models import conv4
from suite.models.episodic import constellation
from suite.models.episodic import film
from suite.models.episodic import proto_conv4
from suite.training.episodic import base_episodes
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means
from suite.training.statistics import ridge_sums
from suite.training.statistics import shared_covariance

CLASSES, BASE, SIZE = 8, 3, 4
TRANSFORM, CROPS = image_ops.Plain(SIZE), image_ops.Nevis(SIZE, area=(0.5, 1.0))


class LinearHead(learner.SequenceLearner):
  """A softmax layer on pixels, trained in offline phases only: labels change it nowhere else."""

  transform = TRANSFORM

  def begin(self, task, context):
    if not hasattr(self, "kernel"):
      self.kernel = tf.Variable(tf.zeros([SIZE * SIZE * 3, task.num_classes]))

  def learn(self, experience, context):
    context.ledger.charge(context.phase, flops=0, macs=0)  # It learns nothing here.
    return {}

  def encode(self, images):
    return frozen_backbone.pixels(images)

  def answer(self, codes):
    return tf.matmul(codes, self.kernel)

  def predict(self, images):
    return self.answer(self.encode(images))

  def stored_macs(self, num_stored):
    return 2 * num_stored * int(tf.size(self.kernel))

  def learn_stored(self, stored, context):
    assert isinstance(stored, deliveries.Stored) and stored.num_old < len(stored.labels)
    assert stored.known[stored.labels].all()
    order = context.seeds.generator("order").permutation(len(stored.labels))
    for start in range(0, len(order), 16):
      rows = order[start:start + 16]
      with tf.GradientTape() as tape:
        logits = tf.where(stored.known, self.answer(tf.constant(stored.codes[rows])), -1e9)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            stored.labels[rows], logits))
      self.kernel.assign_sub(0.3 * tape.gradient(loss, self.kernel))
    macs = self.stored_macs(len(order))
    context.ledger.charge(context.phase, flops=2 * macs, macs=macs, examples=len(order))
    return {"passes": len(order)}


class Drift(LinearHead):
  """The same, and each label moves the weights of its class: no algorithm for blocks."""

  def update(self, codes, labels):
    for i in tf.range(tf.size(labels)):
      column = self.kernel[:, labels[i]] * 0.9 + 0.1 * codes[i]
      self.kernel.assign(tf.transpose(tf.tensor_scatter_nd_update(
          tf.transpose(self.kernel), labels[i][None, None], column[None])))


def _centroids():
  return statistics_learner.StatisticsLearner(class_means.ClassMeans(), transform=TRANSFORM)


# Partial functions of the suite: AutoGraph would convert the graphs that reach one of this module.
_backbone = functools.partial(conv4.conv4, filters=8, blocks=1)


def _small_net():
  return frozen_backbone.FrozenBackbone(
      functools.partial(conv4.conv4, filters=4, blocks=2), SIZE, seed=1)


def _gradient(net, **settings):
  return gradient.GradientLearner(
      transform=TRANSFORM, net=net,
      **{**dict(train_on="all", epochs=2, base=composition.Base(2), batch_size=8,
                learning_rate=0.05, head=class_heads.Linear("zeros"),
                optimizer=optimizers.Momentum(0.9, 1e-4, keep=True)), **settings})


def _frozen():
  return trainable_parts.HeadOnly(frozen_backbone.pixels)


def _exemplars(transform=TRANSFORM, **settings):
  return exemplar_tuning.ExemplarTuning(
      features=frozen_backbone.pixels, epochs=2, batch_size=8, transform=transform, **settings)


def _imprinting():
  return weight_imprinting.WeightImprinting(
      transform=TRANSFORM, features=frozen_backbone.pixels, epochs=2, batch_size=8)


# No updates: what they change is in the net, which blocks and the loop share.
EPISODES = base_episodes.BaseEpisodes(
    way=3, shot=2, targets=2, epochs=0, updates_per_epoch=1, every=1)


def _meta(make_net, embedded):
  net = make_net(embedded, transform=TRANSFORM, training=EPISODES)
  return meta_statistics.MetaCentroids(net, episodes=EPISODES, transform=TRANSFORM)


def _cnaps():
  net = simple_cnaps.SimpleCnaps(
      _backbone, set_encoder=film.SetEncoder(proto_conv4.ProtoConv4(filters=4, blocks=1)),
      adaptation=film.AdaptationNet(), transform=TRANSFORM, training=EPISODES)
  return meta_statistics.MetaMahalanobis(net, episodes=EPISODES, transform=TRANSFORM)


LEARNERS = {
    "ncm": _centroids,
    "exemplar_tuning": _exemplars,
    "exemplar_tuning_cosine": lambda: _exemplars(similarity="cosine", scale=8.0),
    "exemplar_tuning_code": lambda: exemplar_tuning.ExemplarTuning(
        transform=TRANSFORM, net=trainable_parts.Drifting(_small_net), epochs=2, batch_size=8,
        rules="code"),
    "exemplar_tuning_crops": lambda: crop_centroids.CropCentroids(_exemplars(CROPS)),
    "linear_head": LinearHead,
    "drift": Drift,
    "finetune_new": lambda: _gradient(_frozen(), train_on="current"),
    "split_head": lambda: _gradient(_frozen(), head=class_heads.Split()),
    "cwr": lambda: _gradient(trainable_parts.AllLayers(_backbone), head=class_heads.CwrStar()),
    "last_layers": lambda: _gradient(trainable_parts.LastLayers(_small_net, norms="trained")),
    "imprinting": _imprinting,
    "slda": lambda: statistics_learner.StatisticsLearner(
        shared_covariance.SharedCovariance(0.01), transform=TRANSFORM),
    "ridge": lambda: statistics_learner.StatisticsLearner(
        ridge_sums.RidgeSums(), transform=TRANSFORM, lift=statistics_learner.unit_length),
    "mdt_finetune": lambda: minimum_distance.MinimumDistance(
        _gradient(_frozen()), minimum_distance.LeastShare(0.1)),
    "constellation": lambda: _meta(
        functools.partial(protonet.ProtoNet, similarity="cosine"),
        constellation.ClusteredEmbedding(constellation.ConstellationConv4(
            filters=4, blocks=1, clusters=4, heads=1, attended=1))),
    "simple_cnaps": _cnaps,
}
