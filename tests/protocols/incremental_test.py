# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import record_keys
import stopped_runs
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.models import mlp
from suite.protocols import incremental
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir

NAMES = tuple(f"class {letter}" for letter in "abcdef")
SIZE = 6  # Features of an example: 1 at the place of its label, the rest 0.


def _set(labels, name="x", names=NAMES):
  labels = np.asarray(labels, np.int64)
  return feature_set.FeatureSet.from_arrays(
      name, np.eye(SIZE, dtype=np.float32)[labels], labels, kind=tasks.SINGLE_LABEL,
      num_classes=len(NAMES), class_names=names)


def _buckets(*classes, tests=None):
  """A bucket of these classes each, with 10 training and 4 test images."""
  tests = tests or classes
  return buckets_lib.Buckets(tasks.Task("t", tasks.SINGLE_LABEL, len(NAMES)), tuple(
      buckets_lib.Bucket(f"task_{i + 1:02d}", _set(np.resize(own, 10)), _set(np.resize(test, 4)))
      for i, (own, test) in enumerate(zip(classes, tests))))


THREE = (4, 5), (0, 3), (1, 2)  # The labels come in this order, not in that of their numbers.


class Newest(tf.Module):
  """Answers the newest of the classes so far; without that one it would always be right."""

  transform = feature_set.Features(SIZE)
  places = (4, 5, 0, 3, 1, 2)  # Labels, in the order in which they come.

  def __init__(self):
    super().__init__()
    self.told = []

  def begin(self, task, context):
    if getattr(self, "weights", None) is None:
      self.weights = tf.Variable(np.eye(SIZE, dtype=np.float32)[:, self.places[:task.num_classes]])
      self.learned = tf.Variable(tf.zeros([task.num_classes], tf.int64))

  def learn(self, experience, context):
    train = experience.train
    labels = np.concatenate([train.labels, experience.dev.labels])
    self.learned.assign_add(np.bincount(labels, minlength=experience.task.num_classes))
    self.told.append((experience.task.num_classes, train.num_classes, train.class_names,
                      list(experience.new_classes or ()), sorted(set(labels.tolist()))))
    return {"learned": self.learned.numpy().tolist()}

  def predict(self, features):
    logits = tf.matmul(features, self.weights)
    return logits + 5.0 * tf.one_hot(logits.shape[1] - 1, logits.shape[1])


def _run(folder, learner, buckets, **arguments):
  with stopped_runs.state(folder, stop_after=arguments.pop("stop_after", None)) as state:
    return incremental.run(learner, state=state, buckets=buckets, **arguments)


def test_answers_are_those_of_the_classes_so_far_or_of_the_task(tmp_path):
  found = _run(tmp_path / "class", Newest(), _buckets(*THREE))
  # Of the task at hand the newest class is right, of those before nothing is.
  assert found["matrix"] == [[0.5, None, None], [0.0, 0.5, None], [0.0, 0.0, 0.5]]
  # Where the task is known, the newest class may not be answered but in its own task.
  found = _run(tmp_path / "task", Newest(), _buckets(*THREE), scenario="task")
  assert found["matrix"] == [[0.5, None, None], [1.0, 0.5, None], [1.0, 1.0, 0.5]]
  assert found["final_average_accuracy"] == pytest.approx(2.5 / 3)
  assert found["average_incremental_accuracy"] == pytest.approx((0.5 + 0.75 + 2.5 / 3) / 3)
  # Best before the end, 1.0 and 0.5, minus last; last minus first; none for unknown classes.
  assert found["forgetting"] == pytest.approx((0.0 - 0.5) / 2)
  assert found["backward_transfer"] == 0.5 and found["forward_transfer"] is None
  assert found["forgetting_by_task"] == [0.0, 0.0, 0.0]
  assert found["final_accuracies"] == [1.0, 1.0, 0.5]
  assert found["class_order"] == [4, 5, 0, 3, 1, 2]
  assert found["class_names"] == [NAMES[label] for label in found["class_order"]]
  done = stopped_runs.records(tmp_path / "task")
  assert record_keys.unknown(done) == {"learned"}
  assert [r["average_accuracy"] for r in done if "average_accuracy" in r] == pytest.approx(
      [0.5, 0.75, 2.5 / 3])


def test_tests_after_the_last_task_alone_leave_the_other_scores_out(tmp_path):
  found = _run(tmp_path, Newest(), _buckets(*THREE), scenario="task", tested="last")
  assert found["matrix"] == [[None] * 3, [None] * 3, [1.0, 1.0, 0.5]]
  assert found["final_average_accuracy"] == pytest.approx(2.5 / 3)
  assert found["average_incremental_accuracy"] is found["forgetting"] is None
  assert found["forgetting_by_task"] == [None, None, 0.0]
  assert [r["kind"] for r in stopped_runs.records(tmp_path)] == ["train"] * 3 + ["predict"] * 3
  with pytest.raises(ValueError, match="tested is 'first'; allowed are each, last"):
    _run(tmp_path, Newest(), _buckets(*THREE), tested="first")


def test_under_domain_the_next_task_is_answered_before_it_is_learned(tmp_path):
  every = tuple(range(SIZE))
  series = _buckets(every, every, tests=((0, 5), (2, 3)))
  found = _run(tmp_path, Newest(), series, scenario="domain")
  assert found["matrix"] == [[0.5, 0.0], [0.5, 0.0]]
  assert found["forward_transfer"] == pytest.approx(0.0 - 1 / 6) and found["forgetting"] == 0.0
  assert stopped_runs.records(tmp_path)[0]["learned"] == [2, 2, 2, 2, 1, 1]


def test_a_learner_is_told_classes_as_they_come_and_grows_with_them(tmp_path):
  learner = Newest()
  _run(tmp_path, learner, _buckets(*THREE))
  done = stopped_runs.records(tmp_path)
  # Counts of earlier classes are kept; the new ones begin with 0.
  assert [r["learned"] for r in done if "learned" in r] == [
      [5, 5], [5, 5, 5, 5], [5, 5, 5, 5, 5, 5]]
  assert learner.told == [(2, 2, ("class e", "class f"), [0, 1], [0, 1])]  # Then a copy goes on.
  assert [r["classes_seen"] for r in done if r["kind"] == "train"] == [2, 4, 6]
  # The head of 6 features has 12, 24, 36 multiply-adds; 4 images, of 1, 2 and 3 tasks.
  macs = np.diff([0, *(r["macs_predict"] for r in done if r["kind"] == "predict")])
  assert macs.tolist() == [4 * 12, *[4 * 24] * 2, *[4 * 36] * 3]


def test_all_outputs_are_there_and_may_be_answered_from_the_first_task_on(tmp_path):
  learner = Newest()
  found = _run(tmp_path / "class", learner, _buckets(*THREE), outputs="all")
  # The last of all classes is always answered, which half of the last task's images have.
  assert found["matrix"] == [[0.0, None, None], [0.0, 0.0, None], [0.0, 0.0, 0.5]]
  assert found["outputs"] == "all" and found["stream"] == "t, 3 tasks, scenario class, outputs all"
  letters = tuple(f"class {letter}" for letter in "efadbc")  # Numbered as they come.
  assert learner.told == [  # One learner, which does not grow.
      (6, 6, letters, list(own), list(own)) for own in ((0, 1), (2, 3), (4, 5))]
  done = stopped_runs.records(tmp_path / "class")
  assert [r["learned"] for r in done if "learned" in r] == [
      [5, 5, 0, 0, 0, 0], [5, 5, 5, 5, 0, 0], [5, 5, 5, 5, 5, 5]]
  assert [r["classes_seen"] for r in done if r["kind"] == "train"] == [2, 4, 6]
  assert {r["outputs"] for r in done} == {"all"}
  # 6 features to 6 outputs, whatever has come; 4 images a test.
  macs = np.diff([0, *(r["macs_predict"] for r in done if r["kind"] == "predict")])
  assert macs.tolist() == [4 * 36] * 6
  # Where the task is known, its classes alone may be answered.
  found = _run(tmp_path / "task", Newest(), _buckets(*THREE), scenario="task", outputs="all")
  assert found["matrix"] == [[1.0, None, None], [1.0, 1.0, None], [1.0, 1.0, 0.5]]
  # Under "domain" all classes come with the first task, so that both are the same.
  every = tuple(range(SIZE))
  both = [_run(tmp_path / outputs, Newest(), _buckets(every, every), scenario="domain",
               outputs=outputs)["matrix"] for outputs in incremental.OUTPUTS]
  assert both[0] == both[1]
  with pytest.raises(ValueError, match="outputs is 'known'; allowed are all_so_far, all"):
    _run(tmp_path / "wrong", Newest(), _buckets(*THREE), outputs="known")


def _reached(value, depth=0, seen=None):
  """All texts and whole numbers that can be reached from an object by any attribute."""
  seen = set() if seen is None else seen
  if isinstance(value, (str, int)):
    yield value
  elif depth < 8 and id(value) not in seen and not callable(value):
    seen.add(id(value))
    parts = (value.values() if isinstance(value, dict) else value if isinstance(
        value, (list, tuple, set, range)) else value.tolist() if isinstance(
            value, np.ndarray) and value.size < 100 else getattr(value, "__dict__", {}).values())
    for part in parts:
      yield from _reached(part, depth + 1, seen)


class Cheat(Newest):
  """Looks for the future in whatever it is given."""

  found: list = []

  def learn(self, experience, context):
    own = experience.task.num_classes
    facts = dataclasses.replace(context, ledger=None, store=None, distribution=None, journal=None,
                                trials=None, seeds=None)
    reached = set(_reached([experience, facts]))
    self.found.append((own, sorted(reached & set(NAMES)), [
        n for n in reached if isinstance(n, int) and n == len(NAMES) != own]))
    return super().learn(experience, context)


def test_nothing_that_a_learner_is_given_tells_how_many_classes_will_come(tmp_path):
  Cheat.found = []
  _run(tmp_path, Cheat(), _buckets((4, 5), (0, 3), (1,), (2,)))
  assert Cheat.found[:3] == [(2, ["class e", "class f"], []),
                             (4, ["class a", "class d", "class e", "class f"], []),
                             (5, ["class a", "class b", "class d", "class e", "class f"], [])]


@pytest.mark.parametrize("series, scenario, message", [
    (((0, 1), (1, 2)), "class", "Class 'class b' appears in two tasks, task_01 and task_02"),
    (((0, 1), (1, 2)), "domain", "Class 'class c' comes with task_02, and task_01 has no image"),
    (((0, 1), (2,)), "task", "task_02 has 1 class, 'class c': every answer is right"),
    (((0,), (1, 2)), "class", "task_01 has 1 class"),
    (((0, 1),), "class", "has 1 task"),
    (((0, 1), (2, 3)), "classes", "'classes'; allowed are domain, class, task")])
def test_tasks_that_a_scenario_cannot_have_are_refused(series, scenario, message, tmp_path):
  with pytest.raises(ValueError, match=message):
    _run(tmp_path, Newest(), _buckets(*series), scenario=scenario)
  assert stopped_runs.records(tmp_path) == [] if (tmp_path / "records.jsonl").exists() else True


@pytest.mark.parametrize("tests, message", [
    (((0, 1), (2, 5)), "task_02 tests class 'class f', of which no task has a training image"),
    (((0, 2), (2, 3)), "task_01 tests class 'class c', which is trained in task_02")])
def test_classes_that_are_tested_and_not_trained_are_refused(tests, message, tmp_path):
  with pytest.raises(ValueError, match=message):
    _run(tmp_path, Newest(), _buckets((0, 1), (2, 3), tests=tests))


def _tuned(**settings):
  return gradient.GradientLearner(
      transform=feature_set.Features(SIZE), epochs=2, batch_size=4, learning_rate=0.1,
      net=trainable_parts.AllLayers(lambda feature_size: mlp.mlp(
          feature_size=feature_size, hidden=(4,))), **settings)


def test_a_memory_smaller_than_the_classes_is_refused_where_each_class_has_a_part(tmp_path):
  learner = _tuned(memory=memory.Memory(5, reservoir.GroupBalanced()), train_on="memory")
  with pytest.raises(ValueError, match="can serve 5 classes, .* 't' has 6. Give it a memory of at"):
    _run(tmp_path, learner, _buckets(*THREE))
  assert not (tmp_path / "records.jsonl").exists() or not stopped_runs.records(tmp_path)


def test_what_cannot_grow_is_refused_by_name(tmp_path):
  class Fixed(Newest):

    def begin(self, task, context):
      super().begin(task, context)
      self.other = {str(task.num_classes): tf.Variable(0.0)}

  with pytest.raises(ValueError, match="Fixed has other variables for more classes. New: 1 .oth"):
    _run(tmp_path, Fixed(), _buckets(*THREE))
