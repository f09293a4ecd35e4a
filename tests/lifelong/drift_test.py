# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Alarms come as often as is stated while nothing changes, and where something has."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong import drift
from suite.lifelong.answers import partial_answers
from suite.lifelong.cache import accuracy_cache

KNOWN, TASKS, SIZE = 24, 3, 120


class _World:
  """Models with an ability, a deviation on each task, and answers of the logistic model."""

  def __init__(self, seed):
    self.rng = np.random.default_rng(seed)
    self.hard = self.rng.normal(0.0, 1.5, (TASKS, SIZE))

  def answers(self, shift=0.0):
    """Answers [TASKS, SIZE] of a new model; `shift` of the ability on the last task."""
    level = self.rng.normal(0.5, 1.0) + self.rng.normal(0.0, 0.3, TASKS)
    level[-1] += shift
    return (self.rng.random(self.hard.shape) < 1 / (1 + np.exp(self.hard - level[:, None]))
            ).astype(np.int8)


def _cache(folder, world):
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  cache.add_models([f"m{i}" for i in range(KNOWN)], [
      world.answers().ravel() for _ in range(KNOWN)],
                   [f"t{i // SIZE}/{i}" for i in range(TASKS * SIZE)], tasks={
                       f"t{i}": accuracy_cache.cache_tasks.Task() for i in range(TASKS)})
  return cache


class _Added:
  """A cache with two further models, which are not written."""

  def __init__(self, cache, rows):
    self._cache, self._rows = cache, {f"n{i}": row for i, row in enumerate(rows)}
    self.models, self.num_samples = [*cache.models, *self._rows], cache.num_samples
    self.folder = cache.folder

  def sample_tasks(self):
    return self._cache.sample_tasks()

  def columns(self, samples, models, seen=False):
    return self._cache.columns(samples, models, seen=seen)

  def answers(self, index, samples):
    return self._rows[self.models[index]].ravel()[samples]


def _alarms(cache, world, **settings):
  added = _Added(cache, [world.answers(**settings), world.answers(**settings)])
  found = drift.tests(added, {"n0": np.arange(added.num_samples),
                              "n1": np.arange(added.num_samples)}, level=0.1)
  assert len(found) == 2 * 2 * TASKS + TASKS
  return [one for one in found if one.is_alarm]


def test_false_alarms_are_as_many_as_stated_and_drift_is_found(tmp_path):
  """100 updates of 15 tests in 5 worlds at 10%; then a task on which all new models gain."""
  num = power = 0
  for seed in range(5):
    world = _World(seed)
    cache = _cache(tmp_path / str(seed), world)
    num += sum(bool(_alarms(cache, world)) for _ in range(20))
    power += sum(any(one.task == "t2" for one in _alarms(cache, world, shift=2.5))
                 for _ in range(2))
  assert num <= 100 * 0.1 + 3 * np.sqrt(100 * 0.1 * 0.9), num
  assert power >= 8, power


def test_answers_in_another_order_are_found_though_their_mean_is_the_same(tmp_path):
  world = _World(0)
  cache = _cache(tmp_path / "c", world)
  row = world.answers()
  row[1] = row[1][world.rng.permutation(SIZE)]
  found = drift.tests(_Added(cache, [row]), {"n0": np.arange(TASKS * SIZE)})
  alarm, = (one for one in found if one.is_alarm)
  assert (alarm.kind, alarm.task, alarm.num_answers) == ("order", "t1", SIZE)
  assert drift.text(alarm).startswith("order: n0 on t1, 120 new answers: slope")
  # Predicted before: the tests of a task use the answers that were there, none of the new ones.
  before = drift.tests(_Added(cache, [row]), {"n0": np.arange(SIZE, 2 * SIZE)})
  level, = (one for one in before if one.kind == "level")
  assert level.task == "t1" and level.observed == pytest.approx(row[1].mean())
  assert level.low < level.predicted < level.high
  few = accuracy_cache.AccuracyCache(tmp_path / "few", create=True)
  few.add_models(["a", "b"], row.reshape(1, -1).repeat(2, 0), [str(i) for i in range(row.size)])
  assert not drift.tests(few, {"b": np.arange(row.size)})  # Too few to compare with.


def test_the_slope_of_answers_is_that_against_the_log_odds_of_the_known_models():
  rng = np.random.default_rng(0)
  part = partial_answers.Part(rng.random((12, 200)).round(), None, np.zeros(200, int),
                              np.array([200]))
  logits = part.logits(np.arange(0))[0]
  for slope in (-0.05, 0.1):
    answers = 1 / (1 + np.exp(-(1 + slope) * logits - 0.4))  # Graded: nothing is left to chance.
    found = drift._order_test("n", "t", answers, part)
    assert found.observed == pytest.approx(slope, rel=0.1)
