# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners within a budget: one dense layer, whose multiply-adds are counted by hand.

A step on B rows of D features and C classes makes 2 B D C of them: the logits, and the gradient of
the kernel.
"""

import functools

import matrix_runs
import numpy as np
import pytest
import stopped_runs
import tensorflow as tf
import unconverted

from suite.compute import ledger
from suite.configs import methods
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.data.streams import streams
from suite.learners import finetune
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.models import conv4
from suite.protocols import clear
from suite.protocols import incremental
from suite.protocols import lifelong
from suite.protocols import nevis
from suite.training.gradient import search
from suite.training.gradient import trainable_parts
from suite.training.gradient import trainer
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import ewc
from suite.training.objectives import objective
from suite.training.statistics import ridge_sums

D, C, B, N = 5, 2, 8, 40
ROW = 2 * D * C  # Multiply-adds of a row in a step.
EPOCHS, STEPS = 2, 10  # Of a bucket, whose validation split is trained on, too.


def features(name, bucket):
  rng, labels = np.random.default_rng(bucket), np.arange(N) % C
  values = rng.normal(0.0, 0.1, [N, D])
  values[:, bucket] += 2.0 * labels - 1.0
  return feature_set.FeatureSet.from_arrays(
      name, values, labels, kind=tasks.SINGLE_LABEL, num_classes=C,
      ids=[f"{name}/{i}" for i in range(N)])


BUCKETS = buckets_lib.Buckets(tasks.Task("t", tasks.SINGLE_LABEL, C), tuple(
    buckets_lib.Bucket(f"b{i}", features(f"train{i}", i), features(f"test{i}", i))
    for i in range(3)))


def dense(**settings):
  return gradient.GradientLearner(
      transform=feature_set.Features(D), net=trainable_parts.HeadOnly(), epochs=EPOCHS,
      batch_size=B, learning_rate=0.3, **settings)


def run(folder, learner, budget, **stops):
  """The records of a run of three buckets, those of training first."""
  with stopped_runs.state(folder, budget=budget, **stops) as state:
    try:
      clear.run(learner, state=state, buckets=BUCKETS)
    except stopped_runs.Stop:
      pass
  records = stopped_runs.records(folder)
  return [r for r in records if r["kind"] == "train"], records


def test_a_dense_layer_takes_exactly_the_steps_that_fit(tmp_path):
  budget = f"{(STEPS + 8) * B * ROW - 1} MAC"
  # Ten steps in the first bucket, seven in the second, none in the third.
  trained, records = run(tmp_path / "whole", dense(), budget)
  assert [r["steps_event"] for r in trained] == [STEPS, 7, 0]
  last = records[-1]
  assert last["macs_train"] == (STEPS + 7) * B * ROW
  assert last["budget_macs_left"] == B * ROW - 1
  assert (last["steps_train"], last["examples_train"]) == (STEPS + 7, (STEPS + 7) * B)
  assert [r["budget_cut"] for r in trained] == [False, True, True]
  assert trained[2]["train_loss"] is None and last["macs_predict"] == 9 * N * D * C
  # Kernel and bias, two counts, and a mask of the classes that were known at first.
  assert last["state_bytes"] == 4 * (D * C + C) + 2 * 8 + C
  assert (last["memory_bytes"], last["stored_bytes"]) == (0, 0)
  run(tmp_path / "stopped", dense(), budget, stop_uncommitted=4)  # In the phase that is cut.
  assert run(tmp_path / "stopped", dense(), budget)[1] == records


def test_a_budget_of_all_that_a_run_spends_changes_nothing_but_its_columns(tmp_path):
  _, without = run(tmp_path / "without", dense(), "")
  _, within = run(tmp_path / "within", dense(), f"{without[-1]['flops_train']} FLOP, 1 MB")
  further = ("budget_flops", "budget_flops_left", "budget_cut", "state_bytes", "memory_bytes",
             "stored_bytes")
  assert within[-1]["budget_flops_left"] == 0 and not within[-1]["budget_cut"]
  assert [{k: v for k, v in r.items() if k not in further} for r in within] == without


def test_replayed_rows_and_fishers_pass_are_reserved_for(tmp_path):
  held = memory.Memory(12, reservoir.GroupBalanced("bucket"))
  trained, records = run(tmp_path / "er", dense(memory=held, replay_batch=4),
                         f"{STEPS * B * ROW + 3 * (B + 4) * ROW + 7} MAC")
  assert [r["steps_event"] for r in trained] == [STEPS, 3, 0]
  assert records[-1]["budget_macs_left"] == 7
  # Codes, labels, no logits, two counts; and group and key of each slot, and a count of calls.
  assert records[-1]["memory_bytes"] == 12 * (4 * D + 8) + 16 + 12 * 16 + 8
  # The exact information takes a pass forward and one back for each class.
  for fisher, each in (("avalanche", ROW), ("all", (1 + C) * ROW // 2)):
    trained, records = run(tmp_path / fisher, dense(objective=ewc.Ewc(fisher=fisher)),
                           f"{4 * B * ROW + N * each + 9} MAC")
    assert [r["steps_event"] for r in trained] == [4, 0, 0]
    assert records[-1]["budget_macs_left"] == 9


def test_a_solution_is_reserved_for_and_a_part_of_a_bucket_is_added(tmp_path):
  def ridge():
    return statistics_learner.StatisticsLearner(
        ridge_sums.RidgeSums(), transform=feature_set.Features(D))

  _, whole = run(tmp_path / "whole", ridge(), "")
  running = statistics_learner.statistic_lib.Running(ridge_sums.RidgeSums(), C, D)
  solved, row = running.solve_cost().flops, running.add_set(
      np.zeros([1, D]), np.zeros([1], np.int64)).flops
  trained, records = run(tmp_path / "part", ridge(), f"{solved + 17 * row + row - 1} FLOP")
  assert [r["trained_on"] for r in trained] == [17, 0, 0]
  assert records[-1]["budget_flops_left"] == row - 1
  assert whole[-1]["flops_train"] > records[-1]["flops"]
  assert records[-1]["accuracy"] > 0


def test_a_search_ends_with_the_trial_that_a_budget_cuts(tmp_path):
  rng = np.random.default_rng(0)
  images = [image_set.ImageSet.from_arrays(
      f"task{i}", rng.integers(0, 255, [20, 8, 8, 3], np.uint8), np.arange(20) % 2,
      kind=tasks.SINGLE_LABEL, num_classes=2) for i in range(2)]

  models = []  # All learners compile one net.

  def learned(folder, budget, num=2):
    learner = finetune.Finetune(
        functools.partial(conv4.conv4, filters=2, blocks=1),
        search=search.Search(num_trials=num), transform=image_ops.Plain(8),
        trainer=trainer.Trainer(steps=4, validate_every=2, save_every=2, batch_size=4))
    models.append(learner._models)
    learner._models = models[0]
    with stopped_runs.state(folder, budget=budget) as state:
      nevis.run(learner, state=state, stream=streams.of(images[:num]))
    return stopped_runs.records(folder)

  whole = learned(tmp_path / "whole", "", 1)[0]
  per_trial = whole["flops_train"], whole["flops_validate"]
  step, look = per_trial[0] // 4, per_trial[1] // 3
  # A trial, and of the next one three steps with the looks after steps 0, 2 and 3.
  cut = learned(tmp_path / "cut", f"{sum(per_trial) + 3 * step + 3 * look + step - 1} FLOP")
  first, _, second, answered = cut
  assert [t["status"] for t in first["trials"]] == ["done", "done"]
  assert [t.get("steps") for t in first["trials"]] == [None, 3]
  assert [point[0] for point in first["trials"][1]["curve"]] == [0, 2, 3]
  assert [t["status"] for t in second["trials"]] == ["untrained"]  # It answers all the same.
  assert answered["budget_flops_left"] == step - 1 and answered["seen"] > 0
  assert first["state_bytes"] < first["stored_bytes"]  # The net, and its weights in a file.
  with pytest.raises(ledger.BudgetError, match="is 99 bytes, and the learner holds"):
    learned(tmp_path / "small", "99 B")


def test_meta_training_is_cut_and_resumed_within_its_budget(tmp_path):
  method = next(one for one in methods.load() if one.name == "protonet")
  cell = matrix_runs.CellRun(tmp_path, method, "cfsl", "UPDATES = 30", "11 MFLOP, 1 MB")
  whole = cell.whole(1)
  assert whole["budget_cut"] and 0 <= whole["budget_flops_left"] < 10**6
  assert cell.resumed() == whole and cell.records("resumed") == cell.records("whole")


def test_what_cannot_keep_a_budget_is_refused_before_training(tmp_path):
  class Unknown(learner_lib.Learner):
    transform = feature_set.Features(D)

    def begin(self, task, context):
      raise AssertionError("begun")

    learn = begin

    def predict(self, images):
      raise AssertionError("begun")

  @unconverted.unconverted
  def uncountable(labels, logits):
    return tf.reduce_sum(tf.linalg.svd(logits, compute_uv=False))
  for name, learner, budget, error, message in (
      ("own", Unknown(), "1 TFLOP", refusals.RefusedError, "Unknown does not say what its"),
      ("unknown", dense(objective=objective.OwnLoss(uncountable)), "1 TFLOP", ledger.BudgetError,
       "FLOPs of this method are unknown"),
      ("large", dense(), "40 B", ledger.BudgetError, "is 40 bytes, and the learner holds")):
    with pytest.raises(error, match=message):
      run(tmp_path / name, learner, budget)
    assert not (tmp_path / name / "records.jsonl").exists() or not stopped_runs.records(
        tmp_path / name)
  assert incremental.GrowingLearner(dense()).keeps_budget
  with stopped_runs.state(tmp_path / "lifelong", budget="1 TFLOP") as state, pytest.raises(
      refusals.RefusedError, match="protocol lifelong trains no network"):
    lifelong.run(None, state=state)
