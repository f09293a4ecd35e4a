# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The queue of trials without networks: who trains, who counts, what a killed process leaves."""

import threading
import time

import numpy as np
import pytest

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.state import context as context_lib
from suite.state import journal
from suite.state import snapshots
from suite.state import trial_queue
from suite.state import weight_store

WAVE = [(number, {"rate": 0.1 * number}) for number in range(4)]


class _Kill(Exception):
  pass


class _Process:
  """One that shares trials; a killed one frees its locks and loses its memory."""

  def __init__(self, folder, trials, *, saves=True):
    ledger = ledger_lib.Ledger()
    self.trained, self.trials = [], trials
    self.context = context_lib.Context(
        event=7, ledger=ledger, seeds=seeds.Seeds(0), distribution=distribution.build(),
        store=weight_store.WeightStore(folder / "w", 7), journal=journal.Journal(
            7, ledger, snapshots.Snapshots(folder / "progress") if saves else None))

  def run(self, wave=WAVE, killed_at=None, before=lambda: None):
    """Four steps a trial, saved after two; `before` each trial."""
    def train(number, hyper, context):
      return context.journal.once(
          trial_queue.key("task", number), lambda: steps(number, hyper, context))

    def steps(number, hyper, context):
      before()
      partial = context.journal.partial(trial_queue.key("task", number))
      for step in range(partial.values["step"] if partial else 0, 4):
        self.trained.append((number, step))
        context.ledger.charge("search", flops=10 + number, macs=1, steps=1)
        if (number, step) == killed_at:
          raise _Kill
        if step == 1:
          context.journal.save_partial(
              trial_queue.key("task", number), {"step": 2}, {"w": np.zeros([2])})
      context.store.save(f"trial{number}", [np.full([3], hyper["rate"])])
      return {"status": "done", "validation_error": hyper["rate"]}

    return self.trials.run("task", train, wave, self.context)

  def outcome(self, results):
    totals = self.context.ledger.totals()
    weights = [self.context.store.load(self.context.store.own(f"trial{n}"))[0].tolist()
               for n, _ in WAVE]
    return results, {k: v for k, v in totals.items() if not k.startswith("sec")}, weights


@pytest.fixture(name="expected")
def _expected(tmp_path):
  process = _Process(tmp_path / "whole", trial_queue.InTurn())
  return process.outcome(process.run())


def _queue(folder, **arguments):
  return trial_queue.TrialQueue(folder / "search", **arguments)


def test_one_process_gives_what_trials_in_turn_give(expected, tmp_path):
  process = _Process(tmp_path, _queue(tmp_path))
  assert process.outcome(process.run()) == expected


def test_a_helper_takes_trials_and_the_chief_counts_them_once(expected, tmp_path):
  chief = _Process(tmp_path, _queue(tmp_path))
  helper = _Process(tmp_path / "h", _queue(tmp_path, chief_has_ended=lambda: False), saves=False)
  released = []

  def help_out():
    with pytest.raises(trial_queue.Released):
      helper.run()
    released.append(True)

  thread = threading.Thread(target=help_out)

  def until_helped():
    """The chief's first trial takes as long as three of the helper."""
    if not chief.trained:
      thread.start()
      while len(helper.trained) < 12:
        time.sleep(0.001)

  results = chief.run(before=until_helped)
  chief.trials.close()
  thread.join(60)
  assert released and chief.outcome(results) == expected
  assert {n for n, _ in chief.trained} == {0} and {n for n, _ in helper.trained} == {1, 2, 3}


@pytest.mark.parametrize("killed_at", [(0, 0), (1, 3), (3, 1)])
def test_a_killed_chief_resumes_with_what_is_finished(expected, tmp_path, killed_at):
  first = _Process(tmp_path, _queue(tmp_path))
  with pytest.raises(_Kill):
    first.run(killed_at=killed_at)
  again = _Process(tmp_path, _queue(tmp_path))
  assert again.outcome(again.run()) == expected
  assert not {n for n, _ in again.trained} & set(range(killed_at[0]))  # No trial twice.
  if killed_at[1] == 3:  # It was saved at step 2.
    assert (killed_at[0], 1) not in again.trained


def test_a_trial_of_a_killed_helper_is_taken_over_from_its_last_save(expected, tmp_path):
  chief = _queue(tmp_path)
  opener = _Process(tmp_path, chief)
  with pytest.raises(_Kill):  # It opens the search and dies in the first trial.
    opener.run(killed_at=(0, 0))
  helper = _Process(tmp_path / "h", _queue(tmp_path, chief_has_ended=lambda: True), saves=False)
  with pytest.raises(_Kill):
    helper.run(killed_at=(2, 3))
  again = _Process(tmp_path, chief)
  assert again.outcome(again.run()) == expected
  assert again.trained == [(2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3)]


def test_a_trial_begun_without_sharing_is_ended_and_charged_once(expected, tmp_path):
  alone = _Process(tmp_path, trial_queue.InTurn())
  with pytest.raises(_Kill):
    alone.run(killed_at=(1, 3))
  shared = _Process(tmp_path, _queue(tmp_path))
  assert shared.outcome(shared.run()) == expected
  assert shared.trained[0] == (1, 2) and 0 not in dict(shared.trained)


def test_a_helper_leaves_when_its_chief_has_ended_or_the_search_is_another(tmp_path):
  helper = _Process(tmp_path, _queue(tmp_path, chief_has_ended=lambda: True), saves=False)
  with pytest.raises(trial_queue.Released):
    helper.run()
  assert not helper.trained
