# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Domain-incremental series (CLEAR): each bucket has the same classes, and images drift in time."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any, Iterator, Sequence, Tuple

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_set
from suite.data.images import stratified_split
from suite.data.streams import class_coverage


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
    class_names: C names, for reports; (): those of the sets, if these have any.
  """

  task: tasks.Task
  buckets: Tuple[Bucket, ...]
  class_names: Tuple[str, ...] = ()

  def __post_init__(self) -> None:
    sets = [part for bucket in self.buckets for part in (bucket.train, bucket.test)]
    named = {class_lists.of(part): part for part in sets if class_lists.of(part)}
    if len(named) > 1:
      (first, part), (second, other), *_ = named.items()
      raise ValueError(
          f"The classes of {part.name!r} are {class_lists.shown(first or ())}, but those of "
          f"{other.name!r} are {class_lists.shown(second or ())}. All buckets of a series share one"
          " list of classes: join them by buckets.of, which renumbers labels by name.")
    class_lists.joined(sets, f"The series of {self.task.key!r}")  # Names of all sets, or of none.
    if named and not self.class_names:
      object.__setattr__(self, "class_names", next(iter(named)))
    if self.class_names and len(self.class_names) != self.task.num_classes:
      raise ValueError(f"Task {self.task.key!r} has {self.task.num_classes} classes and "
                       f"{len(self.class_names)} names of classes; give one name for each.")
    for part in sets:
      if (part.kind, part.num_classes) != (self.task.kind, self.task.num_classes):
        raise ValueError(
            f"{part.name!r} is {part.kind} with {part.num_classes} classes, but task "
            f"{self.task.key!r} is {self.task.kind} with {self.task.num_classes}: all buckets of "
            "a series share one head. Give each set the same class_names, or num_classes.")

  def __len__(self) -> int:
    return len(self.buckets)

  def __getitem__(self, place: int) -> Bucket:
    return self.buckets[place]

  def __iter__(self) -> Iterator[Bucket]:
    return iter(self.buckets)


def of(parts: Sequence[Any] | Mapping[str, Any], *, name: str = "mine",
       names: Sequence[str] | None = None, test_share: float = 0.3, seed: int = 0,
       class_names: class_lists.ClassNames = None) -> Buckets:
  """Buckets of image sets, in order of time.

  Sets with names of classes are joined by name: the list of classes is that of the first set,
  followed by the names that each later one adds, and all labels are renumbered to it. One of the
  sets must have all names, else the list is to be given: a misspelled name would be one more class.
  Sets without names are joined by number; sets with names and without are refused.

  Args:
    parts: for each bucket (training set, test set), {"train", "test"}, or one set, of which a share
      is for testing. A dictionary of these has the names of the buckets as its keys.
    name: of the task.
    names: of the buckets; "bucket_01", ... if not given.
    test_share: share of each class that is tested on, where one set is given.
    seed: of this choice.
    class_names: the list of classes, in the order of the labels; sets without names get these.

  Raises:
    ValueError: also for a bucket that is too small to be divided, and for a class that is tested
      and never trained. A bucket without images of some class is logged.
  """
  if not parts:
    raise ValueError("buckets.of was given no bucket; give a list of (training set, test set).")
  if hasattr(parts, "eval_batches"):
    raise ValueError(f"buckets.of was given one image set, {parts!r}; give a list with one for "
                     "each bucket, or with (training set, test set).")
  if not isinstance(parts, (Mapping, Sequence)):
    parts = list(parts)
  if isinstance(parts, Mapping):
    if set(parts) & {"train", "test"}:
      raise ValueError(f"buckets.of was given the splits {', '.join(map(str, parts))}; they are of "
                       "one bucket: give a list, buckets.of([(sets['train'], sets['test']), ...]).")
    names, parts = names or list(map(str, parts)), list(parts.values())
  titles = [str(title) for title in names] if names is not None else [
      f"bucket_{number:02d}" for number in range(1, len(parts) + 1)]
  if len(titles) != len(parts):
    raise ValueError(f"buckets.of was given {len(parts)} buckets and {len(titles)} names; give one "
                     "name for each bucket.")
  pairs = [_divided(part, title, test_share, seed) for part, title in zip(parts, titles)]
  sets = [one for pair in pairs for one in pair]
  if class_names is None:
    class_lists.check_covered(sets, "buckets.of")
    sets = class_lists.aligned(sets, "buckets.of")
  else:
    class_lists.joined(sets, "buckets.of")  # Refuses sets with names and without.
    sets = [one.with_class_names(class_names) if class_lists.of(one) is None else
            one.with_classes(class_names) for one in sets]
  trains, tests = sets[::2], sets[1::2]
  made = Buckets(tasks.Task(name, sets[0].kind, sets[0].num_classes),
                 tuple(Bucket(*bucket) for bucket in zip(titles, trains, tests)))
  class_coverage.check_trained("buckets.of", trains, tests)
  class_coverage.warn_of_gaps("buckets.of", titles, trains, "to train on")
  class_coverage.warn_of_gaps("buckets.of", titles, tests, "to test on")
  return made


def _divided(part: Any, title: str, test_share: float, seed: int) -> Tuple[Any, Any]:
  """(training set, test set) of what was given for a bucket."""
  if isinstance(part, Mapping) and set(part) == {"train", "test"}:
    part = part["train"], part["test"]
  pair = tuple(part) if isinstance(part, (tuple, list)) else (part,)
  if not 1 <= len(pair) <= 2:
    raise ValueError(f"Bucket {title!r} has {len(pair)} sets; give (training set, test set), or "
                     "one set.")
  for one in pair:
    if not hasattr(one, "eval_batches"):
      raise ValueError(f"Bucket {title!r} holds {image_set.told(one)}; give image sets, made by "
                       "suite.images.from_arrays, from_dataset, from_directory, from_csv, "
                       "from_huggingface or from_tfds: (training set, test set), or one of them.")
  if len(pair) == 2:
    return pair[0], pair[1]
  if not 0 < round(test_share * pair[0].size) < pair[0].size:
    raise ValueError(
        f"Bucket {title!r} ({pair[0].name!r}) has {pair[0].size} image(s), too few to test on "
        f"{test_share} of them. Join it with a neighboring bucket, leave it out, or give (training "
        "set, test set).")
  return stratified_split.split(pair[0], test_share, seed=seed)
