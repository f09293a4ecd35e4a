# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A cache without its retired samples is what a cache without them would be; families."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong import standings
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import question_sets
from suite.lifelong.cache import sample_counts

IDS = [f"{'arc' if i < 200 else 'gsm8k'}/{i}" for i in range(300)]


@pytest.fixture(name="folder")
def _folder(tmp_path):
  """9 models; the first 200 samples have gaps, 100 more were added later."""
  rng = np.random.default_rng(0)
  answers = rng.integers(0, 2, (9, 300)).astype(np.int8)
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache.add_models([f"m{i}" for i in range(9)], np.where(
      rng.random((9, 200)) < 0.9, answers[:, :200], -1), IDS[:200], tasks={
          "arc": cache_tasks.Task(), "gsm8k": cache_tasks.Task()})
  first = _questions(cache, 50)  # Questions that are drawn before.
  cache.add_samples(IDS[200:], answers[:, 200:])
  return cache.folder, first


def _questions(cache, budget):
  found = question_sets.QuestionSet(cache, lambda: sample_counts.SampleCounts(cache).ranked())
  return cache.sample_ids.at(found.first(budget))


def test_retired_samples_leave_everything_but_their_answers(folder):
  folder, first = folder
  whole = accuracy_cache.AccuracyCache(folder)
  gone = [*first[3:9], *IDS[198:203]]
  assert active_samples.retire(whole, gone) == len(set(gone))
  stay = np.array([place for place, one in enumerate(IDS) if one not in gone])
  cache, every = active_samples.opened(folder), whole.matrix()
  assert cache.num_samples == len(stay) and cache.ids.tolist() == [IDS[i] for i in stay]
  assert np.array_equal(cache.matrix(), every[:, stay])
  assert np.array_equal(whole.matrix(), every)
  counted = sample_counts.SampleCounts(cache)
  assert np.array_equal(counted.correct, (every[:, stay] == 1).sum(axis=0))
  totals = np.stack([(every[:, stay] == 1).sum(axis=1), (every[:, stay] >= 0).sum(axis=1)], axis=1)
  assert np.array_equal(counted.totals, totals) and np.array_equal(cache.totals(), totals)
  assert cache.sample_ids.find([IDS[0], gone[0], "x"]).tolist() == [0, -1, -1]
  # Questions stay, but for the retired ones; further ones are none of these.
  asked = _questions(cache, 90)
  assert set(first) - set(gone) <= set(asked) and not set(asked) & set(gone)
  assert len(set(_questions(cache, len(stay)))) == len(stay)
  assert set(_questions(active_samples.opened(folder), 90)) == set(asked)
  # What is added goes to the whole cache.
  cache.add_models(["new"], np.ones((1, 300), np.int8), IDS)
  assert cache.answers("new", np.arange(3)).tolist() == [1, 1, 1]
  assert len(standings.rank(folder)) == 10
  assert standings.rank(folder)[0].num_evaluated == len(stay)
  assert standings.rank(accuracy_cache.AccuracyCache(folder))[0].num_evaluated == 300
  # Restored, they are as before.
  assert active_samples.retire(whole, gone, restore=True) == len(set(gone))
  assert not isinstance(active_samples.opened(folder), active_samples.ActiveCache)
  whole.refresh()
  assert set(_questions(whole, 50)) >= set(first[:3])
  with pytest.raises(accuracy_cache.CacheError, match="1 of 2 ids are not in .*'nope'"):
    active_samples.retire(whole, ["nope", IDS[0]])
  with pytest.raises(accuracy_cache.CacheError, match="All 300 samples would be retired"):
    active_samples.retire(whole, IDS)
  assert len(active_samples.ids_of_tasks(whole, ["gsm8k"])) == 100


def test_scores_that_are_kept_as_values_leave_with_their_samples(tmp_path):
  scores = np.random.default_rng(0).normal(20.0, 5.0, (4, 12))
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache.add_models([f"m{i}" for i in range(4)], scores, [str(i) for i in range(12)], values=True)
  active_samples.retire(tmp_path / "c", ["2", "7"])
  stay = [i for i in range(12) if i not in (2, 7)]
  assert active_samples.opened(tmp_path / "c").values(np.arange(10)) == pytest.approx(
      scores[:, stay], abs=1e-5)
  found = {one.name: one.score for one in standings.rank(tmp_path / "c")}
  assert found == pytest.approx(dict(zip(cache.models, scores[:, stay].mean(axis=1))), abs=1e-4)


def test_a_family_counts_as_one_model_and_does_not_predict_its_own(tmp_path):
  """With twins in families, estimates are those of a cache without the twins."""
  rng = np.random.default_rng(1)
  hard, ids = rng.normal(0, 1.5, 200), [f"x{i}" for i in range(200)]
  rows = (rng.random((10, 200)) < 1 / (1 + np.exp(hard - np.linspace(-1, 1, 10)[:, None]))
          ).astype(np.int8)
  names, late = [f"m{i}" for i in range(10)], np.where(hard > 0, -1, rows[4])
  plain, twins = (accuracy_cache.AccuracyCache(tmp_path / name, create=True) for name in "pt")
  for cache in (plain, twins):
    cache.add_models(names[:9], rows[:9], ids)
  twins.add_models(["m3-1", "m3-2", "m3-3", "late-0"], [*[rows[3]] * 3, rows[4]])
  for cache in (plain, twins):
    cache.add_models(["late-1"], [late])

  def estimate(cache):
    return {one.name: one for one in standings.rank(cache)}["late-1"]

  wanted, biased = estimate(plain), estimate(twins)
  roster = active_samples.set_families(twins, pattern="(.+)-[0-9]+")
  found = estimate(twins)
  assert found.score == pytest.approx(wanted.score, abs=1e-12)
  assert found.score_interval == pytest.approx(wanted.score_interval, abs=1e-12)
  assert abs(biased.score - wanted.score) > 1e-3
  assert roster.codes(["m3", "m3-1", "m4", "late-0", "m3-2"]).tolist() == [0, 0, 1, 2, 0]
  assert active_samples.set_families(twins, {"m0": "m3"}).family("m0") == "m3"
  with pytest.raises(accuracy_cache.CacheError, match="'q'"):
    active_samples.set_families(twins, {"q": "x"})
  with pytest.raises(accuracy_cache.CacheError, match="no regular expression"):
    active_samples.set_families(twins, pattern="(")
