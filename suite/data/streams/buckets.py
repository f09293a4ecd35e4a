# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Domain-incremental series (CLEAR): each bucket has the same classes, and images drift in time."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Sequence, Tuple

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import stratified_split


@dataclasses.dataclass(frozen=True, eq=False)
class Bucket:
  """One period: a name such as "bucket_03", and its training and test set.

  `unlabelled` are further images of the period, if there are any, for semi-supervised learning; all
  have the label 0 of 1 class (see `partly_labelled`).
  """

  name: str
  train: examples.ExampleSet
  test: examples.ExampleSet
  unlabelled: examples.ExampleSet | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Buckets:
  """T buckets in order of time under one task: buckets[t].train, len(buckets).

  Attributes:
    task: has the C classes.
    buckets: the T of them.
    class_names: C names, for reports; (): not known.
  """

  task: tasks.Task
  buckets: Tuple[Bucket, ...]
  class_names: Tuple[str, ...] = ()

  def __post_init__(self) -> None:
    if self.class_names and len(self.class_names) != self.task.num_classes:
      raise ValueError(f"Task {self.task.key!r} has {self.task.num_classes} classes and "
                       f"{len(self.class_names)} names of classes; give one name for each.")
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


def of(parts: Sequence[Any], *, name: str = "mine", names: Sequence[str] | None = None,
       test_share: float = 0.3, seed: int = 0) -> Buckets:
  """Buckets of image sets, in order of time.

  Args:
    parts: for each bucket (training set, test set), or one set, of which a share is for testing.
    name: of the task.
    names: of the buckets; "bucket_01", ... if not given.
    test_share: share of each class that is tested on, where one set is given.
    seed: of this choice.
  """
  if not parts:
    raise ValueError("buckets.of was given no bucket; give a list of (training set, test set).")
  made = []
  for number, part in enumerate(parts, start=1):
    if isinstance(part, (tuple, list)):
      if len(part) != 2:
        raise ValueError(f"Bucket {number} has {len(part)} sets; give (training set, test set), or "
                         "one set.")
      train, test = part
    else:
      train, test = stratified_split.split(part, test_share, seed=seed)
    for one in (train, test):
      if not hasattr(one, "eval_batches"):
        raise ValueError(f"Bucket {number} holds {type(one).__name__}; give image sets, made by "
                         "suite.images.from_arrays, from_dataset, from_directory or from_tfds.")
    made.append(Bucket(f"bucket_{number:02d}" if names is None else names[number - 1], train, test))
  first = made[0].train
  return Buckets(tasks.Task(name, first.kind, first.num_classes), tuple(made))
