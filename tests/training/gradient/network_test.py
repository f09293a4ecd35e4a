# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One compiled network per shape of task, its weights swapped in and out."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.models import conv4
from suite.training.gradient import network as network_lib

BACKBONE = functools.partial(conv4.conv4, filters=4, blocks=1)


@pytest.fixture(name="network", scope="module")
def _network():
  return network_lib.Network(BACKBONE,
                             image_size=4,
                             kind=tasks.SINGLE_LABEL,
                             num_classes=3,
                             momentum=0.9,
                             weight_decay=1e-4,
                             distribution=distribution.build())


def _images(num=2):
  return np.random.default_rng(0).integers(0, 256, [num, 4, 4, 3], dtype=np.uint8)


def test_initial_weights_are_a_function_of_the_seed(network):
  one, again, other = (network.initial_weights(seed) for seed in (1, 1, 2))
  assert [w.shape for w in one] == [tuple(w.shape) for w in network.model.weights]
  for a, b in zip(one, again):
    np.testing.assert_array_equal(a, b)
  assert any(np.any(a != b) for a, b in zip(one, other))


def test_making_weights_does_not_touch_those_in_use(network):
  before = network.get_weights()
  network.initial_weights(9)
  for a, b in zip(network.get_weights(), before):
    np.testing.assert_array_equal(a, b)


def test_compiled_functions_see_the_weights_that_are_set(network):
  answers = []
  for seed in (1, 2, 1):
    network.set_weights(network.initial_weights(seed))
    answers.append(network.logits(_images()).numpy())
  assert answers[0].shape == (2, 3)
  np.testing.assert_array_equal(answers[0], answers[2])
  assert np.any(answers[0] != answers[1])


def test_a_backbone_is_set_without_its_head(network):
  network.set_weights(network.initial_weights(1))
  head = network.get_weights()[network.num_backbone_weights:]
  wanted = network.initial_weights(2)
  network.set_backbone(wanted)
  found = network.get_weights()
  cut = network.num_backbone_weights
  assert len(found) - cut == 2
  for a, b in zip(found, [*wanted[:cut], *head]):
    np.testing.assert_array_equal(a, b)


def test_logits_are_the_head_of_the_extracted_features(network):
  made = image_set.ImageSet.from_arrays(
      "s", _images(5), np.arange(5) % 3, kind=tasks.SINGLE_LABEL, num_classes=3)
  run = functools.partial(dict,
                          transform=image_ops.Plain(4),
                          batch_size=2,
                          ledger=ledger.Ledger(),
                          phase="predict")
  features = network.extract("running").run(made, **run()).values
  kernel, bias = (v.numpy() for v in network.head.weights)
  np.testing.assert_allclose(
      network.score.run(made, **run()).values, features @ kernel + bias, rtol=1e-5, atol=1e-5)


def test_features_by_batch_statistics_are_normalized_within_each_batch(network):
  network.set_weights(network.initial_weights(1))
  made = image_set.ImageSet.from_arrays(
      "s", _images(5), np.arange(5) % 3, kind=tasks.SINGLE_LABEL, num_classes=3)
  features = network.extract("batch").run(
      made, transform=image_ops.Plain(4), batch_size=2, ledger=ledger.Ledger(),
      phase="select").values
  convolution, norm = (next(layer for layer in network.backbone.layers if isinstance(layer, kind))
                       for kind in (tf.keras.layers.Conv2D, tf.keras.layers.BatchNormalization))
  images = np.concatenate([b["image"] for b in made.eval_batches(1, transform=image_ops.Plain(4))])
  before = tf.keras.Model(network.backbone.input, convolution.output)(images).numpy()
  after = tf.keras.Model(norm.output, network.backbone.output)
  for rows in (slice(0, 2), slice(2, 4), slice(4, 5)):  # The last batch has one image, no padding.
    x = before[rows].astype(np.float64)
    x = (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + norm.epsilon)
    x = x * norm.gamma.numpy() + norm.beta.numpy()
    np.testing.assert_allclose(features[rows], after(x), rtol=1e-4, atol=1e-5)


def test_a_step_is_counted_once_for_its_shape_and_scales_with_the_batch(network):
  def spec(num):
    return {
        "image": tf.TensorSpec([num, 4, 4, 3], tf.uint8), "label": tf.TensorSpec([num], tf.int64),
        "mask": tf.TensorSpec([num], tf.bool)
    }

  cost = network.step_cost(spec(2))
  assert network.step_cost(spec(2)) is cost
  # Images have no gradient: two products for the convolution, three for the head.
  convolution, head = 4 * 4 * 9 * 3 * 4, network.backbone.output_shape[-1] * 3
  assert cost.macs == 2 * (2 * convolution + 3 * head)
  assert network.step_cost(spec(4)).macs == 2 * cost.macs
  assert isinstance(cost, flops.Cost) and cost.flops > 2 * cost.macs
