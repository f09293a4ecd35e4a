# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""First-order meta-updates against numpy, on a linear embedding."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.episodes import episodes
from suite.training.episodic import base_episodes
from suite.training.episodic import fomaml

WAY, SHOT, TARGETS, SIDE, WIDTH = 2, 2, 1, 1, 2
INNER, OUTER = 0.1, 0.5


def backbone():
  inputs = tf.keras.Input([SIDE, SIDE, 3])
  flat = tf.keras.layers.Flatten()(inputs)
  return tf.keras.Model(inputs, tf.keras.layers.Dense(WIDTH, use_bias=False)(flat))


def make(head, steps=2):
  made = fomaml.FirstOrder(episodes=base_episodes.BaseEpisodes(
      way=WAY, shot=SHOT, targets=TARGETS, learning_rate=OUTER), steps=steps, rate=INNER)
  model = backbone()
  model.set_weights([np.array([[0.4, -0.2], [0.1, 0.3], [-0.5, 0.2]], np.float32)])
  made.build(model, head)
  return made, model


def episode():
  rng = np.random.default_rng(0)
  support = rng.normal(size=[4, 3]).astype(np.float32)
  targets = rng.normal(size=[2, 3]).astype(np.float32)
  labels = np.array([0, 0, 1, 1]), np.array([0, 1])
  batch = episodes.Episode(
      tf.constant(support.reshape([1, 1, 4, 1, 1, 3])), tf.constant(labels[0][None, None]),
      tf.constant(targets.reshape([1, 2, 1, 1, 3])), tf.constant(labels[1][None]))
  return batch, support.astype(float), targets.astype(float), labels


def gradients(x, labels, w, kernel, bias):
  """Of the mean cross-entropy of softmax((x w) kernel + bias), for w, kernel and bias."""
  f = x @ w
  logits = f @ kernel + bias
  p = np.exp(logits - logits.max(1, keepdims=True))
  p /= p.sum(1, keepdims=True)
  d = (p - np.eye(WAY)[labels]) / len(x)
  return x.T @ (d @ kernel.T), f.T @ d, d.sum(0)


def expected(head, steps, support, targets, labels, w):
  means = np.stack([support[:2].mean(0), support[2:].mean(0)])  # Of images; features are linear.
  c = means @ w
  kernel, bias = np.zeros([WIDTH, WAY]), np.zeros(WAY)
  if head == "prototypes":
    kernel, bias = 2 * c.T, -np.sum(c**2, 1)
  v = w
  for _ in range(steps):
    parts = gradients(support, labels[0], v, kernel, bias)
    v, kernel, bias = (a - INNER * g for a, g in zip((v, kernel, bias), parts))
  of_w, of_kernel, of_bias = gradients(targets, labels[1], v, kernel, bias)
  if head == "prototypes":  # Through kernel = 2 c', bias = -|c|^2, at the weights before.
    of_w = of_w + means.T @ (2 * of_kernel.T - 2 * c * of_bias[:, None])
  return w - OUTER * of_w


@pytest.mark.parametrize("head", ["zeros", "prototypes"])
@pytest.mark.parametrize("steps", [1, 3])
def test_an_update_is_the_gradient_after_the_inner_steps(head, steps):
  made, model = make(head, steps)
  batch, support, targets, labels = episode()
  before = model.get_weights()[0].astype(float)
  tf.function(made.update, autograph=False)(batch)
  wanted = expected(head, steps, support, targets, labels, before)
  np.testing.assert_allclose(model.get_weights()[0], wanted, rtol=1e-4, atol=1e-6)


def test_impossible_steps_are_refused():
  with pytest.raises(ValueError, match="steps=0 of rate=0.01; take at least 1 step"):
    fomaml.FirstOrder(steps=0)
