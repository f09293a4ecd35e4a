# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Bindings of a table's cells by the name of a budget, so that one word sets the length of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

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
