# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.lifelong.answers import answer_sampling


def _ask(truth, budget, **settings):
  asked = []

  def ask(samples):
    asked.append(samples)
    return truth[samples]

  found = answer_sampling.ask_nested(lambda ranks: len(truth) - 1 - ranks, len(truth), ask, budget,
                                     **settings)
  return found, asked


def test_a_larger_budget_asks_the_same_first():
  truth = np.random.default_rng(0).integers(0, 2, 500)
  small, large = _ask(truth, 30)[0], _ask(truth, 100)[0]
  np.testing.assert_array_equal(small.samples, large.samples[:30])
  np.testing.assert_array_equal(large.answers, truth[large.samples])
  samples, answers = large.by_rank()
  assert np.all(np.diff(samples) < 0)  # Rank 0 is the last sample here.
  np.testing.assert_array_equal(answers, truth[samples])


def test_observed_answers_are_kept():
  asked = answer_sampling.Asked(np.array([7, 2]), np.array([0, 1]), np.array([1, 0], np.uint8))
  np.testing.assert_array_equal(asked.keep(np.array([2, 3, 7, 9]), np.full(4, 0.5)),
                                [0.0, 0.5, 1.0, 0.5])


def test_it_stops_once_the_interval_is_narrow():
  truth = np.ones(10_000, int)
  found, asked = _ask(truth, 4096, target_width=0.02)
  # All correct: z^2 / (n + z^2) = 0.029 at 128, 0.014 at 256.
  assert [len(part) for part in asked] == [64, 64, 128] and len(found.answers) == 256
  found, asked = _ask(truth, 100, target_width=0.001)
  assert len(found.answers) == 100


def test_wrong_answers_are_named():
  with pytest.raises(ValueError, match=r"Asked 2 samples and got answers of shape \[3\]"):
    answer_sampling.checked_answers(np.zeros(3), 2)
  with pytest.raises(ValueError, match="1 .correct. or 0 .wrong."):
    answer_sampling.checked_answers(np.array([0.5, np.nan]), 2)


def test_check_predictions():
  answers = np.tile([1, 0], 50)
  assert answer_sampling.check_predictions(answers, np.where(answers == 1, 0.7, 0.3))[0]
  supported, reason = answer_sampling.check_predictions(answers, np.full(100, 0.5))
  assert not supported and "use the accuracy only" in reason
  supported, reason = answer_sampling.check_predictions(answers[:8], answers[:8] * 1.0)
  assert not supported and "8 answers are too few" in reason
