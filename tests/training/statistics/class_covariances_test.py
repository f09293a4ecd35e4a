# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Simple CNAPS's classifier and FeCAM by hand, and against numpy one sample at a time."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.training.statistics import class_covariances
from suite.training.statistics import statistic

CLASSES, FEATURES, RIDGE = 5, 3, 0.5


def sequence(num=300, seed=0):
  """Class 4 has no sample, class 3 its first one at 200; spreads differ."""
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  labels[200::20] = 3
  mixes = rng.normal(size=[CLASSES, FEATURES, FEATURES])
  codes = np.einsum("bd,bde->be", rng.normal(size=[num, FEATURES]), mixes[labels])
  return (codes + labels[:, None]).astype(np.float32), labels


def make(ridge=RIDGE):
  return statistic.Running(class_covariances.ClassCovariances(ridge), CLASSES, FEATURES)


class Literal:
  """The definition, from a list of all samples so far, in float64."""

  def __init__(self):
    self.codes, self.labels = [], []
    self.precisions = np.stack([np.eye(FEATURES) / RIDGE] * CLASSES)

  def add(self, z, y):
    self.codes.append(z.astype(np.float64))
    self.labels.append(y)

  def of_class(self, k):
    return np.array([z for z, y in zip(self.codes, self.labels) if y == k]).reshape(-1, FEATURES)

  def solve(self):
    def covariance(samples):
      return np.cov(samples.T) if len(samples) > 1 else np.zeros([FEATURES, FEATURES])

    whole = covariance(np.array(self.codes))
    for k in range(CLASSES):
      samples = self.of_class(k)
      num = max(len(samples), 1)
      share = num / (num + 1)
      self.precisions[k] = np.linalg.inv(
          share * covariance(samples) + (1 - share) * whole + RIDGE * np.eye(FEATURES))

  def logits(self, z):
    found = np.full(CLASSES, -np.inf)
    for k in range(CLASSES):
      samples = self.of_class(k)
      if len(samples):
        d = z.astype(np.float64) - samples.mean(axis=0)
        found[k] = -d @ self.precisions[k] @ d / 2
    return found


def test_logits_by_hand():
  model = statistic.Running(class_covariances.ClassCovariances(), 3, 2)
  model.add(tf.constant([[0.0, 0], [2, 0], [0, 4]]), tf.constant([0, 0, 1], tf.int64))
  # Before it is solved: P = I, means (1, 0) and (0, 4).
  z = tf.constant([[1.0, 4.0]])
  np.testing.assert_allclose(model.answer(z), [[-8, -0.5, -np.inf]], rtol=1e-6)
  model.solve()
  # S_0 = [[2, 0], [0, 0]], S = [[4, -4], [-4, 16]] / 3; l_0 = 2/3 and l_1 = 1/2, so that
  # Q_0 = [[25, -4], [-4, 25]] / 9 and Q_1 = [[5, -2], [-2, 11]] / 3.
  np.testing.assert_allclose(np.linalg.inv(model.precision[0]) * 9, [[25, -4], [-4, 25]], rtol=1e-5)
  np.testing.assert_allclose(np.linalg.inv(model.precision[1]) * 3, [[5, -2], [-2, 11]], rtol=1e-5)
  np.testing.assert_array_equal(model.precision[1], model.precision[2])  # As of a single sample.
  # z is (0, 4) from the first mean: 16 . 25/9 / (609/81) / 2; and (1, 0) from the second.
  np.testing.assert_allclose(model.answer(z), [[-600 / 203, -11 / 34, -np.inf]], rtol=1e-5)


@pytest.mark.parametrize("size, num", [(1, 120), (37, 180), (300, 300)])
def test_samples_in_blocks_are_the_definition_sample_by_sample(size, num):
  codes, labels = sequence()
  model, literal, found, expected = make(), Literal(), [], []
  in_turn = tf.function(model.answer_in_turn, input_signature=[
      tf.TensorSpec([None, FEATURES]), tf.TensorSpec([None], tf.int64)], autograph=False)
  for start in range(0, num, 60):
    for i in range(start, start + 60):
      expected.append(literal.logits(codes[i]))
      literal.add(codes[i], labels[i])
    for i in range(start, start + 60, size):
      part = slice(i, min(i + size, start + 60))
      block = tf.constant(codes[part]), tf.constant(labels[part], tf.int64)
      found.append(in_turn(*block))
      model.add_chunk(*block)
    literal.solve()
    model.solve_compiled()
  found = np.concatenate(found)
  np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-3)
  known = np.isfinite(expected).any(axis=1)
  np.testing.assert_array_equal(np.argmax(found, 1)[known], np.argmax(expected, 1)[known])


def test_what_a_block_is_changes_no_bit():
  codes, labels = sequence()
  turns, blocks = make(), make()
  for start in (0, 30):
    for i in range(start, start + 30):
      turns.add_chunk(tf.constant(codes[i:i + 1]), tf.constant(labels[i:i + 1], tf.int64))
    for i in range(start, start + 30, 10):
      blocks.add_chunk(tf.constant(codes[i:i + 10]), tf.constant(labels[i:i + 10], tf.int64))
    turns.solve_compiled()
    blocks.solve_compiled()
  for one, other in zip(turns.variables, blocks.variables):
    np.testing.assert_array_equal(one, other)


def test_costs_are_those_of_the_matrices():
  model = make()
  z, y = tf.TensorSpec([1, FEATURES]), tf.TensorSpec([1], tf.int64)
  answer = flops.count(tf.function(model.answer, autograph=False).get_concrete_function(z))
  assert answer.macs == model.answer_macs == CLASSES * (9 + 3)
  update = flops.count(tf.function(model.add, autograph=False).get_concrete_function(z, y))
  assert update.macs == 2 * 9 and update.flops > 2 * update.macs
  assert model.solve_cost().macs >= CLASSES * 9 and not model.solve_cost().uncounted


@pytest.mark.parametrize("power", [None, 0.5])
def test_correlations_are_solved_for_classes_with_new_samples(power):
  form = class_covariances.ClassCovariances(1e-3, "correlations", power=power)
  some, every = (statistic.Running(form, CLASSES, FEATURES) for _ in range(2))
  codes, labels = sequence()
  # Two deliveries of two classes each; of the others there are no samples yet, and none comes.
  for classes in ((0, 2), (2, 3)):
    rows = np.flatnonzero(np.isin(labels, classes))[:30]
    for model in (some, every):
      model.add_set(np.abs(codes[rows]), labels[rows])
    some.solve_compiled(np.unique(labels[rows]))
    every.solve_compiled()
    for one, other in zip(some.variables, every.variables):
      np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
  one, whole = (some.solve_cost(classes) for classes in (np.array([1]), None))
  assert some.solve_cost(np.array([1, 3])).flops == 2 * one.flops
  assert one.flops < whole.flops <= CLASSES * one.flops and not one.uncounted
  assert not class_covariances.ClassCovariances().by_class
  assert not class_covariances.ClassCovariances(
      1e-3, "correlations", shrinkages=((1.0, 1.0),)).by_class


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="ridge is 0; it must be above 0"):
    make(0)
  with pytest.raises(ValueError, match="1000 classes of 2048 features need 31.2 GiB "):
    class_covariances.ClassCovariances().zero(1000, 2048)
  with pytest.raises(ValueError, match="matrices is 'all'; allowed are mixed, correlations"):
    class_covariances.ClassCovariances(matrices="all")
  for shrinkage in ((1.0,), (1.0, 2.0), (1.0, -0.1)):
    with pytest.raises(ValueError, match="shrinkage is .*; two numbers are expected"):
      class_covariances.ClassCovariances(shrinkage=shrinkage)


def fecam(ridge=1e-6, shrinkage=(1.0, 0.5)):
  return class_covariances.ClassCovariances(ridge, "correlations", shrinkage)


def test_fecam_by_hand():
  # S_0 = [[8, 4], [4, 2]]: v = 5 and w = 4, so T_0 = [[13, 6], [6, 7]]; its correlation is
  # r = 6 / sqrt(91). S_1 is 0 of a single sample: I.
  model = statistic.Running(fecam(), 3, 2)
  model.add(tf.constant([[0.0, 0], [4, 2], [0, 4]]), tf.constant([0, 0, 1], tf.int64))
  model.solve()
  r = 6 / 91 ** 0.5
  np.testing.assert_allclose(model.precision[0], np.array([[1, -r], [-r, 1]]) / (1 - r * r),
                             rtol=1e-5)
  np.testing.assert_allclose(model.precision[1:], [np.eye(2)] * 2, rtol=1e-5)
  # From the means (2, 1) and (0, 4) to (3, 1): (1, 0) and (3, -3).
  found = model.answer(tf.constant([[3.0, 1.0]]))
  np.testing.assert_allclose(found, [[-0.5 / (1 - r * r), -9, -np.inf]], rtol=1e-5)


def test_fecam_in_blocks_is_the_papers_formulas_on_all_samples():
  codes, labels = sequence(62)
  model, parts = statistic.Running(fecam(), CLASSES, FEATURES), (slice(0, 50), slice(50, 62))
  model.add_set(codes[parts[0]], labels[parts[0]])
  model.solve()
  block = tf.constant(codes[parts[1]]), tf.constant(labels[parts[1]])
  in_turn, one_by_one = model.answer_in_turn(*block).numpy(), []
  for z, y in zip(*block):
    one_by_one.append(model.answer(z[None])[0])
    model.add(z[None], y[None])
  np.testing.assert_allclose(in_turn, one_by_one, rtol=1e-3, atol=1e-3)
  model.solve()
  expected = np.full([62, CLASSES], -np.inf)
  for k in range(3):
    own = codes[labels == k].astype(np.float64)
    spread, off = np.cov(own.T), 1 - np.eye(FEATURES)
    shrunk = (spread + np.diag(spread).mean() * np.eye(FEATURES)
              + 0.5 * spread[off > 0].mean() * off)
    deviations = np.sqrt(np.diag(shrunk))
    inverse = np.linalg.inv(shrunk / np.outer(deviations, deviations))
    away = codes - own.mean(axis=0)
    expected[:, k] = -0.5 * np.einsum("bi,ij,bj->b", away, inverse, away)
  found = model.answer(tf.constant(codes))
  np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)
  without = fecam().answers(model.state, tf.constant(codes))
  np.testing.assert_allclose(without[:, :3], expected[:, :3], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_fecam_for_resnets_is_their_code_on_all_samples(one_by_one):
  """Powers of features that are not negative, one of which is always 0; shrunk twice."""
  rng = np.random.default_rng(5)
  labels = np.arange(60) % 3
  features = np.maximum(rng.normal(size=[60, FEATURES]) + labels[:, None] / 2, 0)
  features[:, 0] += 0.1
  features[:, 1] = 0.0
  codes = (features**0.5).astype(np.float32)
  resnets = class_covariances.ClassCovariances(
      1e-9, "correlations", (1.0, 1.0), shrinks=2, power=0.5)
  model, whole = statistic.Running(resnets, 4, FEATURES), 40 if one_by_one else 60
  model.add_set(codes[:whole], labels[:whole])
  model.solve()
  model.add(tf.constant(codes[whole:]), tf.constant(labels[whole:]))

  def shrunk(covariance):
    off = covariance * (1 - np.eye(FEATURES))
    return (covariance + np.diag(covariance).mean() * np.eye(FEATURES)
            + off.sum() / np.count_nonzero(off) * (1 - np.eye(FEATURES)))

  def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

  expected = np.zeros([60, 3])
  for k in range(3):
    powers = codes[:whole][labels[:whole] == k].astype(np.float64)
    covariance = shrunk(shrunk(np.cov(powers.T)))
    deviations = np.sqrt(np.diag(covariance))
    inverse = np.linalg.pinv(covariance / np.outer(deviations, deviations))
    away = unit(codes.astype(np.float64)) - unit(features[labels == k].mean(0)**0.5)
    expected[:, k] = np.einsum("bi,ij,bj->b", away, inverse, away)
  found = model.answer(tf.constant(codes)).numpy()
  np.testing.assert_allclose(-2 * found[:, :3], expected, rtol=2e-3, atol=2e-4)
  assert np.isneginf(found[:, 3]).all() and not resnets.has_turns
  if not one_by_one:
    without = resnets.answers(model.state, tf.constant(codes)).numpy()
    np.testing.assert_allclose(-2 * without[:, :3], expected, rtol=2e-3, atol=2e-4)


def test_fecam_of_a_constant_feature_and_of_a_constant_sum_is_finite():
  codes = np.array([[1, 0, 5], [0, 1, 5], [0.3, 0.7, 5], [1, 1, 1]], np.float32)
  model = statistic.Running(fecam(shrinkage=(1.0, 1.0)), 2, 3)
  model.add_set(codes, np.array([0, 0, 0, 1]))
  model.solve()
  assert np.isfinite(model.answer(tf.constant(codes))).all()


WAY, WIDTH = 3, 4  # Of episodes.
HEAD = class_covariances.ClassCovariances()


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
  state = HEAD.add(HEAD.zero(WAY, WIDTH), support, labels)
  found = class_covariances.ClassCovariances(0.5).answers(state, tf.constant(queries))
  np.testing.assert_allclose(found, oracle(support, labels, queries, 0.5), rtol=1e-5)


def test_sets_one_after_the_other_are_one_set():
  support, labels, queries = example(1)
  whole = parts = HEAD.zero(WAY, WIDTH)
  whole = HEAD.add(whole, support, labels)
  for part in (slice(0, 3), slice(3, 4), slice(4, 8)):
    parts = HEAD.add(parts, support[part], labels[part])
  merged = HEAD.merge(HEAD.add(HEAD.zero(WAY, WIDTH), support[:3], labels[:3]),
                      HEAD.add(HEAD.zero(WAY, WIDTH), support[3:], labels[3:]))
  for a, b, c in zip(parts, whole, merged):
    np.testing.assert_allclose(c, b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(*(HEAD.answers(one, tf.constant(queries))
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
    state = HEAD.add(HEAD.zero(WAY, WIDTH), given[0], labels)
    loss = tf.reduce_sum(tf.constant(weights, tf.float32)
                         * HEAD.answers(state, given[1]))
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


def test_held_out_samples_choose_the_shrinkage_by_their_accuracy():
  """Of all pairs by brute force; sums stay as they are, and what follows has the choice."""
  rng = np.random.default_rng(4)
  scales = np.array([[1.0, 4.0, 1.0], [4.0, 1.0, 1.0]])
  labels, held_labels = np.arange(16) % 2, np.arange(40) % 2
  codes, held = ((rng.normal(size=[len(of), 3]) * scales[of] + of[:, None]).astype(np.float32)
                 for of in (labels, held_labels))
  pairs = ((0.0, 0.0), (0.5, 0.0), (1.0, 1.0), (50.0, 0.0))

  def fitted(**settings):
    found = class_covariances.ClassCovariances(1e-6, "correlations", **settings)
    model = statistic.Running(found, 2, 3)
    model.add_set(codes, labels)
    return model

  accuracies = []
  for pair in pairs:
    one = fitted(shrinkage=pair)
    one.solve()
    accuracies.append(np.mean(np.argmax(one.answer(tf.constant(held)), axis=1) == held_labels))
  best = pairs[int(np.argmax(accuracies))]
  assert min(accuracies) < max(accuracies) and best != (1.0, 1.0)
  model = fitted(shrinkages=pairs)
  assert model.shrinkage.numpy().tolist() == [1.0, 1.0]
  assert model.choose(held, held_labels).flops > 4 * 2 * 3 ** 3 / 3
  model.solve()
  assert model.chosen() == {"shrinkage": list(best)} and fitted().chosen() == {}
  expected = fitted(shrinkage=best)
  expected.solve()
  np.testing.assert_allclose(model.precision, expected.precision, rtol=1e-5)
  np.testing.assert_array_equal(model.scatter, expected.scatter)
  assert not hasattr(expected, "shrinkage")
  with pytest.raises(ValueError, match="which are not shrunk. Take 'correlations'"):
    class_covariances.ClassCovariances(shrinkages=pairs)
