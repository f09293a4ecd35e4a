# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Update strategies on short sequences worked by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite.training.sequence import update_strategies


def step(t, correct=True, is_new=False, **macs):
  return update_strategies.Observed(t, correct, is_new, **macs)


def updates(strategy, steps):
  """The steps after which there is an update."""
  made = []
  for observed in steps:
    if strategy.decide(observed).update:
      strategy.updated(observed.step)
      made.append(observed.step)
  return made


def plain(num):
  return [step(t) for t in range(1, num + 1)]


def of_errors(errors):
  return [step(t, correct=not error) for t, error in enumerate(errors, start=1)]


def test_never():
  strategy = update_strategies.Never()
  assert updates(strategy, plain(10)) == []
  assert strategy.decide(step(1)) == (False, "never")


def test_every():
  strategy = update_strategies.Every(3)
  assert updates(strategy, plain(10)) == [3, 6, 9]
  assert strategy.decide(step(3)) == (True, "3 of 3 samples")
  assert strategy.decide(step(4)) == (False, "1 of 3 samples")
  assert updates(update_strategies.Every(3, last=6), plain(10)) == [3, 6]


def test_every_5000_of_the_papers_sequence_are_17_updates():
  strategy, made, t = update_strategies.Every(5000), 0, 0
  while t + strategy.steps_until_possible_update(t) + 1 <= 89_921:
    t += strategy.steps_until_possible_update(t) + 1
    made += strategy.decide(step(t)).update
  assert made == 17 and t == 85_000


def test_geometric():
  assert updates(update_strategies.Geometric(2), plain(40)) == [2, 4, 8, 16, 32]
  # floor(1.5 due), but always at least one more: 1, 2, 3, 4, 6, 9, 13.
  assert updates(update_strategies.Geometric(1, 1.5), plain(13)) == [1, 2, 3, 4, 6, 9, 13]


def test_on_new_classes():
  steps = [step(t, is_new=t in (1, 2, 5, 6, 7, 8)) for t in range(1, 10)]
  strategy = update_strategies.OnNewClasses(3)
  assert updates(strategy, steps) == [5, 8]
  assert strategy.decide(step(10, is_new=True)) == (False, "1 of 3 new classes")


def test_after_errors():
  strategy = update_strategies.AfterErrors(3)
  assert updates(strategy, of_errors([1, 0, 1, 1, 1, 0, 0, 1, 1, 1])) == [4, 9]
  assert strategy.decide(step(11, correct=False)) == (False, "2 of 3 errors")


def test_errors_that_grow_rarer_cause_rarer_updates_and_no_rise():
  rng = np.random.default_rng(0)
  errors = (rng.random(3000) < np.linspace(0.9, 0.2, 3000)).tolist()
  made = updates(update_strategies.AfterErrors(200), of_errors(errors))
  assert len(made) == 8 and np.all(np.diff(made, 2) > -40) and made[-1] - made[-2] > 2 * made[0]
  assert updates(update_strategies.OnError(), of_errors(errors)) == []


def test_page_hinkley_worked_by_hand():
  # Errors 0 0 1 1; means 0, 0, 1/3, 1/2; tolerance 0.1. u: -0.1, -0.2, 0.3667, 0.7667;
  # least: -0.1, -0.2, -0.2, -0.2; rise: 0, 0, 0.5667, 0.9667.
  strategy = update_strategies.OnError(threshold=0.9, tolerance=0.1, warm_up=0)
  decisions = [strategy.decide(o) for o in of_errors([0, 0, 1, 1])]
  assert [d.update for d in decisions] == [False, False, False, True]
  assert decisions[2].reason.startswith("0.5667 of 0.9 errors above the mean, 3 steps")
  assert decisions[3].reason.startswith("0.9667 of 0.9 ")
  strategy.updated(4)
  assert strategy.state() == {"steps": 0, "errors": 0, "sum": 0.0, "least": 0.0}


def test_page_hinkley_fires_on_a_rise_and_not_on_a_constant_error():
  rng = np.random.default_rng(0)
  calm = (rng.random(2000) < 0.3).tolist()
  strategy = update_strategies.OnError()
  assert updates(strategy, of_errors(calm)) == []
  drift = [1] * 120
  made = updates(strategy, [step(2001 + t, correct=False) for t in range(len(drift))])
  assert made and 2010 < made[0] < 2060  # Each error adds less than 0.7.


def test_warm_up_holds_an_alarm_back():
  errors = [0, 0, 1, 1, 1, 1]
  assert updates(update_strategies.OnError(0.9, 0.1, warm_up=5), of_errors(errors)) == [6]


def test_either_tells_all_of_an_update():
  new = update_strategies.OnNewClasses(2)
  strategy = update_strategies.Either([update_strategies.Every(4), new])
  steps = [step(t, is_new=t in (3, 5, 6)) for t in range(1, 9)]
  # Step 4 forgets the class of step 3, so that step 6 is the second new one.
  assert updates(strategy, steps) == [4, 6, 8]
  assert strategy.decide(step(12, is_new=True)).reason == "4 of 4 samples"
  assert strategy.decide(step(13, is_new=True)).reason == "2 of 2 new classes"


def test_a_total_budget_is_never_exceeded():
  # An update at step t costs t, a prediction 1: 2 + 2 = 4 and 8 + ... of 12.
  strategy = update_strategies.WithinBudget(update_strategies.Every(2), total=12)
  spent, made = 0, []
  for t in range(1, 9):
    spent += 1
    decision = strategy.decide(step(t, update_macs=t, spent_macs=spent))
    if decision.update:
      spent += t
      made.append(t)
    if t == 6:
      assert decision == (False, "2 of 2 samples; 18 of 12 MACs: refused")
  assert made == [2, 4] and spent == 8 + 2 + 4


def test_a_budget_by_sample_makes_updates_as_soon_as_they_can_be_paid():
  # 3 MACs a sample, 1 of them for the prediction, 5 an update: at step t there are 2 t - 5 k left.
  strategy = update_strategies.WithinBudget(update_strategies.Every(1), per_sample=3)
  spent, made = 0, []
  for t in range(1, 11):
    spent += 1
    if strategy.decide(step(t, update_macs=5, spent_macs=spent)).update:
      spent += 5
      made.append(t)
  assert made == [3, 5, 8, 10]


def test_a_refused_wish_stays():
  strategy = update_strategies.WithinBudget(update_strategies.Geometric(2), per_sample=3)
  decisions = [strategy.decide(step(t, update_macs=5, spent_macs=t)).update for t in (1, 2, 3)]
  assert decisions == [False, False, True]


def test_a_budget_needs_costs():
  strategy = update_strategies.WithinBudget(update_strategies.Every(1), total=5)
  with pytest.raises(ValueError, match="MACs of an update are unknown at step 1"):
    strategy.decide(step(1, spent_macs=1))
  with pytest.raises(ValueError, match="no budget"):
    update_strategies.WithinBudget(update_strategies.Every(1))


def strategies():
  return [
      update_strategies.Never(), update_strategies.Every(7), update_strategies.Every(7, last=50),
      update_strategies.Geometric(3, 1.7), update_strategies.OnNewClasses(4),
      update_strategies.OnError(3.0, 0.01, 5), update_strategies.AfterErrors(9),
      update_strategies.Either([update_strategies.Every(50), update_strategies.OnError(4.0),
                                  update_strategies.OnNewClasses(6)]),
      update_strategies.WithinBudget(update_strategies.OnNewClasses(2), total=3000,
                                       per_sample=20)]


def random_steps(seed, num=300):
  rng = np.random.default_rng(seed)
  correct, is_new = rng.random(num) < np.linspace(0.9, 0.3, num), rng.random(num) < 0.2
  return [step(t + 1, bool(correct[t]), bool(is_new[t]), update_macs=10 * t, spent_macs=2 * t)
          for t in range(num)]


@pytest.mark.parametrize("number", range(9))
def test_resumed_at_any_step_the_decisions_are_the_same(number):
  steps = random_steps(number)
  for stop in (0, 1, 77, 299):
    one, expected = strategies()[number], []
    for observed in steps:
      if observed.step == stop + 1:
        kept = json.dumps(one.state())
      expected.append(one.decide(observed))
      if expected[-1].update:
        one.updated(observed.step)
    other = strategies()[number]
    other.restore(json.loads(kept))
    for observed in steps[stop:]:
      decision = other.decide(observed)
      assert decision == expected[observed.step - 1]
      if decision.update:
        other.updated(observed.step)
    assert other.state() == one.state()


@pytest.mark.parametrize("number", range(9))
def test_no_update_comes_before_a_possible_one(number):
  strategy, until = strategies()[number], -1
  made = 0
  for observed in random_steps(number):
    decision = strategy.decide(observed)
    assert not (decision.update and observed.step <= until)
    if decision.update:
      strategy.updated(observed.step)
      made += 1
    until = observed.step + strategy.steps_until_possible_update(observed.step)
  assert made or number == 0


@pytest.mark.parametrize("make, message", [
    (lambda: update_strategies.Every(0), "Every.interval is 0"),
    (lambda: update_strategies.OnNewClasses(1.5), "OnNewClasses.count is 1.5"),
    (lambda: update_strategies.Geometric(1, 1.0), "Geometric.factor is 1.0"),
    (lambda: update_strategies.OnError(threshold=0), "threshold=0"),
    (lambda: update_strategies.AfterErrors(0), "AfterErrors.count is 0"),
    (lambda: update_strategies.Either([]), "no strategies")])
def test_wrong_values_are_named(make, message):
  with pytest.raises(ValueError, match=message):
    make()


def test_a_state_of_other_strategies_is_refused():
  state = update_strategies.Either([update_strategies.Every(2)]).state()
  with pytest.raises(ValueError, match="1 strategies, but there are 2"):
    update_strategies.Either([update_strategies.Every(2)] * 2).restore(state)


def test_one_by_its_name():
  strategies = {"never": update_strategies.Never(), "often": update_strategies.Every(2)}
  assert update_strategies.named("often", strategies) is strategies["often"]
  with pytest.raises(ValueError, match="strategy 'ofen'; allowed are never, often"):
    update_strategies.named("ofen", strategies)


def test_macs_are_counted_only_for_a_strategy_within_a_budget():
  assert not update_strategies.Every(5).reads_macs
  budget = update_strategies.WithinBudget(update_strategies.Every(1), total=100)
  assert budget.reads_macs
  assert update_strategies.Either([update_strategies.Every(5), budget]).reads_macs
  assert not update_strategies.Either([update_strategies.Every(5)]).reads_macs
