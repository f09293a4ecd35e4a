# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Decisions over blocks: the first update ends a block, and what it sees is what has come."""

from __future__ import annotations

import numpy as np
import pytest

from suite.contracts import learner as learner_lib
from suite.data.sequences import sequences
from suite.training.sequence import sequence_decisions
from suite.training.sequence import update_search
from suite.training.sequence import update_strategies


class Learner(learner_lib.SequenceLearner):

  def learn_stored(self, stored, context):
    raise NotImplementedError

  def stored_macs(self, num_stored):
    return 10 * num_stored


class Steps:
  """As `sequence_steps.SequenceSteps`; an answer costs 2 MACs, a label 1."""

  num_answered = num_revealed = 0

  def macs(self, num_answers, num_labels):
    return 2 * num_answers + num_labels


class Seen(update_strategies.Strategy):
  """Writes down what it sees and updates after one step."""

  reads_macs = True

  def __init__(self, at):
    self.at, self.seen = at, []

  def decide(self, observed):
    self.seen.append(tuple(observed))
    return update_strategies.Decision(observed.step == self.at, f"label {observed.step}")

  def steps_until_possible_update(self, step):
    return 0


def decisions(strategy, labels=(0, 1, 1, 2, 0), delays=0, learner=None):
  images = np.zeros([len(labels), 1, 1, 3], np.uint8)
  sequence = sequences.Sequence(images, labels, list("abcdefghij")[:len(labels)], 1, 3,
                                delays=delays)
  sequence.deliver(len(labels) - 1)
  made = sequence_decisions.SequenceDecisions(
      strategy, learner or Learner(), sequence)
  made.resume(None, np.zeros(0, bool), np.array([True, False, False]))
  made.begin_event(100)
  return made


def test_a_block_stands_up_to_the_first_update():
  made = decisions(Seen(3))
  found = made.decide(Steps(), np.array([True, False, True, True, True]))
  assert found.num_steps == 3 and found.is_update and found.decision.reason == "label 3"
  # Step, correct, new, MACs of an update over n labels, MACs spent by then.
  assert made.strategy.seen == [
      (1, True, False, 10, 103), (2, False, True, 20, 106), (3, True, False, 30, 109)]


def test_late_labels_are_judged_by_their_own_answers():
  made = decisions(Seen(2), delays=np.array([2, 0, 0, 0, 0]))
  found = made.decide(Steps(), np.array([False, True, True, True, True]))
  # Label 0 comes after step 2, before that of sample 2; both are seen before the update.
  assert made.strategy.seen == [
      (1, True, True, 10, 105), (2, False, False, 20, 108), (3, True, False, 30, 109)]
  assert found.num_steps == 3 and found.decision.reason == "label 2"


def test_refusals_are_counted():
  strategy = update_strategies.WithinBudget(update_strategies.Every(1), total=125)
  found = decisions(strategy).decide(Steps(), np.ones(5, bool))
  assert found.num_steps == 1 and found.is_update  # 103 + 10.
  strategy = update_strategies.WithinBudget(update_strategies.Every(1), total=110)
  found = decisions(strategy).decide(Steps(), np.ones(5, bool))
  assert (found.num_steps, found.is_update, found.refused) == (5, False, 5)


def test_a_right_guess_doubles_and_a_new_event_begins_again():
  labels = [0] * 100
  images = np.zeros([100, 1, 1, 3], np.uint8)
  sequence = sequences.Sequence(images, labels, [str(i) for i in range(100)], 1, 3)
  sequence.deliver(99)
  made = sequence_decisions.SequenceDecisions(
      Seen(90), Learner(), sequence)
  made.resume(None, np.zeros(0, bool), np.ones(3, bool))
  made.begin_event(0)
  assert made.stop(Steps(), 100) == 16
  made.decide(Steps(), np.ones(16, bool))
  assert made.stop(Steps(), 100) == 32
  made.begin_event(0)
  assert made.stop(Steps(), 100) == 16
  sure = sequence_decisions.SequenceDecisions(
      update_strategies.Every(40), Learner(), sequence)
  assert sure.stop(Steps(), 100) == 40


def test_a_learner_without_offline_phases_is_never_asked():
  made = decisions(Seen(1), learner=learner_lib.SequenceLearner())
  assert made.decide(Steps(), np.ones(5, bool)) == (5, None, 0)
  assert made.record([], 3)["update_macs"] is None and made.state() == {}


def test_a_strategy_that_cannot_come_to_its_turn_is_refused():
  with pytest.raises(ValueError, match="Every cannot update before sample 6, .* has 5"):
    decisions(update_strategies.Every(6))


class EachAsked(update_strategies.Strategy):
  """Another strategy, which is asked after every label."""

  def __init__(self, strategy):
    self._strategy, self.decide, self.updated = strategy, strategy.decide, strategy.updated
    self.steps_until_possible_update = strategy.steps_until_possible_update


PLANNED = {
    "never": update_strategies.Never, "every": lambda: update_strategies.Every(7),
    "every_last": lambda: update_strategies.Every(4, last=50),
    "geometric": lambda: update_strategies.Geometric(3, 1.4),
    "at": lambda: update_search.At((2, 3, 41, 90)),
    "either": lambda: update_strategies.Either(
        [update_strategies.Every(9), update_search.At((8, 70))])}


@pytest.mark.parametrize("name", PLANNED)
@pytest.mark.parametrize("delay", [0, 5, "random"])
def test_a_planned_strategy_is_asked_less_often_and_decides_the_same(name, delay):
  size, rng = 100, np.random.default_rng(3)
  delays = rng.integers(0, 9, size) if delay == "random" else np.full(size, delay)
  labels, images = rng.integers(0, 3, size), np.zeros([size, 1, 1, 3], np.uint8)
  correct, found = rng.random(size) < 0.5, []
  for wrap in (lambda one: one, EachAsked):
    sequence = sequences.Sequence(
        images, labels, [str(i) for i in range(size)], 1, 3, delays=delays)
    sequence.deliver(size - 1)
    made = sequence_decisions.SequenceDecisions(
        wrap(PLANNED[name]()), Learner(), sequence)
    made.resume(None, np.zeros(0, bool), np.array([True, False, False]))
    made.begin_event(0)
    steps, outcomes = Steps(), []
    while steps.num_answered < size:
      block = correct[steps.num_answered:steps.num_answered + 13]
      outcome = made.decide(steps, block)
      steps.num_answered += outcome.num_steps
      steps.num_revealed = sequence.num_revealed(steps.num_answered)
      if outcome.is_update:
        made.updated(steps.num_revealed)
      outcomes.append((outcome, made._seen.tolist(), made._spent))
    found.append(outcomes)
  assert PLANNED[name]().is_planned and not EachAsked(PLANNED[name]()).is_planned
  assert found[0] == found[1]
  assert name == "never" or sum(outcome.is_update for outcome, *_ in found[0]) > 2
