# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Bindings of a table's cells that set the length of all: by a budget's name, or by FLOPs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from suite.configs import gin_files

_T = TypeVar("_T")


def choose(*, budget: str, by_budget: Mapping[str, _T]) -> _T:
  """Returns what belongs to the budget of a name, in a run file `@rows/budgets.choose()`.

  Args:
    budget: its name.
    by_budget: the bindings of cells, or the seeds, of each budget.
  """
  if budget not in by_budget:
    raise gin_files.ConfigError(
        f"There is no budget {budget!r}; allowed are {', '.join(map(repr, by_budget))}.")
  return by_budget[budget]


def equal_flops(*, flops: float, flops_per_set: Mapping[str, float],
                columns: Mapping[str, Mapping[str, Any]], parts: int = 8,
                flops_of_targets: Mapping[str, float] | None = None,
                target_sets: Mapping[str, int] | None = None) -> dict[str, dict[str, int]]:
  """Returns bindings of CFSL's cells by ROW/COLUMN that meta-train each for the same FLOPs.

  An update of one task costs as many times the FLOPs of one support set, with its targets, as the
  task has sets. Where support sets share targets for want of images, as in Omniglot's A from 4
  sets on, the FLOPs of targets are counted once for each target set only. Meta-training has
  `parts` equal parts, each with a validation; a part is an epoch of the schedules and has the
  greatest number of updates whose FLOPs are within its share, at least one.

  Args:
    flops: of the meta-training of a cell.
    flops_per_set: row -> FLOPs of an update of one task with one support set and its targets.
    columns: column -> its bindings, among them NUM_SUPPORT_SETS.
    parts: number of epochs, events and validations.
    flops_of_targets: row -> the part of flops_per_set that is of the targets; every row's if
      there are `target_sets`.
    target_sets: column -> its number of target sets, if that is not NUM_SUPPORT_SETS.
  """
  target_sets, flops_of_targets = target_sets or {}, flops_of_targets or {}
  if unknown := sorted(set(target_sets) - set(columns)):
    raise gin_files.ConfigError(
        f"equal_flops.target_sets has {', '.join(map(repr, unknown))}; allowed are "
        f"{', '.join(map(repr, columns))}. Correct the names, or bind target_sets = {{}}.")
  if target_sets and (missing := [row for row in flops_per_set if row not in flops_of_targets]):
    raise gin_files.ConfigError(
        f"equal_flops.target_sets is set, but flops_of_targets has no {', '.join(missing)}. Bind "
        "the FLOPs of each row's targets (`suite run --dry_run` counts FLOPs).")
  found = {}
  for row, cost in flops_per_set.items():
    for column, bindings in columns.items():
      sets = bindings["NUM_SUPPORT_SETS"]
      update = cost * sets
      if column in target_sets:
        update -= flops_of_targets[row] * (sets - target_sets[column])
      updates = int(flops / (parts * update))
      if updates < 1:
        raise gin_files.ConfigError(
            f"equal_flops.flops={flops:g} is less than the {parts} updates that {row}/{column} has "
            f"at least, of {update:g} FLOPs each. Choose more FLOPs or fewer parts.")
      found[f"{row}/{column}"] = {
          "UPDATES": parts * updates, "UPDATES_PER_EVENT": updates,
          "meta_schedules.MetaTraining.updates_per_epoch": updates}
  return found
