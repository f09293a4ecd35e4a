# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.data import digits
from suite.data import experience
from suite.data import image_ops
from suite.data import predictions
from suite.data import sequences
from suite.data import tasks
from suite.learners import nearest_mean
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer

INF, NAN = np.inf, np.nan
NEW = 3  # In tests of 3 classes.


class Stop(Exception):
  pass


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

  def answer(self, code):
    return tf.one_hot(self.last, self.num_classes)

  def update(self, code, label):
    self.last.assign(label)


def _sequence(labels, num_base_classes=1, num_classes=3, values=None):
  images = np.zeros([len(labels), 2, 2, 3], np.uint8)
  if values is not None:
    images[:] = np.asarray(values)[:, None, None, None]
  return sequences.Sequence(images, labels, [f"s{t}" for t in range(len(labels))],
                            num_base_classes, num_classes)


def _state(folder, stop_before=None):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())
  make_context = state.context

  def context(**arguments):
    if state.done == stop_before:
      raise Stop
    return make_context(**arguments)
  state.context = context
  return state


def _records(folder):
  return records.strip_times(records.read(folder / "records.jsonl"))


def _values(folder, name):
  return [value for record in _records(folder) for value in record.get(name, [])]


def test_a_class_is_known_from_the_step_after_its_first_label():
  known = fluid.known_before(np.array([2, 0, 2, 1]), np.array([True, False, False, False]))
  assert known.astype(int).tolist() == [[1, 0, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 1, 0]]


def test_score_worked_by_hand():
  logits = np.array([
      [-1.0, -9.0, -0.5],   # Class 2 is not known: the answer is 0, and right.
      [-6.0, -7.0, -0.5],   # The best known one is too low: "new", and it is.
      [-6.0, -7.0, -9.0],   # "new", but it is class 0; closed is right.
      [-1.0, -2.0, -3.0],   # 0, but this is the first sight of class 2.
      [-3.0, NAN, -2.0],    # A diverged learner has no answer.
  ])
  known = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 0], [1, 1, 1]], bool)
  record, saved = fluid.score(logits, np.array([0, 2, 0, 2, 1]), known, new_below=-5.0)
  assert record["answers"] == [0, NEW, NEW, 0, -1]
  assert record["closed_answers"] == [0, 0, 0, 0, -1]
  assert (record["correct"], record["closed_correct"], record["new"]) == (2, 2, 2)
  assert record["known_scores"] == [-1.0, -6.0, -6.0, -1.0, None]
  assert saved["correct"].tolist() == [True, True, False, False, False]
  assert saved["true_class_probability"][1] == saved["true_class_probability"][3] == 0.0
  assert saved["true_class_probability"][0] == pytest.approx(1 / (1 + np.exp(-8)))


def test_where_no_class_is_known_the_answer_is_new():
  record, _ = fluid.score(np.array([[5.0, 1.0]]), np.array([1]), np.zeros([1, 2], bool), -INF)
  assert record["answers"] == [2] and record["closed_answers"] == [-1]
  assert (record["correct"], record["closed_correct"], record["known_scores"]) == (1, 0, [None])


def test_an_answer_comes_before_its_label_inside_a_block_too(tmp_path):
  labels = [1, 1, 2, 0, 0, 2, 1]
  for block_size in (1, 3, 7):
    folder = tmp_path / str(block_size)
    summary = fluid.run(Echo(), state=_state(folder), sequence=_sequence(labels), new_below=0.5,
                        block_size=block_size)
    # Without pretraining nothing is known at first; then each answer is the label before.
    assert _values(folder, "answers") == [NEW, *labels[:-1]]
    assert _values(folder, "closed_answers") == [-1, *labels[:-1]]
    assert len(_records(folder)) == -(-7 // block_size)
    # Right: the first sight of 1 by "new", then 1 after 1 and 0 after 0.
    assert summary["overall"] == pytest.approx(3 / 7)
    assert summary["closed"]["overall"] == pytest.approx(2 / 7)
    assert summary["mean_per_class"] == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert summary["novel_tail"] == summary["mean_per_class"] and summary["pretrain_tail"] is None


def test_records_count_on_from_block_to_block(tmp_path):
  fluid.run(Echo(), state=_state(tmp_path), sequence=_sequence([1, 1, 2, 0, 0]), block_size=2)
  names = ("first_step", "seen", "correct", "seen_so_far", "correct_so_far",
           "closed_correct_so_far", "new_so_far", "examples_predict")
  assert [[r[name] for name in names] for r in _records(tmp_path)] == [
      [0, 2, 2, 2, 2, 1, 1, 2], [2, 2, 0, 4, 2, 1, 3, 4], [4, 1, 1, 5, 3, 2, 3, 5]]
  saved = predictions.load(tmp_path / "predictions/0001.parquet")
  assert saved.id.tolist() == ["s2", "s3"] and saved.label.tolist() == [2, 0]


def test_new_classes_are_found_by_a_low_logit(tmp_path):
  # One feature; classes at 0, 100 and 200 grey. First sights are far from all means.
  learner = nearest_mean.NearestMean(transform=image_ops.Plain(2))
  labels, values = [0, 0, 1, 0, 1, 2, 2, 1], [0, 4, 100, 2, 104, 200, 196, 98]
  summary = fluid.run(learner, state=_state(tmp_path), sequence=_sequence(labels, values=values),
                      new_below=-0.5, block_size=3)
  assert _values(tmp_path, "answers") == [NEW, 0, NEW, 0, 1, NEW, 2, 1]
  assert summary["overall"] == summary["new_class_auroc"] == summary["new_class_f1"] == 1.0
  assert summary["closed"]["overall"] == 5 / 8
  # Twelve values of 4 / 255 between the second sample and the first.
  assert _values(tmp_path, "known_scores")[1] == pytest.approx(-12 * (4 / 255) ** 2, rel=1e-4)


def _literal_answers(learner, sequence, new_below):
  """The protocol as the paper words it, one step at a time, nothing compiled."""
  known, answers = np.arange(sequence.num_classes) < sequence.num_base_classes, []
  for t in range(len(sequence)):
    image = tf.constant(sequence.deliver(t))
    code = learner.encode(learner.transform.evaluate(image[None]))[0]
    logits = np.where(known, learner.answer(code), -INF)
    answers.append(int(np.argmax(logits)) if np.max(logits) >= new_below else len(known))
    label = sequence.reveal(t)
    learner.update(code, tf.constant(label, tf.int64))
    known[label] = True
  return answers


def test_blocks_give_the_answers_of_one_step_at_a_time(tmp_path):
  def learner():
    return nearest_mean.NearestMean(transform=image_ops.Plain(8))

  base, one_by_one = digits.sequence_base(), learner()
  task, state = tasks.Task("t", tasks.SINGLE_LABEL, 10), _state(tmp_path / "literal")
  one_by_one.begin(task, state.context())
  split = base.split(0.1, seed=state.seeds.integer("validation"))
  one_by_one.learn(experience.Experience(task, *split, experience.History()), state.context())
  expected = _literal_answers(one_by_one, digits.sequence(120), -15.0)
  assert 20 > expected.count(10) > 3
  costs = set()
  for block_size in (17, 120):
    folder = tmp_path / str(block_size)
    fluid.run(learner(), state=_state(folder), sequence=digits.sequence(120), base=base,
              new_below=-15.0, block_size=block_size)
    assert _values(folder, "answers") == expected
    totals = _records(folder)[-1]
    assert totals["macs_predict"] == 120 * 10 * 192
    costs.add((totals["flops_predict"], totals["flops_train"]))
  assert len(costs) == 1  # That of the steps, however they are cut into blocks.


def test_what_is_charged_is_the_cost_of_the_compiled_block():
  learner = nearest_mean.NearestMean(transform=image_ops.Plain(2))
  learner.begin(tasks.Task("t", tasks.SINGLE_LABEL, 3), None)
  steps = fluid._Steps(learner, 3)
  images = tf.zeros([5, 2, 2, 3], tf.uint8)
  whole = flops.count(steps.block.get_concrete_function(images, tf.TensorSpec([5], tf.int64)))
  predict, train = steps.cost(images)
  assert whole == predict + train
  assert predict.macs == 5 * 3 * 12 and train.macs == 0
  # A sum of ones; then the difference, the division and the sum of 12 features.
  assert train.flops == 5 * (1 + 3 * 12)


class Curious(Echo):
  """Has got hold of the sequence, which no protocol gives away, and looks one block ahead."""

  def __init__(self, sequence):
    super().__init__()
    self.sequence = sequence

  def begin(self, task, context):
    super().begin(task, context)
    self.sequence.reveal(2 * context.event)


def test_a_label_asked_for_before_its_sample_is_refused(tmp_path):
  sequence = _sequence([1, 1, 2, 0])
  with pytest.raises(sequences.NotDeliveredError, match="label of sample 0 is revealed after the"):
    fluid.run(Curious(sequence), state=_state(tmp_path), sequence=sequence, block_size=2)


def test_a_learner_of_whole_tasks_is_refused(tmp_path):
  class Whole(tf.Module):
    pass

  with pytest.raises(ValueError, match="Whole cannot learn one sample at a time: it has no encode"):
    fluid.run(Whole(), state=_state(tmp_path), sequence=_sequence([0]))
  with pytest.raises(ValueError, match="block_size=0; a block has at least one step"):
    fluid.run(Echo(), state=_state(tmp_path), sequence=_sequence([0]), block_size=0)


def test_a_run_stopped_before_any_event_goes_on_the_same(tmp_path):
  def run(folder, stop_before=None):
    return fluid.run(
        nearest_mean.NearestMean(transform=image_ops.Plain(8)), state=_state(folder, stop_before),
        sequence=digits.sequence(50), base=digits.sequence_base(), block_size=20, new_below=-20.0)

  summary, whole = run(tmp_path / "whole"), _records(tmp_path / "whole")
  assert [r["kind"] for r in whole] == ["train", "predict", "predict", "predict"]
  assert (whole[0]["train_size"], whole[0]["validation_size"]) == (344, 38)
  # What was spent before the first step stands apart from what the steps cost.
  assert summary["flops_pretrain"] == whole[0]["flops"] > 0 and whole[0]["examples_pretrain"] == 344
  assert "flops_train" not in whole[0] and summary["examples_train"] == 50
  assert summary["flops_predict"] + summary["flops_train"] == summary["flops"] - whole[0]["flops"]
  assert summary["macs_predict"] == summary["macs"] == 50 * 10 * 192
  assert summary["pretrain_tail"] is not None
  for stop in range(4):
    folder = tmp_path / f"stopped{stop}"
    with pytest.raises(Stop):
      run(folder, stop)
    assert run(folder) == summary
    assert _records(folder) == whole
  assert run(tmp_path / "whole") == summary  # Nothing left to do.
