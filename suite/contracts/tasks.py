# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The facts of a task that a learner sees: its name, its kind and its number of classes.

Where examples of several tasks are mixed, classes are numbered on from task to task, and a label
is a row of codes, uint8 [C], with an entry for each class of all tasks. It says which belong to
the example's own task, which of them are present, and of which kind the task is:

    FOREIGN           a class of another task
    ABSENT, PRESENT   a class of the example's own task, which is single-label
    ABSENT + MULTI, PRESENT + MULTI   the same of a multi-label task
"""

from __future__ import annotations

import dataclasses

SINGLE_LABEL = "single_label"
MULTI_LABEL = "multi_label"
KINDS = (SINGLE_LABEL, MULTI_LABEL)

# Codes of the classes of a mixture of tasks.
FOREIGN, ABSENT, PRESENT = 0, 1, 2
MULTI = 2


@dataclasses.dataclass(frozen=True)
class Task:
  """One classification task.

  Attributes:
    name: the data set's name; a data set that comes twice keeps it.
    kind: "single_label" (label is a class index) or "multi_label" (label is multi-hot).
    num_classes: C, the size of the task's head.
    occurrence: 1 the first time the data set appears in the stream, 2 the second time, ...
  """

  name: str
  kind: str
  num_classes: int
  occurrence: int = 1

  def __post_init__(self) -> None:
    if self.kind not in KINDS:
      raise ValueError(
          f"Task {self.name!r} has kind {self.kind!r}; allowed are {', '.join(KINDS)}.")
    if self.num_classes < 1 or self.occurrence < 1:
      raise ValueError(
          f"Task {self.name!r} has num_classes={self.num_classes}, occurrence={self.occurrence}; "
          "both must be at least 1.")

  @property
  def key(self) -> str:
    """A name that is unique in a run: "mnist", "mnist@2", ..."""
    return self.name if self.occurrence == 1 else f"{self.name}@{self.occurrence}"
