# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores over tasks and seeds, worked by hand."""

from __future__ import annotations

import math
import warnings

import pytest

from suite.metrics import episodic


def test_over_tasks_worked_by_hand():
  # Deviations -.2, 0, 0, .2: variance .08 / 3; half-width 1.96 * sqrt(.08 / 3) / 2.
  assert episodic.over_tasks([0.4, 0.6, 0.6, 0.8]) == pytest.approx({
      "accuracy": 0.6, "accuracy_interval_95": 0.98 * math.sqrt(0.08 / 3), "num_tasks": 4})


def test_over_seeds_worked_by_hand():
  # Deviations -.1, 0, .1: variance .02 / 2.
  assert episodic.over_seeds([0.4, 0.5, 0.6]) == pytest.approx({
      "accuracy": 0.5, "accuracy_std_over_seeds": 0.1, "num_seeds": 3})


def test_equal_tasks_have_no_interval():
  assert episodic.interval_95([0.5, 0.5, 0.5]) == 0.0


def test_the_spread_of_one_value_is_unknown_and_nothing_warns():
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert math.isnan(episodic.over_tasks([0.5])["accuracy_interval_95"])
    assert math.isnan(episodic.over_seeds([0.5])["accuracy_std_over_seeds"])


@pytest.mark.parametrize("values", [[], [[0.5]]])
def test_wrong_shapes_are_named(values):
  with pytest.raises(ValueError, match="seed_accuracies of shape"):
    episodic.over_seeds(values)
