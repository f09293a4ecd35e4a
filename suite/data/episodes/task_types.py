# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The task settings of continual few-shot learning (Antoniou et al., 2020, section 3.2).

A task is a sequence of S = num_support_sets support sets. Classes stay for a block of
I = class_change_interval sets; the next block has other classes. With `overwrite` every set is
labeled 0 ... way - 1, so a label has another class in each block; without, each block's classes
have other labels:

  S = 4, I = 2, way = 3     set 0   set 1   set 2   set 3
  classes                   a b c   a b c   d e f   d e f
  labels, overwrite=False   0 1 2   0 1 2   3 4 5   3 4 5
  labels, overwrite=True    0 1 2   0 1 2   0 1 2   0 1 2

  type   S   I   overwrite
  FSL    1   1   False      few-shot learning as usual
  A      n   n   True       more images of the same classes
  B      n   1   False      new classes with each set
  C      n   1   True       new classes under the old labels
  D      n   i   False      new classes with every i-th set, 1 < i < n; 2 in the paper's Table 2
"""

from __future__ import annotations

import dataclasses
import typing
from typing import Literal

TaskType = Literal["FSL", "A", "B", "C", "D"]
TYPES = FSL, A, B, C, D = typing.get_args(TaskType)


@dataclasses.dataclass(frozen=True)
class Setting:
  """The sizes of a task, and how its classes change.

  Attributes:
    way: classes of a support set, at least 2.
    shot: images of a class in a support set.
    targets: target images of a class for each support set.
    num_support_sets: S.
    class_change_interval: I, a divisor of S.
    overwrite: whether labels begin at 0 again with each block.
  """

  way: int = 5
  shot: int = 1
  targets: int = 5
  num_support_sets: int = 1
  class_change_interval: int = 1
  overwrite: bool = False

  def __post_init__(self) -> None:
    for name, least in (("way", 2), ("shot", 1), ("targets", 1), ("num_support_sets", 1),
                        ("class_change_interval", 1)):
      value = getattr(self, name)
      if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r}; allowed are integers from {least} on. "
                         f"Choose {name} >= {least}.")
    sets, interval = self.num_support_sets, self.class_change_interval
    if sets % interval:
      below = sets // interval * interval
      fitting = " or ".join(str(n) for n in (below, below + interval) if n)
      raise ValueError(
          f"num_support_sets={sets} is not a multiple of class_change_interval={interval}: the "
          f"last classes would not stay for {interval} sets. Choose num_support_sets={fitting}, or "
          "an interval that divides it.")

  @property
  def num_blocks(self) -> int:
    """Number of blocks, S / I."""
    return self.num_support_sets // self.class_change_interval

  @property
  def num_labels(self) -> int:
    """Number of different labels in a task."""
    return self.way * (1 if self.overwrite else self.num_blocks)

  @property
  def type_name(self) -> str:
    """FSL, A, B, C, D, or "other"; one set is always FSL."""
    sets, interval = self.num_support_sets, self.class_change_interval
    if sets == 1:
      return FSL
    if self.overwrite:
      return {sets: A, 1: C}.get(interval, "other")
    if interval == 1:
      return B
    return D if interval < sets else "other"


def named(type_name: str, num_support_sets: int = 1, *, way: int = 5, shot: int = 1,
          targets: int = 5, class_change_interval: int | None = None) -> Setting:
  """The setting of a type, for n = num_support_sets: `named("D", 4)` has two blocks of two sets.

  `class_change_interval` is of type D, by default 2, as in Table 2; other types determine it.
  """
  n, i = num_support_sets, class_change_interval
  rules = {FSL: (1, False), A: (max(n, 1), True), B: (1, False), C: (1, True),
           D: (2 if i is None else i, False)}
  if type_name not in rules:
    raise ValueError(f"Unknown task type {type_name!r}; allowed are {', '.join(TYPES)}. "
                     "For any other make a Setting.")
  if type_name == FSL and n != 1:
    raise ValueError(f"Task type FSL has 1 support set, got num_support_sets={n}. Leave it out, or "
                     f"choose one of {', '.join(TYPES[1:])}.")
  interval, overwrite = rules[type_name]
  if i is not None and type_name != D:
    raise ValueError(f"class_change_interval={i} is given for task type {type_name}, which has "
                     f"{interval}. Leave it out, or choose type D.")
  made = Setting(way, shot, targets, n, interval, overwrite)
  if type_name == D and made.type_name != D:
    raise ValueError(f"In task type D classes change, but stay for some sets; got num_support_sets="
                     f"{n} and class_change_interval={interval}. Choose 1 < class_change_interval "
                     "< num_support_sets.")
  return made
