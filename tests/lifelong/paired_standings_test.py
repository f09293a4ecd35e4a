# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Paired tests of many models, worked by hand or by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from suite.commands import lifelong_answers
from suite.lifelong import paired_standings
from suite.lifelong import standings
from suite.lifelong.answers import intervals
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_tasks


def _cache(folder, answers, ids, tasks=()):
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  cache.add_models(list(answers), np.array(list(answers.values()), np.int8), ids,
                   tasks={name: cache_tasks.Task() for name in tasks})
  return cache


def test_two_models_are_compared_exactly_about_samples_like_these(tmp_path):
  first, second = np.zeros(1000, int), np.zeros(1000, int)
  first[:700], second[100:790] = 1, 1  # 100 to 90.
  one, = paired_standings.compare(_cache(tmp_path, {"b": second, "a": first},
                                  [str(i) for i in range(1000)])).pairs
  assert (one.first, one.second, one.num_samples) == ("a", "b", 1000)
  assert one.difference == pytest.approx(0.01)
  assert one.p == one.corrected == pytest.approx(stats.binomtest(100, 190).pvalue)
  # Agresti and Min: 101 and 91 of 1002.
  middle = 10 / 1002
  half = 1.959964 * np.sqrt((191 / 1002 - middle**2) / 1002)
  assert one.interval == pytest.approx((middle - half, middle + half), abs=1e-6)
  gap = intervals.difference(first, second, 1000, is_finite=False)
  assert (gap.low, gap.high) == pytest.approx(one.interval)
  assert intervals.normal_test(gap) == pytest.approx(one.p, abs=0.06)


def test_clusters_and_ranks(tmp_path):
  rng = np.random.default_rng(0)
  rows = {name: (rng.random(2000) < chance).astype(int)
          for name, chance in (("a", .9), ("b", .9), ("c", .6), ("d", .3), ("e", .31))}
  found = paired_standings.compare(_cache(tmp_path, rows, [str(i) for i in range(2000)]))
  by_name = {one.name: (cluster, ranks) for one, cluster, ranks in
             zip(found.models, found.clusters, found.ranks)}
  assert by_name["a"] == by_name["b"] == (1, (1, 2)) and by_name["c"] == (2, (3, 3))
  assert by_name["d"] == by_name["e"] == (3, (4, 5)) and len(found.pairs) == 10
  for one in found.pairs:
    assert one.corrected >= one.p and (one.corrected < 0.05) == (
        {one.first, one.second} not in ({"a", "b"}, {"d", "e"}))
  best = paired_standings.compare(accuracy_cache.AccuracyCache(tmp_path), top=2)
  assert {one.name for one in best.models} == {"a", "b"}


def test_a_mean_of_tasks_is_compared_within_tasks(tmp_path):
  """One task of 900 where a is better, two of 100 where b is: over tasks b is better."""
  ids = [f"{task}/{i}" for task, num in (("big", 900), ("one", 100), ("two", 100))
         for i in range(num)]
  a = np.concatenate([np.arange(900) < 720, np.arange(100) < 50, np.arange(100) < 40])
  b = np.concatenate([np.arange(900) < 630, np.arange(100) < 70, np.arange(100) < 70])
  cache = _cache(tmp_path, {"a": a, "b": b}, ids, ("big", "one", "two"))
  found = paired_standings.compare(cache)
  one, = found.pairs
  assert found.by == "tasks" and (one.first, one.second) == ("b", "a")
  assert one.difference == pytest.approx((-0.1 + 0.2 + 0.3) / 3) and one.interval[0] > 0
  assert one.p < 1e-6
  over, = paired_standings.compare(cache, standings.Scale("samples")).pairs
  assert over.first == "a" and over.p == pytest.approx(stats.binomtest(90, 140).pvalue)


def test_what_both_have_answered_counts(tmp_path):
  rows = {"a": [1, 1, 1, 1, -1, -1], "b": [0, 0, 1, -1, 1, 1], "c": [-1, -1, -1, -1, 1, 0]}
  found = paired_standings.compare(_cache(tmp_path, rows, [str(i) for i in range(6)]))
  pairs = {frozenset((one.first, one.second)): one for one in found.pairs}
  assert pairs[frozenset("ab")].num_samples == 3 and pairs[frozenset("bc")].num_samples == 2
  assert pairs[frozenset("ac")].p is None and pairs[frozenset("ac")].corrected is None
  for options, message in (({"models": ["a", "x"]}, "no answers of x"),
                           ({"top": 1}, "Got 1 models"), ({"level": 0}, "between 0 and 1")):
    with pytest.raises(accuracy_cache.CacheError, match=message):
      paired_standings.compare(accuracy_cache.AccuracyCache(tmp_path), **options)


def _graded_cache(folder, scores, ids, tasks=()):
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  cache.add_models(list(scores), np.array(list(scores.values()), np.float32), ids, values=True,
                   tasks={name: cache_tasks.Task() for name in tasks})
  return cache


def _graded_scores(num):
  rng = np.random.default_rng(2)
  hard = rng.normal(0.5, 0.2, num)
  return {name: hard + rng.normal(mean, 0.1, num) for name, mean in (("a", 0.04), ("b", 0.0))}


def test_graded_answers_are_compared_by_students_paired_test(tmp_path):
  scores = _graded_scores(40)
  ids = [str(i) for i in range(40)]
  one, = paired_standings.compare(_graded_cache(tmp_path / "one", scores, ids)).pairs
  a, b = (scores[name].astype(np.float32).astype(np.float64) for name in "ab")
  expected = stats.ttest_rel(a, b)
  assert one.p == pytest.approx(expected.pvalue, rel=1e-5) and one.p < 0.05
  assert one.interval == pytest.approx(tuple(expected.confidence_interval()), abs=1e-6)
  # Another unit, and a model whose scores are a hundred times as large, change nothing.
  other = {name: 1000.0 * value - 7.0 for name, value in scores.items()}
  other["c"] = np.full(40, 1e5)
  pairs = paired_standings.compare(_graded_cache(tmp_path / "two", other, ids)).pairs
  same = next(pair for pair in pairs if {pair.first, pair.second} == {"a", "b"})
  assert same.p == pytest.approx(one.p, rel=1e-3)
  assert same.interval == pytest.approx(tuple(1000.0 * end for end in one.interval), rel=1e-3)


def test_means_of_tasks_of_graded_answers_have_the_degrees_of_freedom_of_their_tasks(tmp_path):
  scores = _graded_scores(40)
  ids = [f"x/{i}" for i in range(30)] + [f"y/{i}" for i in range(10)]
  one, = paired_standings.compare(_graded_cache(tmp_path, scores, ids, ("x", "y"))).pairs
  change = (scores["a"] - scores["b"]).astype(np.float64)
  parts = [part.var(ddof=1) / len(part) / 4 for part in (change[:30], change[30:])]
  freedom = sum(parts) ** 2 / (parts[0] ** 2 / 29 + parts[1] ** 2 / 9)
  value = (change[:30].mean() + change[30:].mean()) / 2
  assert one.difference == pytest.approx(value, abs=1e-6)
  assert one.p == pytest.approx(2 * stats.t.sf(abs(value) / sum(parts) ** 0.5, freedom), rel=1e-4)


def test_graded_answers_that_do_not_vary_or_are_too_few(tmp_path):
  ids = ["0", "1", "2"]
  cache = _graded_cache(tmp_path / "same", {"a": [1, 2, 3], "b": [0, 1, 2], "c": [1, 2, 3]}, ids)
  pairs = {frozenset((one.first, one.second)): one for one in paired_standings.compare(cache).pairs}
  assert pairs[frozenset("ac")].p == 1.0 and pairs[frozenset("ab")].p == 0.0
  one, = paired_standings.compare(_graded_cache(
      tmp_path / "few", {"a": [1.0, np.nan], "b": [0.0, 1.0]}, ids[:2])).pairs
  assert one.p is None and one.num_samples == 1


@pytest.mark.parametrize("graded", [False, True])
def test_clusters_are_what_would_be_drawn_again(tmp_path, graded):
  """Passages of 1 to 9 questions, which a model gets right or wrong together: Miller (2024)."""
  rng = np.random.default_rng(4)
  sizes = rng.integers(1, 10, 30)
  cluster = rng.permutation(np.repeat(np.arange(30), sizes))
  num = len(cluster)
  rows = {name: (rng.normal(mean, 1.0, 30)[cluster] + rng.normal(0.0, 0.3, num) > 0).astype(float)
          for name, mean in (("a", 0.5), ("b", 0.0))}
  if graded:
    rows = {name: row + rng.normal(0.0, 0.1, num) for name, row in rows.items()}
  ids = [f"{'x' if i % 3 else 'y'}/{i}" for i in range(num)]
  make = _graded_cache if graded else _cache
  cache = make(tmp_path, {name: row if graded else row.astype(np.int8)
                          for name, row in rows.items()}, ids, ("x", "y"))
  alone = paired_standings.compare(cache, standings.Scale("samples")).pairs[0]
  one, = paired_standings.compare(cache, standings.Scale("samples"), clusters=cluster).pairs
  change = rows[one.first] - rows[one.second]
  away = np.bincount(cluster, change - change.mean())
  error = np.sqrt(np.sum(away ** 2) * 30 / 29) / num
  t = change.mean() / error
  assert one.p == pytest.approx(2 * stats.t.sf(abs(t), 29), rel=1e-5) and one.p > alone.p
  half = stats.t.ppf(0.975, 29) * error
  assert one.interval == pytest.approx((change.mean() - half, change.mean() + half), abs=1e-6)
  # Within tasks: a cluster that lies in both tasks is one in each.
  one, = paired_standings.compare(cache, clusters=cluster).pairs
  change, parts = rows[one.first] - rows[one.second], []
  for task in "xy":
    mine = np.array([name.startswith(task) for name in ids])
    members = cluster[mine]
    away = np.bincount(members, change[mine] - change[mine].mean())
    count = len(np.unique(members))
    parts.append((np.sum(away ** 2) * count / (count - 1) / mine.sum() ** 2 / 4, count - 1))
  variance = sum(part for part, _ in parts)
  freedom = variance ** 2 / sum(part ** 2 / free for part, free in parts)
  assert one.p == pytest.approx(
      2 * stats.t.sf(abs(one.difference) / np.sqrt(variance), freedom), rel=1e-5)


def test_the_level_holds_for_questions_about_passages(tmp_path):
  """200 tables of two equal models on 40 passages of 10 questions; by samples half are apart."""
  rng, found = np.random.default_rng(5), np.zeros(2)
  cluster = np.repeat(np.arange(40), 10)
  for _ in range(200):
    change = rng.normal(0.0, 1.0, 40)[cluster] + rng.normal(0.0, 0.3, 400)
    values = paired_standings._Counts(*(np.array([float(one)]) for one in (
        change.sum(), np.sum(np.bincount(cluster, change) ** 2), 400,
        10 * change.sum(), 40 * 100, 40)))
    independent = paired_standings._Counts(*(np.array([float(one)]) for one in (
        change.sum(), np.sum(change ** 2), 400, change.sum(), 400, 400)))
    for place, one in enumerate((values, independent)):
      means = one.sums / one.common
      deviations = one.squares - 2 * means * one.products + means ** 2 * one.sizes
      found[place] += intervals.student(
          float(means[0]), deviations, one.common, one.num, np.ones(1))[2] < 0.05
  assert found[0] <= 0.05 * 200 + 3 * np.sqrt(200 * 0.05 * 0.95) and found[1] > 60


def test_clusters_of_a_file(tmp_path):
  ids = [str(i) for i in range(6)]
  cache = _cache(tmp_path / "c", {"a": [1, 1, 1, 0, 1, 1], "b": [0, 0, 1, 0, 1, 0]}, ids)
  path = tmp_path / "clusters.csv"

  def read(rows):
    path.write_text("id,cluster\n" + "".join(f"{name},{one}\n" for name, one in rows))
    return lifelong_answers.clusters(path, cache)

  assert read(zip(ids, "ppqqrr")).tolist() == [0, 0, 1, 1, 2, 2]
  for rows, said in ((list(zip(ids, "pppppp")), "one cluster for all samples"),
                     (list(zip(ids[:4], "pqrs")), "no cluster of 2 of the 6 samples, such as '4'"),
                     ([*zip(ids, "ppqqrr"), ("0", "q")], "two clusters of '0'")):
    with pytest.raises(accuracy_cache.CacheError, match=said):
      read(rows)
  path.write_text("a,b\n")
  with pytest.raises(accuracy_cache.CacheError, match="expected id and cluster"):
    lifelong_answers.clusters(path, cache)
