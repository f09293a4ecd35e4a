# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Questions drawn with unequal probabilities, and what is estimated from their answers."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong import adaptive_session


def test_chances_by_hand():
  # Four samples, two uncertain ones: 0.2 / 4 + 0.8 x (1/2, 1/2, 0, 0), times 2 questions.
  one = adaptive_session.draw(np.arange(4), np.array([0.5, 0.5, 0.0, 1.0]), 0.0, 4, 4,
                              np.random.default_rng(0))
  assert one.chances.tolist() == [1.0] * 4 and one.variance == 0.0
  assert one.mean == 0.5 and sorted(one.samples.tolist()) == [0, 1, 2, 3]
  counts = np.zeros(4)
  for seed in range(400):
    one = adaptive_session.draw(np.arange(4), np.array([0.5, 0.5, 0.0, 1.0]), 0.0, 4, 2,
                                np.random.default_rng(seed))
    counts[one.samples] += 1
    assert set(np.round(one.chances, 12)) <= {0.9, 0.1}
    # Two times 1/4 x (1 / 0.9 - 1), over 4^2.
    assert one.variance == pytest.approx(0.5 * (1 / 0.9 - 1) / 16)
  assert np.abs(counts / 400 - [0.9, 0.9, 0.1, 0.1]).max() < 0.05


def test_the_mean_over_draws_is_the_accuracy_whatever_is_predicted():
  rng = np.random.default_rng(1)
  answers = (rng.random(300) < 0.7).astype(np.float64)
  answers[:50] = 0.25  # Graded answers are values.
  wrong = rng.random(300)
  found, covered = [], 0
  for seed in range(600):
    draw, rounds, given = np.random.default_rng(seed), [], []
    left = np.arange(300)
    for num in (30, 60):
      # The second round's predictions depend on the answers of the first.
      predicted = wrong if not given else np.clip(wrong + given[0].mean() - 0.5, 0.02, 0.98)
      rounds.append(adaptive_session.draw(left, predicted[left], sum(map(np.sum, given)), 300, num,
                                          draw))
      given.append(answers[rounds[-1].samples])
      left = np.setdiff1d(left, rounds[-1].samples)
    one = adaptive_session.accuracy_of(rounds, given, 300, 300)
    found.append(one.value)
    covered += one.low <= answers.mean() <= one.high
  error = np.std(found) / np.sqrt(600)
  assert abs(np.mean(found) - answers.mean()) < 4 * error
  assert covered >= 0.93 * 600


def test_all_answers_give_a_point():
  rounds, given, left, answers = [], [], np.arange(20), np.arange(20) % 3 / 2
  for num in (8, 12):
    rounds.append(adaptive_session.draw(left, np.full(len(left), 0.3), sum(map(np.sum, given)), 20,
                                        num, np.random.default_rng(num)))
    given.append(answers[rounds[-1].samples])
    left = np.setdiff1d(left, rounds[-1].samples)
  one = adaptive_session.accuracy_of(rounds, given, 20, 20)
  assert one.low == one.value == one.high == pytest.approx(answers.mean())


def test_sizes_of_rounds():
  half = np.full(100_000, 0.5)
  assert adaptive_session.next_size(half, 0, 1.0, 0.02, 100_000) == 64
  # At most as many as there are answers; at least 32.
  assert adaptive_session.next_size(half, 64, 0.24, 0.02, 100_000) == 64
  assert adaptive_session.next_size(half, 64, 0.2401, 0.24, 100_000) == 32
  # Half of the inverse variance is missing: 0.25 / n - 0.25 / N is to be twice what is wanted.
  wanted = (0.01 / 1.959963984540054) ** 2
  need = 1.05 * 0.25 / (2 * wanted + 0.25 / 100_000)
  assert adaptive_session.next_size(half, 5000, 0.02 * np.sqrt(2), 0.02, 100_000) == np.ceil(need)


def test_of_very_many_samples_a_random_choice_is_the_pool():
  assert adaptive_session.pool(1000, 0.02, 0).tolist() == list(range(1000))
  some = adaptive_session.pool(1_000_000, 0.02, 0)
  assert len(some) == 1 << 17 and np.all(np.diff(some) > 0) and some[-1] > 900_000
  assert len(adaptive_session.pool(1_000_000, 0.01, 0)) == 380_000
