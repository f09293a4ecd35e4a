# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Choosing among past models, with the kNN errors given by hand."""

import pytest

from suite.learners import starts
from suite.state import weight_store

ENTRIES = [weight_store.Entry(0, "a"), weight_store.Entry(2, "b"), weight_store.Entry(4, "c")]


class Errors:
  """Answers as `Features` does, from a table."""

  def __init__(self, **errors):
    self.errors = errors

  def affords(self, candidates, settings):
    return True

  def knn_errors(self, entries, settings):
    names = ["random" if entry is None else entry.name for entry in entries]
    return {name: self.errors[name] for name in names}


def test_random_and_previous():
  assert starts.Random().choose(ENTRIES, None) == (None, {})
  assert starts.Previous().choose(ENTRIES, None) == (ENTRIES[2], {})
  assert starts.Previous().choose([], None) == (None, {})


def test_later_tasks_start_from_the_named_one_and_earlier_ones_from_random_weights():
  start = starts.FromTask("b")
  assert [start.choose(ENTRIES[:n], None).entry for n in range(4)] == [
      None, None, ENTRIES[1], ENTRIES[1]]


def test_nearest_takes_the_lowest_error():
  nearest = starts.Nearest(include_random=True)
  choice = nearest.choose(ENTRIES, Errors(a=0.3, b=0.1, c=0.2, random=0.4))
  assert choice == (ENTRIES[1], dict(a=0.3, b=0.1, c=0.2, random=0.4))


def test_random_weights_win_only_if_they_are_better():
  nearest = starts.Nearest(include_random=True)
  assert nearest.choose(ENTRIES, Errors(a=0.3, b=0.3, c=0.3, random=0.2)).entry is None
  errors = Errors(a=0.3, b=0.3, c=0.4, random=0.3)
  assert nearest.choose(ENTRIES, errors).entry == ENTRIES[1]


def test_of_equals_the_newest_wins():
  errors = Errors(a=0.1, b=0.1, c=0.1, random=0.1)
  assert starts.Nearest().choose(ENTRIES, errors).entry == ENTRIES[2]


def test_random_weights_are_no_past_task():
  choice = starts.Nearest().choose(ENTRIES, Errors(a=0.3, b=0.2, c=0.4))
  assert choice.entry == ENTRIES[1] and "random" not in choice.candidates


def test_the_first_task_starts_from_scratch():
  assert starts.Nearest().choose([], Errors()) == (None, {})


@pytest.mark.parametrize("values, message", [
    ({"statistics": "moving"}, r"Nearest\.statistics is 'moving'; allowed are batch, running"),
    ({"batch_size": 0}, r"Nearest\.batch_size is 0; it must be at least 1")])
def test_unknown_settings_are_refused(values, message):
  with pytest.raises(ValueError, match=message):
    starts.Nearest(**values)
