# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Estimates from a cache on disk, by callables."""

import numpy as np
import pytest

from suite import lifelong
from suite.lifelong.answers import accuracy_regression
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.estimators import estimator
from suite.lifelong.estimators import factor_model


def _answers(num_models, num_samples, seed):
  """Models of many abilities on samples of many difficulties."""
  rng = np.random.default_rng(seed)
  ability, difficulty = rng.normal(0.5, 1, (num_models, 1)), rng.normal(0, 1.5, num_samples)
  return (rng.random((num_models, num_samples)) < 1 / (1 + np.exp(difficulty - ability))).astype(
      np.int8)


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory):
  """(cache of 12 models and 3,000 samples in two batches, answers of 14)."""
  answers = _answers(14, 3000, 0)
  cache = accuracy_cache.AccuracyCache(tmp_path_factory.mktemp("cache"), create=True)
  ids = [f"image-{index}" for index in range(3000)]
  cache.add_models([f"m{index}" for index in range(12)], answers[:12, :2000], ids[:2000])
  cache.add_samples(ids[2000:], answers[:12, 2000:], cache.models)
  return cache, answers


def _predict(row):
  asked = []

  def predict(ids):
    asked.extend(ids.tolist())
    return np.array([row[int(one.split("-")[1])] for one in ids])

  return predict, asked


def test_only_the_chosen_samples_are_asked_and_nested(made):
  cache, answers = made
  predict, asked = _predict(answers[12])
  found = lifelong.estimate(cache, predict, 256)
  assert len(asked) == len(set(asked)) == 256
  assert found.interval[0] <= answers[12].mean() <= found.interval[1]
  assert found.answers.shape == (3000,) and found.supported is not None
  more, asked_more = _predict(answers[12])
  lifelong.estimate(cache.folder, more, 512)
  assert asked_more[:256] == asked
  assert lifelong.Reference(cache).questions(256).tolist() == asked


def test_it_is_what_the_estimator_says_of_the_matrix(made, monkeypatch):
  cache, answers = made
  predict, _ = _predict(answers[13])
  monkeypatch.setattr(accuracy_regression, "best", lambda *_: 0)  # The draw of this seed.
  found = lifelong.estimate(cache, predict, 200, seed=5)
  plain = factor_model.FactorSearch(seed=5).estimate(
      answers[:12].astype(np.uint8), lambda samples: answers[13][samples], 200)
  np.testing.assert_array_equal(found.answers, plain.answers)
  assert found.accuracy == plain.accuracy and found.interval == plain.interval
  some = np.array([0, 1999, 2000, 2999])
  np.testing.assert_array_equal(found.probabilities(some), plain.probabilities(some))


def test_a_target_width_stops_early(made):
  cache, answers = made
  predict, asked = _predict(answers[12])
  found = lifelong.estimate(cache, predict, 3000, target_width=0.15)
  assert len(asked) in (64, 128, 256) and len(found.observed) == len(asked)


def test_a_remembered_model_is_asked_once(made):
  cache, answers = made
  predict, asked = _predict(answers[12])
  model = lifelong.MemoizedModel(predict)
  reference = lifelong.Reference(cache)
  first = reference.estimate(model, 72)  # Up to 64 are chosen by answers, for each budget.
  second = reference.estimate(model, 128)
  assert len(asked) == 128 and len(model.answers) == 128
  assert reference.estimate(lifelong.MemoizedModel(answers=model.answers), 128).accuracy == (
      second.accuracy)
  with pytest.raises(lifelong.CacheError, match="72 of the 72 answers that are needed are missing"):
    reference.estimate(lifelong.MemoizedModel(), 72)
  assert len(first.observed) == 72


def test_two_models_are_compared_on_the_same_samples(made):
  cache, answers = made
  reference = lifelong.Reference(cache)
  one, two = (reference.estimate(_predict(answers[m])[0], budget)
              for m, budget in ((12, 512), (13, 256)))
  interval, p_value = lifelong.compare(one, two, 3000)
  assert interval.low <= answers[12].mean() - answers[13].mean() <= interval.high
  assert 0 <= p_value <= 1
  other = lifelong.Reference(cache, seed=1).estimate(_predict(answers[13])[0], 256)
  with pytest.raises(lifelong.CacheError, match="asked different samples"):
    lifelong.compare(one, other, 3000)


def test_rank_sorts_by_accuracy_and_marks_what_was_not_evaluated(tmp_path):
  answers = _answers(3, 400, 1)
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a", "b", "c"], answers, [str(i) for i in range(400)])
  model = lifelong.MemoizedModel(lambda ids: np.ones(len(ids)))
  lifelong.estimate(cache, model, 32)
  lifelong.add_estimated(cache, "new", model)
  ranked = lifelong.rank(tmp_path)
  assert [one.num_evaluated for one in ranked] == [32, 400, 400, 400]
  assert ranked[0].name == "new" and ranked[0].interval[0] < ranked[0].interval[1] == 1.0
  exact = {name: row.mean() for name, row in zip("abc", answers)}
  for one in ranked[1:]:
    assert one.accuracy == pytest.approx(exact[one.name])
    assert one.interval == (one.accuracy, one.accuracy)
  # What is hardly evaluated is no reference for others.
  assert lifelong.Reference(tmp_path).models == ["a", "b", "c"]


@pytest.mark.parametrize("budget", [0, 401])
def test_bad_budgets_are_refused(tmp_path, budget):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a", "b"], _answers(2, 400, 1), [str(i) for i in range(400)])
  with pytest.raises(lifelong.CacheError, match=f"budget of {budget} answers of 400 samples"):
    lifelong.estimate(cache, lambda ids: np.ones(len(ids)), budget)


def test_fewer_than_two_models_are_refused(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], _answers(1, 40, 1), [str(i) for i in range(40)])
  with pytest.raises(lifelong.CacheError, match="has 1 models that were evaluated on half"):
    lifelong.estimate(cache, lambda ids: np.ones(len(ids)), 8)


@pytest.mark.parametrize("answer, message", [
    (np.full(8, 2), "1 \\(correct\\) or 0"), (np.full(8, np.nan), "score of sample .* is nan"),
    (np.ones(7), "one answer each")])
def test_bad_answers_are_refused(tmp_path, answer, message):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a", "b"], _answers(2, 40, 1), [str(i) for i in range(40)])
  with pytest.raises(ValueError, match=message):
    lifelong.estimate(cache, lambda ids: answer, 8)


def test_models_are_inserted_with_what_they_answered(tmp_path):
  answers = _answers(8, 500, 3)
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models([f"m{i}" for i in range(6)], answers[:6], [str(i) for i in range(500)])
  new = {f"n{i}": lambda ids, i=i: answers[i][ids.astype(int)] for i in (6, 7)}
  found = lifelong.insert_models(tmp_path, new, 64)
  cache.refresh()
  assert cache.models[-2:] == ["n6", "n7"]
  assert cache.totals()[-1].tolist() == [int(found["n7"].observed_answers.sum()), 64]
  errors = lifelong.metrics(answers[6], found["n6"], cache)
  assert errors["total"] == np.mean(found["n6"].answers != answers[6])
  assert errors["total"] <= errors["aleatoric"] + errors["epistemic"]
  assert errors["accuracy_error"] == abs(found["n6"].accuracy - answers[6].mean())


def test_samples_are_inserted_by_asking_a_few_models(tmp_path):
  """After it, new models are still compared with all old ones; gaps are filled in by the order."""
  answers = _answers(11, 700, 4)
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  names = [f"m{i}" for i in range(10)]
  cache.add_models(names, answers[:10, :500], [str(i) for i in range(500)])
  asked = []

  def ask(models):
    asked.extend(models)
    return np.stack([answers[int(name[1:]), 500:] for name in models])

  found = lifelong.insert_samples(cache, [str(i) for i in range(500, 700)], ask, 4)
  assert len(asked) == 4 and found.counts.shape == (200,)
  assert cache.num_samples == 700 and len(cache.complete_models()) == 4
  reference = lifelong.Reference(cache)
  assert reference.models == names
  samples = np.arange(500, 700)
  filled = reference._columns(samples)
  for name in asked:
    np.testing.assert_array_equal(filled[int(name[1:])], answers[int(name[1:]), 500:])
  missing = [i for i, name in enumerate(names) if name not in asked]
  guess = np.mean(filled[missing] != answers[:10][missing][:, 500:])
  constant = np.mean(answers[:10][missing][:, 500:] == 0)
  assert guess < min(constant, 1 - constant)  # Better than one answer for all.
  new = reference.estimate(_predict_by_number(answers[10]), 200)
  assert new.interval[0] <= answers[10].mean() <= new.interval[1]
  # Columns of an old sample are as they are.
  np.testing.assert_array_equal(reference._columns(np.arange(5)), answers[:10, :5])


def test_the_models_to_ask_and_the_papers_cut_can_be_chosen(tmp_path):
  # Accuracies 3/4, 1/4, 2/4, 0: from the best p r q s.
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["p", "q", "r", "s"], np.array([
      [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]), list("abcd"))
  assert lifelong.models_to_ask(cache, 2) == ["r", "s"]  # Ranks 1 and 3.
  asked = []

  def ask(names):
    asked.append(names)
    return np.array([[0, 1], [1, 1]])

  # q, at rank 2, and p, at rank 0, part the four at 1. Answers 0 1: the mean has three, those that
  # q stands for; the cut has none.
  found = lifelong.insert_samples(cache, ["e", "f"], ask, models=["q", "p"])
  assert asked == [["p", "q"]] and found.counts.tolist() == [3, 4]
  assert cache.matrix()[:, 4:].tolist() == [[0, 1], [1, 1], [-1, -1], [-1, -1]]
  found = lifelong.insert_samples(cache, ["g", "h"], ask, models=["q", "p"], place_by="cut")
  assert found.counts.tolist() == [0, 4]
  with pytest.raises(lifelong.CacheError, match="no model 'z'; it has 4, such as"):
    lifelong.insert_samples(cache, ["i"], ask, models=["z"])


def test_the_parts_of_an_error_refer_to_the_order_of_the_sort_models(tmp_path):
  # Sort models x and y order a b c d; z, the model itself turned around, would order d c b a.
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["x", "y", "z", "few"], np.array([
      [1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, -1, -1, -1]]), list("abcd"))
  truth = np.array([1, 0, 1, 0])
  found = estimator.Estimate(np.array([1, 1, 1, 0], np.uint8), 3, 0.5)
  # Of cuts 0 to 4 of a b c d the first with fewest wrong is 1: a. It differs at b and c.
  assert lifelong.metrics(truth, found, cache, sort_models=["x", "y"]) == {
      "total": 0.25, "aleatoric": 0.25, "epistemic": 0.5, "accuracy_error": 0.0}
  # Counts of x y z are 2 2 2 1: the same order, and the same parts; "few" has too few answers.
  assert lifelong.metrics(truth, found, cache) == lifelong.metrics(
      truth, found, cache, sort_models=["x", "y", "z"])
  # z alone orders c d a b: all cuts have two wrong but 1 and 3, with one; c is predicted.
  assert lifelong.metrics(truth, found, cache, sort_models=["z"])["epistemic"] == 0.5


def _predict_by_number(row):
  return lambda ids: row[ids.astype(int)]


def test_a_model_with_scores_is_kept_at_the_threshold_of_the_cache(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], [np.array([1, 0, 1])], ["x", "y", "z"], threshold=0.7)
  scores = lifelong.MemoizedModel(answers={"x": 0.6, "y": 0.7, "z": 1.0})
  lifelong.add_estimated(cache, "b", scores)
  assert cache.matrix()[1].tolist() == [0, 1, 1]
  with pytest.raises(lifelong.CacheError, match="from 0.7 on; got a threshold of 0.5"):
    lifelong.add_estimated(cache, "c", scores, 0.5)
  other = accuracy_cache.AccuracyCache(tmp_path / "other", create=True)
  other.add_models(["a"], [np.array([1, 0, 1])], ["x", "y", "z"])
  lifelong.add_estimated(other, "bits", lifelong.MemoizedModel(answers={"x": 1.0}))
  assert other.threshold is None
  lifelong.add_estimated(other, "b", scores)
  assert other.threshold == 0.5 and other.matrix()[2].tolist() == [1, 1, 1]
