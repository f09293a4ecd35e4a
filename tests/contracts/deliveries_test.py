# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A learner sees what was delivered and nothing else."""

from __future__ import annotations

import copy

import pytest

from suite.contracts import deliveries
from suite.contracts import tasks

TASKS = [tasks.Task("mnist", "single_label", 10), tasks.Task("voc", "multi_label", 20),
         tasks.Task("mnist", "single_label", 10, occurrence=2)]


def _history(num):
  return deliveries.History([
      deliveries.Delivered(task, lambda split, key=task.key: f"{key} {split}")
      for task in TASKS[:num]])


def test_the_past_can_be_asked_by_index_and_by_key():
  history = _history(3)
  assert len(history) == 3 and history.keys == ["mnist", "voc", "mnist@2"]
  assert history["mnist@2"].task == TASKS[2] and history[-1].train == "mnist@2 train"
  assert history[1].dev == history["voc"].dev == "voc dev"
  assert [past.task.key for past in history] == history.keys
  assert history.num_classes("voc") == history.num_classes(1) == 20
  assert history.tasks == TASKS
  assert "voc" in history and "cifar10" not in history


def test_the_future_is_not_there_and_errors_name_the_past_only():
  for ask in (lambda h: h["mnist@2"], lambda h: h[2], lambda h: h.num_classes("mnist@2"),
              lambda h: h[-3]):
    with pytest.raises(deliveries.NotDeliveredError) as error:
      ask(_history(2))
    assert str(error.value).endswith("Delivered so far: mnist, voc.")
  with pytest.raises(deliveries.NotDeliveredError, match="so far: none"):
    _ = _history(0)["mnist"]


def test_an_old_experience_knows_only_what_came_before_it():
  assert _history(3)[1].history.keys == ["mnist"]


def test_data_of_the_past_is_read_only_when_it_is_asked_for():
  def fail(split):
    raise AssertionError("read")
  history = deliveries.History([deliveries.Delivered(TASKS[0], fail)])
  assert history.num_classes(0) == 10 and history.tasks == TASKS[:1]
  with pytest.raises(AssertionError, match="read"):
    _ = history[0]


@pytest.mark.parametrize("name", ["test", "validation", "stream", "labels"])
def test_an_experience_has_no_split_that_is_scored(name):
  made = _history(3)[2]
  message = f"no '{name}'; it has task, train, dev, fitted, history, unlabelled and new_classes"
  with pytest.raises(AttributeError, match=message):
    getattr(made, name)
  with pytest.raises(AttributeError):
    made.test = 1
  assert copy.copy(made).task == made.task
