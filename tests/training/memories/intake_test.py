# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Memories that take rows in step by step: the compiled loop against a plain one, row by row."""

from __future__ import annotations

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.protocols import clear
from suite.training.gradient import array_loop
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import gss
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import mer
from suite.training.objectives import objective as objective_lib

D, C, N, B, R, K = 4, 3, 10, 3, 2, 5
RATE, ALPHA, BETA = 0.2, 0.6, 0.3


def images(seed):
  rng = np.random.default_rng(seed)
  return feature_set.FeatureSet.from_arrays(
      f"set{seed}", rng.normal(size=[N, D]), rng.permutation(np.arange(N) % C),
      kind=tasks.SINGLE_LABEL, num_classes=C, ids=[f"{seed}/{i}" for i in range(N)])


def stream(num=2):
  return buckets_lib.Buckets(tasks.Task("t", tasks.SINGLE_LABEL, C), tuple(
      buckets_lib.Bucket(f"b{i}", images(i), images(100 + i)) for i in range(num)))


def make(rule=None, **arguments):
  return gradient.GradientLearner(**{**dict(
      transform=feature_set.Features(D), net=trainable_parts.HeadOnly(),
      objective=der.Der(ALPHA, BETA), memory=memory_lib.Memory(K, rule or reservoir.Reservoir()),
      remember="each_step", replay_batch=R, optimizer=optimizers.Momentum(0.0), epochs=1.5,
      batch_size=B, learning_rate=RATE), **arguments})


def run(folder, learner):
  with stopped_runs.state(folder) as state:
    clear.run(learner, state=state, buckets=stream(2))
  return learner


def softmax(z):
  e = np.exp(z - z.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)


def plain_loop(learner, plans, first):
  """DER++ (algorithm 2 of its paper) in numpy, with the draws of the learner; the final state."""
  weights, bias = (w.astype(np.float64) for w in first)
  rule = reservoir.Reservoir()
  rule.build(K, seed=learner._seeds.pair("memory"), num_classes=C)
  held, seen = [], 0  # (row, label, logits) by slot.
  for plan, (x, y) in plans:
    places = np.concatenate([p.incoming.places for p in plan.parts()]).reshape([-1, B])
    assert len(places) == 5
    for step, incoming in enumerate(places):
      taken = x[incoming], y[incoming]
      again = []
      if held:
        again = [held[slot] for slot in memory_lib.samples(
            np.array([len(held)]), plan.replay_order, step, 2 * R)[0]]
      logits = taken[0] @ weights + bias
      off = (softmax(logits) - np.eye(C)[taken[1]]) / B
      step_w, step_b = taken[0].T @ off, off.sum(0)
      if again:
        old, labels, stored = (np.array(v) for v in zip(*again))
        now = old @ weights + bias
        off = 2 * ALPHA * (now - stored) / (R * C)
        off[R:] = BETA * (softmax(now) - np.eye(C)[labels])[R:] / R  # Of the second draw.
        step_w, step_b = step_w + old.T @ off, step_b + off.sum(0)
      weights, bias = weights - RATE * step_w, bias - RATE * step_b
      chosen, slots = rule.place(tf.constant(taken[1]), None, None, tf.constant(seen, tf.int64))
      seen += B
      for row, slot in zip(chosen.numpy(), slots.numpy()):
        entry = taken[0][row], taken[1][row], logits[row]
        held[slot:slot + 1] = [entry]
  return weights, bias, held, seen


def watched(folder, learner):
  """Runs; returns the learner, the plans, and each phase's first weights and rows."""
  plans, parts = [], array_loop.PhaseRows.parts
  given, phase = [], gradient.GradientLearner._prepared

  def spy(self, current, *others):
    given.append((self.composed.model.get_weights(), [t.numpy() for t in current]))
    return phase(self, current, *others)

  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(array_loop.PhaseRows, "parts",
                  lambda plan: (plans.append(plan), parts(plan))[1])
    patch.setattr(gradient.GradientLearner, "_prepared", spy)
    return run(folder, learner), plans, given


def test_der_plus_plus_equals_a_plain_loop(whole):
  """Weights, rows, labels and the logits of the moment that each row came in."""
  learner, plans, given = whole("der")[0]
  weights, bias, held, seen = plain_loop(
      learner, [(plan, rows) for plan, (_, rows) in zip(plans, given)], given[0][0])
  np.testing.assert_allclose(learner.composed.model.get_weights()[0], weights, atol=1e-5)
  np.testing.assert_allclose(learner.composed.model.get_weights()[1], bias, atol=1e-5)
  codes, labels, logits = learner.memory.held()
  assert int(learner.memory.seen) == seen == 2 * 5 * B and len(labels) == K
  np.testing.assert_allclose(codes, [h[0] for h in held], atol=1e-6)
  assert labels.numpy().tolist() == [h[1] for h in held]
  np.testing.assert_allclose(logits, [h[2] for h in held], atol=1e-5)


MAKE = {
    "der": make,
    "er": lambda: make(objective=None),
    "gss": lambda: make(gss.Gss(subset=2, block=3), objective=None),
    "mer": lambda: make(objective=mer.Mer()),
}


def state(learner):
  return [*(w.tolist() for w in learner.composed.model.get_weights()),
          *(v.numpy().tolist() for v in learner.memory.held())]


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory):
  """A function: a name to what `watched` returns, and the folder; each is run once."""
  runs = {}

  def whole(name):
    if name not in runs:
      folder = tmp_path_factory.mktemp(name)
      runs[name] = watched(folder, MAKE[name]()), folder
    return runs[name]

  return whole


# The other rules have no more state than these.
@pytest.mark.parametrize("name", ["gss", "mer"])
def test_what_is_held_does_not_depend_on_how_a_phase_is_cut(name, whole, tmp_path, monkeypatch):
  """One graph call a step against one a phase; the method matrix stops runs between events."""
  (learner, *_), folder = whole(name)
  monkeypatch.setattr(array_loop, "_ROWS", 1)
  cut = run(tmp_path / "cut", MAKE[name]())
  assert state(cut) == state(learner)
  records = [stopped_runs.records(found) for found in (tmp_path / "cut", folder)]
  losses = [[r.pop("train_loss", 0.0) for r in found] for found in records]  # Summed in two ways.
  np.testing.assert_allclose(*losses, rtol=1e-6)
  assert records[0] == records[1]


def test_costs_are_those_of_the_steps_and_no_more(whole):
  """The first step has nothing to replay; logits to store are those of the step itself."""
  records = {name: stopped_runs.records(whole(name)[1]) for name in ("der", "er")}
  of_row = 2 * 2 * D * C  # FLOPs of weights and gradient, a product forward and one backward.
  for name, replayed in (("der", 2 * R), ("er", R)):  # DER++ draws twice.
    train = [r for r in records[name] if r["kind"] == "train"]
    assert train[0]["examples_train"] == 5 * (B + replayed) - replayed
    assert train[1]["examples_train"] == 2 * 5 * (B + replayed) - replayed, name
    first = train[0]["flops_train"]
    second = train[1]["flops_train"] - first
    assert first > of_row * (5 * (B + replayed) - replayed)
    assert 0 < second - first < 20 * of_row * replayed


@pytest.mark.parametrize("arguments, words", [
    (dict(memory=None, replay_batch=0, objective=None), "give a memory and a replay_batch"),
    (dict(remember="every_step"), "allowed are 'each_step', 'each_phase'"),
    (dict(memory=memory_lib.Memory(4, reservoir.GroupBalanced("bucket"))), "set remember to"),
])
def test_what_makes_no_sense_is_refused(arguments, words):
  with pytest.raises(ValueError, match=words):
    make(**arguments)


@pytest.mark.parametrize("rule", [
    lambda: reservoir.Reservoir(), lambda: reservoir.Latest(),
    lambda: reservoir.BiasedReservoir(1.0, "dynamic"), lambda: reservoir.GroupBalanced("class")])
def test_rows_of_several_steps_are_placed_as_step_by_step(rule):
  labels = np.random.default_rng(0).integers(0, C, 60)
  made = []
  for _ in range(2):
    made.append(memory_lib.Memory(K, rule()))
    made[-1].build([1], tf.float32, seed=(0, 7), num_classes=C)
  each, together = (one.rule for one in made)
  held, size, found = np.zeros([K], np.int64), 0, []
  starts = np.array([0, 1, 4, 9, 10, 30, 31, 60])
  for first, stop in zip(starts, starts[1:]):
    own = np.full([stop - first], K)
    chosen, slots = (part.numpy() for part in each.place(
        tf.constant(labels[first:stop]), tf.constant(held), tf.constant(size, tf.int64),
        tf.constant(first, tf.int64)))
    own[chosen], held[slots] = slots, labels[first + chosen]
    size = max(size, *(slots + 1), 0) if len(slots) else size
    found.append(own)
  np.testing.assert_array_equal(
      together.place_each(labels, starts, np.zeros([K], np.int64), 0, 0), np.concatenate(found))
  for one, other in zip(each.variables, together.variables):
    np.testing.assert_array_equal(one, other)


def test_a_step_that_stores_nothing_is_refused_where_each_step_remembers(tmp_path):
  class Forgets(objective_lib.Objective):
    def step(self, rows, net, memory):
      memory.draw()
      net.update(net.cross_entropy(net.logits(rows), rows.labels))

  with pytest.raises(ValueError, match="The step of Forgets gives no rows to the memory"):
    run(tmp_path, make(objective=Forgets()))


def test_a_rehearsed_phase_ends_with_rows_that_there_are():
  memory = memory_lib.Memory(4, reservoir.Reservoir())
  memory.build([1], tf.float32, seed=(0, 0), num_classes=1)
  memory.add(tf.constant([[7.0]]), tf.constant([0], tf.int64))
  intake = memory_lib.Intake(memory)
  intake.begin(2)  # Two new rows, and behind them the one that was held.
  intake.rehearse(5)
  intake.end(tf.constant([[1.0], [2.0], [7.0]]))
  assert (int(memory.size), int(memory.seen)) == (4, 6)
  np.testing.assert_array_equal(memory.codes.numpy(), [[7.0], [1.0], [1.0], [1.0]])
