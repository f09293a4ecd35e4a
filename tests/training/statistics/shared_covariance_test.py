# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming LDA against the published recursion in numpy, and against the covariance by hand."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn import covariance
import tensorflow as tf

from suite.compute import flops
from suite.training.statistics import shared_covariance
from suite.training.statistics import statistic

CLASSES, FEATURES, SHRINKAGE = 4, 5, 0.01


def sequence(num=60, seed=0):
  """Class 3 has no sample."""
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  mix = rng.normal(size=[FEATURES, FEATURES])
  codes = rng.normal(size=[num, FEATURES]) @ mix + 2 * labels[:, None]
  return codes.astype(np.float32), labels


def make(weights="steps"):
  settings = shared_covariance.SharedCovariance(SHRINKAGE, weights)
  return statistic.Running(settings, CLASSES, FEATURES)


def add(model, codes, labels):
  model.add(tf.constant(codes), tf.constant(labels, tf.int64))


class Published:
  """The recursion as its authors run it, one sample at a time, in float64."""

  def __init__(self):
    self.means, self.counts = np.zeros([CLASSES, FEATURES]), np.zeros(CLASSES)
    self.sigma, self.total = np.zeros([FEATURES, FEATURES]), 0

  def fit(self, z, y):
    t, d = self.total, z - self.means[y]
    self.sigma = (t * self.sigma + t / (t + 1) * np.outer(d, d)) / (t + 1)
    self.means[y] += d / (self.counts[y] + 1)
    self.counts[y] += 1
    self.total += 1

  def scores(self, z):
    precision = np.linalg.pinv((1 - SHRINKAGE) * self.sigma + SHRINKAGE * np.eye(FEATURES))
    found = [z @ precision @ m - m @ precision @ m / 2 for m in self.means]
    return np.where(self.counts > 0, found, -np.inf)


def test_logits_are_those_of_the_published_recursion():
  codes, labels = sequence()
  model, published = make(), Published()
  for z, y in zip(codes.astype(np.float64), labels):
    published.fit(z, y)
  for i in range(0, 60, 7):
    add(model, codes[i:i + 7], labels[i:i + 7])
  model.solve()
  expected = [published.scores(z) for z in codes.astype(np.float64)]
  np.testing.assert_allclose(model.answer(tf.constant(codes)), expected, rtol=2e-3, atol=2e-3)


def test_means_move_at_once_and_the_covariance_when_it_is_solved():
  model = make()
  add(model, np.eye(FEATURES, dtype=np.float32)[:2], [0, 1])
  # No covariance yet: P = I, so z . m - |m|^2 / 2.
  np.testing.assert_allclose(model.answer(tf.constant([[3.0, 0, 0, 0, 0]])),
                             [[2.5, -0.5, -np.inf, -np.inf]])
  # Two steps: t = 0, then t = 1 with d = e_1 and half the weight; S / 2 = diag(0, 1/4, 0, ..).
  model.solve()
  sigma = np.diag([0, 0.25, 0, 0, 0]) * (1 - SHRINKAGE) + SHRINKAGE * np.eye(FEATURES)
  np.testing.assert_allclose(model.precision, np.linalg.inv(sigma), rtol=1e-5)


def test_by_class_the_scatter_is_that_about_the_means():
  codes, labels = sequence()
  model = make("class")
  add(model, codes, labels)
  expected = np.zeros([FEATURES, FEATURES])
  for c in range(3):
    d = codes[labels == c] - codes[labels == c].mean(0)
    expected += d.T @ d
  np.testing.assert_allclose(model.scatter, expected, rtol=1e-4, atol=1e-3)


def begun(weights):
  """What has solved the first 20 of 44 samples."""
  codes, labels = sequence(44)
  model = make(weights)
  add(model, codes[:20], labels[:20])
  model.solve()
  return model, codes, labels


@pytest.fixture(name="one_by_one", scope="module")
def _one_by_one():
  """A function: weights to the answers to the other samples and what then has learned them."""
  @functools.cache
  def one_by_one(weights):
    (turns, codes, labels), expected = begun(weights), []
    for i in range(20, 44):
      expected.append(turns.answer(tf.constant(codes[i:i + 1])).numpy()[0])
      add(turns, codes[i:i + 1], labels[i:i + 1])
    return expected, turns

  return one_by_one


@pytest.mark.parametrize("weights", shared_covariance.WEIGHTS)
@pytest.mark.parametrize("size", [1, 9, 24])
def test_a_block_is_one_by_one(weights, size, one_by_one):
  expected, turns = one_by_one(weights)
  (blocks, codes, labels), found = begun(weights), []
  for i in range(20, 44, size):
    part = tf.constant(codes[i:i + size]), tf.constant(labels[i:i + size], tf.int64)
    found.append(blocks.answer_in_turn(*part))
    blocks.add(*part)
  np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-3, atol=1e-3)
  for one, other in zip(turns.variables, blocks.variables):
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="shrinkage is 0; it must be above 0"):
    shared_covariance.SharedCovariance(shrinkage=0)
  with pytest.raises(ValueError, match="weights is 'all'; allowed are steps, class"):
    make("all")
  with pytest.raises(ValueError, match="40000 features need 11.9 GiB"):
    shared_covariance.SharedCovariance().zero(2, 40000)
  steps = shared_covariance.SharedCovariance()
  with pytest.raises(ValueError, match="'steps' depend on the order .*Take weights='class'"):
    steps.merge(steps.zero(2, 2), steps.zero(2, 2))


@pytest.mark.parametrize("weights", shared_covariance.WEIGHTS)
def test_sets_that_are_added_are_the_samples_one_by_one(weights):
  codes, labels = sequence()
  model, lda = make(weights), shared_covariance.SharedCovariance(SHRINKAGE, weights)
  state = lda.zero(CLASSES, FEATURES)
  for part in (slice(0, 7), slice(7, 8), slice(8, 60)):
    state = lda.add(state, tf.constant(codes[part]), tf.constant(labels[part]))
  for i in range(60):
    add(model, codes[i:i + 1], labels[i:i + 1])
  for found, expected in zip(state, model.state):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
  model.solve()
  found = lda.answers(state, tf.constant(codes))
  np.testing.assert_allclose(
      found[:, :3], model.answer(tf.constant(codes))[:, :3], rtol=1e-3, atol=1e-3)
  np.testing.assert_array_equal(found[:, 3], np.full(60, statistic.NOT_SHOWN))


def test_merged_scatters_are_those_of_all_samples():
  codes, labels = sequence()
  lda = shared_covariance.SharedCovariance(weights="class")
  zero = lda.zero(CLASSES, FEATURES)
  parts = [lda.add(zero, codes[p], labels[p]) for p in (slice(0, 25), slice(25, 60))]
  for found, expected in zip(lda.merge(*parts), lda.add(zero, codes, labels)):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


def test_costs_are_those_of_the_matrices():
  model = make()
  z, y = tf.TensorSpec([1, FEATURES]), tf.TensorSpec([1], tf.int64)
  answer = flops.count(tf.function(model.answer, autograph=False).get_concrete_function(z))
  assert answer.macs == model.answer_macs == CLASSES * FEATURES
  update = flops.count(tf.function(model.add, autograph=False).get_concrete_function(z, y))
  assert update.macs == 2 * FEATURES ** 2


def test_oas_is_that_of_scikit_learn_about_the_class_means():
  codes, labels = sequence()
  lda = shared_covariance.SharedCovariance(weights="class", oas=True)
  model = statistic.Running(lda, CLASSES, FEATURES)
  model.add_set(codes, labels)
  model.solve()
  means = np.stack([codes[labels == k].mean(axis=0) if (labels == k).any()
                    else np.zeros(FEATURES) for k in range(CLASSES)])
  oas = covariance.OAS(assume_centered=True).fit(codes.astype(np.float64) - means[labels])
  assert 0.001 < oas.shrinkage_ < 0.999
  precision = np.linalg.inv(oas.covariance_)
  np.testing.assert_allclose(model.precision, precision, rtol=1e-3, atol=1e-4)
  expected = codes @ precision @ means.T - np.sum(means @ precision * means, axis=1) / 2
  shown = np.unique(labels)
  for found in (model.answer(tf.constant(codes)), lda.answers(model.state, tf.constant(codes))):
    np.testing.assert_allclose(found.numpy()[:, shown], expected[:, shown], rtol=1e-3, atol=1e-3)


def test_oas_of_no_spread_is_the_identity():
  lda = shared_covariance.SharedCovariance(weights="class", oas=True)
  state = lda.add(lda.zero(2, 3), tf.constant([[1.0, 2, 3], [0, 1, 0]]), tf.constant([0, 1]))
  np.testing.assert_allclose(lda.solve(state).precision, np.eye(3))
