# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is trained in a frozen transformer, against the net with other weights and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import vit
from suite.models import vit_hooks

WIDTH, HEADS = 8, 2
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, [3, 8, 8, 3]).astype(np.float32)


@pytest.fixture(scope="module", name="model")
def fixture_model():
  model = vit.vit((8, 8, 3), patch_size=4, layers=2, width=WIDTH, heads=HEADS, mlp_size=12)
  model.set_weights([RNG.normal(0, 0.5, w.shape) for w in model.get_weights()])
  model.trainable = False
  return model


@pytest.fixture(scope="module", name="frozen")
def fixture_frozen(model):
  return vit_hooks.FrozenVit(model, "a test")


def filled(layer):
  """The layer, built, with random weights, and these by name."""
  layer.build([None, 8, 8, 3])
  layer.set_weights([w if w.dtype.kind == "i" else RNG.normal(0, 0.5, w.shape)
                     for w in layer.get_weights()])
  return layer


def test_without_hooks_the_blocks_are_those_of_the_net(model, frozen):
  assert (frozen.depth, frozen.width, frozen.num_tokens) == (2, WIDTH, 5)
  tokens = frozen.tokens(IMAGES)
  for i in range(2):
    tokens = frozen.block(i, tokens)
  np.testing.assert_allclose(frozen.features(tokens), model(IMAGES), atol=2e-5)
  mean = vit.vit((8, 8, 3), patch_size=4, layers=1, width=8, heads=2, mlp_size=4, pool="mean")
  other = vit_hooks.FrozenVit(mean, "a test")
  np.testing.assert_allclose(
      other.features(other.block(0, other.tokens(IMAGES))), mean(IMAGES), atol=2e-5)


def test_low_rank_changes_are_a_net_with_the_kernels_w_plus_a_b(model, frozen):
  layer = filled(vit_hooks.LowRank(frozen, rank=2, scale=0.5, projections=("value", "query")))
  a, b = layer.a.numpy(), layer.b.numpy()
  assert a.shape == (2, 2, WIDTH, 2) and b.shape == (2, 2, 2, WIDTH)
  changed = tf.keras.models.clone_model(model)
  changed.set_weights(model.get_weights())
  for i in range(2):
    attention = changed.get_layer(f"block{i + 1}").attn
    for place, weight in ((0, attention.weights[4]), (1, attention.weights[0])):
      assert ("value/kernel", "query/kernel")[place] in weight.name
      weight.assign_add((0.5 * a[i, place] @ b[i, place]).reshape(weight.shape))
  np.testing.assert_allclose(layer(IMAGES), changed(IMAGES), atol=5e-5)
  assert np.abs(layer(IMAGES) - model(IMAGES)).max() > 0.1


def test_given_low_rank_changes_add_up(model, frozen):
  layer = filled(vit_hooks.GivenLowRank(frozen, rank=2))
  a, b, sums = layer.a.numpy(), layer.b.numpy(), layer.sums.numpy()
  changed = tf.keras.models.clone_model(model)
  changed.set_weights(model.get_weights())
  tokens, moments = frozen.tokens(IMAGES), []
  for i in range(2):
    attention = changed.get_layer(f"block{i + 1}").attn
    for place, weight in ((0, attention.weights[2]), (1, attention.weights[4])):
      weight.assign_add((sums[i, place] + a[i] @ b[i, place]).reshape(weight.shape))
    rows = frozen.attended(i, tokens).numpy()[:2].reshape(-1, WIDTH)
    moments.append(rows.T @ rows)
    tokens = changed.get_layer(f"block{i + 1}")(tokens)
  np.testing.assert_allclose(layer(IMAGES), changed(IMAGES), atol=1e-4)
  counted = tf.constant([1.0, 1.0, 0.0])
  np.testing.assert_allclose(layer.moments(IMAGES, counted), moments, rtol=1e-3, atol=1e-3)
  layer.merge()
  assert not layer.b.numpy().any()
  np.testing.assert_allclose(layer(IMAGES), changed(IMAGES), atol=1e-4)


def test_adapters_add_a_bottleneck_beside_the_mlp(frozen):
  layer = filled(vit_hooks.Adapters(frozen, bottleneck=3, scale=0.5))
  tokens = frozen.tokens(IMAGES)
  for i in range(2):
    attended = tokens + vit_hooks._attention(
        frozen._blocks[i].attn, frozen._blocks[i].layer_norm1(tokens), (), {}, {})
    hidden = np.maximum(attended @ layer.down[i] + layer.down_bias[i], 0.0)
    tokens = frozen.block(i, tokens) + 0.5 * (hidden @ layer.up[i] + layer.up_bias[i])
  np.testing.assert_allclose(layer(IMAGES), frozen.features(tokens), atol=5e-5)


def test_what_begins_at_zero_leaves_the_net_as_it_is(model, frozen):
  for make in (vit_hooks.LowRank, vit_hooks.Adapters):
    np.testing.assert_allclose(make(frozen, 2)(IMAGES), model(IMAGES), atol=2e-5)


def test_a_prefix_is_attended_to_by_every_token(frozen):
  """One head after the other, by loops over tokens."""
  attention, tokens = frozen._blocks[0].attn, RNG.normal(0, 1, [1, 3, WIDTH]).astype(np.float32)
  keys, values = (RNG.normal(0, 1, [1, 2, WIDTH]).astype(np.float32) for _ in range(2))
  found = vit_hooks._attention(attention, tf.constant(tokens), (keys, values), {}, {})
  kernel, bias = zip(*[(attention.weights[i].numpy(), attention.weights[i + 1].numpy())
                       for i in (0, 2, 4, 6)])
  expected = np.tile(bias[3], [3, 1])
  for head in range(HEADS):
    def projected(rows, place, head=head):
      return rows @ kernel[place][:, head] + bias[place][head]

    query = projected(tokens[0], 0)
    key = projected(np.concatenate([keys[0], tokens[0]]), 1)
    value = projected(np.concatenate([values[0], tokens[0]]), 2)
    for t in range(3):
      weights = np.exp([query[t] @ k / math.sqrt(WIDTH / HEADS) for k in key])
      expected[t] += (weights / weights.sum()) @ value @ kernel[3][head]
  np.testing.assert_allclose(found[0], expected, atol=1e-4)


def test_nets_and_settings_that_do_not_fit_are_refused(frozen):
  with pytest.raises(ValueError, match="LowRank hooks into the blocks of a vision transformer, and "
                     "conv4 has none"):
    vit_hooks.FrozenVit(conv4.conv4((8, 8, 3), filters=2, blocks=1), "LowRank")
  for make, message in (
      (lambda: vit_hooks.LowRank(frozen, projections=("output",)), "allowed are query, key, value"),
      (lambda: vit_hooks.LowRank(frozen, rank=9), "rank is 9; allowed are 1 to 8"),
      (lambda: vit_hooks.Adapters(frozen, bottleneck=0), "bottleneck is 0; it must be at least 1")):
    with pytest.raises(ValueError, match=message):
      make()
