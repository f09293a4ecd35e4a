# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""BYOL: the loss and the target's move by hand, and an update."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.learners import pretrainer
from suite.models import conv4
from suite.training.pretraining import pretexts

BATCH = 8
DISTRIBUTION = distribution.build()


@pytest.fixture(scope="module")
def pretext():
  made = pretexts.Byol(dim=6, hidden=10, momentum=0.9, updates=10)
  with DISTRIBUTION.scope():
    made.build(functools.partial(conv4.conv4, (8, 8, 3), filters=4, blocks=1), num_classes=1,
               batch_size=BATCH, distribution=DISTRIBUTION, seeds=seeds.Seeds(3))
  return made


def _batch():
  views = np.random.default_rng(0).integers(0, 256, [2, BATCH, 8, 8, 3]).astype(np.uint8)
  return {"view0": tf.constant(views[0]), "view1": tf.constant(views[1])}


def _unit(rows):
  rows = np.asarray(rows, np.float64)
  return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_loss_is_that_of_equation_2_in_both_directions(pretext):
  batch = _batch()
  losses, _ = pretext.losses(batch, tf.constant(0, tf.int64))
  want = 0.0
  for a, b in (("view0", "view1"), ("view1", "view0")):
    predicted = _unit(pretext.predictor(pretext.model(batch[a], training=True), training=True))
    wanted = _unit(pretext.target(batch[b], training=True))
    want = want + ((predicted - wanted) ** 2).sum(axis=1)  # Of unit vectors: 2 - 2 cos.
  np.testing.assert_allclose(losses, want, rtol=1e-4)


def test_an_update_trains_the_online_net_and_then_moves_the_target(pretext):
  target, online = pretext.target.trainable_variables, pretext.model.trainable_variables
  for follower, leader in zip(target, online):  # They begin alike.
    np.testing.assert_array_equal(follower, leader)
  before = [v.numpy() for v in target]
  loop = pretrainer.PretextUpdates(
      pretext, DISTRIBUTION, batch_size=BATCH, learning_rate=0.1, warmup=0, momentum=0.9,
      weight_decay=0.0)
  loop.update(_batch(), tf.constant(5, tf.int64))
  tau = 1 - 0.1 * (np.cos(np.pi / 2) + 1) / 2
  assert tau == pytest.approx(0.95)
  assert any((v.numpy() != b).any() for v, b in zip(online, before))
  for follower, leader, old in zip(target, online, before):
    np.testing.assert_allclose(follower, tau * old + (1 - tau) * leader.numpy(), atol=1e-6)
  cost = loop.cost({k: tf.TensorSpec(v.shape, v.dtype) for k, v in _batch().items()})
  assert cost.flops > 0 and not cost.uncounted


def test_the_momentum_rises_to_one(pretext):
  taus = [float(pretext.tau(tf.constant(step))) for step in (0, 5, 10, 99)]
  assert taus == pytest.approx([0.9, 0.95, 1.0, 1.0])
  assert float(pretexts.Byol(momentum=0.7).tau(tf.constant(9))) == pytest.approx(0.7)


def test_it_starts_from_given_weights_and_refuses_wrong_numbers(pretext):
  weights = [w + 1 for w in pretext.backbone.get_weights()]
  pretext.start_from(weights)
  for model in (pretext.backbone, pretexts.backbone_of(pretext.target)):
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])
  with pytest.raises(ValueError, match="momentum=1.5 and updates=None"):
    pretexts.Byol(momentum=1.5)
