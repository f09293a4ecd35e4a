# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""LoRanPAC's factors against singular value decompositions of the definition."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.statistics import statistic
from suite.training.statistics import truncated_factors

SETS, SIZE, WIDTH = 3, 8, 30


def samples(seed=0):
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, SETS * SIZE)
  return np.maximum(rng.normal(size=[len(labels), WIDTH]) + labels[:, None] / 2, 0).astype(
      np.float32), labels


def expected(codes, labels, rank, share):
  """V after each set, by decompositions of kept factors and new rows, in float64."""
  basis, found = np.zeros([0, WIDTH]), []
  for stop in range(SIZE, len(labels) + 1, SIZE):
    rows = np.concatenate([basis, codes[stop - SIZE:stop]]).astype(np.float64)
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    kept = min(round((1 - share) * stop), round((1 - share) * WIDTH), rank)
    values, vectors = values[:kept], vectors[:kept]
    basis = values[:, None] * vectors
    cross = codes[:stop].astype(np.float64).T @ np.eye(4)[labels[:stop]]
    found.append(vectors.T @ ((vectors @ cross) / values[:, None] ** 2))
  return found, basis


@pytest.mark.parametrize("rank, share", [(100, 0.25), (9, 0.25), (100, 0.0)])
def test_factors_and_weights_are_those_of_the_definition(rank, share):
  codes, labels = samples()
  settings = truncated_factors.TruncatedFactors(rank, share)
  model = statistic.Sets(settings.of_sets(), 4, WIDTH)
  found, basis = expected(codes, labels, rank, share)
  for place, weights in enumerate(found):
    part = slice(place * SIZE, (place + 1) * SIZE)
    num = len(model.basis.numpy()) + SIZE
    cost = model.add_set(codes[part], labels[part])
    assert 9 * num ** 3 < cost.flops < 9 * num ** 3 + 4 * num * num * WIDTH + 20 * num * WIDTH
    model.solve()
    np.testing.assert_allclose(model.weights, weights, rtol=1e-4, atol=1e-5)
  ours = model.basis.numpy()
  np.testing.assert_allclose(ours.T @ ours, basis.T @ basis, rtol=1e-4, atol=1e-4)
  np.testing.assert_array_equal(model.counts.numpy(), np.bincount(labels, minlength=4))
  if not share:  # Nothing was cut: least squares of the smallest norm.
    joint = np.linalg.pinv(codes.astype(np.float64)) @ np.eye(4)[labels]
    np.testing.assert_allclose(model.weights, joint, rtol=1e-4, atol=1e-5)
  # Within a graph the state has all of its rows from the start.
  state = settings.episode_zero(4, WIDTH)
  for i in range(0, len(labels), SIZE):
    state = settings.add(state, tf.constant(codes[i:i + SIZE]), tf.constant(labels[i:i + SIZE]))
  answers = settings.answers(state, tf.constant(codes))
  np.testing.assert_allclose(answers[:, :3], model.answer(tf.constant(codes))[:, :3], atol=1e-4)
  assert (answers.numpy()[:, 3] == statistic.NOT_SHOWN).all()


def test_settings_and_sizes_that_cannot_be_are_refused():
  with pytest.raises(ValueError, match="rank is 0 and share 0.25; rank must be at least 1"):
    truncated_factors.TruncatedFactors(0)
  with pytest.raises(ValueError, match="share 1.0; .* below 1"):
    truncated_factors.TruncatedFactors(5, 1.0)
  with pytest.raises(ValueError, match="30000 directions of 100000 features need 11.2 GiB"):
    truncated_factors.TruncatedFactors(30000).zero(10, 100_000)
