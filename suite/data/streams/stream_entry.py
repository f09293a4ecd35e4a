# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One task of a stream: its place in time, its splits, and how much data it has.

The four splits of a task that a user gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import functools
import typing
from typing import Any, Literal, NamedTuple

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_set
from suite.data.streams import class_coverage

META_TRAIN = "meta_train"
META_TEST = "meta_test"
ROLES = (META_TRAIN, META_TEST)

HeldOut = Literal["validation", "test"]
HELD_OUT = VALIDATION, TEST = typing.get_args(HeldOut)
SPLITS = ("train", "dev", *HELD_OUT)


@dataclasses.dataclass(frozen=True)
class Missing:
  """A data set that is missing: the reason, and the command that prepares it ("" for none)."""

  dataset: str
  reason: str
  command: str


@dataclasses.dataclass(frozen=True, eq=False)
class Splits:
  """The image sets of a task.

  Attributes:
    train, dev, validation, test: its splits.
    shared: images left out since another task is scored on them, by split.
    resized: the resized copies that were read, by split; {} if images are as prepared.
  """

  train: examples.ExampleSet
  dev: examples.ExampleSet
  validation: examples.ExampleSet
  test: examples.ExampleSet
  shared: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  resized: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class ReadSplit(NamedTuple):
  """A split that was read.

  Attributes:
    images: of it.
    shared, resized: as of `Splits`, of this split; None: there is none.
  """

  images: examples.ExampleSet
  shared: Any = None
  resized: Any = None


class SplitsOnDemand:
  """As `Splits`; each is read when it is first asked for.

  Args:
    read: (name of a split) -> it.
  """

  def __init__(self, read: Callable[[str], ReadSplit]):
    self._of = functools.lru_cache(maxsize=None)(read)

  @property
  def train(self) -> examples.ExampleSet:
    return self._of("train").images

  @property
  def dev(self) -> examples.ExampleSet:
    return self._of("dev").images

  @property
  def validation(self) -> examples.ExampleSet:
    return self._of(VALIDATION).images

  @property
  def test(self) -> examples.ExampleSet:
    return self._of(TEST).images

  @property
  def shared(self) -> Mapping[str, Any]:
    """See `Splits`; all splits are read."""
    return self._facts("shared")

  @property
  def resized(self) -> Mapping[str, Any]:
    """See `Splits`; all splits are read."""
    return self._facts("resized")

  def _facts(self, name: str) -> dict[str, Any]:
    found = {split: getattr(self._of(split), name) for split in SPLITS}
    return {split: fact for split, fact in found.items() if fact is not None}


AnySplits = Splits | SplitsOnDemand


@dataclasses.dataclass(frozen=True)
class Sizes:
  """Numbers of images of a task's splits, without reading them where they are on disk.

  Attributes:
    train, dev, validation, test: of each split.
    measured: whether they were counted; else they are estimated, since the data is not prepared.
    pixel_bytes: average height times width times channels of an image; None if unknown.
  """

  train: int
  dev: int
  validation: int
  test: int
  measured: bool = True
  pixel_bytes: int | None = None

  @property
  def num_bytes(self) -> int | None:
    """Bytes of all splits in memory at most: a split that is larger stays on disk."""
    if self.pixel_bytes is None:
      return None
    return sum(min(self.of(split) * self.pixel_bytes, image_set.DEFAULT_MEMORY_LIMIT_BYTES)
               for split in SPLITS)

  def of(self, split: str) -> int:
    """The number of images of a split of `SPLITS`."""
    return int(getattr(self, split))


class StreamEntry:
  """One task's place in a stream.

  Attributes:
    key: the task's key, "mnist@2".
    year: of publication; a stream is sorted by it.
    role: "meta_train" or "meta_test".
    load: () -> `Splits` or `SplitsOnDemand`.
    dataset: the data set's name, "nevis/mnist"; several entries may share it.
    version: () -> its version as prepared, "1.0.0"; None where it has none.
    sizes: () -> `Sizes`; if not given, the splits are loaded and counted.
  """

  def __init__(self, task: tasks.Task | Callable[[], tasks.Task], year: int, role: str,
               load: Callable[[], AnySplits], dataset: str, *, key: str | None = None,
               missing: Callable[[], Missing | None] = lambda: None,
               version: Callable[[], str | None] = lambda: None,
               sizes: Callable[[], Sizes] | None = None):
    """`task` may be a function (then `key` is needed); `missing` tells if and why data is missing.
    """
    if role not in ROLES:
      raise ValueError(f"Entry {dataset!r} has role {role!r}; allowed are {', '.join(ROLES)}.")
    self.key = task.key if isinstance(task, tasks.Task) else str(key)
    self.year, self.role, self.load, self.dataset, self.missing = year, role, load, dataset, missing
    self.version = functools.cache(version)
    self.sizes = functools.cache(sizes or self._counted)
    self._task = task

  @property
  def task(self) -> tasks.Task:
    """The task; its number of classes is read at the first access."""
    if not isinstance(self._task, tasks.Task):
      self._task = self._task()
    return self._task

  def _counted(self) -> Sizes:
    splits = self.load()
    read = getattr(splits.train, "num_pixel_bytes", lambda: None)()
    return Sizes(splits.train.size, splits.dev.size, splits.validation.size, splits.test.size,
                 pixel_bytes=None if read is None else read // splits.train.size)

  def __repr__(self) -> str:
    return f"StreamEntry({self.key!r}, {self.year}, {self.role})"


def of(given: Any, place: int, seed: int) -> Splits:
  """The splits of task number `place`; one image set is divided by class, drawn by `seed`.

  Of a training and a test set, dev and validation are drawn from the training set if they are not
  given, .15 of it each.

  Splits with names of classes get one list of them (`class_lists`).
  """
  if isinstance(given, Mapping):
    if not {"train", TEST} <= set(given) <= set(SPLITS):
      raise ValueError(
          f"Task {place} of streams.of has the splits {sorted(given)}; give {', '.join(SPLITS)}, "
          "of which dev and validation are drawn from train if they are left out, or one image "
          "set, which is divided.")
    bare = [one for one in given.values() if not hasattr(one, "eval_batches")]
    if bare:
      raise ValueError(f"Task {place} of streams.of has splits that are {image_set.told(bare[0])}; "
                       "give image sets, such as suite.images.from_huggingface makes.")
    found, share = dict(given), 0.15
    for split in (VALIDATION, "dev"):
      if split not in found:
        found["train"], found[split] = _divided(
            found["train"], share, given["train"], place, seed)
        share = share / (1.0 - share)
    given = Splits(**found)
  if isinstance(given, Splits):
    return _checked(given, f"Task {place} of streams.of")
  if not hasattr(given, "eval_batches"):
    raise ValueError(f"Task {place} of streams.of is {image_set.told(given)}; give an image set, "
                     "made by suite.images.from_arrays, from_dataset, from_directory, from_csv, "
                     "from_huggingface or from_tfds.")
  rest, test = _divided(given, 0.30, given, place, seed)
  rest, validation = _divided(rest, 0.15 / 0.70, given, place, seed)
  train, dev = _divided(rest, 0.10 / 0.55, given, place, seed)
  return _checked(Splits(train, dev, validation, test), f"Task {place} of streams.of")


def _divided(images: Any, share: float, whole: Any, place: int, seed: int) -> tuple[Any, Any]:
  """(the rest, a share of a set), by class; an error if the `whole` has too few images."""
  if not 0 < round(share * images.size) < images.size:
    raise ValueError(
        f"Task {place} of streams.of, {whole.name!r}, has {whole.size} image(s), too few to make "
        f"{', '.join(SPLITS)} of them. Add images, leave the task out, or give the four splits.")
  if images.kind == tasks.SINGLE_LABEL:
    return image_set.stratified_split(images, share, seed=seed)
  return images.split(share, seed=seed)


def _checked(splits: Splits, where: str) -> Splits:
  """The splits with one list of classes, each of which is trained on if it is tested."""
  parts = [getattr(splits, split) for split in SPLITS]
  aligned = class_lists.aligned(parts, where)
  facts = {(one.kind, one.num_classes) for one in aligned}
  if len(facts) > 1:
    told = ", ".join(f"{one.name!r} ({one.kind}, {one.num_classes} classes)" for one in aligned)
    raise ValueError(f"{where} has the splits {told}; the splits of a task share one head. Give "
                     "each the same class_names, or num_classes.")
  class_coverage.check_several(where, aligned[:2])
  class_coverage.check_trained(where, aligned[:2], aligned[2:])
  if all(new is old for new, old in zip(aligned, parts)):
    return splits
  return dataclasses.replace(splits, **dict(zip(SPLITS, aligned)))


def as_before(splits: Splits, before: Any, title: str) -> Splits:
  """The splits of a task that comes again, labels numbered as by the training set `before`."""
  train, old = splits.train, class_lists.of(before)
  new = class_lists.of(train)
  same = (train.kind, train.num_classes) == (before.kind, before.num_classes)
  if not same or (old is None) != (new is None) or sorted(new or ()) != sorted(old or ()):
    def told(names: Any, images: Any) -> str:
      return class_lists.shown(names) if names else f"{images.num_classes} without names"

    raise ValueError(
        f"The task {title!r} of streams.of has the classes {told(old, before)} ({before.kind}) at "
        f"first, and {told(new, train)} ({train.kind}) later. A task keeps its classes: give the "
        "later one another name in names=, or both the same classes.")
  if new == old:
    return splits
  return dataclasses.replace(splits, **{
      split: getattr(splits, split).with_classes(old) for split in SPLITS})
