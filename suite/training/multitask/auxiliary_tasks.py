# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which earlier tasks a task is trained together with, and how often (NEVIS'22, figure 23).

    Similar(1)         the task whose features give the lowest kNN error; with a start from it,
                       `ft_dknn+top1_similar`, the paper's MT
    Similar(3)         the three such tasks: `ft_dknn+top3_similar`
    EveryTask()        all of them in each step: `ft_prev+all`, `ind+all`
    OneAtRandom()      one of them in each step: `ft_prev+random`, `ind+random`
"""

from __future__ import annotations

import dataclasses
from typing import Mapping, Protocol, Sequence


class Rule(Protocol):
  """Chooses auxiliary tasks.

  Attributes:
    needs_errors: whether it reads the kNN errors of past models, which then must be known.
    groups: auxiliary tasks that are drawn in each step; None: all chosen ones.
  """

  @property
  def needs_errors(self) -> bool:
    """See above."""

  @property
  def groups(self) -> int | None:
    """See above."""

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    """Returns the chosen tasks.

    Args:
      past: names of the past tasks, oldest first.
      errors: their kNN errors on the current task; {} if the start does not look at them.
    """


@dataclasses.dataclass(frozen=True)
class Similar:
  """The `num` most related tasks, by the kNN errors that chose the start."""

  num: int = 1

  needs_errors = True
  groups = None

  def __post_init__(self) -> None:
    if self.num < 1:
      raise ValueError(f"Similar.num is {self.num}; it must be at least 1.")

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    newest_first = [name for name in reversed(past) if name in errors]
    return sorted(newest_first, key=lambda name: errors[name])[:self.num]  # Of equals the newest.


@dataclasses.dataclass(frozen=True)
class EveryTask:
  """All past tasks, each of them in every step."""

  needs_errors = False
  groups = None

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    del errors
    return list(past)


@dataclasses.dataclass(frozen=True)
class OneAtRandom:
  """All past tasks, of which each step draws one, all as likely."""

  needs_errors = False
  groups = 1

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    del errors
    return list(past)
