# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One phase: what is called when, at which rates, on which rows, and what is charged."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import optimizers
from suite.training.gradient import phase as phase_lib
from suite.training.gradient import schedules
from suite.training.gradient import trainable_parts
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.memories import step_rows
from suite.training.objectives import objective as objective_lib

D, C, N = 3, 4, 10
RECIPE = phase_lib.Recipe(
    train_on="current", replay_batch=0, epochs=2, batch_size=4, learning_rate=0.5,
    schedule=schedules.EpochSteps(1), observe_batch=4, keeps_velocities=False)


class Said(objective_lib.Objective):
  """Notes what is called when; `said` is shared with the head."""

  def __init__(self, said, observes=""):
    super().__init__()
    self.said = said
    self.observes = objective_lib.Observes(observes) if observes else None

  def begin_phase(self, now=None):
    self.said.append(f"begin_phase {None if now is None else now.numpy().tolist()}")

  def step(self, rows, net, memory):
    tf.numpy_function(lambda n: self.said.append(f"step {n}"), [tf.shape(rows.images)[0]], [])
    super().step(rows, net, memory)

  def observe(self, answers_of, images, labels, mask=None):
    tf.numpy_function(lambda x: self.said.append(f"observe {x[:, 0].astype(int).tolist()}"),
                      [images], [])

  def end_phase(self, known=None):
    self.said.append(f"end_phase {None if known is None else known.numpy().tolist()}")


class Head(class_heads.Linear):
  """Notes the counts that it is given."""

  def __init__(self, said, start="glorot"):
    super().__init__(start)
    self.said = said

  def before_phase(self, counts, variables):
    self.said.append(f"head before {counts.tolist()}")
    return super().before_phase(counts, variables)

  def after_phase(self, counts):
    self.said.append(f"head after {counts.tolist()}")

  def after_base(self, known):
    self.said.append("after_base")


@dataclasses.dataclass
class Made:
  """All that a phase is about."""

  said: list
  reports: list
  net: composition.ComposedNet
  loop: object
  objective: objective_lib.Objective
  context: context.Context
  watched: phase_lib.CodedExamples

  def phase(self, recipe=RECIPE, is_first=True, memory=None):
    return phase_lib.Phase(self.net, self.loop, self.objective, memory, self.watched, recipe,
                           is_first, self.context)


@pytest.fixture(name="make")
def _make(tmp_path):
  def make(observes="", start="glorot", silent=True, optimizer=None):
    said, reports, account = [], [], ledger.Ledger()
    part = trainable_parts.HeadOnly()
    part.prepare((D,))
    net = composition.ComposedNet(part, Head(said, start), C)
    net.set_weights(0)
    objective = objective_lib.Objective() if silent else Said(said, observes)
    optimizer = optimizer or optimizers.Sgd(net.model.trainable_variables)
    watched = examples(3, 100) if observes == objective_lib.VALIDATION else examples(0)
    here = context.Context(
        event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
        store=weight_store.WeightStore(tmp_path, 0), journal=journal.Journal(0, account),
        report=lambda **values: reports.append(values))
    return Made(said, reports, net, net.loop(objective, optimizer, replay_batch=2), objective, here,
                watched)

  return make


def examples(num, first=0):
  """Example i is (i, 1, ...), of class i % C."""
  codes = np.ones([num, D], np.float32)
  codes[:, 0] = first + np.arange(num)
  return phase_lib.CodedExamples(tf.constant(codes), np.arange(num) % C)


def data(num=N, classes=None, held=0, width=0):
  codes, labels = examples(num)
  return objective_lib.Data(codes, tf.constant(labels), tf.range(held, dtype=tf.int64),
                            tf.zeros([held, width]), classes)


def known(*masks):
  return objective_lib.Classes(*(tf.constant(np.array(m, bool)) for m in masks))


def test_the_order_of_calls_in_a_first_phase(make):
  made = make("training", silent=False)
  masks = known([1, 1, 0, 1], [1, 0, 0, 0], [1, 0, 0, 0])
  outcome = made.phase().train(data(classes=masks), 6, first=3, last="even")
  # Rows 3 to 8, of the classes 3, 0, 1, 2, 3, 0; two epochs of two even batches.
  counts = [2, 1, 1, 2]
  assert made.said == [
      f"head before {counts}", f"begin_phase {[True] * 4}", "step 3", "step 3", "step 3", "step 3",
      "observe [3, 4, 5, 6]", "observe [7, 8]", f"head after {counts}",
      "end_phase [True, True, False, True]"]
  assert (outcome.observed, outcome.started, outcome.plan.num_steps) == (6, 0, 4)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_validation_split_is_watched_after_the_first_phase_and_before_others(make, is_first):
  made = make("validation", silent=False)
  outcome = made.phase(is_first=is_first).train(data(), N)
  shown = "observe [100, 101, 102]"
  steps, counts = ["step 4"] * 5, [3, 3, 2, 2]
  end = [f"head after {counts}", "end_phase None"]
  begin = [f"head before {counts}", f"begin_phase {[True] * 4}"]
  assert made.said == ([*begin, *steps, shown, *end] if is_first else
                       [shown, *begin, *steps, *end])
  assert outcome.observed == 3


def spied(made):
  """What the loop is called with."""
  calls, train = [], made.loop.train

  def spy(data, part, rates, *intake):
    velocities = [v.numpy() for v in made.loop.step.optimizer.velocities]
    calls.append((part, rates, any(np.any(v) for v in velocities)))
    return train(data, part, rates, *intake)

  made.loop.train = spy
  return calls


@pytest.mark.parametrize("keeps", [False, True])
def test_rates_follow_the_epochs_and_velocities_begin_as_said(make, keeps):
  made = make()
  calls = spied(made)
  recipe = dataclasses.replace(RECIPE, keeps_velocities=keeps)
  for _ in range(2):
    made.phase(recipe).train(data(), N)
  # 20 rows in 5 steps, the third of which begins in the first epoch.
  for _, rates, _ in calls:
    np.testing.assert_allclose(rates, [0.5, 0.5, 0.5, 0.05, 0.05], rtol=1e-6)
  assert [moving for _, _, moving in calls] == [False, keeps]
  np.testing.assert_array_equal(calls[0][0].incoming.places, calls[1][0].incoming.places)


def test_rows_are_those_of_the_plan_and_the_loss_is_their_mean(make):
  made = make()
  calls = spied(made)
  outcome = made.phase().train(data(), 7, first=2, last="even")
  places = np.concatenate([np.ravel(part.incoming.places) for part, _, _ in calls])
  assert sorted(places) == sorted([*range(2, 9)] * 2)
  expected = array_loop.PhaseRows(7, 2, 4, made.context.seeds.pair("order"), last="even", first=2)
  assert places.tolist() == np.concatenate(
      [np.ravel(part.incoming.places) for part in expected.parts()]).tolist()
  assert [r["step"] for r in made.reports] == [4]
  assert made.reports[-1]["loss"] == pytest.approx(outcome.loss)
  assert made.reports[-1]["steps"] == 4


@pytest.mark.parametrize("draws, replayed", [((), 0), ((None,), 2), ((3,), 3), ((None, 1), 3)])
def test_as_many_slots_are_read_as_a_step_draws(make, draws, replayed):
  made = make()

  def step(rows, net, memory):
    every = step_rows.joined(rows, *(memory.draw(num) for num in draws))
    net.update(net.cross_entropy(net.logits(every), every.labels))

  made.objective.step = step
  calls = spied(made)
  outcome = made.phase().train(data(held=5), N)
  slots = np.concatenate([np.ravel(part.replayed.places) for part, _, _ in calls])
  assert len(slots) == 5 * replayed and set(slots[:5]) == set(range(5) if replayed else ())
  assert outcome.plan.replayed == replayed


def test_new_classes_begin_at_prototypes_of_the_rows_gone_over(make):
  made = make(start="prototypes")
  recipe = dataclasses.replace(RECIPE, learning_rate=1e-9)
  made.phase(recipe).train(data(), 3, first=1)  # Examples 1, 2, 3 of the classes 1, 2, 3.
  np.testing.assert_allclose(made.net.head.kernel[0], [0, 2, 4, 6], atol=1e-5)
  assert made.net.head.trained.numpy().tolist() == [False, True, True, True]
  made.phase(recipe).train(data(), N)  # Class 0 has the examples 0, 4 and 8.
  np.testing.assert_allclose(made.net.head.kernel[0], [8, 2, 4, 6], atol=1e-5)


def test_the_head_alone_is_trained_on_features_and_the_whole_net_remembered(make):
  made = make("training", silent=False)
  codes, labels = examples(6)
  masks = known([1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0])
  features = objective_lib.Data(codes, tf.constant(labels % 2), tf.zeros([0], tf.int64),
                                tf.zeros([0, 0]), masks)
  phase = made.phase()
  before = made.net.head.kernel.numpy()
  outcome = phase.train_head(
    codes, features, 2, 0.1, optimizers.Sgd(made.net.top.trainable_variables)
  )
  assert made.said == [
      "head before [3, 3, 0, 0]", "head after [3, 3, 0, 0]", "after_base", "begin_phase None",
      "observe [0, 1, 2, 3]", "observe [4, 5]", "end_phase [True, True, False, False]"]
  after = made.net.head.kernel.numpy()
  assert (after[:, :2] != before[:, :2]).any() and (after[:, 2:] == before[:, 2:]).all()
  assert outcome.plan.num_rows == 12 and np.isfinite(outcome.loss)
  assert made.context.ledger.totals()["macs"] is None  # Nobody knows what the diary costs.


def test_a_head_of_no_epochs_stays_as_it_begins(make):
  made = make()
  before = made.net.head.kernel.numpy()
  phase = made.phase()
  outcome = phase.train_head(*[data(6).codes, data(6, known(*[[1] * C] * 3))], 0, 0.1,
                             optimizers.Sgd(made.net.top.trainable_variables))
  np.testing.assert_array_equal(made.net.head.kernel, before)
  assert np.isnan(outcome.loss) and made.context.ledger.totals()["macs"] == 0


@pytest.mark.parametrize("reads", [True, False])
def test_what_is_remembered_has_the_logits_of_known_classes(make, reads):
  made = make()
  made.objective.reads_logits = reads
  memory = memory_lib.Memory(20, reservoir.Reservoir())
  memory.build([], tf.int64, seed=(0, 0), num_classes=C, with_logits=reads)
  codes, labels = examples(5)
  phase = made.phase(memory=memory)
  entered = phase.remember(tf.range(5, dtype=tf.int64), codes, tf.constant(labels),
                           tf.constant([True, True, False, True]))
  held = memory.held()
  assert sorted(held.codes.numpy()) == list(range(5)) and entered == 5 * reads
  assert made.context.ledger.totals()["macs"] == 5 * D * C * reads
  if reads:
    expected = made.net.logits(tf.gather(codes, held.codes)).numpy()
    np.testing.assert_allclose(held.logits.numpy()[:, [0, 1, 3]], expected[:, [0, 1, 3]], rtol=1e-5)
    assert np.isnan(held.logits.numpy()[:, 2]).all()
  else:
    assert held.logits.shape == [5, 0]


def test_all_costs_are_charged_once(make):
  made = make()
  phase = made.phase()
  outcome = phase.train(data(), N, last="even")
  phase.end(outcome.plan.num_rows, outcome.plan.num_steps)
  totals = made.context.ledger.totals()
  assert (totals["examples_train"], totals["steps_train"]) == (20, 6)
  # Forward and the kernel's gradient.
  assert totals["macs"] == 20 * 2 * D * C
  assert totals["flops"] > 2 * totals["macs"]


def test_nothing_to_train_on_is_an_error(make):
  with pytest.raises(ValueError, match="There is nothing to train on: no sample is stored"):
    make().phase().train(data(), 0)


def test_a_phase_that_diverges_is_said(make, caplog):
  made = make()
  with caplog.at_level("WARNING"):
    made.phase(dataclasses.replace(RECIPE, learning_rate=float("inf"))).train(data(), N)
  assert "event 0 diverged; lower the learning rate, now inf" in caplog.text
