# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The NEVIS'22 loop: resumed from every commit, summed up by hand, with no way into the future."""

from __future__ import annotations

import dataclasses
import shutil

import numpy as np
import pytest
import record_keys
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.streams import streams
from suite.protocols import nevis
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.state import predictions


class Templates(tf.Module):
  """One mean image a class and task; its random noise, seeds and costs would show a bad resume."""

  transform = image_ops.Plain(8)

  def __init__(self):
    super().__init__()
    self.means = {}
    self.num_learned = tf.Variable(0)

  def begin(self, task, context):
    if task.key not in self.means:
      self.means[task.key] = tf.Variable(tf.zeros([task.num_classes, 8 * 8 * 3]))
    self._key = task.key

  def learn(self, experience, context):
    made, task = experience.train, experience.task
    batch = next(
        iter(made.train_batches(16, seed=context.seeds.pair("batches"), transform=self.transform)))
    flat = tf.reshape(tf.cast(batch["image"], tf.float32), [16, -1])
    noise = context.seeds.generator("noise").normal(size=flat.shape[1])
    hot = tf.one_hot(batch["label"], task.num_classes)
    sums = tf.matmul(hot, flat, transpose_a=True)
    self.means[task.key].assign(sums / (1.0 + tf.reduce_sum(hot, 0)[:, None]) + noise)
    self.num_learned.assign_add(1)
    context.ledger.charge("train", flops=1000 + context.event, macs=7, steps=1, examples=16)
    error = 1.0 / (1.0 + int(self.num_learned))
    return {"trials": [{"trial": 0, "curve": [[1, 0.0, 1.0], [3, 0.0, error]]}], "best_trial": 0,
            "past": experience.history.keys}

  def predict(self, images):
    flat = tf.reshape(tf.cast(images, tf.float32), [images.shape[0], -1])
    means = self.means[self._key]
    return 2.0 * tf.matmul(flat, means, transpose_b=True) - tf.reduce_sum(means ** 2, axis=1)


def _stream(places=(1, 2, 7), left_out=()):
  """Some tasks of the digits: turned, plain, and turned once more (meta-test)."""
  entries = digits.nevis_stream(max_train_images=30).entries
  return streams.Stream("few", [entries[place] for place in places], left_out=left_out)


def _run(folder, learner=None, stream=None, after_commit=None, **options):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())
  commit = state.commit

  def observed(*args, **kwargs):
    commit(*args, **kwargs)
    if after_commit:
      after_commit(state.done)
  state.commit = observed
  try:
    return nevis.run(learner or Templates(),
                     state=state,
                     stream=stream or _stream(),
                     eval_batch_size=128,
                     **options)
  finally:
    writer.close()


def _records(folder):
  return records.strip_times(records.read(folder / "records.jsonl"))


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory):
  """A finished run: its folder, its summary, and copies of the folder after each commit."""
  folder, copies = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("copies")
  summary = _run(folder / "x",
                 after_commit=lambda done: shutil.copytree(folder / "x", copies / str(done)))
  return folder / "x", summary, copies


@pytest.mark.parametrize("done", range(1, 7))
def test_a_run_goes_on_the_same_from_every_commit(whole, done):
  folder, summary, copies = whole
  again = copies / str(done)
  assert len(_records(again)) == done
  committed = []
  assert _run(again, after_commit=committed.append) == summary
  assert committed == list(range(done + 1, 7))  # Nothing that was done is done again.
  assert _records(again) == _records(folder)
  assert record_keys.unknown(_records(folder)) == {"past"}
  for path in sorted((folder / "predictions").iterdir()):
    assert (again / "predictions" / path.name).read_bytes() == path.read_bytes()


def test_each_task_is_delivered_then_tested_and_its_record_says_so(whole):
  found = _records(whole[0])
  assert [(r["kind"], r["task_key"], r["role"], r["year"], r["occurrence"]) for r in found] == [
      (kind, *row)
      for row in (("digits_rotated", "meta_train", 2002, 1), ("digits", "meta_train", 2003, 1),
                  ("digits_rotated@2", "meta_test", 2008, 2)) for kind in ("train", "predict")
  ]
  assert [r["past"] for r in found[::2]] == [[], ["digits_rotated"], ["digits_rotated", "digits"]]
  assert all(r["train_size"] == 30 and r["dev_size"] == 200 for r in found[::2])
  assert all(
      r["protocol"] == "nevis" and r["left_out"] == [] and r["num_classes"] == 10 for r in found)


def test_test_splits_are_scored_whole_and_their_predictions_kept(whole):
  stream = _stream()
  for event, record in zip(stream.events(), _records(whole[0])):
    if event.kind == deliveries.TRAIN:
      continue
    saved = predictions.load(whole[0] / record["predictions"])
    assert saved.id.tolist() == stream.held_out(event, "test").ids.tolist()
    assert (record["seen"], record["correct"]) == (len(saved), int(np.sum(saved.correct)))
    assert record["error"] == (record["seen"] - record["correct"]) / record["seen"]
    assert 0.0 < record["error"] < 0.8  # Templates are better than guessing.


def test_test_sets_that_other_runs_have_answered_are_asked_in_part(whole, tmp_path):
  folder, full, _ = whole
  shutil.copytree(folder, tmp_path / "other" / "y")
  found = _run(tmp_path / "few", test_answers={
      "answers": 50, "known_runs": [str(folder.parent), str(tmp_path / "other")]})
  tested = _records(tmp_path / "few")[1::2]
  for record in tested:
    low, high = record["error_interval"]
    # Three tasks of two runs have images of the same ids and labels, turned or not.
    assert record["estimated"] and (record["seen"], record["known_models"]) == (50, 6)
    assert low - 1e-9 <= full["errors"][record["task_key"]] <= high + 1e-9 and low < high
  # The only meta-test task, and the mean of independent test sets.
  assert found["intervals"]["mean_error"] == pytest.approx(tested[2]["error_interval"])
  down = [r["error"] - r["error_interval"][0] for r in tested]
  assert found["intervals"]["mean_error_all"][0] == pytest.approx(
      found["mean_error_all"] - np.linalg.norm(down) / 3)
  assert "intervals" not in full and found["answers_asked"] == 150
  # Without other runs a test set has one model, which is asked in full.
  own = _run(tmp_path / "own", test_answers=50)
  assert own["errors"] == full["errors"] and own["estimated_tests"] == 0


def test_development_predicts_on_validation_and_meets_no_meta_test_task(whole, tmp_path):
  summary = _run(tmp_path, predict_on="validation")
  found = _records(tmp_path)
  assert [(r["kind"], r["task_key"]) for r in found] == [
      (kind, key) for key in ("digits_rotated", "digits") for kind in ("train", "predict")]
  assert [r["split"] for r in found[1::2]] == ["validation"] * 2
  assert [r["split"] for r in _records(whole[0])[1::2]] == ["test"] * 3
  stream = _stream()
  for place, record in zip((1, 3), found[1::2]):
    saved = predictions.load(tmp_path / record["predictions"])
    assert saved.id.tolist() == stream.held_out(stream.events()[place], "validation").ids.tolist()
  assert summary["mean_error"] is None and summary["mean_error_all"] == np.mean(
      [r["error"] for r in found[1::2]])
  assert summary["stream"] == "few, meta-train tasks"  # Another table than that of the test runs.
  assert summary["headline"] == (
      "no headline score, predicted on validation, for development: see mean_error_all")
  # A learner gets the same, whatever it is scored on.
  assert [r["dev_size"] for r in found[::2]] == [r["dev_size"] for r in _records(whole[0])[:4:2]]
  with pytest.raises(ValueError, match="predict_on='dev'; allowed are 'validation', in develop"):
    _run(tmp_path / "dev", predict_on="dev")


def test_records_name_the_resized_copies_and_too_small_ones_are_refused(tmp_path):
  about = {split: {"side": 10, "resized": 3, "sha256": "ab"} for split in streams.SPLITS}
  entry, = _stream(places=(1,)).entries
  load = entry.load
  entry.load = lambda: dataclasses.replace(load(), resized=about)
  with pytest.raises(ValueError, match="side of 9 pixels, .* makes 8, which needs 10 or more"):
    _run(tmp_path / "small", stream=streams.Stream("few", [entry], resized_side=9))
  _run(tmp_path / "run", stream=streams.Stream("few", [entry], resized_side=10))
  assert [r["resized_images"] for r in _records(tmp_path / "run")] == [about, about]


def test_costs_add_up_over_the_whole_stream(whole):
  folder, summary, _ = whole
  found = _records(folder)
  assert [r["flops_train"] for r in found] == [1000, 1000, 2002, 2002, 3006, 3006]
  # The template product and the mean of squares: 2 FLOPs a multiply-add; padding costs nothing.
  assert found[-1]["macs_predict"] == sum(r["seen"] for r in found[1::2]) * 192 * 10
  assert summary["flops"] == found[-1]["flops"]
  assert summary["flops"] == found[-1]["flops_train"] + found[-1]["flops_predict"]
  assert summary["cflop"] == found[-1]["flops_train"]
  assert summary["steps"] == 3 and summary["examples_train"] == 48


def _record(kind, task, occurrence, role, **values):
  key = task if occurrence == 1 else f"{task}@{occurrence}"
  return {
      "kind": kind, "task": task, "task_key": key, "occurrence": occurrence, "role": role,
      **({"split": "test"} if kind == "predict" else {}), **values
  }


def _curve(*points):
  return {
      "trials": [{"curve": [[0, 0.0, 1.0], [1, 0.0, 1.0]]},
                 {"curve": [[s, 0.0, e] for s, e in points]}], "best_trial": 1
  }


def _by_hand():
  return [
      _record("train", "digits_rotated", 1, "meta_train", **_curve((10, 0.8), (20, 0.4))),
      _record("predict", "digits_rotated", 1, "meta_train", error=0.5),
      _record("train", "digits", 1, "meta_train", **_curve((10, 0.5), (20, 0.5))),
      _record("predict", "digits", 1, "meta_train", error=0.25),
      _record("train", "digits_rotated", 2, "meta_test", **_curve((10, 0.4), (20, 0.2))),
      _record("predict",
              "digits_rotated",
              2,
              "meta_test",
              error=0.125,
              flops=90,
              macs=None,
              seconds=1.5,
              steps=6)
  ]


def test_the_summary_is_worked_by_hand():
  summary = nevis.summarize(_by_hand(), _stream())
  assert summary["headline"] == "ok" and summary["stream"] == "few"
  assert summary["mean_error"] == 0.125  # Over meta-test only.
  assert summary["mean_error_all"] == pytest.approx((0.5 + 0.25 + 0.125) / 3)
  assert summary["errors"] == {"digits_rotated": 0.5, "digits": 0.25, "digits_rotated@2": 0.125}
  # Areas of accuracy: (0.2 + 0.6) / 2 = 0.4 the first time, (0.6 + 0.8) / 2 = 0.7 the second.
  assert summary["forward_transfer_by_task"] == {
      "digits_rotated@2": pytest.approx((0.7 - 0.4) / (1 - 0.4))
  }
  assert summary["forward_transfer"] == pytest.approx(0.5)
  assert (summary["flops"], summary["macs"], summary["steps"]) == (90, None, 6)
  assert not any(k.startswith("seconds") for k in summary)


def test_the_headline_is_the_plain_mean_over_meta_test():
  found = _by_hand()
  found[3]["role"] = "meta_test"
  assert nevis.summarize(found, _stream())["mean_error"] == pytest.approx((0.25 + 0.125) / 2)


def test_learners_without_curves_have_no_forward_transfer():
  found = [{k: v for k, v in r.items() if k not in ("trials", "best_trial")} for r in _by_hand()]
  summary = nevis.summarize(found, _stream())
  assert summary["forward_transfer"] is None and summary["forward_transfer_by_task"] == {}
  assert summary["mean_error"] == 0.125


def test_a_perfect_first_meeting_leaves_nothing_to_gain():
  found = _by_hand()
  found[0].update(_curve((10, 0.0), (20, 0.0)))
  summary = nevis.summarize(found, _stream())
  assert summary["forward_transfer"] is None
  assert summary["forward_transfer_by_task"] == {"digits_rotated@2": None}


def test_no_headline_while_tasks_are_missing_and_they_are_named():
  summary = nevis.summarize(_by_hand()[:4], _stream())
  assert summary["mean_error"] is None and summary["num_events"] == 4
  assert summary["headline"] == "no headline score, 1 tasks are missing: digits_rotated@2"
  assert summary["mean_error_all"] == 0.375


def test_no_headline_if_tasks_were_left_out():
  summary = nevis.summarize(_by_hand(), _stream(left_out=["coil100", "voc"]))
  assert summary["mean_error"] is None and summary["left_out"] == ["coil100", "voc"]
  assert summary["headline"] == "no headline score, 2 tasks are missing: coil100, voc"


def test_no_headline_if_the_stream_stops_before_meta_test_tasks():
  stream = streams.Stream("few", _stream().entries, cut_off=["coil20"])
  summary = nevis.summarize(_by_hand(), stream)
  assert summary["mean_error"] is None and summary["mean_error_all"] is not None
  assert summary["headline"] == ("no headline score, the stream stops before 1 meta-test tasks: "
                                 "coil20; see mean_error_all")


def test_every_record_says_what_was_left_out(tmp_path):
  summary = _run(tmp_path, stream=_stream(places=(1,), left_out=["voc"]))
  assert [r["left_out"] for r in _records(tmp_path)] == [["voc"], ["voc"]]
  assert summary["mean_error"] is None


def test_missing_data_stops_the_run_before_its_first_event(tmp_path):
  stream = _stream()
  stream.entries[1].missing = lambda: streams.Missing("data/b", "not there",
                                                      "suite data build data/b")
  with pytest.raises(streams.MissingDataError, match="suite data build data/b"):
    _run(tmp_path, stream=stream)
  assert not _records(tmp_path)


class Curious(Templates):
  """Looks where it must not, in the middle of the stream."""

  def __init__(self, look):
    super().__init__()
    self._look = look

  def learn(self, experience, context):
    if len(experience.history) == 1:
      self._look(experience)
    return super().learn(experience, context)


@pytest.mark.parametrize("look", [
    lambda e: e.history["digits_rotated@2"], lambda e: e.history[1], lambda e: e.history["digits"],
    lambda e: e.history.num_classes("digits_rotated@2"), lambda e: e.history.num_classes(1)])
def test_a_task_or_head_size_not_yet_delivered_cannot_be_read(tmp_path, look):
  with pytest.raises(deliveries.NotDeliveredError,
                     match=r"has not been delivered\. Delivered so far: digits_rotated\.$"):
    _run(tmp_path, Curious(look))
  assert len(_records(tmp_path)) == 2  # What was done before stands.


@pytest.mark.parametrize("look",
                         [lambda e: e.test, lambda e: e.test.labels, lambda e: e.history[0].test,
                          lambda e: e.validation])
def test_a_scored_split_or_its_labels_cannot_be_read(tmp_path, look):
  message = ("it has task, train, dev, fitted, history, unlabelled and new_classes. The validation "
             "and test splits and their labels")
  with pytest.raises(AttributeError, match=message):
    _run(tmp_path, Curious(look))


def test_nothing_a_learner_is_given_leads_to_the_test_split_or_the_future(tmp_path):
  """All that can be reached from the arguments of `begin` and `learn` by public names."""
  seen = set()

  def walk(value, depth=0):
    if depth > 4 or id(value) in seen or type(value).__module__.split(".")[0] != "suite":
      return
    seen.add(id(value))
    assert not isinstance(value, (streams.Stream, streams.StreamEntry, streams.Splits,
                                  streams.StreamEvent))
    for name in dir(value):
      if not name.startswith("_") and name not in ("strategy", "ledger"):
        walk(getattr(value, name, None), depth + 1)

  class Walker(Templates):
    def begin(self, task, context):
      assert isinstance(task, tasks.Task)
      walk(task), walk(context)
      super().begin(task, context)

    def learn(self, experience, context):
      walk(experience)
      assert {t.key for t in experience.history.tasks
             } < {"digits_rotated", "digits", "digits_rotated@2"}
      return super().learn(experience, context)

  _run(tmp_path, Walker(), stream=_stream(places=(1, 2)))
  assert seen


def test_predict_is_given_images_only(tmp_path):
  given = []

  class Watching(Templates):
    def predict(self, *args, **kwargs):
      given.append((args, kwargs))
      return super().predict(*args)

  _run(tmp_path, Watching(), stream=_stream(places=(1,)))
  # One row for the width of the answers and one for the cost of the last batch.
  assert [args[0].shape[0] for args, _ in given] == [1, 128, 1]
  for args, kwargs in given:
    assert not kwargs and len(args) == 1 and isinstance(args[0], tf.Tensor)
    assert args[0].shape[1:] == [8, 8, 3] and args[0].dtype == tf.uint8
