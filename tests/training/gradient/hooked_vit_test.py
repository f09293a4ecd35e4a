# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is trained in a frozen transformer, what a step on it costs, and what is refused."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.compute import flops
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import gradient
from suite.models import conv4
from suite.models import vit
from suite.models import vit_hooks
from suite.models import vit_prompts
from suite.protocols import incremental
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import hooked_vit
from suite.training.gradient import optimizers
from suite.training.memories import step_rows
from suite.training.objectives import phase_classes

SHAPE, CLASSES = (8, 8, 3), 3
# Width D, patches of 48 numbers, N tokens, MLP M.
D, PATCH, N, M = 8, 48, 5, 12
SMALL = functools.partial(vit.vit, patch_size=4, layers=1, width=D, heads=2, mlp_size=M)
# Multiply-adds of an image: patches, the block's products on n tokens, the head.
PATCHES, HEAD = 4 * PATCH * D, D * CLASSES


def block(n):
  return 3 * n * D * D + 2 * n * n * D + n * D * D + 2 * n * D * M


def part(hooks, make=SMALL):
  return hooked_vit.HookedVit(make, hooks, seed=1)


def composed(hooks):
  net = part(hooks)
  net.prepare(SHAPE)
  return composition.ComposedNet(net, class_heads.Linear(), CLASSES)


def macs_of_step(net, rows=2):
  objective = phase_classes.PhaseClasses()
  loop = net.loop(objective, optimizers.Momentum().build(net.trained_variables))
  objective.build(net.model)
  objective.begin_phase(tf.ones([CLASSES], tf.bool))

  def step(images, labels, rate):
    return loop.step.take(step_rows.Rows(images, labels), rate=rate).loss

  graph = tf.function(step).get_concrete_function(
      tf.TensorSpec([rows, *SHAPE]), tf.TensorSpec([rows], tf.int64), tf.TensorSpec([]))
  return flops.count(graph).macs / rows


@pytest.fixture(name="low_rank", scope="module")
def _low_rank():
  return composed(functools.partial(vit_hooks.LowRank, rank=2))


def test_a_step_of_low_rank_changes_charges_no_gradient_of_frozen_weights(low_rank):
  rank, net = 2, low_rank
  assert [v.shape for v in net.trained_variables] == [
      [1, 2, D, rank], [1, 2, rank, D], [D, CLASSES], [CLASSES]]
  pair = 2 * N * D * rank  # Of queries or values: x A and then B.
  forward = PATCHES + block(N) + 2 * pair + HEAD
  # Back: the head's kernel and input; through MLP and output projection to the mixed values; to
  # values, weights and queries, not to keys, which nothing trained is below; A, B and x A.
  back = 2 * HEAD + 2 * N * D * M + N * D * D + 2 * N * N * D + N * N * D + 2 * 3 * N * D * rank
  assert macs_of_step(net) == forward + back
  layers = {layer.name: layer.macs for layer in net._part.layers(net.upper)}
  assert layers == {"frozen": PATCHES, "low_rank": 2 * pair, "blocks": block(N)}


def test_the_query_pass_of_prompts_is_charged():
  size, length, chosen = 4, 2, 2
  net = composed(functools.partial(
      vit_prompts.PromptPool, size=size, length=length, chosen=chosen))
  tokens = N + chosen * length
  own = size * D + chosen * size * length * D  # Cosines, and the choice as a product.
  layers = {layer.name: layer.macs for layer in net._part.layers(net.upper)}
  query = PATCHES + block(N)
  assert layers == {"frozen": PATCHES + query, "prompts": own, "blocks": block(tokens)}
  graph = tf.function(net.logits).get_concrete_function(tf.TensorSpec([1, *SHAPE]))
  assert flops.count(graph).macs == PATCHES + query + own + block(tokens) + HEAD


def test_first_weights_are_of_the_seed_and_frozen_ones_of_the_backbone(low_rank):
  found = [low_rank, composed(functools.partial(vit_hooks.LowRank, rank=2))]
  for net in found:
    net.set_weights(7)
  for a, b in zip(*(net.model.get_weights() for net in found)):
    np.testing.assert_array_equal(a, b)
  images = np.random.default_rng(0).integers(0, 256, [2, *SHAPE]).astype(np.float32)
  frozen = frozen_backbone.FrozenBackbone(SMALL, 8, seed=1)
  np.testing.assert_allclose(found[0].features(images), frozen(tf.constant(images)), atol=2e-5)


def learner(make):
  return gradient.GradientLearner(
      transform=image_ops.Plain(8), net=part(vit_hooks.LowRank, make), epochs=1)


def test_a_net_without_blocks_is_refused_by_name_before_training(tmp_path):
  conv = functools.partial(conv4.conv4, filters=2, blocks=1)
  with stopped_runs.state(tmp_path) as state, pytest.raises(
      ValueError, match="LowRank hooks into the blocks of a vision transformer, and conv4 has no"):
    incremental.run(learner(conv), state=state, buckets=digits.class_buckets())
  assert not (tmp_path / "records.jsonl").exists() or not stopped_runs.records(tmp_path)
