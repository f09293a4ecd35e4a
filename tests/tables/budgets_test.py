# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lengths of a table's cells by FLOPs."""

from __future__ import annotations

import pytest

from suite.configs import gin_files
from suite.tables import budgets


def test_equal_flops_divide_by_an_updates_cost_and_the_number_of_sets():
  columns = {"FSL": {"NUM_SUPPORT_SETS": 1}, "B 3": {"TASK_TYPE": "B", "NUM_SUPPORT_SETS": 3}}
  found = budgets.equal_flops(
      flops=1000.0, flops_per_set={"low": 10.0, "high": 30.0}, columns=columns, parts=4)
  # 1000 / (4 x 10) = 25; / 3 sets = 8.3; 1000 / (4 x 30) = 8.3; / 3 sets = 2.8.
  assert {cell: one["UPDATES_PER_EVENT"] for cell, one in found.items()} == {
      "low/FSL": 25, "low/B 3": 8, "high/FSL": 8, "high/B 3": 2}
  assert found["low/B 3"] == {"UPDATES": 32, "UPDATES_PER_EVENT": 8,
                              "meta_schedules.MetaTraining.updates_per_epoch": 8}
  with pytest.raises(gin_files.ConfigError, match="less than the 4 updates that high/B 3 has"):
    budgets.equal_flops(flops=300.0, flops_per_set={"high": 30.0}, columns=columns, parts=4)


def test_equal_flops_count_shared_targets_once():
  columns = {"A 3": {"NUM_SUPPORT_SETS": 3}, "A 5": {"NUM_SUPPORT_SETS": 5}}
  arguments = {"flops": 1000.0, "flops_per_set": {"low": 10.0}, "columns": columns, "parts": 4}
  found = budgets.equal_flops(
      **arguments, flops_of_targets={"low": 6.0}, target_sets={"A 5": 1})
  # A 3: 1000 / (4 x 30) = 8.3. A 5, 5 sets of 4 and targets of 6: 1000 / (4 x 26) = 9.6.
  assert {cell: one["UPDATES_PER_EVENT"] for cell, one in found.items()} == {
      "low/A 3": 8, "low/A 5": 9}
  with pytest.raises(gin_files.ConfigError, match="has 'A 4'; allowed are 'A 3', 'A 5'"):
    budgets.equal_flops(**arguments, flops_of_targets={"low": 6.0}, target_sets={"A 4": 1})
  with pytest.raises(gin_files.ConfigError, match="flops_of_targets has no low"):
    budgets.equal_flops(**arguments, target_sets={"A 5": 1})
