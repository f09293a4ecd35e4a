# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nets in every precision: the same weights and FLOPs, float32 outside, and close numbers."""

from __future__ import annotations

import functools
import importlib

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.configs import run_settings
from suite.models import conv4
from suite.models import initial
from suite.models import mlp
from suite.models import precision
from suite.models import resnet
from suite.models import vit
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.gradient import trainable_parts
from suite.training.memories import step_rows
from suite.training.objectives import objective

SHAPE = (16, 16, 3)
NETS = {
    "group norm": functools.partial(conv4.conv4, SHAPE, filters=4, blocks=1, norm="group"),
    "small stem": functools.partial(resnet.resnet, SHAPE, blocks=(1,), stem="small",
                                    width=1 / 16),
    "large stem": functools.partial(resnet.resnet, SHAPE, blocks=(1,)),
    "vit": functools.partial(vit.vit, SHAPE, layers=1, width=8, heads=2, mlp_size=8),
    "mlp": functools.partial(mlp.mlp, 12, hidden=(8,)),
}

@functools.cache
def made(net, name):
  """A net's weights from seed 1, features of two rows, and the cost of a training step."""
  with precision.used(name):
    model = NETS[net]()
    weights = initial.initial_weights(NETS[net], 1)
    model.set_weights(weights)
    rows = np.random.default_rng(0).integers(0, 256, [2, *model.input_shape[1:]])
    features = model(rows, training=False)
    top = tf.keras.Sequential([model, tf.keras.layers.Dense(3, dtype="float32")])
    top.build([None, *model.input_shape[1:]])
    step = train_step.TrainStep(top, objective=objective.Objective(),
                                optimizer=optimizers.Sgd(top.trainable_variables))
    with step.scaling.left_out():
      graph = tf.function(
          lambda x, y: step.take(step_rows.Rows(x, y), rate=tf.constant(0.1)).loss,
          autograph=False).get_concrete_function(
          tf.TensorSpec(rows.shape), tf.TensorSpec([2], tf.int64))
  assert {v.dtype for v in model.variables} == {tf.float32} and features.dtype == tf.float32
  return weights, features.numpy(), flops.count(graph)


@pytest.mark.parametrize("net, name", [
    *((net, "mixed_float16") for net in NETS), ("group norm", "bfloat16"),
    ("mlp", "mixed_bfloat16")])
def test_a_net_has_the_same_weights_and_flops_in_every_precision_and_close_features(net, name):
  weights, features, cost = made(net, "float32")
  lower_weights, lower_features, lower_cost = made(net, name)
  for one, other in zip(weights, lower_weights):
    np.testing.assert_array_equal(one, other)
  assert lower_cost == cost and cost.flops and not cost.uncounted
  assert not np.array_equal(lower_features, features)  # Something was rounded.
  np.testing.assert_allclose(lower_features, features, rtol=0.1, atol=0.05 * features.std())


@functools.cache
def adapted(name):
  """Meta-gradient of a task's loss through one inner step, and its cost."""
  net = functional_conv4.Conv4(filters=4, blocks=1)
  inner = inner_loop.InnerLoop(steps=1, rate=0.1)
  weights = net.initial(0, (28, 28, 1), 2)
  images = np.random.default_rng(0).integers(0, 256, [16, 28, 28, 1]).astype(np.float32)
  labels = np.arange(16) % 2

  def gradients(images, weights):
    parameters = inner_loop.Parameters(
        weights, tf.fill([1, len(weights)], 0.1), functional_conv4.Norms(
            *map(tf.constant, net.initial_norms(inner.num_norm_rows))))
    with tf.GradientTape() as tape:
      tape.watch(weights)
      state = inner.learn_all(net, parameters, net.prepare(images)[None], labels[None])[-1]
      loss = inner_loop.cross_entropy(
          labels, inner.logits(net, parameters, state, net.prepare(images)))
    return tape.gradient(loss, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)

  with precision.used(name):
    graph = tf.function(gradients, autograph=False).get_concrete_function(
        tf.TensorSpec(images.shape), {k: tf.TensorSpec(v.shape) for k, v in weights.items()})
  found = graph(tf.constant(images), {k: tf.constant(v) for k, v in weights.items()})
  return {k: v.numpy() for k, v in found.items()}, flops.count(graph)


def test_an_inner_loop_differentiates_twice_through_bfloat16_at_the_same_flops():
  gradients, cost = adapted("float32")
  lower, lower_cost = adapted("bfloat16")
  assert lower_cost == cost and cost.flops and not cost.uncounted
  kernel, other = gradients["block1/kernel"], lower["block1/kernel"]
  assert other.dtype == np.float32 and not np.array_equal(kernel, other)
  # Rounding to 8 bits makes some windows pool another pixel. On few pixels one such window decides
  # (2% to 15% over draws of 4 images of 8x8); on these 12,544 it is 4% to 7%, with AVX2 alone too.
  assert np.linalg.norm(kernel - other) < 0.1 * np.linalg.norm(kernel)
  for one, two in zip(adapted("mixed_bfloat16")[0].values(), lower.values()):
    np.testing.assert_array_equal(one, two)


def test_the_high_end_embedding_multiplies_in_bfloat16_and_normalizes_in_float32():
  net = dense_attention.DenseAttention(filters=4, stages=1, blocks=1)
  weights = {k: tf.constant(v, tf.float32) for k, v in net.initial(0, (8, 8, 3)).items()}
  images = net.prepare(np.random.default_rng(0).integers(0, 256, [2, 8, 8, 3]))
  seen = []

  def normalize(x):
    seen.append(x.dtype)
    return x

  plain = net.features(weights, images, normalize)
  with precision.used("mixed_bfloat16"):
    rounded = net.features(weights, images, normalize)
  assert set(seen) == {tf.float32} and rounded.dtype == tf.float32
  difference = np.abs(plain - rounded).max()
  assert 0 < difference < 0.05 * np.abs(plain).max()


def test_a_net_is_cut_into_float32_codes_and_the_rest():
  images = np.random.default_rng(0).integers(0, 256, [2, *SHAPE])
  with precision.used("mixed_bfloat16"):
    model = NETS["small stem"]()
    expected = model(images, training=False)
    cut = trainable_parts.CutNet(model, 1)
    codes = cut.lower(images)
    assert codes.dtype == tf.float32 and codes.shape.rank == 2  # A shortcut crosses the cut.
    np.testing.assert_array_equal(cut.upper(codes, training=False), expected)


def test_float64_is_not_rounded():
  x, kernel = tf.ones([1, 4, 4, 1], tf.float64) / 3, tf.ones([1, 1, 1, 1], tf.float64)
  with precision.used("bfloat16"):
    assert precision.conv2d(x, kernel).numpy()[0, 0, 0, 0] == 1 / 3


@pytest.mark.parametrize("make", [
    lambda: adapted_net.AdaptedNet(
        functional_conv4.Conv4(), inner_loop.InnerLoop(), None).make(0, (16, 16, 1), 2),
    lambda: embedding.Embedding(dense_attention.DenseAttention()).make(0, (16, 16, 1))])
def test_float16_is_refused_where_gradients_are_taken_within_gradients(make):
  with precision.used("mixed_float16"), pytest.raises(ValueError, match="cannot be trained in mixed"
                                                      "_float16.* Take --precision mixed_bfloat16"):
    make()


def test_names_are_known_and_a_precision_ends_with_its_context():
  assert run_settings.PRECISIONS == precision.NAMES
  with pytest.raises(ValueError, match="Unknown precision 'half'; allowed are float32, bfloat16"):
    precision.use("half")
  with pytest.raises(RuntimeError), precision.used("mixed_float16"):
    raise RuntimeError
  assert precision.name() == tf.keras.mixed_precision.global_policy().name == "float32"


def test_the_import_turns_off_tf32_for_encoders_that_no_run_trains():
  tf.config.experimental.enable_tensor_float_32_execution(True)
  importlib.reload(precision)
  assert not tf.config.experimental.tensor_float_32_execution_enabled()


def test_a_gpu_rounds_float32_in_tf32_alone():
  for name in precision.NAMES:
    with precision.used(name):
      assert tf.config.experimental.tensor_float_32_execution_enabled() == (name == "tf32")
  assert not tf.config.experimental.tensor_float_32_execution_enabled()
  for net in ("group norm", "mlp"):  # On a CPU both are the same.
    for one, other in zip(made(net, "float32"), made(net, "tf32")):
      np.testing.assert_equal(one, other)
