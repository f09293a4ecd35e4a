# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Families in predictions of missing answers: as one model each, in any order."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong import drift
from suite.lifelong import standings
from suite.lifelong.answers import partial_answers
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_tasks

NUM, SIZE = 12, 40


def _answers(seed, num):
  rng = np.random.default_rng(seed)
  hard, able = rng.normal(0.0, 1.0, 2 * SIZE), rng.normal(0.3, 0.8, num)
  return (rng.random([num, 2 * SIZE]) < 1 / (1 + np.exp(hard - able[:, None]))).astype(np.int8)


def _parts(answers, families):
  tasks = np.zeros(SIZE, np.int32)
  return (partial_answers.Part(answers[:, side], None, tasks, np.array([SIZE]), families)
          for side in (slice(SIZE), slice(SIZE, None)))


@pytest.mark.parametrize("num", [5, NUM])
def test_twins_in_a_family_count_as_the_one_that_they_are(num):
  known, new = _answers(0, num), _answers(1, 1)[0, :SIZE]
  one = partial_answers.predict(new, *_parts(known, None), np.arange(num))
  times = 1 + np.arange(num) % 3  # Families of one to three twins.
  found = partial_answers.predict(
      new, *_parts(np.repeat(known, times, axis=0), np.repeat(np.arange(num), times)),
      np.arange(times.sum()))
  assert one.num_families == found.num_families == num
  np.testing.assert_allclose(found.means, one.means, rtol=1e-9)
  np.testing.assert_allclose(found.factors, one.factors, rtol=1e-9)
  np.testing.assert_allclose(np.mean(found.errors ** 2), np.mean(one.errors ** 2), rtol=1e-9)


def test_models_are_chosen_by_name_and_all_families_in_turn():
  names, families = [f"m{i}" for i in range(20)], np.array([0] * 12 + [1] * 5 + [2] * 3)
  chosen = partial_answers.balanced(names, families, 8)
  assert sorted(np.bincount(families[chosen])) == [2, 3, 3] and (np.diff(chosen) > 0).all()
  order = np.random.default_rng(0).permutation(20)
  again = partial_answers.balanced([names[i] for i in order], families[order], 8)
  assert {names[order[i]] for i in again} == {names[i] for i in chosen}
  assert partial_answers.balanced(names, families, 64).tolist() == list(range(20))


def test_ranks_and_alarms_do_not_depend_on_the_order_in_which_models_came(tmp_path):
  base = _answers(2, NUM)
  rng = np.random.default_rng(3)
  # Checkpoints of one run, the first hardly trained.
  rows = {f"f{i}_{step}": np.where(rng.random(2 * SIZE) < share, row, rng.integers(0, 2, 2 * SIZE))
          for i, row in enumerate(base) for step, share in ((1, 0.2), (2, 0.8), (3, 0.95))}
  partial = base[0].astype(np.int8).copy()
  partial[SIZE:] = accuracy_cache.NOT_EVALUATED
  ids = [f"t{i // SIZE}/{i}" for i in range(2 * SIZE)]
  found = []
  for number, names in enumerate((list(rows), list(rows)[::-1])):
    cache = accuracy_cache.AccuracyCache(tmp_path / str(number), create=True)
    cache.add_models(names, [rows[name].astype(np.int8) for name in names], ids,
                     tasks={name: cache_tasks.Task() for name in ("t0", "t1")})
    cache.add_models(["part"], [partial], ids)
    active_samples.set_families(cache, pattern=r"(f\d+)_\d")
    ranked = {one.name: one for one in standings.rank(cache)}["part"]
    tests = drift.tests(cache, {"f0_3": np.arange(2 * SIZE)})
    assert tests and ranked.is_estimated
    found.append([*ranked.score_interval, ranked.score, *(one.p for one in tests)])
  np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
