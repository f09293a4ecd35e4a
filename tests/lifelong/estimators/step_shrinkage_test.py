# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import factor_model

COUNTS = np.array([9, 3, 7, 7, 7, 1])


@pytest.mark.parametrize("answers, easier", [
    # In order of difficulty the samples are 0, 2, 3, 4, 1, 5.
    ([1, 0, 1, 1, 1, 0], [1, 0, 1, 1, 1, 0]),  # Between counts 7 and 3.
    ([1, 0, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0]),  # Among equal counts, by position.
    ([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
    ([1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]),
    ([0.9, 0.2, 0.6, 0.7, 0.4, 0.1], [1, 0, 1, 1, 0, 0])])  # Graded: gains 0.8, 0.2, 0.4, -0.2.
def test_the_cut_by_hand(answers, easier):
  cut = factor_model.find_cut(COUNTS, np.arange(6), np.array(answers))
  assert cut.is_easier(COUNTS, np.arange(6)).tolist() == [bool(one) for one in easier]


def test_the_cut_between_two_counts_is_halfway():
  cut = factor_model.find_cut(np.array([8, 2]), np.array([5, 9]), np.array([1, 0]))
  assert cut.is_easier(np.array([6, 5, 5, 4]), np.array([0, 5, 6, 0])).tolist() == [
      True, True, False, False]


def test_it_is_the_cut_of_sort_and_search():
  rng = np.random.default_rng(0)
  counts = rng.integers(0, 20, 300)
  for _ in range(10):
    answers = (rng.random(300) < counts / 20).astype(np.uint8)
    order = ranking.order_by_count(counts)
    expected = ranking.step_predictions(order, ranking.dp_threshold(answers[order]))
    cut = factor_model.find_cut(counts, np.arange(300), answers)
    np.testing.assert_array_equal(cut.is_easier(counts, np.arange(300)), expected)


def test_the_mean_stays():
  predicted, counts = np.array([0.9, 0.6, 0.4, 0.1]), np.array([3, 2, 1, 0])
  cut = factor_model.find_cut(counts, np.arange(4), np.array([1, 1, 0, 0]))
  found = factor_model.fit(cut, 0.2, predicted, counts, np.arange(4))
  after = found.apply(predicted, counts, np.arange(4))
  # 0.8 x 0.9 + 0.2 x 0.75, and so on.
  np.testing.assert_allclose(after, [0.87, 0.63, 0.37, 0.13])
  assert after.mean() == pytest.approx(predicted.mean())
  none = factor_model.fit(cut, 0.0, predicted, counts, np.arange(4))
  assert none.apply(predicted, counts, np.arange(4)) is predicted


def test_the_strength_between_budgets():
  strengths = np.array([0.4, 0.2, 0.1])
  assert [factor_model.at(strengths, num) for num in (1, 8, 32, 128, 1024, 5000)] == [
      pytest.approx(value) for value in (0.4, 0.4, 0.2, 0.1, 0.0, 0.0)]
  assert factor_model.at(strengths, 16) == pytest.approx(0.3)  # Halfway in the logarithm.


def test_the_smallest_strength_with_few_worse_predictions():
  # Seven cases; one worse is 14.3%. Two are at strengths up to 0.05, then one.
  errors = np.full([7, 10], 0.2)
  errors[:, 0] = 0.25
  errors[0, 1:] = 0.3
  errors[1, 1:3] = 0.3
  assert factor_model._strength(errors) == pytest.approx(0.1)
  errors[1, 1:] = 0.3
  assert factor_model._strength(errors) == pytest.approx(0.4)  # None is enough.


def _known(seed=0):
  """60 models of one skill on 500 samples, as one order of difficulty has it."""
  rng = np.random.default_rng(seed)
  chance = 1 / (1 + np.exp(rng.normal(0, 2, 500) - rng.normal(0.3, 1, 60)[:, None]))
  return (rng.random((60, 500)) < chance).astype(np.uint8)


def test_the_strength_follows_from_known_models_only():
  known = _known()
  model = factor_model.build(known[:40].sum(0, dtype=np.uint8), lambda s: known[:40, s])
  before = model.arrays["strengths"].tolist()
  model.fit(np.arange(30), known[41, :30], None)
  assert model.arrays["strengths"].tolist() == before and len(before) == 3
  assert all(0 <= one <= 0.4 for one in before)


def test_a_model_is_left_out_of_its_own_estimate():
  """Its own weights are not a component: features that are its own answers would be copied."""
  rng = np.random.default_rng(0)
  responses = (rng.random((5, 200)) < 0.5).astype(np.uint8)
  seen = []

  def features(index):
    seen.append(index)
    return np.ones([200, 1])

  prior = hierarchical_logistic.Prior(np.zeros(1), np.eye(1), 10.0 * np.arange(5.0)[:, None])
  found = factor_model.learn(features, responses, responses.sum(axis=0), prior, 0.3)
  assert seen == list(range(5)) and found.shape == (3,)
  assert factor_model.learn(features, responses[:2], responses[:2].sum(axis=0), prior, 0.3
                              ).tolist() == [0, 0, 0]


def test_few_answers_are_shrunk_and_many_are_not():
  known = _known()
  model = factor_model.build(known[:50].sum(0, dtype=np.uint8), lambda s: known[:50, s])
  model.arrays["strengths"] = np.array([0.4, 0.4, 0.4])
  samples, everything = np.arange(0, 500, 10), np.arange(500)
  fit = model.fit(samples, known[55, samples], None)
  left = np.setdiff1d(everything, samples)
  shrunk = fit.probabilities(left)
  model.arrays["strengths"] = np.zeros(3)
  plain = model.fit(samples, known[55, samples], None)
  assert fit.accuracy.value == plain.accuracy.value
  _, counts = model.features_and_counts(left)
  cut = factor_model.find_cut(model.features_and_counts(samples)[1], samples, known[55, samples])
  side = cut.is_easier(counts, left)
  means = factor_model.fit(cut, 1.0, *_pool(model, plain)).means
  strength = factor_model.at(np.full(3, 0.4), 50)
  np.testing.assert_allclose(shrunk, (1 - strength) * plain.probabilities(left) +
                             strength * np.where(side, *means), atol=1e-6)
  np.testing.assert_array_equal(fit.answers()[left], shrunk > 0.5)


def _pool(model, fit):
  likely = hierarchical_logistic.predict(model.pool(), fit._mixture)
  return (likely, *model.pool_counts())
