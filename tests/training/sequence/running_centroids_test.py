# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Blocks of samples are answered as by the loop that takes them one at a time."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.sequence import running_centroids

NUM_CLASSES, NUM_FEATURES = 30, 16


def literal(features, labels, similarity, normalize):
  """The loop in float64: logits [n, C] of the means before each step."""
  features = features.astype(np.float64)
  sums, counts = np.zeros([NUM_CLASSES, NUM_FEATURES]), np.zeros(NUM_CLASSES)
  found = np.full([len(labels), NUM_CLASSES], -np.inf)
  for t, (x, y) in enumerate(zip(features, labels)):
    for c in np.flatnonzero(counts):
      mean = sums[c] / counts[c]
      if similarity == "euclidean":
        found[t, c] = -np.sum((x - mean) ** 2)
      elif similarity == "cosine":
        found[t, c] = x @ mean / np.linalg.norm(x) / np.linalg.norm(mean)
      else:
        found[t, c] = x @ mean
    sums[y] += x / np.linalg.norm(x) if normalize else x
    counts[y] += 1
  return found


def sequence(seed, num=200):
  """Classes of different frequency around their own centers."""
  rng = np.random.default_rng(seed)
  weights = 1 / np.arange(1, NUM_CLASSES + 1)
  labels = rng.choice(NUM_CLASSES, num, p=weights / weights.sum())
  centers = rng.normal(size=[NUM_CLASSES, NUM_FEATURES])
  return (centers[labels] + rng.normal(size=[num, NUM_FEATURES])).astype(np.float32), labels


@pytest.fixture(name="in_blocks", scope="module")
def _in_blocks():
  """A function: a sequence to its logits in blocks and the centroids after it.

  What it compiles is shared by all tests, and so are the centroids: they are valid until its next
  call.
  """
  compiled = {}

  def in_blocks(features, labels, size, similarity, normalize):
    if (similarity, normalize) not in compiled:
      made = running_centroids.RunningCentroids(NUM_CLASSES, NUM_FEATURES, similarity, normalize)
      compiled[similarity, normalize] = made, tf.function(made.answer_and_add, input_signature=[
          tf.TensorSpec([None, NUM_FEATURES]), tf.TensorSpec([None], tf.int64)], autograph=False)
    centroids, step = compiled[similarity, normalize]
    for variable in centroids.variables:
      variable.assign(tf.zeros_like(variable))
    found = [step(features[i:i + size], labels[i:i + size]).numpy()
             for i in range(0, len(labels), size)]
    return np.concatenate(found), centroids

  return in_blocks


@pytest.mark.parametrize("similarity", running_centroids.SIMILARITIES)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("size", [1, 7, 64, 200])
def test_blocks_are_the_loop(in_blocks, similarity, normalize, size):
  features, labels = sequence(size)
  expected = literal(features, labels, similarity, normalize)
  found, _ = in_blocks(features, labels, size, similarity, normalize)
  np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
  # Rounding is that of the terms, |q|^2 and |S|^2 / n^2, which are below 200.
  np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-4)
  np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(expected, 1))


@pytest.mark.parametrize("seed", range(10))
def test_random_sequences_have_the_same_answers(in_blocks, seed):
  rng = np.random.default_rng([seed, 1])
  features, labels = sequence(seed, num=int(rng.integers(1, 400)))
  similarity = running_centroids.SIMILARITIES[seed % 3]
  found, centroids = in_blocks(features, labels, int(rng.integers(1, 130)), similarity, False)
  np.testing.assert_array_equal(
      np.argmax(found, 1), np.argmax(literal(features, labels, similarity, False), 1))
  np.testing.assert_array_equal(centroids.counts, np.bincount(labels, minlength=NUM_CLASSES))


def test_one_class_over_and_over():
  # Every label the same: the whole block is correction. Means 1, 3/2, 2; distances to 2, 3, 4.
  centroids = running_centroids.RunningCentroids(2, 1)
  found = centroids.answer_and_add(tf.constant([[1.], [2.], [3.], [4.]]),
                                   tf.constant([1, 1, 1, 1], tf.int64)).numpy()
  assert np.isneginf(found[:, 0]).all() and np.isneginf(found[0, 1])
  np.testing.assert_allclose(found[1:, 1], [-1.0, -2.25, -4.0], rtol=1e-6)
  np.testing.assert_allclose(centroids.means(), [[0.0], [2.5]])
  np.testing.assert_allclose(centroids.squares, [0.0, 100.0])


def test_cosine_and_directions_by_hand():
  x = tf.constant([[3., 4.], [0., 2.], [5., 0.]])
  y = tf.constant([0, 0, 1], tf.int64)
  cosine = running_centroids.RunningCentroids(2, 2, "cosine").answer_and_add(x, y).numpy()
  # 0.8 to (3, 4); then the sum is (3, 6), 3 / sqrt(45) to (5, 0).
  np.testing.assert_allclose(cosine[1:, 0], [0.8, 3 / 45 ** 0.5], rtol=1e-6)
  dot = running_centroids.RunningCentroids(2, 2, "dot", normalize=True)
  # Directions (.6, .8) and (0, 1): products 1.6, then 5 * 0.3.
  np.testing.assert_allclose(dot.answer_and_add(x, y).numpy()[1:, 0], [1.6, 1.5], rtol=1e-6)


def test_answer_adds_nothing_and_agrees_with_the_block(in_blocks):
  features, labels = sequence(0)
  for similarity in running_centroids.SIMILARITIES:
    _, centroids = in_blocks(features, labels, 50, similarity, False)
    before = centroids.sums.numpy()
    found = centroids.answer(features[:1]).numpy()
    np.testing.assert_array_equal(centroids.sums, before)
    np.testing.assert_allclose(
        found, centroids.answer_and_add(features[:1], labels[:1]), rtol=1e-5, atol=1e-5)


def test_sums_do_not_depend_on_the_blocks(in_blocks):
  features, labels = sequence(1)
  sums = [in_blocks(features, labels, size, "euclidean", False)[1].sums.numpy()
          for size in (1, 33, 200)]
  np.testing.assert_array_equal(sums[0], sums[1])
  np.testing.assert_array_equal(sums[0], sums[2])


def test_a_zero_vector_gives_no_nan():
  for similarity in running_centroids.SIMILARITIES:
    for normalize in (False, True):
      centroids = running_centroids.RunningCentroids(2, 3, similarity, normalize)
      found = centroids.answer_and_add(tf.zeros([3, 3]), tf.constant([0, 0, 1], tf.int64)).numpy()
      assert not np.isnan(found).any() and (found[1:, 0] == 0).all()


def test_an_unknown_similarity_is_named():
  with pytest.raises(ValueError, match="similarity 'l1'; allowed are euclidean, cosine, dot"):
    running_centroids.RunningCentroids(2, 3, "l1")


@pytest.mark.parametrize("size", [1, 9, 200])
def test_means_that_are_moved_are_those_of_the_loop_moved(size):
  features, labels = sequence(size)
  moved_by = np.random.default_rng(3).normal(size=[NUM_CLASSES, NUM_FEATURES]).astype(np.float32)
  expected = literal(features, labels, "dot", True) + features.astype(np.float64) @ moved_by.T
  centroids = running_centroids.RunningCentroids(NUM_CLASSES, NUM_FEATURES, "dot", True)
  for i in range(0, len(labels), size):
    rows = features[i:i + size], labels[i:i + size]
    found = centroids.answer_in_turn(*rows, tf.constant(moved_by)).numpy()
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected[i:i + size]))
    np.testing.assert_allclose(found, expected[i:i + size], rtol=1e-4, atol=1e-4)
    centroids.add(*rows)
