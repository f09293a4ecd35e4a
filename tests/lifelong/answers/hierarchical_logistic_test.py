# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
from scipy import optimize

from suite.lifelong.answers import hierarchical_logistic


def _problem(num=200, seed=0):
  rng = np.random.default_rng(seed)
  features = np.concatenate([np.ones([num, 1]), rng.normal(size=[num, 2])], axis=1)
  answers = (rng.random(num) < 1 / (1 + np.exp(-features @ [0.5, 1.0, -1.0]))).astype(int)
  return features, answers


def test_it_is_the_optimum_that_a_general_optimiser_finds():
  features, answers = _problem()
  prior = hierarchical_logistic.Prior(np.array([0.0, 1.0, 0.0]), np.diag([1.0, 4.0, 2.0]))

  def loss(weights):
    logits, off = features @ weights, weights - prior.mean
    return np.sum(np.logaddexp(0, logits) - answers * logits) + off @ prior.precision @ off / 2

  expected = optimize.minimize(loss, np.zeros(3), tol=1e-10).x
  np.testing.assert_allclose(hierarchical_logistic.fit(features, answers, prior), expected,
                             atol=1e-4)


def test_separable_answers_stay_finite():
  features = np.array([[1.0, 1.0], [1.0, -1.0]])
  weights = hierarchical_logistic.fit(features, np.array([1, 0]),
                                      hierarchical_logistic.Prior(np.zeros(2), 1e-3 * np.eye(2)))
  assert np.all(np.isfinite(weights)) and weights[1] > 1


def test_the_prior_has_the_mean_of_earlier_weights():
  features, _ = _problem(2000)
  rng = np.random.default_rng(1)
  weights = np.array([0.0, 1.0, -1.0]) + rng.normal(size=[40, 3]) * [0.1, 0.5, 0.1]
  responses = rng.random([40, 2000]) < hierarchical_logistic.probabilities(features, weights.T).T
  prior = hierarchical_logistic.learn_prior(lambda _: features, responses, 0.1)
  np.testing.assert_allclose(prior.mean, weights.mean(axis=0), atol=0.05)
  spread = np.sqrt(np.diag(np.linalg.inv(prior.precision)))
  np.testing.assert_allclose(spread, weights.std(axis=0), atol=0.07)


def test_a_single_earlier_response_makes_a_wide_prior():
  features, answers = _problem()
  prior = hierarchical_logistic.learn_prior(lambda _: features, answers[None], 1.0)
  assert np.all(np.isfinite(prior.precision)) and np.linalg.inv(prior.precision)[0, 0] > 0.3


def test_the_evidence_is_the_integral_over_the_prior():
  """Laplace's approximation against a sum over a fine grid, for two weights."""
  features, answers = _problem(60)
  features = features[:, :2]
  prior = hierarchical_logistic.Prior(np.array([0.3, 0.5]), np.array([[2.0, 0.5], [0.5, 1.0]]))
  grid = np.linspace(-6, 6, 161)
  weights = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
  off = weights - prior.mean
  density = np.exp(-np.einsum("ni,ij,nj->n", off, prior.precision, off) / 2) * np.sqrt(
      np.linalg.det(prior.precision)) / (2 * np.pi)
  chance = hierarchical_logistic.probabilities(features, weights.T)
  likelihood = np.where(answers[:, None] > 0, chance, 1 - chance).prod(axis=0)
  exact = np.log(np.sum(density * likelihood) * (grid[1] - grid[0]) ** 2)
  fitted = hierarchical_logistic.fit(features, answers, prior)
  found = hierarchical_logistic.log_evidence(features, answers, prior, fitted)
  assert found == pytest.approx(exact, abs=0.05)
  none = hierarchical_logistic.log_evidence(features[:0], answers[:0], prior, prior.mean)
  assert none == pytest.approx(0, abs=1e-9)


def test_a_mixture_goes_with_the_answers():
  features, answers = _problem(400)
  candidates = [hierarchical_logistic.PriorCandidate(
      np.arange(size), hierarchical_logistic.Prior(np.zeros(size), np.eye(size)))
                for size in (2, 3)]
  found, evidence = hierarchical_logistic.mix(features, answers, candidates, (0.1, 1.0))
  assert sum(one.share for one in found) == pytest.approx(1)
  assert all(len(one.columns) == 3 for one in found)  # The third feature matters.
  assert evidence > hierarchical_logistic.constant_evidence(answers)
  # Two right of two: the integral of p^2.
  assert hierarchical_logistic.constant_evidence([1, 1]) == pytest.approx(np.log(1 / 3))
  few, _ = hierarchical_logistic.mix(features[:2], answers[:2], candidates, (0.1, 1.0))
  assert len(few) == 4
  np.testing.assert_allclose(hierarchical_logistic.predict(features, few), sum(
      one.share * hierarchical_logistic.probabilities(features[:, one.columns], one.weights)
      for one in few))


def test_leave_one_out_by_fitting_again_without_each_answer():
  features, answers = _problem(40)
  prior = hierarchical_logistic.Prior(np.array([0.0, 0.5, -0.5]), 0.5 * np.eye(3))
  weights = hierarchical_logistic.fit(features, answers, prior)
  exact = np.zeros(40)
  for index in range(40):
    rest = np.arange(40) != index
    exact[index], = hierarchical_logistic.probabilities(
        features[index:index + 1], hierarchical_logistic.fit(features[rest], answers[rest], prior))
  found = hierarchical_logistic.leave_one_out(features, answers, prior, weights)
  np.testing.assert_allclose(found, exact, atol=0.02)
  seen = hierarchical_logistic.probabilities(features, weights)
  assert np.abs(seen - exact).max() > 0.05  # What it must not be.
  losses = [hierarchical_logistic.log_loss(answers, one) for one in (found, exact, seen)]
  assert losses[0] == pytest.approx(losses[1], abs=0.003) and losses[2] < losses[1] - 0.01
  # Of a mixture, with its shares.
  other = hierarchical_logistic.Prior(np.zeros(1), np.eye(1))
  mixture = [hierarchical_logistic.Fitted(0.75, np.arange(3), prior, weights),
             hierarchical_logistic.Fitted(0.25, np.arange(1), other, np.zeros(1))]
  np.testing.assert_allclose(
      hierarchical_logistic.held_out(features, answers, mixture),
      0.75 * found + 0.25 * hierarchical_logistic.leave_one_out(
          features[:, :1], answers, other, np.zeros(1)))


def test_log_loss_by_hand():
  assert hierarchical_logistic.log_loss([1, 0], np.array([0.5, 0.75])) == pytest.approx(
      (np.log(2) + np.log(4)) / 2)
  graded = hierarchical_logistic.log_loss([0.5], np.array([0.25]))
  assert graded == pytest.approx(-(np.log(0.25) + np.log(0.75)) / 2)
