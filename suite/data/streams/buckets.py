# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Domain-incremental series (CLEAR): each bucket has the same classes, and images drift in time."""

from __future__ import annotations

import dataclasses
from typing import Iterator, Tuple

from suite.contracts import examples
from suite.contracts import tasks


@dataclasses.dataclass(frozen=True, eq=False)
class Bucket:
  """One period: a name such as "bucket_03", and its training and test set."""

  name: str
  train: examples.ExampleSet
  test: examples.ExampleSet


@dataclasses.dataclass(frozen=True, eq=False)
class Buckets:
  """T buckets in order of time under one task: buckets[t].train, len(buckets)."""

  task: tasks.Task
  buckets: Tuple[Bucket, ...]

  def __post_init__(self) -> None:
    for bucket in self.buckets:
      for part in (bucket.train, bucket.test):
        if (part.kind, part.num_classes) != (self.task.kind, self.task.num_classes):
          raise ValueError(
              f"{part.name!r} is {part.kind} with {part.num_classes} classes, but task "
              f"{self.task.key!r} is {self.task.kind} with {self.task.num_classes}: all buckets of "
              "a series share one head.")

  def __len__(self) -> int:
    return len(self.buckets)

  def __getitem__(self, place: int) -> Bucket:
    return self.buckets[place]

  def __iter__(self) -> Iterator[Bucket]:
    return iter(self.buckets)
