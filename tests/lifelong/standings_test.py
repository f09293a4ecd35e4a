# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores over tasks and of partly evaluated models; worked by hand, or against the full answers."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong import standings
from suite.lifelong.answers import partial_answers
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_tasks


def _cache(folder, answers, tasks):
  """`tasks`: name -> number of samples; "": no task."""
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  ids = [f"{name}/{index}" if name else f"q{index}"
         for name, num in tasks.items() for index in range(num)]
  cache.add_models(list(answers), np.array(list(answers.values()), np.int8), ids,
                   tasks={name: cache_tasks.Task() for name in tasks if name})
  return cache


def _right(*counts):
  """(correct, all) of each task -> answers."""
  return np.concatenate([np.arange(num) < correct for correct, num in counts])


THREE = {"a": _right((720, 900), (50, 100), (40, 100)), "b": _right((360, 900), (70, 100),
                                                                    (70, 100))}
SIZES = {"big": 900, "one": 100, "two": 100}


@pytest.mark.parametrize("scale, by, right", [
    (standings.Scale(), "tasks", {"b": 0.6, "a": 1.7 / 3}),
    (standings.Scale("samples"), "samples", {"a": 810 / 1100, "b": 500 / 1100}),
    (standings.Scale("tasks", {"big": 2.0}), "tasks", {"a": 2.5 / 4, "b": 2.2 / 4}),
    (standings.Scale("tasks", {"big": 0.0, "one": 0.0}), "tasks", {"b": 0.7, "a": 0.4}),
    # (0.8 - 0.5) / 0.5 and (0.4 - 0.5) / 0.5 of the big task.
    (standings.Scale("", {}, {"big": 0.5}), "tasks", {"a": (0.6 + 0.9) / 3, "b": (-0.2 + 1.4) / 3}),
    (standings.Scale("samples", {}, {"big": 0.5, "one": 0.5, "two": 0.5}), "samples",
     {"a": 2 * 810 / 1100 - 1, "b": 2 * 500 / 1100 - 1})])
def test_scores_over_tasks(tmp_path, scale, by, right):
  found = standings.Standings(_cache(tmp_path, THREE, SIZES), scale)
  rows = found.ranked()
  assert found.by == by and [one.name for one in rows] == list(right)
  for one in rows:
    assert one.score == pytest.approx(right[one.name])
    assert one.score_interval == pytest.approx((one.score, one.score)) and not one.is_estimated
  first = next(one for one in rows if one.name == "a").tasks["big"]
  assert first == (pytest.approx(0.8), (pytest.approx(0.8), pytest.approx(0.8)), 900, 900)


@pytest.mark.parametrize("scale, message", [
    (standings.Scale("", {"bigg": 1.0}), "weight is given for .*bigg.*big, one, two"),
    (standings.Scale("samples", {"big": 1.0}), "Weights are of tasks"),
    (standings.Scale("", {"big": -1.0}), "0 or more"),
    (standings.Scale("", {}, {"big": 1.0}), "less than 1"), (standings.Scale("x"), "by='x'")])
def test_scales_that_mean_nothing_are_refused(tmp_path, scale, message):
  with pytest.raises(accuracy_cache.CacheError, match=message):
    standings.Standings(_cache(tmp_path, THREE, SIZES), scale)


def test_samples_without_a_task_are_a_task_of_their_own(tmp_path):
  cache = _cache(tmp_path, {"a": [1, 0, 1, 1], "b": [0, 0, 1, 1]}, {"": 2, "arc": 2})
  found = standings.Standings(cache, standings.Scale("tasks"))
  assert found.tasks == ["arc", "(no task)"]
  assert [one.score for one in found.ranked()] == [0.75, 0.5]
  assert standings.Standings(cache).by == "samples"


def _models(num, num_easy, num_hard, seed=0):
  """Models of many abilities on easy and hard samples: uint8 [num, easy + hard]."""
  rng = np.random.default_rng(seed)
  hard = np.concatenate([rng.normal(-2.0, 1.0, num_easy), rng.normal(1.5, 1.0, num_hard)])
  ability = rng.normal(0.0, 0.7, (num, 1))
  return (rng.random((num, len(hard))) < 1 / (1 + np.exp(hard - ability))).astype(np.int8)


def test_a_model_with_the_easy_samples_only_is_not_first(tmp_path):
  answers = _models(13, 300, 300)
  truth = answers.mean(axis=1)
  answers[12, 300:] = -1
  cache = _cache(tmp_path, {f"m{i}": row for i, row in enumerate(answers)}, {"": 600})
  rows = standings.rank(tmp_path)
  one = next(row for row in rows if row.name == "m12")
  assert one.is_estimated and one.num_evaluated == 300 and one.observed == answers[12, :300].mean()
  assert one.interval[0] < truth[12] < one.interval[1] < one.observed - 0.2
  assert abs(one.accuracy - truth[12]) < 0.04 and one.interval[1] - one.interval[0] < 0.2
  others = [row for row in rows if row is not one]
  assert [row.accuracy for row in others] == sorted(truth[:12].tolist(), reverse=True)
  np.testing.assert_allclose(standings.Standings(cache).accuracies()[:12], truth[:12])


def test_intervals_of_missing_tasks_contain_the_truth(tmp_path):
  """Of 40 models with one task each left out, in turn, about 95%."""
  answers, inside = _models(40, 200, 200, seed=3), 0
  names = {f"m{i}": row for i, row in enumerate(answers)}
  tasks = {"easy": 200, "hard": 200}
  for index in range(40):
    part = answers[index].copy()
    part[slice(0, 200) if index % 2 else slice(200, 400)] = -1
    cache = _cache(tmp_path / str(index), {**names, f"m{index}": part}, tasks)
    one = standings.Standings(cache, save=False).model(index)
    low, high = one.tasks["easy" if index % 2 else "hard"].interval
    truth = answers[index].mean()
    inside += one.score_interval[0] <= truth <= one.score_interval[1]
    assert low < high and one.score == pytest.approx(one.accuracy)
  assert inside >= 35


def test_few_known_models_give_all_that_may_be(tmp_path):
  cache = _cache(tmp_path, {"a": [1, 0, 1, -1, -1], "b": [1, 1, 0, 1, 0]}, {"": 5})
  a = standings.Standings(cache).model(0)
  assert a.accuracy == pytest.approx(2 / 3) and a.interval == pytest.approx((0.4, 0.8))


def test_a_model_without_an_answer_is_not_ranked(tmp_path):
  cache = _cache(tmp_path, {"a": [1, 0], "b": [-1, -1]}, {"": 2})
  assert [one.name for one in standings.rank(cache)] == ["a"]
  assert standings.Standings(cache).accuracies().tolist() == [0.5, 0.0]


def test_known_models_are_without_their_own_answers():
  """Of two samples of one model each, what is left is the other's answer: (0 + 0.5) / (1 + 1)."""
  part = partial_answers.Part(np.array([[1, 0], [0, 0]], np.uint8), None, np.zeros(2, int),
                              np.array([4]))
  chance = 1 / (1 + np.exp(-part.logits(np.array([0, 1]))))
  np.testing.assert_allclose(chance, [[1.5 / 3, 0.5 / 3], [0.5 / 2, 0.5 / 2], [1.5 / 2, 0.5 / 2]])
  assert part.weights().tolist() == [2.0, 2.0]


def test_complete_models_have_standard_errors_about_samples_like_these(tmp_path):
  rng = np.random.default_rng(0)
  bits = (rng.random([3, 60]) < 0.7).astype(np.int8)
  ids = [f"x/{i}" for i in range(40)] + [f"y/{i}" for i in range(20)]
  cache = accuracy_cache.AccuracyCache(tmp_path / "bits", create=True)
  cache.add_models(["a", "b", "c"], bits, ids, tasks={
      name: accuracy_cache.cache_tasks.Task() for name in "xy"})

  def error(rows, scale):
    return {one.name: one.error for one in standings.rank(rows, scale)}

  by_tasks, chance = (error(cache, standings.Scale("tasks", chance=given))
                      for given in ({}, {"x": 0.5}))
  over = error(cache, standings.Scale("samples"))
  for name, row in zip("abc", bits.astype(float)):
    x, y = (part.var(ddof=1) / len(part) for part in (row[:40], row[40:]))
    assert by_tasks[name] == pytest.approx(np.sqrt(x / 4 + y / 4))
    assert chance[name] == pytest.approx(np.sqrt(4 * x / 4 + y / 4))
    assert over[name] == pytest.approx(row.std(ddof=1) / np.sqrt(60))
  graded = accuracy_cache.AccuracyCache(tmp_path / "graded", create=True)
  scores = rng.normal(20.0, 3.0, [3, 60]).astype(np.float32)
  scores[2, 5] = np.nan
  graded.add_models(["a", "b", "c"], scores, ids, values=True)
  found = error(graded, standings.Scale("samples"))
  assert found["a"] == pytest.approx(scores[0].std(ddof=1) / np.sqrt(60), rel=1e-4)
  assert found["c"] is None  # An answer is missing.


def test_a_model_by_its_answers_is_as_ranked(tmp_path):
  rng = np.random.default_rng(0)
  answers = (rng.random((9, 90)) < np.linspace(0.2, 0.9, 90)).astype(np.int8)
  answers[8, 30:] = -1  # A report of the first task only.
  ids = [f"{'ab'[i >= 30]}/{i}" for i in range(90)]
  tasks = {name: cache_tasks.Task() for name in "ab"}
  whole = accuracy_cache.AccuracyCache(tmp_path / "whole", create=True)
  whole.add_models([f"m{i}" for i in range(9)], answers, ids, tasks=tasks)
  others = accuracy_cache.AccuracyCache(tmp_path / "others", create=True)
  others.add_models([f"m{i}" for i in range(8)], answers[:8], ids, tasks=tasks)
  found = standings.Standings(others).of_answers("m8", np.arange(30), answers[8, :30].astype(float))
  wanted = next(one for one in standings.rank(whole) if one.name == "m8")
  assert found._replace(tasks={}) == wanted._replace(tasks={}) and found.tasks == wanted.tasks


def test_standard_errors_of_clusters(tmp_path):
  """Four passages, whose questions are all right or all wrong, are four answers, not twelve."""
  answers = np.repeat([[1, 0, 1, 1]], 3, axis=1).astype(np.int8)
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], answers, [str(i) for i in range(12)])
  by_sample, = standings.Standings(cache).ranked()
  by_passage, = standings.Standings(cache, clusters=np.repeat(np.arange(4), 3)).ranked()
  assert by_sample.error == pytest.approx(np.sqrt(0.75 * 0.25 / 11))
  assert by_passage.error == pytest.approx(np.sqrt(0.75 * 0.25 / 3))
  alone, = standings.Standings(cache, clusters=np.arange(12)).ranked()
  assert alone.error == pytest.approx(by_sample.error)


def test_scenarios_of_helm_are_groups(tmp_path):
  """MMLU's subjects count as one, whatever their size, as in HELM."""
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  tasks = {"mmlu:subject=law": 1, "mmlu:subject=art": 3, "gsm:": 4}
  ids = [f"{task}/{i}" for task, size in tasks.items() for i in range(size)]
  cache.add_models(["a"], np.array([[1, 0, 0, 0, 1, 1, 1, 1]], np.int8), ids,
                   tasks={name: cache_tasks.Task() for name in tasks})
  one, = standings.rank(cache)
  assert one.score == pytest.approx(((1.0 + 0.0) / 2 + 1.0) / 2)
