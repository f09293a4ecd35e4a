# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Questions stay when a cache grows, and answers to any of them keep their weight."""

from __future__ import annotations

import numpy as np
import pytest

from suite import lifelong
from suite.lifelong.answers import intervals
from suite.lifelong.answers import random_sample
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import catalog
from suite.lifelong.cache import question_sets
from suite.lifelong.cache import sample_counts


@pytest.fixture(name="cache")
def _cache(tmp_path):
  rng = np.random.default_rng(0)
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache.add_models(["a", "b", "c"], rng.integers(0, 2, (3, 600)), [f"s{i}" for i in range(600)])
  return cache


def _set(cache, seed=0):
  return question_sets.QuestionSet(cache, lambda: sample_counts.SampleCounts(cache).ranked(),
                                   seed=seed)


def _more_samples(cache, first, num):
  rng = np.random.default_rng(first)
  cache.add_samples([f"s{i}" for i in range(first, first + num)],
                    rng.integers(0, 2, (cache.num_models, num)))


def test_one_more_model_changes_no_question(cache):
  before = _set(cache).first(256)
  cache.add_models(["d"], [np.arange(600) % 2])
  assert _set(cache).first(256).tolist() == before.tolist()
  assert _set(cache).first(600)[:256].tolist() == before.tolist()
  assert sorted(_set(cache).first(600)) == list(range(600))
  assert _set(cache, seed=1).first(256).tolist() != before.tolist()


def test_a_larger_budget_than_was_drawn_keeps_the_first(cache, monkeypatch):
  monkeypatch.setattr(question_sets, "_LEAST", 64)
  before = _set(cache).first(64)
  cache.add_models(["d"], [np.arange(600) % 2])
  after = _set(cache).first(300)
  assert after[:64].tolist() == before.tolist() and len(set(after.tolist())) == 300


def test_new_samples_are_asked_at_the_same_rate(cache):
  before = _set(cache).first(256)
  _more_samples(cache, 600, 300)
  found = _set(cache).first(256)
  old = found[found < 600]
  assert abs(len(old) - 256 * 2 / 3) <= 1
  assert old.tolist() == before[:len(old)].tolist()
  # A single new sample is not worth a question.
  _more_samples(cache, 900, 1)
  assert _set(cache).first(256).tolist() == found.tolist()


def test_every_sample_is_equally_likely_to_be_asked(cache):
  _more_samples(cache, 600, 60)
  times = np.zeros(660)
  for seed in range(400):
    times[question_sets.QuestionSet(
        cache, lambda: sample_counts.SampleCounts(cache, save=False).ranked(), seed=seed,
        save=False).first(66)] += 1
  assert abs(times[:600].mean() - 40) < 1 and abs(times[600:].mean() - 40) < 1
  assert times.std() < 1.2 * np.sqrt(40)


def test_answers_to_earlier_questions_have_weights(cache):
  asked = _set(cache).first(256)
  _more_samples(cache, 600, 300)
  found = _set(cache).drawn(asked)
  assert len(found.members) == 256 and found.sizes.tolist() == [600]
  assert found.unknown == pytest.approx(1 / 3)
  new = _set(cache).first(450)
  both = np.union1d(asked, new[new >= 600])
  found = _set(cache).drawn(both)
  assert found.sizes.tolist() == [600, 300] and found.unknown == 0
  values = (both[found.members] >= 600).astype(float)
  assert found.mean(values) == pytest.approx(1 / 3)  # However many were asked.


def test_gaps_count_as_unknown_and_chosen_answers_not_at_all(cache):
  asked = _set(cache).first(256)
  gap = np.delete(asked, [7, 100])
  found = _set(cache).drawn(gap)
  assert len(found.members) == 254 and found.unknown == pytest.approx(2 / 256)
  # After a long gap there are too few.
  found = _set(cache).drawn(np.delete(asked, np.arange(100, 250)))
  assert len(found.members) == 100 and found.unknown == 0
  assert _set(cache).drawn(np.arange(30)) is None
  mixed = np.random.default_rng(0).permutation(np.union1d(asked, np.arange(50)))
  found = _set(cache).drawn(mixed)
  assert sorted(mixed[found.members]) == sorted(asked)


def test_questions_of_another_cache_are_refused(cache, tmp_path):
  _set(cache).first(8)
  other = accuracy_cache.AccuracyCache(tmp_path / "d", create=True)
  other.add_models(["a", "b"], np.zeros([2, 600], int), [str(i) for i in range(600)])
  rows = catalog.read(cache.folder, ["questions"])["questions"]
  with catalog.changing(tmp_path / "d", ["questions"]) as tables:
    tables["questions"] += rows
  with pytest.raises(accuracy_cache.CacheError, match="about other samples"):
    _set(other)


def test_weights_give_the_mean_of_a_population_that_grew():
  """Strata asked at different rates: unbiased, and the interval covers in 95% of the cases."""
  rng = np.random.default_rng(0)
  truth = np.concatenate([rng.random(2000) < 0.8, rng.random(1000) < 0.3]).astype(float)
  values, covered = [], 0
  for _ in range(400):
    some = np.concatenate([rng.permutation(2000)[:100], 2000 + rng.permutation(1000)[:150]])
    sample = random_sample.RandomSample(
        np.arange(250), some, np.arange(250), np.repeat([0, 1], [100, 150]),
        np.array([2000, 1000]), np.zeros(2), 3000)
    found = intervals.accuracy(truth[some], 3000, sample)
    values.append(found.value)
    covered += found.low <= truth.mean() <= found.high
  assert abs(np.mean(values) - truth.mean()) < 0.004
  assert covered >= 0.93 * 400


def test_an_estimate_uses_what_is_there(tmp_path):
  """Earlier answers, answers to new questions, chosen ones, and a comparison across states."""
  rng = np.random.default_rng(1)
  ability, difficulty = rng.normal(0.5, 1, 14), rng.normal(0, 1.5, 3000)
  chance = 1 / (1 + np.exp(difficulty - ability[:, None]))
  answers = (rng.random((14, 3000)) < chance).astype(int)
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models([f"m{i}" for i in range(10)], answers[:10, :2000],
                   [f"s{i}" for i in range(2000)])

  def to(ids, model):
    return {one: int(answers[model, int(one[1:])]) for one in ids}

  early = lifelong.Reference(cache).questions(300)
  cache.add_models(["m10"], answers[10:11, :2000])
  same = lifelong.Reference(cache)
  assert same.questions(300).tolist() == early.tolist()
  first = same.estimate_from(to(early, 12))
  cache.add_samples([f"s{i}" for i in range(2000, 3000)], answers[:11, 2000:])
  grown = lifelong.Reference(cache)
  old = grown.estimate_from(to(early, 12))
  assert len(old.observed) == 300 and old.sample.unknown == pytest.approx(1 / 3)
  assert old.interval[1] - old.interval[0] > 1 / 3
  more = grown.questions(400)
  full = grown.estimate_from({**to(early, 12), **to(more, 12), "unknown": 1})
  assert full.interval[0] <= answers[12].mean() <= full.interval[1]
  assert full.interval[1] - full.interval[0] < first.interval[1] - first.interval[0]
  other = grown.estimate_from(to(more, 13))
  gap, _ = lifelong.compare(full, other, 3000)
  assert gap.low <= answers[12].mean() - answers[13].mean() <= gap.high
  chosen = grown.estimate_from(to([f"s{i}" for i in range(900)], 12))
  assert chosen.interval is None and abs(chosen.accuracy - answers[12].mean()) < 0.06
  at_random = grown.estimate_from(to([f"s{i}" for i in rng.permutation(3000)[:400]], 12),
                                  is_random=True)
  assert at_random.interval[0] <= answers[12].mean() <= at_random.interval[1]
  with pytest.raises(lifelong.CacheError, match="no random sample"):
    lifelong.compare(chosen, other, 3000)
  everything = grown.estimate_from(to([f"s{i}" for i in range(3000)], 12))
  assert everything.interval == (everything.accuracy,) * 2
  assert everything.accuracy == answers[12].mean()
