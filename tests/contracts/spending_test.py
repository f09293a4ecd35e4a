# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Events within a budget: what is rehearsed is what is run, and nothing else changes."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.state import context as context_lib
from suite.state import journal
from suite.state import weight_store

BEFORE, FIRST, SECOND, AFTER = 100, 10, 1, 1000  # FLOPs before, of a step of each loop, after.


class Counter(tf.Module):
  """Counts its steps of two loops, and stores something."""

  def __init__(self):
    super().__init__()
    self.steps = tf.Variable([0, 0], trainable=False)
    self.runs = []  # Whether each call was a rehearsal: of the test, no state.

  @spending.event
  def learn(self, wanted, context):
    if context.is_over:
      return {"steps": [0, 0]}
    self.runs.append(rehearsal.counts_only())
    context.ledger.charge("train", flops=BEFORE, macs=0)
    first = context.grant(wanted[0])
    self.steps.assign_add([first, 0])
    second = 0 if context.is_over else context.grant(wanted[1])
    self.steps.assign_add([0, second])
    context.journal.save_partial("place", {}, {"steps": self.steps.numpy()})
    context.ledger.charge("train", flops=first * FIRST + second * SECOND + AFTER, macs=0)
    entry = context.store.save("steps", [self.steps.numpy()])
    np.testing.assert_array_equal(context.store.load(entry)[0], self.steps.numpy())
    assert context.store.has(entry)
    return {"steps": [first, second]}


def context_of(folder: pathlib.Path, budget: int | None) -> context_lib.Context:
  ledger = ledger_lib.Ledger(None if budget is None else ledger_lib.Budget(flops=budget))
  return context_lib.Context(
      0, ledger, seeds.Seeds(0), distribution.build(), weight_store.WeightStore(folder, 0),
      journal.Journal(0, ledger))


def brute_force(budget: int, wanted: tuple[int, int]) -> list[int]:
  """Steps of both loops, taken one after the other while the whole is covered."""
  found = [0, 0]
  for place in (0,) * wanted[0] + (1,) * wanted[1]:
    more = [n + (i == place) for i, n in enumerate(found)]
    if BEFORE + more[0] * FIRST + more[1] * SECOND + AFTER > budget:
      break
    found = more
  return found


@pytest.mark.parametrize("budget", [1109, 1110, 1119, 1130, 1139, 1140, 1141, 1146, 1147, 5000])
def test_as_many_steps_are_taken_as_one_by_one_and_the_rehearsals_leave_no_trace(tmp_path, budget):
  wanted, learner = (4, 7), Counter()
  expected, context = brute_force(budget, wanted), context_of(tmp_path, budget)
  if not sum(expected):
    with pytest.raises(ledger_lib.BudgetError, match="does not cover its first step: 1,110 of"):
      learner.learn(wanted, context)
    assert not any(learner.steps.numpy()) and not list(tmp_path.iterdir())
    return
  assert learner.learn(wanted, context) == {"steps": expected}
  assert learner.steps.numpy().tolist() == expected
  assert context.ledger.spent()[0] == BEFORE + AFTER + expected[0] * FIRST + expected[1] * SECOND
  assert context.ledger.is_cut == (expected != list(wanted))
  assert learner.runs.count(False) == 1 and not learner.runs[-1]
  assert context.journal.partial("place") is not None
  assert [path.name for path in tmp_path.iterdir()] == ["000000.steps.npz"]
  if context.ledger.is_cut:  # Nothing changes any more, and nothing is spent.
    before = context.ledger.spent()
    assert learner.learn(wanted, context) == {"steps": [0, 0]}
    assert context.ledger.spent() == before and learner.steps.numpy().tolist() == expected


def test_without_a_budget_nothing_is_rehearsed(tmp_path):
  learner = Counter()
  assert learner.learn((4, 7), context_of(tmp_path, None)) == {"steps": [4, 7]}
  assert learner.runs == [False]


def test_what_asks_for_no_step_is_done_whole_or_not_at_all(tmp_path):
  module, done = tf.Module(), []

  def act(context):
    if context.is_over:
      return "nothing"
    context.ledger.charge("select", flops=60, macs=0)
    done.append(rehearsal.counts_only())
    return "found"

  context = context_of(tmp_path, 100)
  assert spending.within(module, context, act) == "found" and done == [True, False]
  assert spending.within(module, context, act) == "nothing" and done[2:] == [True]
  assert context.ledger.is_cut and context.ledger.spent() == (60, 0)
  # What costs nothing goes on, such as a count of phases.
  assert spending.within(module, context, lambda context: "counted") == "counted"


def test_an_error_in_a_rehearsal_leaves_the_learner_and_the_process_as_they_were(tmp_path):
  learner = Counter()

  def fails(context):
    learner.steps.assign([5, 5])
    raise OSError("the disk is full")

  with pytest.raises(OSError, match="full"):
    spending.within(learner, context_of(tmp_path, 100), fails)
  assert learner.steps.numpy().tolist() == [0, 0] and rehearsal.current() is None


def test_a_price_names_the_ops_that_cannot_be_counted():
  graph = tf.function(lambda x: tf.linalg.svd(x, compute_uv=False), autograph=False)

  def act(ledger):
    cost = spending.flops.count(graph.get_concrete_function(tf.TensorSpec([3, 3])))
    ledger.charge("train", flops=cost.flops, macs=cost.macs)

  assert spending.price(act).flops is None and "Svd" in spending.price(act).uncounted[0]
