# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The head of Simple CNAPS within an episode, against numpy in float64."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.training.episodic import class_gaussians

WAY, WIDTH = 3, 4


def oracle(support, labels, queries, ridge, num_classes=WAY):
  """Logits [B, W] by the paper's formulas."""
  support, queries = support.astype(np.float64), queries.astype(np.float64)
  found = np.full([len(queries), num_classes], -1e9)
  whole = np.cov(support.T) if len(support) > 1 else np.zeros([WIDTH, WIDTH])
  for k in range(num_classes):
    own = support[labels == k]
    if not len(own):
      continue
    share = len(own) / (len(own) + 1)
    spread = np.cov(own.T) if len(own) > 1 else np.zeros([WIDTH, WIDTH])
    q = share * spread + (1 - share) * whole + ridge * np.eye(WIDTH)
    away = queries - own.mean(0)
    found[:, k] = -0.5 * np.einsum("bi,ij,bj->b", away, np.linalg.inv(q), away)
  return found


def example(seed=0):
  rng = np.random.default_rng(seed)
  labels = np.array([0, 0, 1, 0, 1, 1, 1, 0])
  support = rng.normal(size=[8, WIDTH]) * [3, 1, 1, 2] + labels[:, None]
  return support.astype(np.float32), labels, rng.normal(size=[5, WIDTH]).astype(np.float32)


def test_logits_are_those_of_the_papers_formulas():
  support, labels, queries = example()
  state = class_gaussians.add(class_gaussians.zeros(WAY, WIDTH), support, labels)
  found = class_gaussians.logits(state, tf.constant(queries), 0.5)
  np.testing.assert_allclose(found, oracle(support, labels, queries, 0.5), rtol=1e-5)


def test_sets_one_after_the_other_are_one_set():
  support, labels, queries = example(1)
  whole = parts = class_gaussians.zeros(WAY, WIDTH)
  whole = class_gaussians.add(whole, support, labels)
  for part in (slice(0, 3), slice(3, 4), slice(4, 8)):
    parts = class_gaussians.add(parts, support[part], labels[part])
  for a, b in zip(parts, whole):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(*(class_gaussians.logits(one, tf.constant(queries), 1.0)
                               for one in (parts, whole)), rtol=1e-4)


def test_gradients_are_those_of_differences():
  support, labels, queries = example(2)
  weights = np.random.default_rng(3).normal(size=[5, WAY])
  weights[:, 2] = 0  # No sample.

  def total(support, queries):
    return np.sum(weights * oracle(support, labels, queries, 1.0))

  given = tf.constant(support), tf.constant(queries)
  with tf.GradientTape() as tape:
    tape.watch(given)
    state = class_gaussians.add(class_gaussians.zeros(WAY, WIDTH), given[0], labels)
    loss = tf.reduce_sum(tf.constant(weights, tf.float32)
                         * class_gaussians.logits(state, given[1], 1.0))
  for which, gradient in enumerate(tape.gradient(loss, given)):
    expected = np.zeros(gradient.shape)
    for place in np.ndindex(*gradient.shape):
      moved = []
      for step in (1e-5, -1e-5):
        values = [support.astype(np.float64), queries.astype(np.float64)]
        values[which][place] += step
        moved.append(total(*values))
      expected[place] = (moved[0] - moved[1]) / 2e-5
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4)
