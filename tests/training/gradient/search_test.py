# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.contracts import rehearsal
from suite.training.gradient import search


def _train(failing=()):
  def train(trial, hyper):
    if trial in failing:
      return {"status": "failed", "validation_error": None}
    return {"status": "done", "validation_error": abs(hyper["learning_rate"] - 0.01)}
  return lambda wave: [train(*one) for one in wave]


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
  trials, _ = search.Search(num_trials=2).run(
      _train(), seed=1, decide=lambda first, propose: [chosen] * len(propose()))
  assert [{name: trial[name] for name in chosen} for trial in trials] == [chosen, chosen]


def test_named_dimensions_are_drawn_and_recorded_as_they_are():
  space = {"weight": (0.01, 100.0, "log"), "batch_size": [16, 64], "crop": [True, False],
           "backbone": ["vgg", "resnet34"], "flip": True, "share": (1.0, 2.0)}
  trials, _ = search.Search(num_trials=40, space=space).run(_train(), seed=3)
  plain, _ = search.Search(num_trials=40).run(_train(), seed=3)
  assert sorted(t["weight"] for t in trials)[20] < 10  # The median of a log-uniform draw is 1.
  assert {t["batch_size"] for t in trials} == {16, 64}
  assert {type(t["crop"]) for t in trials} == {bool} and len({t["crop"] for t in trials}) == 2
  assert {t["backbone"] for t in trials} == {"vgg", "resnet34"}
  assert all(t["flip"] is True and 1 <= t["share"] <= 2 for t in trials)
  assert trials[0]["learning_rate"] == plain[0]["learning_rate"]  # Further ones are drawn after.


def test_a_grid_visits_every_value_once():
  grid = search.Search("grid", 4, learning_rate=[1e-4, 1e-3, 1e-2, 1e-1], label_smoothing=0.15)
  trials, best = grid.run(_train(), seed=0)
  assert sorted(t["learning_rate"] for t in trials) == [1e-4, 1e-3, 1e-2, 1e-1]
  assert trials[best]["learning_rate"] == 1e-2
  assert {t["label_smoothing"] for t in trials} == {0.15}


BAYESIAN = search.Search(
    "bayesian", 6, space={"crop": [True, False], "batch_size": [16, 32, 64]}, initial_trials=2)
SEED = 2  # Of the two random trials one crops, the other does not.


def _crops(wave):
  return [{"status": "done", "validation_error": 0.2 if hyper["crop"] else 0.8}
          for _, hyper in wave]


@pytest.fixture(scope="module", name="bayesian")
def _bayesian():
  """A search, and all of its decisions by the number of the wave's first trial."""
  decided = {}

  def decide(first, propose):
    return decided.setdefault(first, propose())

  return BAYESIAN.run(_crops, SEED, decide=decide)[0], decided


def test_gp_ucb_takes_to_what_was_better(bayesian):
  trials, decided = bayesian
  assert sorted(decided) == [0, 1, 2, 3, 4, 5]
  crops = [t["crop"] for t in trials]
  assert set(crops[:2]) == {True, False}
  assert crops[2:].count(True) >= 3


def test_a_resumed_gp_proposes_what_it_would_have_proposed(bayesian):
  trials, decided = bayesian
  asked = []

  def decide(first, propose):
    if first < 4:
      return decided[first]  # From the journal: nothing is fitted again.
    asked.append(first)
    return propose()

  assert BAYESIAN.run(_crops, SEED, decide=decide)[0] == trials and asked == [4, 5]


def test_trials_of_one_wave_differ_and_know_no_result_of_it():
  found = search.Search("bayesian", 4, initial_trials=1, at_once=3, learning_rate=0.1)
  waves = []

  def train(wave):
    waves.append(wave)
    return _train()(wave)

  trials, _ = found.run(train, 1)
  assert [[number for number, _ in wave] for wave in waves] == [[0, 1, 2], [3]]
  assert len({t["label_smoothing"] for t in trials}) == 4


def test_trials_without_results_are_drawn_at_random_and_as_many(monkeypatch):
  monkeypatch.setattr(search, "bayesian", None)  # Not called.
  asked = search.Search("bayesian", 8, at_once=3, initial_trials=2)
  trials, _ = asked.without_results().run(_train(), seed=3)
  assert len({trial["learning_rate"] for trial in trials}) == 8
  with rehearsal.begun(measures=False):
    assert asked.run(_train(), seed=3)[0] == trials
  for oracle in ("random", "grid"):
    found = search.Search(oracle, learning_rate=0.1, label_smoothing=[0.0, 0.1])
    assert found.without_results() == found


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
    (dict(learning_rate=(0.0, 0.1)), r"learning_rate is .*low < high and low > 0"),
    (dict(space={"weight": (2.0, 1.0)}), r"weight is \(2.0, 1.0\); give one number, or \(low, hi"),
    (dict(oracle="bayesian", learning_rate=0.1, label_smoothing=0.0), "every dimension has one"),
    (dict(at_once=0), "Search.at_once is 0; it must be at least 1"),
    (dict(space={"weight": ()}), r"weight is \(\); give one value, a tuple"),
    (dict(space={"weight": None}), r"weight is None; give one value, a tuple"),
    (dict(space={"batch_size": [16, "16"]}), "values of a list are of one type, and none comes tw"),
    (dict(space={"learning_rate": 0.1}), "set Search.learning_rate instead"),
])
def test_a_wrong_search_is_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    search.Search(**arguments)


def test_an_unknown_name_is_refused():
  found = search.Search(space={"weight": 1.0, "batchsize": [16, 32]})
  with pytest.raises(ValueError, match="Unknown parameters in Search.space: 'batchsize'. This "
                     "learner reads .* in the space batch_size, weight. Rename or remove"):
    found.check_names(("weight", "batch_size"))
