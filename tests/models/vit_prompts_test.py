# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prompts of a frozen transformer, image by image and component by component."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import vit
from suite.models import vit_hooks
from suite.models import vit_prompts

WIDTH, DEPTH = 8, 2
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, [2, 8, 8, 3]).astype(np.float32)


@pytest.fixture(scope="module", name="model")
def fixture_model():
  model = vit.vit((8, 8, 3), patch_size=4, layers=DEPTH, width=WIDTH, heads=2, mlp_size=12)
  model.set_weights([RNG.normal(0, 0.5, w.shape) for w in model.get_weights()])
  return model


@pytest.fixture(scope="module", name="frozen")
def fixture_frozen(model):
  return vit_hooks.FrozenVit(model, "a test")


def filled(layer):
  """The layer, built, with random weights; no phase has begun."""
  layer.build([None, 8, 8, 3])
  layer.set_weights([w if w.dtype.kind == "i" else RNG.normal(0, 0.5, w.shape)
                     for w in layer.get_weights()])
  return layer


def with_prefixes(frozen, image, prefixes):
  """The feature [D] of an image by prefixes (keys [L, D], values) of some blocks."""
  tokens = frozen.tokens(image[None])
  for i in range(DEPTH):
    prefix = [p[None].astype(np.float32) for p in prefixes.get(i, ())]
    tokens = frozen.block(i, tokens, prefix=prefix)
  return frozen.features(tokens)[0]


def cosine(a, b):
  return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def test_an_image_takes_the_prompts_whose_keys_are_nearest_to_its_query(model, frozen):
  layer = filled(vit_prompts.PromptPool(frozen, size=4, length=2, chosen=2, pull=0.3))
  queries, loss = model(IMAGES).numpy(), 0.0
  features = layer(IMAGES, training=True)
  for image, query, found in zip(IMAGES, queries, features):
    cosines = np.array([cosine(query, key) for key in layer.keys.numpy()])
    best = np.argsort(-cosines)[:2]
    loss += sum(1 - cosines[best]) / len(IMAGES)
    prompts = layer.prompts.numpy()[best].reshape(1, 4, WIDTH)
    tokens = tf.concat([prompts, frozen.tokens(image[None])], axis=1)
    for i in range(2):
      tokens = frozen.block(i, tokens)
    np.testing.assert_allclose(found, np.mean(frozen.normed(tokens)[0, :4], axis=0), atol=5e-5)
  assert float(layer.losses[0]) == pytest.approx(0.3 * loss, rel=1e-5)
  layer(IMAGES)
  assert not layer.losses


def dual(frozen):
  return filled(vit_prompts.DualPrompts(
      frozen, size=3, general_length=1, general_blocks=(0,), expert_length=2,
      expert_blocks=(0, 1), pull=0.5))


def test_a_phase_trains_its_prefixes_and_an_image_takes_those_of_the_nearest_key(model, frozen):
  layer, queries = dual(frozen), model(IMAGES).numpy()
  layer.begin_phase()
  layer.begin_phase()
  keys, expert = (layer._parts.read(name).numpy() for name in ("keys", "expert"))
  general, loss = layer.general.numpy()[0], 0.0
  of_phase, of_key = layer(IMAGES, training=True), layer(IMAGES)
  loss = sum(1 - cosine(query, keys[1]) for query in queries) / len(IMAGES)
  layer(IMAGES, training=True)
  assert float(layer.losses[0]) == pytest.approx(0.5 * loss, rel=1e-5)
  for n, image in enumerate(IMAGES):
    nearest = int(np.argmax([cosine(queries[n], key) for key in keys[:2]]))  # Not the third yet.
    for found, phase in ((of_phase[n], 1), (of_key[n], nearest)):
      prefixes = {0: [np.concatenate([general[j], expert[phase, 0, j]]) for j in (0, 1)],
                  1: list(expert[phase, 1])}
      np.testing.assert_allclose(found, with_prefixes(frozen, image, prefixes), atol=5e-5)


def test_components_are_weighed_by_attended_cosines_and_kept_apart(model, frozen):
  layer = filled(vit_prompts.CodaPrompts(
      frozen, size=4, phases=2, length=1, blocks=(1,), orthogonality=2.0))
  layer.begin_phase()
  for num in (2, 4):  # Components of the first phase, and of both.
    keys, attention, prompts = (layer._parts.read(f"{name}1").numpy()[:num]
                                for name in ("keys", "attention", "prompts"))
    found = layer(IMAGES)
    for n, (image, query) in enumerate(zip(IMAGES, model(IMAGES).numpy())):
      weights = [cosine(query * a, k) for a, k in zip(attention, keys)]
      prefix = sum(w * p for w, p in zip(weights, prompts)).reshape(2, 1, WIDTH)
      np.testing.assert_allclose(
          found[n], with_prefixes(frozen, image, {1: list(prefix)}), atol=1e-4)
    layer(IMAGES, training=True)
    skewness = [np.sum((rows @ rows.T - np.eye(num)) ** 2) / num ** 2
                for rows in (keys, attention, prompts)]
    assert float(layer.losses[0]) == pytest.approx(2 * sum(skewness), rel=1e-5)
    layer.begin_phase()


def test_rows_of_a_phase_that_is_over_stay_whatever_an_optimizer_does(frozen):
  layer = dual(frozen)
  layer.begin_phase()
  first = layer._parts.read("keys").numpy()[0]
  layer.begin_phase()
  with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(IMAGES, training=True) ** 2) + layer.losses[0]
  keys = layer._parts._trained["keys"]
  gradient = tape.gradient(loss, keys).numpy()
  np.testing.assert_array_equal(np.any(gradient, axis=1), [False, True, False])
  keys.assign_add(tf.ones_like(keys))  # As momentum or decay may.
  np.testing.assert_array_equal(layer._parts.read("keys")[0], first)
  second = layer._parts.read("keys").numpy()[1]
  for _ in range(2):  # The third phase, and one beyond the pool.
    layer.begin_phase()
    np.testing.assert_array_equal(layer._parts.read("keys")[:2], [first, second])
    assert layer._parts.masks()[0].numpy().tolist() == [False, False, True]


def test_settings_that_do_not_fit_are_refused(frozen):
  for make, message in (
      (lambda: vit_prompts.PromptPool(frozen, size=3, chosen=4), "chosen is 4; allowed are 1 to 3"),
      (lambda: vit_prompts.CodaPrompts(frozen, size=10, phases=4), "size is 10 and phases 4"),
      (lambda: vit_prompts.CodaPrompts(frozen, blocks=(0, 2)), "blocks has block 2; .* 0 to 1"),
      (lambda: vit_prompts.DualPrompts(frozen), "DualPrompts.expert_blocks has block 2")):
    with pytest.raises(ValueError, match=message):
      make()
