# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.lifelong.answers import hierarchical_logistic

WEIGHTS = np.array([[0.0, 1.0], [0.4, 0.2], [-1.0, 0.1], [0.6, 1.5]])


def _prior():
  return hierarchical_logistic.Prior(
      WEIGHTS.mean(axis=0), np.linalg.inv(np.cov(WEIGHTS.T)), WEIGHTS)


def _problem(num, seed=0):
  rng = np.random.default_rng(seed)
  features = np.stack([np.ones(num), rng.normal(size=num)], axis=1)
  return features, (rng.random(num) < 0.7).astype(float)


def test_the_components_together_have_mean_and_covariance_of_the_normal_prior():
  prior = _prior()
  for bandwidth in (0.1, 1.0):
    around = hierarchical_logistic.centers(prior, bandwidth)
    np.testing.assert_allclose(around.mean(axis=0), prior.mean)
    # The covariance of a mixture: within plus between (with S - 1, as the prior's).
    np.testing.assert_allclose(bandwidth * np.linalg.inv(prior.precision) + np.cov(around.T),
                               np.linalg.inv(prior.precision))


def test_components_are_fits_under_each_prior():
  """Against Newton's method and Laplace's evidence, one component at a time."""
  features, answers = _problem(12)
  prior = _prior()
  around, precision = hierarchical_logistic.centers(prior, 0.3), prior.precision / 0.3
  start = hierarchical_logistic.fit(features, answers, prior)
  weights, evidence = hierarchical_logistic.components(features, answers, start, around, precision)
  for center, fitted, value in zip(around, weights, evidence):
    one = hierarchical_logistic.Prior(center, precision)
    exact = hierarchical_logistic.fit(features, answers, one)
    np.testing.assert_allclose(fitted, exact, atol=0.1)
    assert value == pytest.approx(
        hierarchical_logistic.log_evidence(features, answers, one, exact), abs=0.15)


def test_the_evidence_is_the_integral_over_the_mixture():
  """Against a sum over a fine grid of weights, of which the components are densities."""
  features, answers = _problem(10, seed=1)
  prior, grid = _prior(), np.linspace(-6, 6, 301)
  weights = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
  precision = prior.precision / 0.3
  off = weights[:, None] - hierarchical_logistic.centers(prior, 0.3)
  density = np.exp(-np.einsum("nsi,ij,nsj->ns", off, precision, off) / 2).mean(axis=1) * np.sqrt(
      np.linalg.det(precision)) / (2 * np.pi)
  chance = hierarchical_logistic.probabilities(features, weights.T)
  likelihood = np.where(answers[:, None] > 0, chance, 1 - chance).prod(axis=0)
  posterior = density * likelihood
  exact = np.log(posterior.sum() * (grid[1] - grid[0]) ** 2)
  candidate = hierarchical_logistic.PriorCandidate(np.arange(2), prior)
  (one,), evidence = hierarchical_logistic.mix_kernels(features, answers, [candidate], (0.3,))
  assert evidence == pytest.approx(exact, abs=0.05)
  np.testing.assert_allclose(one.weights, posterior @ weights / posterior.sum(), atol=0.1)


def test_without_answers_the_prior_predicts():
  features, answers = _problem(3)
  candidate = hierarchical_logistic.PriorCandidate(np.arange(2), _prior())
  (one,), evidence = hierarchical_logistic.mix_kernels(
      features[:0], answers[:0], [candidate], (0.1,))
  np.testing.assert_allclose(one.weights, _prior().mean, atol=1e-9)
  assert evidence == pytest.approx(0.0)
  np.testing.assert_allclose(
      hierarchical_logistic.held_out_kernels(features, answers, [candidate], (0.1,))[0],
      hierarchical_logistic.probabilities(features, _prior().mean))


def test_a_wide_normal_prior_is_for_models_unlike_all_others():
  features, _ = _problem(60)
  answers = (features[:, 1] < 0).astype(float)  # All known models have the other sign.
  candidate = hierarchical_logistic.PriorCandidate(np.arange(2), _prior())
  found, _ = hierarchical_logistic.mix_kernels(features, answers, [candidate], (0.1,), (3.0,))
  best = max(found, key=lambda one: one.share)
  assert best.share > 0.9 and best.weights[1] < -2
  np.testing.assert_allclose(best.prior.precision, _prior().precision / 3)


def test_held_out_answers_have_no_part_in_their_prediction():
  features, answers = _problem(20)
  candidates = [hierarchical_logistic.PriorCandidate(np.arange(2), _prior())]
  before = hierarchical_logistic.held_out_kernels(features, answers, candidates, (0.1, 0.3))[0]
  changed = answers.copy()
  changed[7] = 1 - changed[7]
  after = hierarchical_logistic.held_out_kernels(features, changed, candidates, (0.1, 0.3))[0]
  same = np.arange(20) % 5 == 7 % 5
  np.testing.assert_array_equal(before[same], after[same])
  assert np.all(before[~same] != after[~same])
