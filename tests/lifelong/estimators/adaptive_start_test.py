# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The first answers follow from each other, and known models say how far off they are."""

from __future__ import annotations

import numpy as np
import pytest

from suite import cli
from suite import lifelong
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.estimators import adaptive_start
from suite.system import sealed_json


def _matrix(num_models, num_samples, seed=0, is_common=True):
  """Models of one ability on samples of many difficulties, or coins of several biases."""
  rng = np.random.default_rng(seed)
  ability, hard = rng.normal(0, 1.5, (num_models, 1)), rng.normal(0, 2, num_samples)
  return (rng.random((num_models, num_samples)) < 1 / (1 + np.exp(
      5 * (hard * is_common - ability)))).astype(np.uint8)


def test_the_next_question_is_the_most_informative():
  items = np.array([[1.0, 0.0], [3.0, 0.0], [3.0, 9.0], [0.1, 0.0]], np.float32)
  curves = adaptive_start.Curves(items, 4, 4)
  none = np.zeros(0, np.int64)
  assert curves.next(none, np.zeros(0), 1).tolist() == [1]  # Steep, and of middle difficulty.
  after = curves.next(np.array([1]), np.zeros(1), 4).tolist()
  assert sorted(after) == [0, 2, 3] and after[0] == 2  # After a wrong answer, the easier one.


def test_the_mean_counts_answers_once():
  curves = adaptive_start.Curves(np.array([[1.0, 0.0], [1.0, 0.0]], np.float32), 2, 2)
  assert curves.accuracy(np.array([0, 1]), np.array([1.0, 0.0])) == 0.5
  one = curves.accuracy(np.array([0]), np.array([1.0]))
  assert one == pytest.approx((1.0 + curves.predicted(np.array([0]), np.array([1.0]))[1]) / 2)


def test_families_are_left_out_together():
  """Copies of each model tell all, but not of a new family."""
  answers = np.repeat(_matrix(8, 400), 3, axis=0)
  families, accuracies = np.repeat(np.arange(8), 3), answers.mean(axis=1)
  def errors(codes):
    return adaptive_start.measure(answers, answers[:, :64], 400, codes, accuracies)
  apart = errors(families)
  pairs = errors(np.repeat(np.arange(12), 2))  # A third copy stays in.
  assert apart[0][4] > pairs[0][4] and apart[0][0] > apart[0][4]
  assert errors(np.array([0] * 12 + [1] * 12)) is None


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory):
  answers = _matrix(25, 600)
  cache = accuracy_cache.AccuracyCache(tmp_path_factory.mktemp("cache"), create=True)
  cache.add_models([f"m{i}" for i in range(24)], answers[:24].astype(np.int8),
                   [str(i) for i in range(600)])
  return cache, answers[24]


def test_up_to_64_answers_are_adaptive_where_that_is_better(made):
  cache, row = made
  rounds = []

  def predict(ids):
    rounds.append(len(ids))
    return row[ids.astype(int)].astype(float)

  reference = lifelong.Reference(cache)
  found = reference.estimate(predict, 32)
  assert rounds == [4, 4, 4, 4, 8, 8] and found.sample is None
  assert found.interval[0] <= row.mean() <= found.interval[1]
  best = reference.estimate(lambda ids: np.ones(len(ids)), 32)
  gap, p = lifelong.compare(found, best, 600)  # The errors of both are independent.
  assert gap.width == pytest.approx(np.hypot(np.ptp(found.interval), np.ptp(best.interval)))
  assert gap.value == pytest.approx(found.accuracy - best.accuracy) and p < 0.05
  larger = reference.estimate(predict, 65)
  assert larger.sample is not None and rounds[-1] == 65


def test_models_without_a_common_ability_keep_fixed_questions(tmp_path):
  answers = _matrix(20, 800, is_common=False)
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models([f"m{i}" for i in range(20)], answers.astype(np.int8),
                   [str(i) for i in range(800)])
  reference = lifelong.Reference(cache)
  start = reference.first_questions(([0.1] * 5, [0.0] * 5, [2.0]))
  assert not start.is_better(32) and not reference.first_questions(
      ([0.0] * 5, [0.1] * 5, [2.0])).is_better(65)


def test_a_session_of_few_answers_is_adaptive_and_resumes(made, tmp_path, capsys):
  cache, row = made

  def run(state, stop=100):
    asking = lifelong.Session(cache, budget=16, state=state)
    while len(ids := asking.questions()) and len(asking.answers()) < stop:
      asking.answer(row[ids.astype(int)].astype(float))
    return asking

  run(tmp_path / "s", stop=8)
  asking = run(tmp_path / "s")
  assert asking.is_start and asking.is_done and asking.num_answers == 16
  found = asking.accuracy()
  assert found.low <= row.mean() <= found.high
  assert asking.estimate().accuracy == found.value
  assert not lifelong.Session(cache, budget=65).is_start
  assert cli.main(["lifelong", "session", "--cache", str(cache.folder), "--state",
                   str(tmp_path / "s"), "--ask", str(tmp_path / "ask.txt")]) == 0
  said = capsys.readouterr().out
  assert "by item response theory" in said and "the budget of 16 is spent" in said
  kept = sealed_json.read(tmp_path / "s" / "session.json")
  (tmp_path / "s" / "session.json").write_text(sealed_json.text({**kept, "start": [[1], [1], [2]]}))
  with pytest.raises(lifelong.CacheError, match="it has no errors of known models"):
    lifelong.Session(cache, state=tmp_path / "s")
