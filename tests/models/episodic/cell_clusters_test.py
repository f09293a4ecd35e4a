# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Soft k-means of cells by hand and against a loop; what an embedding keeps of it."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models.episodic import constellation
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4

SHAPE = (8, 8, 3)
IMAGES = np.random.default_rng(0).integers(0, 256, [5, *SHAPE]).astype(np.uint8)


def made(**settings):
  net = constellation.ConstellationConv4(
      filters=3, blocks=2, clusters=4, heads=2, attended=1)
  one = constellation.ClusteredEmbedding(net, sharpness=5.0, **settings)
  one.make(0, SHAPE)
  return one


def test_two_cells_and_two_centers_by_hand():
  cells = tf.constant([[[[3.0, 4.0], [0.0, -2.0]]]])  # Directions (.6, .8) and (0, -1).
  centers = tf.constant([[2.0, 0.0], [0.0, 1.0]])
  found = constellation.similarities(cells, centers)
  np.testing.assert_allclose(found, [[[[0.6, 0.8], [0, -1]]]], rtol=1e-6)
  # Odds of the second cluster: e^(.2 log 16 / .2) = 16 and e^(-log 16 / .2) = 1 / 16^5.
  total, number = constellation.sums(cells, found, float(np.log(16) / 0.2))
  first, second = 1 / 17, 16**5 / (1 + 16**5)
  np.testing.assert_allclose(number, [first + second, 2 - first - second], rtol=1e-5)
  np.testing.assert_allclose(
      total, [[0.6 * first, 0.8 * first - second],
              [0.6 * (1 - first), 0.8 * (1 - first) - (1 - second)]], rtol=1e-5)
  # A center of 3 cells and one of 1.
  moved = constellation.moved(centers, tf.constant([3.0, 1.0]), total, number)
  np.testing.assert_allclose(moved[0], (np.array([6, 0]) + total[0]) / (3 + number[0]), rtol=1e-5)
  np.testing.assert_allclose(moved[1], (np.array([0, 1]) + total[1]) / (1 + number[1]), rtol=1e-5)


def test_centers_are_the_weighted_means_of_all_cells_so_far():
  rng = np.random.default_rng(1)
  centers, counts = rng.normal(size=[4, 3]), np.ones(4)
  start, sums, weights = centers.copy(), np.zeros([4, 3]), np.zeros(4)
  for _ in range(3):
    cells = rng.normal(size=[2, 2, 2, 3])
    found = constellation.similarities(tf.constant(cells), tf.constant(centers))
    total, number = constellation.sums(tf.constant(cells), found, 2.0)
    for cell in cells.reshape(-1, 3):
      u = cell / np.linalg.norm(cell)
      odds = np.exp(2.0 * centers @ u / np.linalg.norm(centers, axis=1))
      sums += (odds / odds.sum())[:, None] * u
      weights += odds / odds.sum()
    centers = constellation.moved(centers, counts, total, number).numpy()
    counts = counts + number.numpy()
    np.testing.assert_allclose(centers, (start + sums) / (1 + weights)[:, None], rtol=1e-6)
  assert counts.sum() == pytest.approx(4 + 3 * 8)


def test_an_update_counts_every_cell_of_every_batch_once():
  one = made(momentum=0.5)
  before = one.centers.numpy()
  parts = [one.train(tf.constant(IMAGES[rows]))[1] for rows in (slice(0, 2), slice(2, 5))]
  np.testing.assert_array_equal(one.centers, before)
  total = embedding.add(one.zero_statistics(), *parts)
  tf.nest.assert_same_structure(total, one.zero_statistics())
  one.update_statistics(total)
  np.testing.assert_allclose(np.sum(one.counts, axis=1), [4 + 5 * 64, 4 + 5 * 16], rtol=1e-5)
  expected = constellation.moved(before, tf.ones([2, 4]), *total.cells)
  np.testing.assert_allclose(one.centers, expected, rtol=1e-6)
  assert not np.allclose(one.centers, before)


def test_centers_have_no_gradient_and_all_weights_have_one():
  one = made()
  with tf.GradientTape() as tape:
    features, seen = one.train(tf.constant(IMAGES))
    loss = tf.reduce_sum(features ** 2)
  gradients = tape.gradient(loss, one.trainable_variables)
  assert all(g is not None and np.isfinite(g).all() for g in gradients)
  assert "centers" not in "".join(v.name for v in one.trainable_variables)
  assert len(one.trainable_variables) == 2 * 2 + 16 + 2  # Kernels, attention, norms.
  assert seen.cells[0].shape == [2, 4, 3]


def test_an_image_is_encoded_by_itself_and_changes_nothing():
  one = made()
  one.update_statistics(one.train(tf.constant(IMAGES))[1])
  before = [v.numpy() for v in one.variables]
  alone = [one.encode(tf.constant(IMAGES[i:i + 1]))[0] for i in range(5)]
  np.testing.assert_allclose(one.encode(tf.constant(IMAGES)), alone, rtol=1e-3, atol=1e-5)
  for a, b in zip(before, one.variables):
    np.testing.assert_array_equal(a, b)


def test_wrong_settings_are_named():
  with pytest.raises(ValueError, match="net is ProtoConv4, which has no clusters; give it a Const"):
    constellation.ClusteredEmbedding(proto_conv4.ProtoConv4())
  with pytest.raises(ValueError, match="ClusteredEmbedding.sharpness is 0; it must be above 0"):
    constellation.ClusteredEmbedding(None, sharpness=0)
