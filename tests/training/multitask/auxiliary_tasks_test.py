# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which past tasks become auxiliary."""

import pytest

from suite.training.multitask import auxiliary

PAST = ["a", "b", "c", "d"]
ERRORS = {"a": 0.3, "b": 0.1, "c": 0.3, "d": 0.2, "pretrained": 0.0}


def test_the_most_similar_are_those_of_the_lowest_errors_and_of_equals_the_newest():
  assert auxiliary.Similar(1).choose(PAST, ERRORS) == ["b"]
  assert auxiliary.Similar(3).choose(PAST, ERRORS) == ["b", "d", "c"]
  assert auxiliary.Similar(3).choose(PAST[:2], ERRORS) == ["b", "a"]
  assert auxiliary.Similar(3).choose([], {}) == []


def test_all_or_one_at_random_are_all_past_tasks():
  for rule, groups in ((auxiliary.EveryTask(), None), (auxiliary.OneAtRandom(), 1)):
    assert rule.choose(PAST, {}) == PAST and rule.groups == groups and not rule.needs_errors


def test_wrong_settings_are_refused():
  with pytest.raises(ValueError, match="Similar.num is 0; it must be at least 1"):
    auxiliary.Similar(0)
  with pytest.raises(ValueError, match="Multitask.batch_size is 0"):
    auxiliary.Multitask(batch_size=0)
  with pytest.raises(ValueError, match="Multitask.weight is -1.0; it must not be negative"):
    auxiliary.Multitask(weight=-1.0)
  assert auxiliary.Multitask(weight=0.0).weight == 0.0


def test_a_search_overrides_the_weight():
  settings = auxiliary.Multitask(weight=0.5)
  assert settings.weight_of({"learning_rate": 0.1}) == 0.5
  assert settings.weight_of({"auxiliary_weight": 2.0}) == 2.0
