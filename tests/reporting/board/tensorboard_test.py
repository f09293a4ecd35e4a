# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The TensorBoard view, read back from its event files."""

from __future__ import annotations

import copy
import math

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import plugin_data_pb2
import tensorflow as tf

from suite.reporting.board import tensorboard

TRAIN = {
    "event": 4, "kind": "train", "task": "digits", "task_key": "digits@2", "year": 1998,
    "occurrence": 2, "num_classes": 10, "validation_error": 0.125, "flops": 2e9, "macs": None,
    "trials": [
        {"trial": 0, "learning_rate": 0.5, "nesterov": True, "status": "done",
         "validation_error": 0.125, "seconds_train": 3.0,
         "curve": [[10, 2.0, 0.5], [20, 1.0, 0.25], [30, 0.5, 0.125]]},
        {"trial": 1, "learning_rate": 0.25, "status": "failed", "validation_error": None,
         "curve": [[10, 4.0, None]]},
    ],
    "best_trial": 0,
}
PREDICT = {"event": 5, "kind": "predict", "task_key": "digits@2", "error": 0.25, "flops": 3e9}
BEFORE = [{"event": 3, "kind": "predict", "task_key": "digits", "error": 0.5}]
TRIAL_0 = "trials/0004_digits@2/trial_00"
TRIAL_1 = "trials/0004_digits@2/trial_01"


def _scalars(directory):
  """{tag: [(step, value), ...]} of all event files of one run."""
  accumulator = event_accumulator.EventAccumulator(
      str(directory), size_guidance={event_accumulator.TENSORS: 0}).Reload()
  return {
      tag: [(e.step, float(tf.make_ndarray(e.tensor_proto))) for e in accumulator.Tensors(tag)]
      for tag in accumulator.Tags()["tensors"]
      if accumulator.SummaryMetadata(tag).plugin_data.plugin_name == "scalars"}


def _session(directory):
  accumulator = event_accumulator.EventAccumulator(str(directory)).Reload()
  content = accumulator.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
  return plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info


def _hparams(directory):
  values = _session(directory).hparams
  return {name: getattr(v, v.WhichOneof("kind")) for name, v in values.items()}


def _written(tmp_path, *written):
  view = tensorboard.TensorBoardView(tmp_path)
  for record in written:
    view.write(record)
  view.close()
  return view


def test_numbers_of_an_event_stand_at_the_event(tmp_path):
  _written(tmp_path, TRAIN, PREDICT)
  found = _scalars(tmp_path)
  assert found == {
      "one_event/train/validation_error": [(4, 0.125)], "one_event/predict/error": [(5, 0.25)],
      "running_mean/train/validation_error": [(4, 0.125)],
      "running_mean/predict/error": [(5, 0.25)],
      "total/flops": [(4, 2e9), (5, 3e9)],
      "headline/cumulative_flops": [(4, 2e9), (5, 3e9)],
      "error_against_megaflops": [(3000, 0.25)]}


def test_runs_with_a_budget_have_a_curve_over_bytes(tmp_path):
  _written(tmp_path, {**PREDICT, "budget_cut": False, "state_bytes": 5000, "memory_bytes": 2000,
                      "stored_bytes": 0})
  assert _scalars(tmp_path)["error_against_kilobytes"] == [(7, 0.25)]


def test_unknown_flops_give_no_point(tmp_path):
  _written(tmp_path, {**PREDICT, "flops": None})
  assert set(_scalars(tmp_path)) == {"one_event/predict/error", "running_mean/predict/error"}


def test_flops_of_the_longest_stream_fit_a_step(tmp_path):
  _written(tmp_path, {**PREDICT, "flops": 1.5e20})
  assert _scalars(tmp_path)["error_against_megaflops"] == [(150_000_000_000_000, 0.25)]


def test_curves_of_trials(tmp_path):
  _written(tmp_path, TRAIN)
  assert _scalars(tmp_path / TRIAL_0) == {
      "curve/train_loss": [(10, 2.0), (20, 1.0), (30, 0.5)],
      "curve/validation_error": [(10, 0.5), (20, 0.25), (30, 0.125)],
      "validation_error": [(30, 0.125)]}
  assert _scalars(tmp_path / TRIAL_1) == {"curve/train_loss": [(10, 4.0)]}


def test_hyper_parameters_of_trials(tmp_path):
  _written(tmp_path, TRAIN)
  assert _hparams(tmp_path / TRIAL_0) == {
      "learner": tmp_path.name, "run": tmp_path.parent.name,
      "search": "0004_digits@2", "task": "digits@2", "learning_rate": 0.5, "nesterov": True,
      "status": "done"}
  assert _hparams(tmp_path / TRIAL_1)["status"] == "failed"


def test_trials_of_two_learners_are_not_one_in_the_hparams_tab(tmp_path):
  for learner in ("indep", "ft_d"):
    _written(tmp_path / learner, TRAIN)
  found = [tmp_path / learner / trial
           for learner in ("indep", "ft_d") for trial in (TRIAL_0, TRIAL_1)]
  assert len({_session(folder).group_name for folder in found}) == 4
  assert [_hparams(folder)["learner"] for folder in found] == ["indep", "indep", "ft_d", "ft_d"]


def test_a_point_shown_live_is_not_written_again(tmp_path):
  view = tensorboard.TensorBoardView(tmp_path)
  view.rebuild(BEFORE)
  for step, loss in ((10, 2.0), (10, 9.0), (20, 1.0), (10, 9.0)):
    view.point({"key": "digits@2/trial0", "step": step, "steps": 30, "loss": loss,
                "validation_error": 0.5 if step == 10 else 0.25})
  assert _scalars(tmp_path / TRIAL_0)["curve/train_loss"] == [(10, 2.0), (20, 1.0)]
  view.write(TRAIN)
  view.close()
  assert _scalars(tmp_path / TRIAL_0)["curve/train_loss"] == [(10, 2.0), (20, 1.0), (30, 0.5)]
  assert _scalars(tmp_path / TRIAL_0)["curve/validation_error"] == [
      (10, 0.5), (20, 0.25), (30, 0.125)]


def test_trials_shown_in_turns_keep_their_points_apart(tmp_path):
  view = tensorboard.TensorBoardView(tmp_path)
  view.rebuild(BEFORE)
  for step in (10, 20):
    for trial in (0, 1):
      view.point({"key": f"digits@2/trial{trial}", "step": step, "loss": trial + step})
  view.close()
  assert _scalars(tmp_path / TRIAL_0)["curve/train_loss"] == [(10, 10.0), (20, 20.0)]
  assert _scalars(tmp_path / TRIAL_1)["curve/train_loss"] == [(10, 11.0), (20, 21.0)]


def test_a_curve_shown_from_the_middle_is_replaced_by_the_records(tmp_path):
  # A resumed process shows only what it trains itself; its record has the whole curve.
  view = tensorboard.TensorBoardView(tmp_path)
  view.rebuild(BEFORE)
  view.point({"key": "digits@2/trial0", "step": 20, "loss": 1.0})
  view.write(TRAIN)
  view.close()
  assert _scalars(tmp_path / TRIAL_0)["curve/train_loss"] == [(10, 2.0), (20, 1.0), (30, 0.5)]


def test_points_of_other_curves_have_a_run_of_their_own(tmp_path):
  view = tensorboard.TensorBoardView(tmp_path)
  view.point({"key": "static+a/b", "step": 5, "loss": 0.5, "note": "x", "nan": math.nan})
  view.point({"step": 5, "loss": 0.25})
  view.point({"loss": 0.25})
  view.close()
  assert _scalars(tmp_path / "trials/0000_static+a_b") == {"curve/train_loss": [(5, 0.5)]}
  assert _scalars(tmp_path / "trials/0000_live") == {"curve/train_loss": [(5, 0.25)]}


def test_rebuilding_throws_away_and_writes_all_again(tmp_path):
  (tmp_path / "notes.txt").write_text("kept")
  stale = {**TRAIN, "event": 6, "task_key": "gone"}
  _written(tmp_path, TRAIN, PREDICT, stale)
  view = tensorboard.TensorBoardView(tmp_path, config_text="A = 1\nB = 2")
  for _ in range(2):
    view.rebuild([TRAIN, PREDICT])
  view.write({**PREDICT, "event": 7, "error": 0.5})
  view.close()
  assert _scalars(tmp_path)["one_event/predict/error"] == [(5, 0.25), (7, 0.5)]
  assert _scalars(tmp_path)["running_mean/predict/error"] == [(5, 0.25), (7, 0.375)]
  assert _scalars(tmp_path / TRIAL_0)["curve/train_loss"] == [(10, 2.0), (20, 1.0), (30, 0.5)]
  assert sorted(p.name for p in (tmp_path / "trials").iterdir()) == ["0004_digits@2"]
  assert (tmp_path / "notes.txt").read_text() == "kept"


def test_the_config_is_text_in_a_code_block(tmp_path):
  tensorboard.TensorBoardView(tmp_path, config_text="A = 1\nB = 2").rebuild([])
  accumulator = event_accumulator.EventAccumulator(str(tmp_path)).Reload()
  assert accumulator.SummaryMetadata("config").plugin_data.plugin_name == "text"
  text = tf.make_ndarray(accumulator.Tensors("config")[0].tensor_proto).item()
  assert text == b"    A = 1\n    B = 2"


def test_rebuilding_where_there_is_nothing(tmp_path):
  tensorboard.TensorBoardView(tmp_path / "new").rebuild([])
  assert not list(tmp_path.rglob("events*"))


def test_records_are_not_altered(tmp_path):
  record = copy.deepcopy(TRAIN)
  _written(tmp_path, record)
  assert record == TRAIN


def test_files_stay_few(tmp_path):
  trials = [{**TRAIN["trials"][0], "trial": i} for i in range(20)]
  view = tensorboard.TensorBoardView(tmp_path)
  view.rebuild([{**TRAIN, "trials": trials}])
  assert len(list(tmp_path.rglob("events*"))) == 21
  view.close()


def test_a_protocol_without_tasks_or_trials(tmp_path):
  _written(tmp_path, {"event": 3, "kind": "evaluate", "protocol": "clear", "next_domain": 0.75,
                      "row": [0.5, 0.75], "note": "x", "done": True})
  assert _scalars(tmp_path) == {"one_event/evaluate/next_domain": [(3, 0.75)]}


def _bucket(event, trained, bucket, seconds):
  return {"event": event, "kind": "predict", "protocol": "clear", "mode": "iid", "accuracy": 0.5,
          "trained_bucket": trained, "bucket": bucket, "row": [0.5, 0.5 if bucket else None],
          "seconds": seconds}


def test_the_matrix_of_buckets_is_drawn_at_the_end_and_after_long_rows(tmp_path):
  def steps(seconds):
    folder = tmp_path / str(seconds)
    _written(folder, *(_bucket(e, e // 2, e % 2, seconds * (e + 1)) for e in range(4)))
    found = event_accumulator.EventAccumulator(str(folder)).Reload()
    return [event.step for event in found.Tensors("accuracy_matrix")]
  assert (steps(1), steps(20)) == ([3], [1, 3])
