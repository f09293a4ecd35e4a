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
  prior = hierarchical_logistic.learn_prior(features, responses, 0.1)
  np.testing.assert_allclose(prior.mean, weights.mean(axis=0), atol=0.05)
  spread = np.sqrt(np.diag(np.linalg.inv(prior.precision)))
  np.testing.assert_allclose(spread, weights.std(axis=0), atol=0.07)


def test_a_single_earlier_response_makes_a_wide_prior():
  features, answers = _problem()
  prior = hierarchical_logistic.learn_prior(features, answers[None], 1.0)
  assert np.all(np.isfinite(prior.precision)) and np.linalg.inv(prior.precision)[0, 0] > 0.3


def test_cross_validation_goes_with_the_answers():
  features, answers = _problem(2000)
  wrong = hierarchical_logistic.Prior(np.array([0.0, -3.0, 3.0]), 1000 * np.eye(3))
  scale, held_out = hierarchical_logistic.choose(features, answers, wrong, [0.1, 1.0, 1000.0])
  assert scale == 1000.0
  assert hierarchical_logistic.log_loss(answers, held_out) < 0.6
  right = hierarchical_logistic.Prior(np.array([0.5, 1.0, -1.0]), np.eye(3))
  assert hierarchical_logistic.choose(features[:6], answers[:6], right, [0.01, 100.0])[0] == 0.01


def test_held_out_probabilities_have_not_seen_their_answer():
  features, answers = _problem(20)
  prior = hierarchical_logistic.Prior(np.zeros(3), np.eye(3))
  _, held_out = hierarchical_logistic.choose(features, answers, prior, [1.0], folds=5)
  rest = np.arange(20) % 5 != 2
  weights = hierarchical_logistic.fit(features[rest], answers[rest], prior)
  np.testing.assert_allclose(held_out[~rest], hierarchical_logistic.probabilities(
      features[~rest], weights), atol=1e-4)


def test_log_loss_by_hand():
  assert hierarchical_logistic.log_loss([1, 0], np.array([0.5, 0.75])) == pytest.approx(
      (np.log(2) + np.log(4)) / 2)
