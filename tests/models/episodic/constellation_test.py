# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ConstellationNet's layers against Keras's and loops, and the whole net by numpy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models.episodic import constellation
from suite.models.torchvision import torch_resnet


def weights_of(net, shape=(8, 8, 3), seed=0):
  return {name: tf.constant(value, tf.float32) for name, value in net.initial(seed, shape).items()}


def test_self_attention_is_that_of_kerass_layers():
  net = constellation.ConstellationConv4(filters=4, blocks=1, clusters=8, heads=2, attended=1)
  w = weights_of(net)
  rng = np.random.default_rng(0)
  for layer in ("norm1", "norm2"):
    for part in ("scale", "offset"):
      w[f"block1/{layer}/{part}"] = tf.constant(rng.normal(size=8), tf.float32)
  cells = tf.constant(rng.normal(size=[2, 2, 3, 8]), tf.float32)
  found = constellation.self_attention(w, "block1", cells, 2)
  attention = tf.keras.layers.MultiHeadAttention(2, 4)
  x = tf.reshape(cells, [2, 6, 8])
  placed = x + tf.constant(constellation.positions(2, 3, 8).reshape(6, 8), tf.float32)
  attention(placed, x, placed)
  parts = []
  for layer in ("query", "key", "value"):
    parts += [tf.reshape(w[f"block1/{layer}/kernel"], [8, 2, 4]),
              tf.reshape(w[f"block1/{layer}/bias"], [2, 4])]
  parts += [tf.reshape(w["block1/merge_heads/kernel"], [2, 4, 8]), w["block1/merge_heads/bias"]]
  attention.set_weights(parts)

  def normed(y, name):
    layer = tf.keras.layers.LayerNormalization(epsilon=1e-5)
    layer.build(y.shape)
    layer.set_weights([w[f"block1/{name}/scale"], w[f"block1/{name}/offset"]])
    return layer(y)

  y = normed(x + attention(placed, x, placed), "norm1")
  hidden = tf.nn.relu(y @ w["block1/hidden/kernel"] + w["block1/hidden/bias"])
  y = normed(y + hidden @ w["block1/output/kernel"] + w["block1/output/bias"], "norm2")
  np.testing.assert_allclose(found, tf.reshape(y, cells.shape), rtol=1e-4, atol=1e-5)


def test_places_by_hand():
  found = constellation.positions(2, 3, 8)
  assert found.shape == (2, 3, 8)
  # Waves of 1 and 100, sine and cosine each; the row, then the column, from 1 on.
  row, column = 2.0, 3.0
  np.testing.assert_allclose(found[1, 2], [
      np.sin(row), np.cos(row), np.sin(row / 100), np.cos(row / 100),
      np.sin(column), np.cos(column), np.sin(column / 100), np.cos(column / 100)])


def test_a_block_merges_what_it_convolved_with_its_distances_to_clusters():
  net = constellation.ConstellationConv4(filters=2, blocks=1, clusters=4, heads=1, attended=0)
  w = weights_of(net, (4, 4, 3))
  assert sorted(w) == ["block1/kernel", "block1/merge"]
  images = tf.constant(np.random.default_rng(0).normal(size=[2, 4, 4, 3]), tf.float32)
  seen = []

  def cluster(cells):
    seen.append(cells)
    return tf.reduce_sum(cells, -1, keepdims=True) * [1.0, 2.0, 3.0, 4.0]

  found = net.features(w, images, lambda x: 3.0 * x, cluster)
  both = np.concatenate([seen[0], np.sum(seen[0], -1, keepdims=True) * [1, 2, 3, 4]], -1)
  merged = 3 * both @ w["block1/merge"].numpy()
  pooled = np.maximum(merged.reshape(2, 2, 2, 2, 2, 2).max(axis=(2, 4)), 0)
  np.testing.assert_allclose(found, pooled.mean(axis=(1, 2)), rtol=1e-4, atol=1e-5)


def test_first_weights_and_centers_are_functions_of_the_seed():
  net = constellation.ConstellationConv4(filters=32)
  w = net.initial(3, (32, 32, 3))
  assert np.std(w["block3/kernel"]) == pytest.approx(np.sqrt(2 / (9 * 32)), rel=0.1)
  assert w["block4/merge"].shape == (96, 32)
  assert "block2/query/kernel" not in w and w["block3/query/kernel"].shape == (64, 64)
  assert np.abs(w["block3/query/kernel"]).max() <= 1 / 8
  centers = net.initial_centers(3)
  assert centers.shape == (4, 64, 32)
  np.testing.assert_allclose(np.linalg.norm(centers, axis=-1), 1)
  np.testing.assert_array_equal(centers, net.initial_centers(3))
  assert not np.array_equal(centers, net.initial_centers(4))


@pytest.mark.parametrize("settings, message", [
    ({"clusters": 6, "heads": 2}, "clusters is 6; it must be a multiple of heads, 2, and of 4"),
    ({"attended": 5}, "attended is 5; allowed are 0 to 4 blocks")])
def test_sizes_that_do_not_fit_are_named(settings, message):
  with pytest.raises(ValueError, match=message):
    constellation.ConstellationConv4(**settings)


def test_images_that_are_too_small_are_named():
  with pytest.raises(ValueError, match="8x8 pixels vanish in 4 blocks"):
    constellation.ConstellationConv4().initial(0, (8, 8, 3))


def test_a_resnet_with_clusters_begins_as_the_resnet(monkeypatch):
  architecture = torch_resnet.Architecture((1, 1), False, 4)
  monkeypatch.setitem(torch_resnet.KNOWN, "resnet18", architecture)
  model = torch_resnet.known((32, 32, 3), name="resnet18")
  rng = np.random.default_rng(0)
  model.set_weights([rng.uniform(0.5, 1.5, w.shape) * (1 if w.ndim == 1 else rng.choice(
      [-0.2, 0.2], w.shape)) for w in model.get_weights()])
  net = constellation.ConstellationResNet(
      weights=model.get_weights(), clusters=8, heads=2, attended=1)
  made = constellation.ClusteredEmbedding(net)
  made.make(0, (32, 32, 3))
  images = tf.constant(rng.integers(0, 256, [2, 32, 32, 3]), tf.uint8)
  # A merge's norm, of mean 0 and variance 1, divides by sqrt(1 + epsilon) twice.
  np.testing.assert_allclose(made.encode(images), model(tf.cast(images, tf.float32)), rtol=1e-3)
  with tf.GradientTape() as tape:
    features, seen = made.train(images)
    loss = tf.reduce_sum(features)
  assert features.shape == (2, 8) and seen.mean.shape == sum(net.norm_sizes((32, 32, 3)))
  assert all(g is not None for g in tape.gradient(loss, made.trainable_variables))
  before = made.centers.numpy()
  made.update_statistics(seen)
  # Stage 1 has 4 channels of 8: the others of its centers stay zero.
  assert np.abs(made.centers.numpy() - before)[0, :, :4].max() > 0
  np.testing.assert_array_equal(made.centers.numpy()[0, :, 4:], 0)
  with pytest.raises(ValueError, match="'resnet50', a net of bottlenecks; allowed are resnet18"):
    constellation.ConstellationResNet("resnet50")
