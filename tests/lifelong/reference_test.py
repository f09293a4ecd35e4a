# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a prepared cache saves, asks and chooses."""

from __future__ import annotations

import numpy as np
import pytest

from suite import lifelong
from suite.lifelong import api
from suite.lifelong import subsets
from suite.lifelong.answers import answer_factors
from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import catalog
from suite.lifelong.estimators import factor_model


@pytest.fixture(name="answers", scope="module")
def _answers():
  """40 models of two skills on 800 samples; the last ten are new."""
  rng = np.random.default_rng(0)
  skills, hard = rng.normal(0.3, 1, (40, 2)), rng.normal(0, 1.2, 800)
  chance = 1 / (1 + np.exp(hard - skills[:, np.arange(800) % 2]))
  return (rng.random((40, 800)) < chance).astype(np.uint8)


@pytest.fixture(name="cache")
def _cache(answers, tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models([f"m{i}" for i in range(30)], answers[:30], range(800))
  return cache


def _predict(row):
  return lambda ids: row[ids.astype(int)]


def test_a_saved_preparation_is_used_until_the_cache_changes(cache, answers, monkeypatch):
  monkeypatch.setattr(api, "_SAVED", 0)
  one = dict(num_factors=[2])
  first = lifelong.Reference(cache, **one).estimate(_predict(answers[30]), 128)
  builds = []
  build = factor_model.build
  monkeypatch.setattr(factor_model, "build", lambda *args, **kwargs: (
      builds.append(1), build(*args, **kwargs))[1])
  again = lifelong.Reference(cache.folder, **one).estimate(_predict(answers[30]), 128)
  assert not builds and again.accuracy == first.accuracy and again.interval == first.interval
  np.testing.assert_array_equal(again.answers, first.answers)
  lifelong.Reference(cache, groups=[np.arange(800) % 2], **one)
  lifelong.Reference(cache, groups=[np.arange(800) % 2], num_factors=[1])
  assert len(builds) == 2
  (cache.folder / api.FILE).write_bytes(b"no archive")
  lifelong.Reference(cache, **one)
  cache.add_models(["more"], answers[31:32])
  lifelong.Reference(cache, **one)
  assert len(builds) == 4


def test_models_that_are_asked_the_same_share_what_is_read_of_the_cache(cache, answers):
  read = []

  def columns(samples):
    read.append(len(samples))
    return answers[:30, samples]

  arrays = factor_model.build(answers[:30].sum(0, dtype=np.uint8), columns, num_factors=[2]).arrays
  model = factor_model.FactorModel(800, columns, arrays)
  read.clear()
  samples = np.random.default_rng(0).permutation(800)[:128]
  model.fit(samples, answers[30, samples], None)
  shared = model.fit(samples, answers[31, samples], None).probabilities(samples)
  assert read[0] == 128 and read.count(128) == 2  # Both fits; `probabilities`.
  samples[:2] = samples[1::-1]
  other = model.fit(samples, answers[31, samples], None).probabilities(samples)
  assert read.count(128) == 4
  alone = factor_model.FactorModel(800, columns, arrays)
  samples[:2] = samples[1::-1]
  found = alone.fit(samples, answers[31, samples], None).probabilities(samples)
  np.testing.assert_array_equal(shared, found)
  np.testing.assert_allclose(other[[1, 0]], found[:2])


def test_only_models_that_are_left_out_are_counted_again(cache, answers, monkeypatch):
  before = lifelong.Reference(cache, num_factors=[2]).questions(64).tolist()
  with catalog.changing(cache.folder, ["questions"]) as tables:
    tables["questions"].clear()
  few = np.where(np.arange(800) < 100, answers[31], -1)
  cache.add_models(["few"], [few])
  read, counts = [], accuracy_cache.AccuracyCache.counts
  monkeypatch.setattr(accuracy_cache.AccuracyCache, "counts", lambda self, models=None: (
      read.append(models), counts(self, models))[1])
  reference = lifelong.Reference(cache, num_factors=[2])
  assert reference.questions(64).tolist() == before  # "few" has no part in the order.
  assert read == [["few"]]


def test_graded_answers_count_by_their_score(cache, answers):
  scores = 0.2 + 0.6 * answers[30]
  reference = lifelong.Reference(cache, num_factors=[2])
  found = reference.estimate(_predict(scores), 200)
  assert found.interval[0] <= scores.mean() <= found.interval[1]
  plain = reference.estimate(_predict(answers[30]), 200)
  # Their variance is 0.36 of that of 0/1 answers.
  assert found.interval[1] - found.interval[0] < 0.8 * (plain.interval[1] - plain.interval[0])
  np.testing.assert_allclose(found.probabilities(found.observed), scores[found.observed])


def test_informative_samples_reduce_the_covariance_most(cache, answers):
  reference = lifelong.Reference(cache, num_factors=[2])
  samples = np.arange(0, 800, 20)
  fit = reference._model.fit(samples, answers[30][samples], None)
  chosen = fit.informative(3)
  best = max(fit._mixture, key=lambda one: one.share)
  features = reference._model.features(np.arange(800))[:, best.columns]
  chance = hierarchical_logistic.probabilities(features, best.weights)
  information = np.linalg.inv(hierarchical_logistic.covariance(features[samples], best))
  left = np.setdiff1d(np.arange(800), samples)
  for sample in chosen:  # By brute force: the largest determinant with one more sample.
    sizes = [np.linalg.slogdet(information + chance[i] * (1 - chance[i]) * np.outer(
        features[i], features[i]))[1] for i in left]
    assert sizes[list(left).index(sample)] == pytest.approx(max(sizes), abs=1e-5)
    information += chance[sample] * (1 - chance[sample]) * np.outer(features[sample],
                                                                    features[sample])
    left = left[left != sample]


def test_half_of_the_budget_may_be_spent_on_informative_samples(cache, answers):
  asked = []

  def predict(ids):
    asked.extend(ids.tolist())
    return answers[31][ids.astype(int)]

  reference = lifelong.Reference(cache, num_factors=[2])
  found = reference.estimate(predict, 100, adaptive=0.5)
  assert len(asked) == len(set(asked)) == len(found.observed) == 100
  assert asked[:50] == reference.questions(50).tolist()
  assert len(found.sample.samples) == 50
  assert found.interval[0] <= answers[31].mean() <= found.interval[1]
  with pytest.raises(lifelong.CacheError, match="adaptive=1.0"):
    reference.estimate(predict, 100, adaptive=1.0)


def test_groups_and_their_pairs_are_features(answers):
  pairs = [np.arange(800) % 2, np.arange(800) // 400]
  model = factor_model.build(answers[:30].sum(0, dtype=np.uint8), lambda s: answers[:30, s],
                             groups=pairs, num_factors=[2])
  features = model.features(np.arange(800))
  assert features.shape == (800, 1 + 2 + 2 + 4 + 2)
  # One-hot columns of the pairs, minus their mean.
  np.testing.assert_allclose(features[[0, 401], 5:9], [[0.75, -0.25, -0.25, -0.25],
                                                       [-0.25, -0.25, -0.25, 0.75]])
  # What the new model knows is its class: it is told from the answers.
  samples = np.arange(0, 800, 7)
  fit = model.fit(samples, (samples % 2).astype(np.uint8), None)
  assert np.mean(fit.answers() == np.arange(800) % 2) == 1


def test_the_ridge_prior_is_that_of_a_regression_on_the_known_answers(answers):
  model = factor_model.build(answers[:30].sum(0, dtype=np.uint8), lambda s: answers[:30, s],
                             num_factors=[4])
  loadings, number = model.arrays["loadings"], int(model.arrays["num"]) - 1
  assert not model.arrays[f"weights{number}"].size
  weights = np.random.default_rng(0).normal(size=4)
  of_answers = loadings @ weights  # logit = u' (a - mean), u = loadings w.
  precision = model.arrays[f"precision{number}"]
  assert weights @ precision[1:, 1:] @ weights == pytest.approx(
      30 * of_answers @ of_answers, rel=1e-4)
  assert not precision[0, 1:].any()


def test_a_subset_has_the_means_of_the_factors_and_honest_errors(answers):
  counts = answers[:30].sum(0, dtype=np.uint8)
  found = subsets.choose(counts, lambda s: answers[:30, s], 30, 96, draws=16)
  assert found.weights.sum() == pytest.approx(1, abs=1e-5)
  factors = answer_factors.build(lambda s: answers[:30, s], np.arange(800), 2)
  scores = factors.scores(answers[:30, found.samples])
  assert np.abs(found.weights @ scores).max() < 0.5 * max(np.abs(scores.mean(axis=0)).max(), 0.05)
  errors = answers[30:][:, found.samples] @ found.weights - answers[30:].mean(axis=1)
  assert np.sqrt(np.mean(errors**2)) < 2 * found.error and found.error < found.largest
  with pytest.raises(ValueError, match="Got size 900 of 800 samples and 30 models"):
    subsets.choose(counts, lambda s: answers[:30, s], 30, 900)
