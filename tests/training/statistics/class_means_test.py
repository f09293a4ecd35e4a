# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means by hand; blocks of samples are answered as by the loop over single samples."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.training.statistics import class_means
from suite.training.statistics import statistic

NUM_CLASSES, NUM_FEATURES = 30, 16


def running(num_classes, num_features, *settings):
  return statistic.Running(class_means.ClassMeans(*settings), num_classes, num_features)


def answer_and_add(model, features, labels):
  found = model.answer_in_turn(features, labels)
  model.add(features, labels)
  return found


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
      made = running(NUM_CLASSES, NUM_FEATURES, similarity, normalize)
      compiled[similarity, normalize] = made, tf.function(
          functools.partial(answer_and_add, made), autograph=False, input_signature=[
              tf.TensorSpec([None, NUM_FEATURES]), tf.TensorSpec([None], tf.int64)])
    centroids, step = compiled[similarity, normalize]
    for variable in centroids.variables:
      variable.assign(tf.zeros_like(variable))
    found = [step(features[i:i + size], labels[i:i + size]).numpy()
             for i in range(0, len(labels), size)]
    return np.concatenate(found), centroids

  return in_blocks


@pytest.mark.parametrize("similarity", class_means.SIMILARITIES)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("size", [1, 7, 200])
def test_blocks_are_the_loop(in_blocks, similarity, normalize, size):
  features, labels = sequence(size, num=min(200, 30 * size))
  expected = literal(features, labels, similarity, normalize)
  found, _ = in_blocks(features, labels, size, similarity, normalize)
  np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
  # Rounding is that of the terms, |q|^2 and |S|^2 / n^2, which are below 200.
  np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-4)
  np.testing.assert_array_equal(np.argmax(found, 1), np.argmax(expected, 1))


@pytest.mark.parametrize("seed", range(3))
def test_random_sequences_have_the_same_answers(in_blocks, seed):
  rng = np.random.default_rng([seed, 1])
  features, labels = sequence(seed, num=int(rng.integers(1, 400)))
  similarity = class_means.SIMILARITIES[seed]
  found, centroids = in_blocks(features, labels, int(rng.integers(1, 130)), similarity, False)
  np.testing.assert_array_equal(
      np.argmax(found, 1), np.argmax(literal(features, labels, similarity, False), 1))
  np.testing.assert_array_equal(centroids.counts, np.bincount(labels, minlength=NUM_CLASSES))


def test_one_class_over_and_over():
  # Every label the same: the whole block is correction. Means 1, 3/2, 2; distances to 2, 3, 4.
  centroids = running(2, 1)
  found = answer_and_add(centroids, tf.constant([[1.], [2.], [3.], [4.]]),
                                   tf.constant([1, 1, 1, 1], tf.int64)).numpy()
  assert np.isneginf(found[:, 0]).all() and np.isneginf(found[0, 1])
  np.testing.assert_allclose(found[1:, 1], [-1.0, -2.25, -4.0], rtol=1e-6)
  np.testing.assert_allclose(class_means.means(centroids.state), [[0.0], [2.5]])
  np.testing.assert_allclose(centroids.squares, [0.0, 100.0])


def test_cosine_and_directions_by_hand():
  x = tf.constant([[3., 4.], [0., 2.], [5., 0.]])
  y = tf.constant([0, 0, 1], tf.int64)
  cosine = answer_and_add(running(2, 2, "cosine"), x, y).numpy()
  # 0.8 to (3, 4); then the sum is (3, 6), 3 / sqrt(45) to (5, 0).
  np.testing.assert_allclose(cosine[1:, 0], [0.8, 3 / 45 ** 0.5], rtol=1e-6)
  dot = running(2, 2, "dot", True)
  # Directions (.6, .8) and (0, 1): products 1.6, then 5 * 0.3.
  np.testing.assert_allclose(answer_and_add(dot, x, y).numpy()[1:, 0], [1.6, 1.5], rtol=1e-6)


def test_answer_adds_nothing_and_agrees_with_the_block(in_blocks):
  features, labels = sequence(0)
  for similarity in class_means.SIMILARITIES:
    _, centroids = in_blocks(features, labels, 50, similarity, False)
    before = centroids.sums.numpy()
    found = centroids.answer(features[:1]).numpy()
    np.testing.assert_array_equal(centroids.sums, before)
    np.testing.assert_allclose(
        found, answer_and_add(centroids, features[:1], labels[:1]), rtol=1e-5, atol=1e-5)


def test_sums_do_not_depend_on_the_blocks(in_blocks):
  features, labels = sequence(1)
  sums = [in_blocks(features, labels, size, "euclidean", False)[1].sums.numpy()
          for size in (7, 33, 200)]
  np.testing.assert_array_equal(sums[0], sums[1])
  np.testing.assert_array_equal(sums[0], sums[2])


def test_a_zero_vector_gives_no_nan():
  for similarity in class_means.SIMILARITIES:
    for normalize in (False, True):
      centroids = running(2, 3, similarity, normalize)
      found = answer_and_add(centroids, tf.zeros([3, 3]), tf.constant([0, 0, 1], tf.int64)).numpy()
      assert not np.isnan(found).any() and (found[1:, 0] == 0).all()


def test_simple_cil_by_its_definition():
  """Cosines of features with prototypes, the means of features (Zhou et al., 2023)."""
  rng = np.random.default_rng(3)
  codes, labels = rng.normal(size=[40, 5]).astype(np.float32), np.arange(40) % 3
  means = class_means.ClassMeans("cosine")
  model = statistic.Running(means, 4, 5)
  for task in (labels == 0, labels > 0):  # Class by class: nothing that was learned changes.
    model.add_set(codes[task], labels[task])
  prototypes = np.stack([codes[labels == k].mean(axis=0) for k in range(3)])
  expected = (codes @ prototypes.T / np.linalg.norm(codes, axis=1)[:, None]
              / np.linalg.norm(prototypes, axis=1))
  np.testing.assert_allclose(model.answer(tf.constant(codes))[:, :3], expected, atol=1e-5)


def test_an_unknown_similarity_is_named():
  with pytest.raises(ValueError, match="similarity 'l1'; allowed are euclidean, cosine, dot"):
    running(2, 3, "l1")


@pytest.mark.parametrize("size, num", [(1, 12), (9, 50), (60, 60)])
def test_means_that_are_moved_are_those_of_the_loop_moved(size, num):
  features, labels = sequence(size, num)
  moved_by = np.random.default_rng(3).normal(size=[NUM_CLASSES, NUM_FEATURES]).astype(np.float32)
  expected = literal(features, labels, "dot", True) + features.astype(np.float64) @ moved_by.T
  centroids = running(NUM_CLASSES, NUM_FEATURES, "dot", True)
  for i in range(0, len(labels), size):
    rows = features[i:i + size], labels[i:i + size]
    found = centroids.statistic.answers_in_turn(
        centroids.state, centroids.solution, *rows, tf.constant(moved_by)).numpy()
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected[i:i + size]))
    np.testing.assert_allclose(found, expected[i:i + size], rtol=1e-4, atol=1e-4)
    centroids.add(*rows)


def after(*sets, **settings):
  """The statistic, and its state after support sets."""
  means = class_means.ClassMeans(**settings)
  state = means.zero(3, 2)
  for features, labels in sets:
    state = means.add(state, tf.constant(features), tf.constant(labels))
  return means, state


SETS = ([[2.0, 0.0], [0.0, 8.0]], [0, 1]), ([[4.0, 0.0]], [0])


@pytest.mark.parametrize("similarity, expected", [
    ("euclidean", [-16, -25]), ("dot", [9, 32]), ("cosine", [0.6, 0.8])])
def test_similarities_to_the_means_of_all_sets(similarity, expected):
  means, state = after(*SETS, similarity=similarity)
  found = means.answers(state, tf.constant([[3.0, 4.0]]))
  np.testing.assert_allclose(found, [[*expected, -1e9]], rtol=1e-6)


def test_a_scale_multiplies_what_was_shown():
  means, state = after(*SETS, similarity="cosine")
  found = means.answers(state, tf.constant([[3.0, 4.0]]), scale=tf.constant(10.0))
  np.testing.assert_allclose(found, [[6, 8, -1e9]], rtol=1e-6)


def test_the_last_set_replaces_the_means_of_its_classes():
  _, state = after(*SETS, last_set_only=True)
  np.testing.assert_array_equal(state.sums, [[4, 0], [0, 8], [0, 0]])
  np.testing.assert_array_equal(state.counts, [2, 1, 0])


@pytest.mark.parametrize("similarity", class_means.SIMILARITIES)
def test_with_a_solution_answers_are_the_same_but_for_classes_without_a_sample(similarity):
  means, state = after(*SETS, similarity=similarity)
  solution = tf.nest.map_structure(lambda x: tf.cast(x, tf.float32), means.solve(state))
  codes = tf.constant([[3.0, 4.0], [-1.0, 2.0]])
  found, solved = means.answers(state, codes), means.answers(state, codes, solution)
  np.testing.assert_allclose(solved[:, :2], found[:, :2], rtol=1e-6)
  assert np.isneginf(solved[:, 2]).all()


def test_merged_sums_are_those_of_all_samples():
  features, labels = sequence(3, 50)
  means = class_means.ClassMeans(normalize=True)
  parts = [means.add(means.zero(NUM_CLASSES, NUM_FEATURES), features[p], labels[p])
           for p in (slice(0, 20), slice(20, 50))]
  whole = means.add(means.zero(NUM_CLASSES, NUM_FEATURES), features, labels)
  for found, expected in zip(means.merge(*parts), whole):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_set_is_summed_in_float64_with_each_label_of_a_sample():
  model = running(3, 2)
  cost = model.add_set(np.array([[1, 2], [3, 5]], np.float32), np.array([[1, 0, 0], [1, 0, 1]]))
  np.testing.assert_array_equal(model.sums, [[4, 7], [0, 0], [3, 5]])
  np.testing.assert_array_equal(model.counts, [2, 0, 1])
  np.testing.assert_array_equal(model.squares, [65, 0, 34])
  # Three labels, and three operations for each of three classes, of two features.
  assert (cost.flops, cost.macs) == (24, 0)
