# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.contracts import tasks
from suite.learners import learner_each_task
from suite.state import context
from suite.state import journal
from suite.state import weight_store


class Counter(learner_lib.Learner):
  """Records what it is given; its answer is the number of experiences it has had."""

  transform = "the transform"

  def __init__(self):
    super().__init__()
    self.told, self.num = [], 0

  def begin(self, task, now):
    self.told.append((task.occurrence, now.delivery))
    now.store.save(f"{task.name}{task.occurrence}", [])

  def learn(self, delivered, now):
    self.num += 1
    return {"occurrence": delivered.task.occurrence, "delivery": now.delivery}

  def predict(self, images):
    return self.num


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account),
      delivery=deliveries.TASKS)


def task(name, occurrence=1):
  return tasks.Task(name, tasks.SINGLE_LABEL, 3, occurrence)


def learned(learner, one, now):
  learner.begin(one, now)
  return learner.learn(deliveries.Experience(one, None, None, None), now)


def test_tasks_share_no_learner_and_a_task_that_returns_is_a_bucket_of_its_own(tmp_path):
  learner, now = learner_each_task.LearnerEachTask(Counter), here(tmp_path)
  assert learner.transform == "the transform"
  for one, num in [(task("a"), 1), (task("b"), 1), (task("a", 2), 2)]:
    told = learned(learner, one, now)
    assert told == {"occurrence": 1, "delivery": deliveries.BUCKETS}
    assert learner.predict(None) == num
  assert learner.learners["a"].told == [(1, deliveries.BUCKETS)] * 2
  assert list(learner.learners) == ["a", "b"]


def test_weights_are_stored_by_task(tmp_path):
  learner = learner_each_task.LearnerEachTask(Counter)
  learned(learner, task("a"), here(tmp_path))
  learned(learner, task("b"), here(tmp_path))
  folders = {path.name for path in tmp_path.iterdir()}
  assert {weight_store.safe_name("a"), weight_store.safe_name("b")} <= folders


def test_no_learner_is_made_twice_for_the_first_task(tmp_path):
  made = []

  def make():
    made.append(Counter())
    return made[-1]

  learner = learner_each_task.LearnerEachTask(make)
  learned(learner, task("a"), here(tmp_path))
  assert len(made) == 1 and learner.learners["a"] is made[0]


def test_each_task_has_a_copy_of_one_learner(tmp_path):
  given = Counter()
  learner, now = learner_each_task.of(given), here(tmp_path)
  learned(learner, task("a"), now)
  learned(learner, task("b"), now)
  assert [each.num for each in learner.learners.values()] == [1, 1]
  assert not given.told
