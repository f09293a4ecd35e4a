# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import functools
import itertools
import json
import shutil

import numpy as np
import pytest
import record_keys
import stopped_runs
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.learners import exemplar_tuning
from suite.learners import statistics_learner
from suite.metrics import sequence_log
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.state import predictions
from suite.training.gradient import frozen_backbone
from suite.training.sequence import sequence_steps
from suite.training.sequence import update_strategies
from suite.training.statistics import class_means

NEW = 3  # In tests of 3 classes.


class Echo(tf.Module):
  """Answers with the label that was revealed last, whatever the image."""

  transform = image_ops.Plain(2)

  def __init__(self):
    super().__init__()
    self.last = tf.Variable(0, dtype=tf.int64)

  def begin(self, task, context):
    self.num_classes = task.num_classes

  def learn(self, experience, context):
    return {}

  def encode(self, images):
    return tf.cast(images, tf.float32)

  def answer(self, codes):
    return tf.repeat(tf.one_hot(self.last, self.num_classes)[None], tf.shape(codes)[0], axis=0)

  def update(self, codes, labels):
    self.last.assign(labels[-1])


def _sequence(labels, num_base_classes=1, num_classes=3, values=None, **settings):
  images = np.zeros([len(labels), 2, 2, 3], np.uint8)
  if values is not None:
    images[:] = np.asarray(values)[:, None, None, None]
  return sequences.Sequence(images, labels, [f"s{t}" for t in range(len(labels))],
                            num_base_classes, num_classes, **settings)


def _state(folder):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  return run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())


def _records(folder):
  return records.strip_times(records.read(folder / "records.jsonl"))


def _values(folder, name):
  return [value for record in _records(folder) for value in record.get(name, [])]


def test_an_answer_comes_before_its_label_inside_a_block_too(tmp_path):
  labels = [1, 1, 2, 0, 0, 2, 1]
  for size in (1, 3):
    folder = tmp_path / str(size)
    summary = fluid.run(Echo(), state=_state(folder), sequence=_sequence(labels),
                        novelty=sequence_log.Novelty(new_below=0.5),
                        blocks=fluid.Blocks(record_every=size, block_size=2))
    # Without pretraining nothing is known at first; then each answer is the label before.
    assert _values(folder, "answers") == [NEW, *labels[:-1]]
    assert _values(folder, "closed_answers") == [-1, *labels[:-1]]
    assert len(_records(folder)) == -(-7 // size)
    # Right: the first sight of 1 by "new", then 1 after 1 and 0 after 0.
    assert summary["overall"] == pytest.approx(3 / 7)
    assert summary["closed"]["overall"] == pytest.approx(2 / 7)
    assert summary["mean_per_class"] == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert summary["novel_tail"] == summary["mean_per_class"] and summary["pretrain_tail"] is None
    assert summary["new_class_score_high_means"] == "known"


def test_labels_that_come_late_make_new_right_for_longer(tmp_path):
  labels = [1, 1, 1, 2, 1]
  summary = fluid.run(
      Echo(), state=_state(tmp_path), sequence=_sequence(labels),
      novelty=sequence_log.Novelty(new_below=0.5), label_delay=2)
  # The label of sample 0 comes after step 2: until then no class is known.
  assert _values(tmp_path, "answers") == [NEW, NEW, NEW, 1, 1]
  assert _values(tmp_path, "unknown") == [1, 1, 1, 1, 0]
  assert _records(tmp_path)[-1]["revealed_so_far"] == 3
  assert summary["overall"] == 4 / 5


def test_records_count_on_from_one_to_the_next(tmp_path):
  fluid.run(Echo(), state=_state(tmp_path), sequence=_sequence([1, 1, 2, 0, 0]),
            blocks=fluid.Blocks(record_every=2))
  names = ("first_step", "seen", "correct", "seen_so_far", "correct_so_far",
           "closed_correct_so_far", "new_so_far", "examples_predict")
  assert [[r[name] for name in names] for r in _records(tmp_path)] == [
      [0, 2, 2, 2, 2, 1, 1, 2], [2, 2, 0, 4, 2, 1, 3, 4], [4, 1, 1, 5, 3, 2, 3, 5]]
  saved = predictions.load(tmp_path / "predictions/0001.parquet")
  assert saved.id.tolist() == ["s2", "s3"] and saved.label.tolist() == [2, 0]


def test_new_classes_are_found_by_a_low_logit(tmp_path):
  # One feature; classes at 0, 100 and 200 grey. First sights are far from all means.
  learner = statistics_learner.StatisticsLearner(
      class_means.ClassMeans(), transform=image_ops.Plain(2))
  labels, values = [0, 0, 1, 0, 1, 2, 2, 1], [0, 4, 100, 2, 104, 200, 196, 98]
  summary = fluid.run(learner, state=_state(tmp_path), sequence=_sequence(labels, values=values),
                      novelty=sequence_log.Novelty(new_below=-0.5),
                      blocks=fluid.Blocks(record_every=3))
  assert _values(tmp_path, "answers") == [NEW, 0, NEW, 0, 1, NEW, 2, 1]
  assert summary["overall"] == summary["new_class_auroc"] == summary["new_class_f1"] == 1.0
  assert summary["closed"]["overall"] == 5 / 8
  assert summary["detection"]["clock"]["new_class_auroc"] == pytest.approx(11 / 15)
  # Twelve values of 4 / 255 between the second sample and the first.
  assert _values(tmp_path, "max_logits")[1] == pytest.approx(-12 * (4 / 255) ** 2, rel=1e-4)


def test_records_have_what_further_scores_need(tmp_path):
  learner = statistics_learner.StatisticsLearner(
      class_means.ClassMeans(), transform=image_ops.Plain(2))
  labels, values = [0, 0, 1, 0, 1, 2, 2, 1], [0, 4, 100, 2, 104, 200, 196, 98]
  summary = fluid.run(learner, state=_state(tmp_path), sequence=_sequence(labels, values=values),
                      scores=fluid.Scores(nearest=1),
                      blocks=fluid.Blocks(record_every=3, block_size=2))
  unit = 12 / 255 ** 2  # Of a squared difference of one grey value.
  nearest = _values(tmp_path, "neighbors")
  assert nearest[0] is None
  np.testing.assert_allclose(
      nearest[1:], np.multiply([16, 96 ** 2, 4, 16, 96 ** 2, 16, 4], -unit), rtol=1e-4)
  # Two classes are known from step 3 on: their means are 2 and 100, at step 5 they are 2 and 102.
  seconds = _values(tmp_path, "second_logits")
  np.testing.assert_allclose([seconds[0], seconds[2]], [-98 ** 2 * unit, -198 ** 2 * unit],
                             rtol=1e-4)
  assert list(summary["detection"]) == [
      "max_logit", "max_softmax", "energy", "margin", "distance_ratio", "class_wise", "nearest",
      "clock"]
  assert summary["detection"]["nearest"]["new_class_auroc"] == 1.0
  with pytest.raises(ValueError, match=r"shape \[8, 2, 2, 3\] .*learner on frozen features"):
    fluid.run(Echo(), state=_state(tmp_path / "images"), sequence=_sequence(labels),
              scores=fluid.Scores(nearest=1), blocks=fluid.Blocks(block_size=8))


def test_a_learners_own_threshold_counts_if_none_is_given(tmp_path):
  learner = Echo()
  learner.new_below = 2.0
  fluid.run(learner, state=_state(tmp_path), sequence=_sequence([1, 1, 1]))
  assert _values(tmp_path, "answers") == [NEW, NEW, NEW]
  with pytest.raises(ValueError, match="Echo.new_below is a threshold of 'max_logit', and "
                                       "novelty.score is 'energy', which has another scale"):
    fluid.run(learner, state=_state(tmp_path / "other"), sequence=_sequence([1]),
              novelty=sequence_log.Novelty("energy"))


def test_segments_have_their_own_accuracies(tmp_path):
  sequence = _sequence([1, 1, 1, 2, 2], segments=[0, 0, 0, 1, 1])
  summary = fluid.run(Echo(), state=_state(tmp_path), sequence=sequence)
  assert summary["by_segment"] == [1.0, 0.5]


def _exemplar_tuning():
  return exemplar_tuning.ExemplarTuning(
      transform=image_ops.Plain(8), features=frozen_backbone.pixels, learning_rate=0.01,
      batch_size=16)


def _update():
  return update_strategies.Either(
      [update_strategies.Every(40), update_strategies.OnNewClasses(3)])


def _run(folder, learner=_exemplar_tuning, num=100, **settings):
  arguments = dict(sequence=digits.sequence(num), base=digits.sequence_base(), update=_update(),
                   blocks=fluid.Blocks(record_every=30, block_size=16, encode_batch=24))
  return fluid.run(learner(), state=_state(folder), **{**arguments, **settings})


# A kill between two blocks of one record, and between events.
KILLS = {"accept-5": (sequence_steps.SequenceSteps, "accept", 5),
         "commit-2": (run_state.RunState, "commit", 2)}


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory):
  """The summary and the records of a run; beside its folder are others, as kills would leave it."""
  folder = tmp_path_factory.mktemp("runs")

  def copying(method, name, number, calls):
    @functools.wraps(method)
    def called(*arguments, **named):
      if next(calls) == number:
        shutil.copytree(folder / "whole", folder / name)
      return method(*arguments, **named)
    return called

  with pytest.MonkeyPatch.context() as patch:
    for name, (owner, method, number) in KILLS.items():
      patch.setattr(owner, method, copying(
          getattr(owner, method), name, number, itertools.count()))
    summary = _run(folder / "whole")
  return summary, _records(folder / "whole"), folder


def test_updates_stand_in_records_with_their_reason_and_cost(whole):
  summary, found, _ = whole
  phases = [r for r in found if "phase" in r]
  assert summary["updates"] == len(phases) == 4 and summary["update_steps"][-2:] == [40, 80]
  by_event = {r["event"]: r for r in found}
  for phase in phases:
    before = by_event[phase["event"] - 1]
    assert before["update"] and phase["reason"] == before["reason"] != ""
    assert phase["stored"] == phase["step"] == before["seen_so_far"]
    assert phase["passes"] == 4 * phase["stored"]
    # 10 classes of 192 features; a product, and the gradient of the residuals.
    assert phase["event_macs"] == before["update_macs"] == phase["passes"] * 2 * 1920
  assert phases[-1]["reason"].endswith("40 of 40 samples")
  # Frozen features that cost nothing: all that the sequence costs is in the exact view.
  assert summary["macs_exact_cached"] == summary["macs_predict"] + summary["macs_train"]
  assert summary["macs_paper_1x_uncached"] == 0


def test_a_learner_without_offline_phases_has_none(tmp_path):
  summary = _run(tmp_path, lambda: statistics_learner.StatisticsLearner(
      class_means.ClassMeans(), transform=image_ops.Plain(8)), num=50)
  assert summary["updates"] == 0 and not any(r.get("update") for r in _records(tmp_path))
  assert (summary["examples_predict"], summary["examples_train"]) == (50, 50)
  assert summary["macs"] == summary["macs_predict"] == 50 * 10 * 192
  assert summary["flops_pretrain"] > 0 and summary["examples_pretrain"] == 344


@pytest.mark.parametrize("kill", KILLS)
def test_stopped_anywhere_and_resumed_it_gives_the_same_records(whole, kill):
  summary, found, folder = whole
  assert len(_records(folder / kill)) < len(found)
  assert _run(folder / kill) == summary
  assert json.dumps(_records(folder / kill)) == json.dumps(found)


def test_a_run_that_is_complete_has_nothing_left_to_do(whole):
  summary, found, folder = whole
  assert _run(folder / "whole") == summary
  assert json.dumps(_records(folder / "whole")) == json.dumps(found)
  assert record_keys.unknown(found) == {  # Of the learner.
      "classes_missing", "classes_with_a_mean", "steps_event", "train_loss", "trained_on"}


def test_stopped_after_answers_late_labels_and_strategies_go_on(tmp_path, monkeypatch):
  settings = dict(label_delay=(0, 6), update=update_strategies.OnError(1.0, 0.01, 3), num=24,
                  blocks=fluid.Blocks(record_every=8, block_size=16, encode_batch=24))
  summary, whole = _run(tmp_path / "whole", **settings), _records(tmp_path / "whole")
  stops = (1, 2)  # Amid what the strategy counts, and before the offline phase that it asks for.
  commits = stopped_runs.stopping(
      run_state.RunState.commit, lambda state, *_: state.done in stops, after=True)
  monkeypatch.setattr(run_state.RunState, "commit", commits)
  assert [whole[stop]["update"] for stop in stops] == [False, True]
  assert all(whole[stop]["revealed_so_far"] < whole[stop]["seen_so_far"] for stop in stops)
  for _ in stops:  # Each time a new process.
    with pytest.raises(stopped_runs.Stop):
      _run(tmp_path / "stopped", **settings)
  monkeypatch.undo()
  assert _run(tmp_path / "stopped", **settings) == summary
  assert json.dumps(_records(tmp_path / "stopped")) == json.dumps(whole)


class Curious(Echo):
  """Has got hold of the sequence, which no protocol gives away, and looks ahead."""

  def __init__(self, sequence, place):
    super().__init__()
    self.sequence, self.place = sequence, place

  def learn_stored(self, stored, context):
    self.sequence.reveal(self.place(len(stored.labels)))
    return {"passes": 0}


def test_a_label_asked_for_before_its_sample_is_refused(tmp_path):
  sequence = _sequence([1, 1, 2, 0, 2, 1])
  learner = Curious(sequence, lambda num: num)  # The next one: a block has tried its answer.
  with pytest.raises(sequences.LabelNotDueError, match="label of sample 3 is revealed after"):
    fluid.run(learner, state=_state(tmp_path / "next"), sequence=sequence,
              update=update_strategies.Every(3))
  again = _sequence([1, 1, 2, 0, 2, 1])
  fluid.run(Curious(again, lambda num: num - 1), state=_state(tmp_path / "last"), sequence=again,
            update=update_strategies.Every(3))  # It has been revealed.


class Wide(Echo):

  def answer(self, codes):
    return tf.zeros([tf.shape(codes)[0], self.num_classes + 1])


class Diverged(Echo):
  """Answers NaN after a label of class 2."""

  def answer(self, codes):
    return tf.where(super().answer(codes)[:, 2:] > 0, float("nan"), super().answer(codes))


def test_a_learner_that_is_none_is_refused(tmp_path):
  class Whole(tf.Module):
    pass

  state = _state(tmp_path)
  message = "Whole cannot be given single samples .*: it has no transform, begin, encode, answer"
  with pytest.raises(ValueError, match=message):
    fluid.run(Whole(), state=state, sequence=_sequence([0]))
  with pytest.raises(ValueError, match=r"Wide.answer returns logits \[1, 4\].*expected \[1, 3\]"):
    fluid.run(Wide(), state=state, sequence=_sequence([0]))


def test_a_learner_that_diverged_stops_the_run_and_what_was_before_is_kept(tmp_path):
  with pytest.raises(ValueError, match="Diverged.answer returned NaN for step 5: its training has"):
    fluid.run(Diverged(), state=_state(tmp_path), sequence=_sequence([0, 0, 1, 0, 2, 1]),
              blocks=fluid.Blocks(record_every=2, block_size=3))
  assert len(_values(tmp_path, "answers")) == 4


class Leaks(statistics_learner.StatisticsLearner):
  """Its blocks answer with their own labels; `answer` does not."""

  def answer_in_turn(self, codes, labels):
    return 10.0 * tf.one_hot(labels, 3)


def test_a_learner_whose_blocks_use_their_labels_stops_the_run(tmp_path):
  sequence = _sequence([0, 1, 1, 2, 0, 2, 1, 0], values=[0, 90, 30, 200, 10, 90, 120, 60])
  with pytest.raises(refusals.RefusedError, match=r"Leaks.answer_in_turn gives step \d another"):
    fluid.run(Leaks(class_means.ClassMeans(), transform=image_ops.Plain(2)),
              state=_state(tmp_path), sequence=sequence)
  assert not (tmp_path / "records.jsonl").exists() or not _records(tmp_path)


def test_the_check_of_blocks_costs_and_changes_nothing(whole, tmp_path, monkeypatch):
  monkeypatch.setattr(sequence_steps, "_STEPS_A_CHECK", 1)  # Every block; above, hardly any.
  summary, found, _ = whole
  assert _run(tmp_path) == summary
  assert json.dumps(_records(tmp_path)) == json.dumps(found)


def test_a_summary_says_how_much_was_trained(whole):
  summary, found, _ = whole
  phases = [r for r in found if "phase" in r]
  assert summary["passes"] == sum(r["passes"] for r in phases) > 0
  assert summary["steps_train"] == sum(4 * -(-r["stored"] // 16) for r in phases)
  assert "meta_updates" not in summary


def test_the_base_classes_validation_split_has_images_of_each_class(tmp_path):
  class Notes(Echo):
    def learn(self, experience, context):
      self.parts = experience.train.labels, experience.dev.labels
      return {}

  learner = Notes()
  base = _base([0] * 20 + [1] * 60)
  fluid.run(learner, state=_state(tmp_path), sequence=_sequence([0, 1, 2], num_base_classes=2),
            base=base)
  assert [np.bincount(part).tolist() for part in learner.parts] == [[18, 54], [2, 6]]


def _base(labels, num_classes=3, names=None):
  return image_set.ImageSet.from_arrays(
      "base", np.zeros([len(labels), 2, 2, 3], np.uint8), labels, kind=tasks.SINGLE_LABEL,
      num_classes=num_classes, class_names=names)


def test_the_base_classes_are_joined_by_name(tmp_path):
  class Notes(Echo):
    def learn(self, experience, context):
      self.labels = experience.train.labels
      return {}

  learner = Notes()
  summary = fluid.run(
      learner, state=_state(tmp_path), base=_base([0] * 20 + [1] * 60, 2, ["cat", "ant"]),
      sequence=_sequence([0, 1, 2], 2, class_names=["ant", "cat", "dog"]))
  assert np.bincount(learner.labels).tolist() == [54, 18]
  assert summary["class_names"] == ["ant", "cat", "dog"]


def test_groups_refuse_settings_that_make_no_sense():
  with pytest.raises(ValueError, match="block_size=0; a record and a block have at least one step"):
    fluid.Blocks(block_size=0)
  with pytest.raises(ValueError, match="matched_window=0; a window has at least 1 step"):
    fluid.Scores(matched_window=0)


@pytest.mark.parametrize("settings, message", [
    (dict(update=update_strategies.Every(7)),
     "Every cannot update before sample 7, and the sequence has 6"),
    (dict(base=_base([0, 1])), "labels up to 1; the sequence has 3, of which the first 1 are base"),
    (dict(base=_base([0, 0], 2)), "'base' has 2 classes"),
    (dict(base=_base([0, 0], 1, ["b"]), sequence=_sequence([0, 1, 2], class_names=list("abc"))),
     "The base 'base' has the classes 'b', but the base classes of .* first ones, 'a'. Make the"),
    (dict(base=_base([0, 0], 1, ["b"])), "only the base has names of classes: 'b'. Give the other"),
    (dict(base=_base([0, 0]), sequence=_sequence([0, 1, 2], num_base_classes=0)),
     "given as base classes, but the sequence has none"),
    (dict(novelty=sequence_log.Novelty("entropy")),
     "novelty score 'entropy'; allowed are max_logit, "),
    (dict(label_delay=-1), "label delay of -1; give a number of steps"),
    (dict(label_delay=(4, 2)), r"label delay of \(4, 2\)"),
])
def test_settings_that_make_no_sense_are_named(tmp_path, settings, message):
  learner = Curious(None, None)  # It has offline phases.
  with pytest.raises(ValueError, match=message):
    fluid.run(learner, state=_state(tmp_path),
              **{**dict(sequence=_sequence([0, 1, 2, 0, 1, 2])), **settings})
  assert not (tmp_path / "records.jsonl").exists() or not _records(tmp_path)


@pytest.mark.parametrize("device, code_shape, given, expected", [
    ("/job:a/device:CPU:0", (512,), {}, (32, 500)), ("/job:a/device:GPU:0", (512,), {}, (256, 500)),
    ("/job:a/device:CPU:0", (), {}, (32, 64)), ("/job:a/device:GPU:0", (8, 8, 3), {}, (256, 256)),
    ("/job:a/device:GPU:0", (), {"block_size": 7, "encode_batch": 5}, (5, 7))])
def test_blocks_and_batches_are_those_of_the_device_unless_given(
    device, code_shape, given, expected):
  blocks = fluid.Blocks(**{"block_size": None, "encode_batch": None, **given})
  assert (blocks.batch_on(device), blocks.steps_on(device, code_shape)) == expected
