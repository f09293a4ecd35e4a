# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The report of a dry run, worked by hand on a protocol and a learner that know their costs."""

from __future__ import annotations

import json
import time

import pytest
import tensorflow as tf

from suite import cli
from suite.compute import distribution
from suite.compute import ledger
from suite.configs import gin_files
from suite.configs import run_settings
from suite.contracts import planning
from suite.contracts import refusals
from suite.contracts import tasks
from suite.running import dry_run

_TASK = tasks.Task("a", "single_label", 3)


class Known:
  """A training costs 1 GFLOP an image, a prediction 1 MFLOP."""

  def plan(self, planned, context):
    context.ledger.charge("train", flops=10**9 * planned.train, macs=0, steps=planned.train)
    for flops in (5, 7):
      context.offer(planning.Probe("train", flops, lambda: time.sleep(0.02), f"steps of {flops}"))
    return planning.Footprint(
        stored_bytes=1000, scratch_bytes=100 * planned.train, memory_bytes=10 * planned.train)

  def plan_predict(self, planned, num, batch_size, context):
    assert context.past[-1] is planned
    context.ledger.charge("predict", flops=10**6 * num, macs=0, examples=num)


class Silent:
  pass


def protocol(learner, *, state):
  if not isinstance(state, planning.PlannedRun):
    raise ValueError(f"{type(learner).__name__} cannot be run.")
  for train in (2, 4):
    planned = planning.PlannedTask(_TASK, train, 1)
    state.learn(learner, planned)
    state.predict(learner, planned, 30, 8)
  return state.report(data_bytes=2048, stream="two", num_tasks=2, estimated=["a"], left_out=[],
                      missing=[("data/a", "not there.", "build a")])


protocol.takes_plans = True


def _report(**learners):
  return dry_run.report(protocol, learners, 0, distribution.build())


def test_the_report_names_costs_time_memory_and_missing_data():
  text = _report(known=Known, silent=Silent)
  row = next(line for line in text.splitlines() if line.startswith("known"))
  # Twice 2 and 4 images; weights of two tasks and the largest scratch; the largest memory.
  assert row.split()[:9] == ["known", "4", "6", "6.00", "GFLOP", "60.0", "MFLOP", "6.06", "GFLOP"]
  assert row.endswith("2.40 kB     40 B")
  assert "train: 3" in text and "FLOP/s in steps of 7 (2" in text  # 7 FLOPs in 20 ms.
  assert "images of two tasks, 2.05 kB at most" in text
  assert "1 tasks or data sets have sizes estimated from what is published" in text
  assert "data: 1 data sets are not prepared" in text and "data/a: not there. Run: build a" in text
  assert "silent: no estimate, Silent cannot be run." in text


def test_time_is_flops_by_the_rate_of_their_phase():
  rate = dry_run.Rate(planning.Probe("train", 100, lambda: None, "steps"))
  rate.flops_per_second = 50.0
  slow = dry_run.Rate(planning.Probe("predict", 100, lambda: None, "predictions"))
  slow.flops_per_second = 10.0
  totals = {"flops_train": 3600 * 50, "flops_predict": 3600 * 20, "flops_select": 3600 * 10}
  assert dry_run.hours(totals, {"train": rate, "predict": slow}) == pytest.approx(1 + 2 + 1)
  assert dry_run.hours(totals, {"train": rate}) == pytest.approx(1 + 0.4 + 0.2)
  assert dry_run.hours({"flops_train": None}, {"train": rate}) is None
  assert dry_run.hours(totals, {}) is None


def test_a_step_that_takes_long_is_measured_on_fewer_images():
  calls = []
  def step(flops, smaller=None):
    return planning.Probe("train", flops, lambda: (calls.append(flops), time.sleep(0.002)), "steps",
                          smaller)
  assert dry_run.Rate(step(50, step(10))).probe.flops == 50 and set(calls) == {10, 50}
  calls.clear()
  assert dry_run.Rate(step(10**9, step(10))).probe.flops == 10 and set(calls) == {10}


def test_without_any_estimate_all_reasons_are_said():
  with pytest.raises(planning.NoEstimateError, match="There is no estimate: x: Silent cannot be r"):
    _report(x=Silent)


def test_what_a_protocol_refuses_is_a_usage_error_in_one_line(caplog):
  def fits_none(learner, *, state):
    raise refusals.RefusedError("Silent does not fit.\n  In call to configurable 'run'")

  with pytest.raises(gin_files.ConfigError) as error:
    dry_run.report(fits_none, {"x": Silent}, 0, distribution.build(), rate=1e9)
  assert str(error.value) == "There is no estimate: x: Silent does not fit."
  assert "Traceback" not in caplog.text


def test_time_is_that_of_a_given_rate():
  text = dry_run.report(protocol, {"known": Known}, 0, distribution.build(), rate=1e9)
  row = next(line for line in text.splitlines() if line.startswith("known"))
  assert "6.06 GFLOP  6.1 s" in row and "all: 1.00 GFLOP/s, as given" in text


def test_a_protocol_without_a_plan_is_rehearsed():
  def steps(learner, *, state):
    for event in range(3):
      state.ledger.charge("train", flops=10**9, macs=0, steps=2)
      state.commit({"event": event, "protocol": "three", "kind": "train"})
    return {"protocol": "three", "stream": "three events"}

  text = dry_run.report(steps, {"x": Silent}, 0, distribution.build())
  row = next(line for line in text.splitlines() if line.startswith("x "))
  assert "three events" in text and row.split()[1:5] == ["3", "6", "3.00", "GFLOP"]


def test_the_memory_of_a_variable_with_an_open_number_of_rows_is_that_of_its_rows():
  class Open(tf.Module):
    def __init__(self):
      super().__init__()
      self.rows = tf.Variable(tf.zeros([5, 2]), shape=[None, 2])

  def steps(learner, *, state):
    state.commit({"event": 0, "protocol": "one", "kind": "train"})
    return {"protocol": "one", "stream": "an event"}

  assert "40 B" in dry_run.report(steps, {"x": Open}, 0, distribution.build())


def test_a_budget_limits_what_is_rehearsed():
  class Mine(tf.Module):
    keeps_budget = True

  def steps(learner, *, state):
    state.resume(learner)
    taken = state.ledger.grant(9, lambda num: ledger.Known(10**9 * num, num))
    state.ledger.charge("train", flops=10**9 * taken, macs=taken, steps=taken)
    state.commit({"event": 0, "protocol": "one", "kind": "train"})
    return {"protocol": "one", "stream": "an event"}

  text = dry_run.report(steps, {"x": Mine}, 0, distribution.build(),
                        budget=ledger.Budget.parse("5.5 GFLOP, 1 MB"))
  assert ("x, budget: learning ends before the last event; 500 MFLOP of 5.50 GFLOP left; holds 0 B "
          "state, 0 B memory, 0 B stored.") in text


def test_launches_and_images_are_estimated():
  found = dry_run.limits(
      {"ops": 4000, "ops_flops": 10**9, "rate": 1e12},
      [{"examples_train": 480 * 3600, "flops_train": 1}, {"examples_predict": 480 * 1800}])
  assert "4,000 arithmetic ops, which a GPU takes 20 ms to launch at 5 us each" in found[0]
  assert found[0].endswith("and 1 ms to compute at the rate: launches bind.")
  assert "2,592,000 are prepared at most" in found[1] and "1.5 core-hours" in found[1]
  steps, memory, host = dry_run.limits(
      {"ops": 4000, "graph_bytes": 3 * 10**9, "weight_bytes": 10**9, "array_bytes": 2 * 10**9},
      [{"steps": 180_000}])
  assert steps.endswith("180,000 steps would then take 1 h 00 min.")
  assert "4.00 GB, of which 3.00 GB are tensors" in memory and "2.00 GB of images" in host
  [fast] = dry_run.limits({"ops": 10, "ops_flops": 10**9, "rate": 1e12}, [])
  assert fast.endswith("launches do not bind.")
  assert dry_run.limits({}, []) == []


def test_more_processes_than_the_memory_holds_are_refused(monkeypatch):
  monkeypatch.setattr(dry_run.host_memory, "available_bytes", lambda: 5_000_000_000)
  with pytest.raises(gin_files.ConfigError, match=r"--jobs 64 plans 64 cells.*give at most 4\."):
    dry_run.of_table(None, None, rate=1e12, jobs=64)
  assert dry_run._processes(1, 100) <= 4 and dry_run._processes(3, 100) == 3


def test_a_table_names_the_cost_of_each_cell_whatever_its_macros_are_called(tmp_path):
  run = tmp_path / "run.gin"
  run.write_text("""
from __gin__ import dynamic_registration
from suite import experiment
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.protocols import cfsl
from suite.training.episodic import inner_loop
experiment.run.protocol = @cfsl.run
experiment.run.learners = {'maml': @maml.Maml}
cfsl.run.episodes_train = @digits.episodes()
cfsl.run.episodes_test = @digits.episodes()
cfsl.run.updates = 0
cfsl.run.test_episodes = 2
maml.Maml.net = @functional_conv4.Conv4()
maml.Maml.inner = @inner_loop.InnerLoop()
maml.Maml.channels = 3
maml.Maml.transform = @image_ops.Plain()
image_ops.Plain.size = 8
functional_conv4.Conv4.blocks = 1
functional_conv4.Conv4.filters = 4
inner_loop.InnerLoop.steps = %STEPS
STEPS = 1
""", encoding="utf-8")
  found = {}
  for steps in (1, 10, 1):
    file = run_settings.find(str(run), params=[f"STEPS={steps}"])
    settings = run_settings.RunSettings(workdir=str(tmp_path / "w"))
    facts = json.loads(dry_run.of_run(file, settings, rate=1e12, as_json=True, shares=True))
    cost = facts["learners"]["maml"]["totals"]["flops"]
    assert found.setdefault(steps, cost) == cost
  assert found[10] > 3 * found[1]


def test_a_process_plans_rows_that_set_the_same_parameters(tmp_path):
  def order(row, column, run, *own):
    cell = dry_run.table_lib.TableCell(row, column, 0, run, own, 0, (), (), tmp_path)
    return dry_run._CellOrder(cell, None, 1e13)

  orders = [order(row, column, run, f"experiment.run.only={row!r}", f"STEPS={column}", *own)
            for row, run, *own in (("a", "x"), ("b", "y"), ("c", "x"), ("d", "x", "SIZE=3"),
                                   ("e", "x", "SIZE=4"))
            for column in "12"]

  def parts(most):
    return [[one.cell.row + one.cell.column for one in part]
            for part in dry_run._alike(orders, most)]

  assert parts(4) == [["a1", "a2", "c1", "c2"], ["b1", "b2"], ["d1", "d2", "e1", "e2"]]
  assert parts(1) == [["a1", "a2"], ["c1", "c2"], ["b1", "b2"], ["d1", "d2"], ["e1", "e2"]]


def test_a_table_without_any_estimate_says_each_reason_once(tmp_path, capsys):
  data = str(tmp_path)
  assert cli.main(["run", "nevis/figure12", "--dry_run", "--rate", "1e13", "--data_dir", data,
                   "--workdir", str(tmp_path / "w"), "--only", "indep/*"]) == 1
  said = capsys.readouterr()
  assert "There is no estimate of any cell." in said.err and not said.out
  assert said.err.count("Data set 'nevis/imagenet2012' is not prepared, and its classes are") == 1
  assert "indep/10K, indep/25K, indep/50K: " in said.err and "configurable" not in said.err
