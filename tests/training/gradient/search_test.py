# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.training.gradient import search


def _train(failing=()):
  def train(trial, hyper):
    if trial in failing:
      return {"status": "failed", "validation_error": None}
    return {"status": "done", "validation_error": abs(hyper["learning_rate"] - 0.01)}
  return train


def test_the_papers_space_is_drawn_log_uniformly():
  trials, best = search.Search(num_trials=40).run(_train(), seed=1)
  rates = sorted(t["learning_rate"] for t in trials)
  assert len(trials) == 40 and rates[0] >= 1e-4 and rates[-1] <= 1e-1
  # A log-uniform draw has its median near sqrt(1e-4 * 1e-1) = 3.2e-3; a uniform one near 5e-2.
  assert 1e-3 < rates[20] < 1e-2
  assert all(0 <= t["label_smoothing"] <= 0.3 for t in trials)
  assert trials[best]["validation_error"] == min(t["validation_error"] for t in trials)


def test_the_same_seed_proposes_the_same():
  a, b, c = (search.Search(num_trials=4).run(_train(), seed=s)[0] for s in (5, 5, 6))
  assert a == b != c


def test_a_process_tries_what_the_chief_draws():
  chosen = {"learning_rate": 0.02, "label_smoothing": 0.1}
  trials, _ = search.Search(num_trials=2).run(_train(), seed=1, agreed=lambda drawn: chosen)
  assert [{name: trial[name] for name in chosen} for trial in trials] == [chosen, chosen]


def test_a_grid_visits_every_value_once():
  grid = search.Search("grid", 4, learning_rate=[1e-4, 1e-3, 1e-2, 1e-1], label_smoothing=0.15)
  trials, best = grid.run(_train(), seed=0)
  assert sorted(t["learning_rate"] for t in trials) == [1e-4, 1e-3, 1e-2, 1e-1]
  assert trials[best]["learning_rate"] == 1e-2
  assert {t["label_smoothing"] for t in trials} == {0.15}


def test_gp_ucb_runs():
  trials, _ = search.Search("bayesian", 5).run(_train(), seed=0)
  assert len(trials) == 5


def test_a_failed_trial_does_not_stop_the_search():
  trials, best = search.Search(num_trials=5).run(_train(failing=(0, 1, 2, 3)), seed=0)
  assert [t["status"] for t in trials] == ["failed"] * 4 + ["done"] and best == 4


def test_all_failed_is_an_error_that_lists_the_rates():
  message = r"All 2 trials .*learning rates \[0.1, 0.1\]"
  with pytest.raises(search.AllTrialsFailedError, match=message):
    search.Search(num_trials=2, learning_rate=0.1).run(_train(failing=(0, 1)), seed=0)


@pytest.mark.parametrize("arguments, message", [
    (dict(oracle="magic"), "Unknown oracle 'magic'; allowed are random, grid, bayesian"),
    (dict(num_trials=0), "at least one trial"),
])
def test_a_wrong_search_is_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    search.Search(**arguments)


def test_a_wrong_space_is_refused():
  with pytest.raises(ValueError, match="learning_rate is .* low > 0"):
    search.Search(learning_rate=(0.0, 0.1)).run(_train(), seed=0)
