# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Own learners of many kinds on two buckets: what is charged is known, what is not is null."""

from __future__ import annotations

import functools
import json

import pytest
import stopped_runs
import tensorflow as tf

import suite
from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.contracts import rehearsal
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import statistics_learner
from suite.protocols import clear
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import tables
from suite.reporting.run_panels import scores
from suite.running import dry_run
from suite.training.scoring import scoring
from suite.training.statistics import class_means

BUCKETS = digits.buckets(2, as_features=False)


class Linear:
  """A linear classifier of pixels, trained by one step on each bucket: `train` says how."""

  transform = image_ops.Plain(size=8)
  keeps_budget = True

  def begin(self, task, context):
    if not hasattr(self, "weights"):
      self.weights = tf.Variable(tf.zeros([64 * 3, task.num_classes]), name="linear")
      self.other = tf.Variable(tf.zeros([5]), name="other")
      self.rate, self.count = tf.Variable(0.0), tf.Variable([0, 0])

  def learn(self, experience, context):
    images = next(iter(experience.train.eval_batches(
        experience.train.size, transform=self.transform)))["image"]
    self.rate.assign(0.1)
    self.count.assign_add([1, 1])
    self.train(_flat(images), tf.constant(experience.train.labels), context)
    return {}

  def predict(self, images):
    return _flat(images) @ self.weights

  def step(self, images, labels):
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
          labels, images @ self.weights))
    self.weights.assign_sub(self.rate * tape.gradient(loss, self.weights))
    return loss


def _flat(images):
  return tf.reshape(tf.cast(images, tf.float32) / 255.0, [-1, 64 * 3])


class Tape(Linear):
  def train(self, images, labels, context):
    self.step(images, labels)


class TapeForNothing(Tape):
  def train(self, images, labels, context):
    super().train(images, labels, context)
    context.ledger.charge("train", flops=0, macs=0, examples=len(labels))


class TapeBesideScores(Tape):
  def train(self, images, labels, context):
    super().train(images, labels, context)
    cost = flops.count(tf.function(self.predict).get_concrete_function(images))
    context.ledger.charge("validate", flops=cost.flops, macs=cost.macs)


class TapeOnFeatures(Tape):
  """The suite charges the features to "train"; what is trained on them is charged nowhere."""

  def learn(self, experience, context):
    scoring.extract(self.predict, experience.train, transform=self.transform, batch_size=64,
                    context=context)
    return super().learn(experience, context)


class Declared(Tape):
  def train(self, images, labels, context):
    super().train(images, labels, context)
    context.ledger.charge("train", flops=1000, macs=500)


class Counted(Linear):
  def begin(self, task, context):
    super().begin(task, context)
    self.compiled = tf.function(self.step)

  def train(self, images, labels, context):
    context.counted(self.compiled, images, labels, examples=len(labels), steps=1)


class CountedInPart(Counted):
  def train(self, images, labels, context):
    super().train(images, labels, context)
    self.other.assign(tf.ones([5]))
    context.ledger.charge("train", flops=5, macs=0)


class Constant(Linear):
  def train(self, images, labels, context):
    context.ledger.charge("train", flops=0, macs=0)


class Numpy(Linear):
  def train(self, images, labels, context):
    self.means = images.numpy().mean(axis=0)


class Derived(statistics_learner.StatisticsLearner):
  def learn(self, experience, context):
    return super().learn(experience, context)


def _derived():
  return Derived(class_means.ClassMeans(), transform=image_ops.Plain(size=8))


def _run(make, folder, budget=""):
  with stopped_runs.state(folder, budget=budget) as state:
    return clear.run(make(), state=state, buckets=BUCKETS)


@pytest.mark.parametrize("make, says", [
    (Tape, "charges nothing to context.ledger"), (Numpy, "charges nothing"),
    (TapeForNothing, "changes linear:0 outside of counted graphs"),
    (TapeBesideScores, "changes linear:0"), (TapeOnFeatures, "changes linear:0"),
    (CountedInPart, "changes other:0")])
def test_costs_that_nobody_charged_are_null(make, says, tmp_path, caplog):
  found = _run(make, tmp_path)
  assert found["flops"] is found["flops_train"] is found["macs"] is found["macs_train"] is None
  assert found["flops_predict"] > 0
  lines = [one for one in caplog.messages if says in one]
  assert len(lines) == 1 and f"{make.__name__}.learn" in lines[0] and "not counted" in lines[0]


@pytest.mark.parametrize("make, train", [
    (Declared, 2000), (Constant, 0), (Counted, None), (_derived, None)])
def test_costs_that_were_charged_are_known(make, train, tmp_path):
  found = _run(make, tmp_path)
  learned = found["flops"] - found["flops_predict"]
  assert learned == train if train is not None else learned > 0
  assert found["macs"] is not None


@pytest.mark.parametrize("make, says", [
    (Tape, "Tape.learn charges nothing to context.ledger.*counted.*docs/own/learner.md"),
    (TapeForNothing, "TapeForNothing.learn changes linear:0")])
def test_a_budget_refuses_them_by_name_at_the_first_event(make, says, tmp_path):
  with pytest.raises(ledger.BudgetError, match=says):
    _run(make, tmp_path, "1 GFLOP")
  assert not stopped_runs.records(tmp_path)


def test_a_budget_ends_counted_calls(tmp_path):
  found = _run(Counted, tmp_path / "all")
  cut = _run(Counted, tmp_path / "cut", f"{found['flops_train'] - 1} FLOP")
  first = stopped_runs.records(tmp_path / "all")[0]["flops_train"]
  assert cut["flops_train"] == first and cut["budget_cut"] and cut["steps"] == 1
  assert _run(Tape, tmp_path / "bytes", "1 MB")["flops"] is None  # Which no FLOPs limit.


class Steps(Counted):
  """Takes 50 steps on each bucket; `calls` is of the test, no state."""

  calls = []

  def step(self, images, labels):
    loss = super().step(images, labels)
    self.count.assign_add([1, 0])
    return {"loss": loss, "nothing": None}

  def train(self, images, labels, context):
    for _ in range(50):
      found = context.counted(self.compiled, images, labels, examples=len(labels), steps=1)
    self.calls.append(float(found["loss"]))


@pytest.mark.parametrize("rate, taken", [(1e9, 0), (None, rehearsal._STEPS + 2)])
def test_counted_calls_are_planned_without_a_word_from_their_author(rate, taken, tmp_path):
  with stopped_runs.state(tmp_path) as state:
    clear.run(Steps(), state=state, buckets=BUCKETS)
  run, made = stopped_runs.records(tmp_path)[-1], []

  def make():
    made.append(Steps())
    return made[-1]

  found = json.loads(dry_run.report(
      functools.partial(clear.run, buckets=BUCKETS), {"mine": make}, 0, distribution.build(),
      rate=rate, as_json=True))["learners"]["mine"]["totals"]
  for name in ("flops", "flops_train", "macs_train", "steps", "examples"):
    assert found[name] == run[name]
  # Both buckets have a graph, of as many rows, and add one in `learn`.
  assert made[-1].count.numpy().tolist() == [2 * taken + 2, 2]


def test_a_loop_that_waits_for_a_result_is_named_in_a_dry_run(monkeypatch):
  monkeypatch.setattr(rehearsal, "_MOST_CALLS", 3)
  graph = tf.function(lambda x: x + 1.0, autograph=False).get_concrete_function(tf.zeros([]))
  with rehearsal.begun(measures=False), pytest.raises(RuntimeError, match="3 times in one run"):
    while not rehearsal.called(graph, lambda: 1 / 0) > 0:
      pass


def test_reports_say_so_and_no_front_has_them(tmp_path):
  suite.run(protocol="clear", buckets=BUCKETS, learners={"tape": Tape, "counted": Counted},
            workdir=str(tmp_path))
  runs = run_dir.load([tmp_path])
  [stream] = run_streams.build(runs)
  scored, front = scores.build(stream)
  cost = [column.name for column in scored.columns].index("FLOPs without answers")
  assert {row[0]: row[cost] for row in scored.rows}["tape"] is None
  assert {row[0]: row[-1] for row in front.rows} == {"tape": "", "counted": "yes"}
  assert front.notes == ["Not in the figure, FLOPs not counted or 0: tape."]
  assert "not counted" in tables.build(runs)[0].text()
