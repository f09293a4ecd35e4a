# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The deliveries of learners: what they are given, in ways that `Context.delivery` names.

    tasks      separate tasks, each with its classes; after its turn a task is tested
    buckets    portions of one task in turn, with the same classes or with classes that come bucket
               by bucket: `begin` then gives the task again, with the number of classes so far
    sequence   base classes at once, then single samples, with offline phases between them
    episodes   few-shot episodes: small support sets, then targets
    portions   portions of the updates of one pretraining

A learner reads it in `begin` and refuses what it cannot serve. A learner that can serve only some
of them, whatever its arguments, names these in an attribute `deliveries`; a protocol reads that
before anything is trained (see `refusals`).

An `Experience` is the data of a Train event as a learner sees it, a `Portion` one delivery of a
pretraining, `Stored` the labeled samples of a sequence so far, for offline phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import dataclasses
import reprlib
from typing import TYPE_CHECKING, Any, NamedTuple

from suite.contracts import examples
from suite.contracts import tasks

if TYPE_CHECKING:
  import numpy as np

TASKS = "tasks"
BUCKETS = "buckets"
SEQUENCE = "sequence"
EPISODES = "episodes"
PORTIONS = "portions"
DELIVERIES = (TASKS, BUCKETS, SEQUENCE, EPISODES, PORTIONS)

# The kinds of events, as records name them.
TRAIN = "train"
PREDICT = "predict"


class NotDeliveredError(LookupError):
  """A learner asked for a task that has not been delivered (yet)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Experience:
  """One task as it is delivered to a learner; what it is scored on stays with the protocol.

  Attributes:
    task: name, kind, number of classes.
    train: the examples to learn from.
    dev: the examples to stop early and to choose hyper-parameters with (the validation share of
      buckets and of FLUID's base classes), which count as rows of the learner: of tasks and buckets
      it fits `fitted` in the end, so that all methods have the same rows. None: nothing is held
      out.
    history: the experiences delivered before this one.
    unlabelled: further images of a bucket, whose labels are all 0 of 1 class; None: there are none.
    new_classes: the labels that the delivery is about, where classes come bucket by bucket; None:
      all.
  """

  task: tasks.Task
  train: examples.ExampleSet
  dev: examples.ExampleSet | None
  history: History
  unlabelled: examples.ExampleSet | None = None
  new_classes: Sequence[int] | None = None

  def __repr__(self) -> str:
    return (f"Experience({reprlib.repr(self.task.key)}, {self.train.size:,} training and "
            f"{self.num_held_out:,} held out examples, {self.task.num_classes} classes)")

  @property
  def fitted(self) -> list[examples.ExampleSet]:
    """The sets that a learner of tasks or buckets fits: train, and dev if there is one."""
    return [self.train, *([] if self.dev is None else [self.dev])]

  @property
  def num_held_out(self) -> int:
    """The number of examples of dev."""
    return 0 if self.dev is None else self.dev.size

  def __getattr__(self, name: str) -> Any:
    if name.startswith("__"):  # copy and pickle look for these.
      raise AttributeError(name)
    raise AttributeError(
        f"An experience has no {name!r}; it has task, train, dev, fitted, history, unlabelled and "
        "new_classes. The validation and test splits and their labels stay with the protocol: task "
        f"{self.task.key!r} is scored by its Predict event. Choose hyper-parameters on dev.")


@dataclasses.dataclass(frozen=True, eq=False)
class Delivered:
  """A delivered task; load("train") and load("dev") read its sets when they are needed."""

  task: tasks.Task
  load: Callable[[str], examples.ExampleSet]


class History:
  """The experiences delivered so far, oldest first, by index or by task key ("mnist@2").

  Data is read again when an old experience is asked for; `tasks` and `num_classes` read nothing.
  """

  def __init__(self, delivered: Sequence[Delivered] = ()):
    self._delivered = tuple(delivered)

  @property
  def tasks(self) -> list[tasks.Task]:
    """The tasks delivered so far."""
    return [item.task for item in self._delivered]

  @property
  def keys(self) -> list[str]:
    """The keys of the delivered tasks."""
    return [item.task.key for item in self._delivered]

  def num_classes(self, key: int | str) -> int:
    """Number of classes of a delivered task."""
    return self._delivered[self._place(key)].task.num_classes

  def __len__(self) -> int:
    return len(self._delivered)

  def __contains__(self, key: object) -> bool:
    return key in self.keys

  def __iter__(self) -> Iterator[Experience]:
    return (self[place] for place in range(len(self)))

  def __getitem__(self, key: int | str) -> Experience:
    place = self._place(key)
    train, dev = (self._delivered[place].load(split) for split in ("train", "dev"))
    return Experience(self._delivered[place].task, train, dev, History(self._delivered[:place]))

  def train(self, key: int | str) -> examples.ExampleSet:
    """The training set of a delivered task; nothing else of it is read."""
    return self._delivered[self._place(key)].load("train")

  def _place(self, key: int | str) -> int:
    if isinstance(key, str):
      if key in self.keys:
        return self.keys.index(key)
    elif -len(self) <= key < len(self):
      return int(key) % len(self)
    raise NotDeliveredError(
        f"Task {key!r} has not been delivered. Delivered so far: {', '.join(self.keys) or 'none'}.")


class Portion(NamedTuple):
  """Updates `first` to `first + updates - 1` of `total`, over `images`, labeled or not."""

  images: examples.TrainableSet
  first: int
  updates: int
  total: int


class Stored(NamedTuple):
  """N samples in the order in which their labels came; none is ever dropped.

  Attributes:
    codes: [N, ...], the output of the learner's `encode`: cached features, or images.
    labels: int64 [N].
    known: bool [C], base classes and classes of the labels.
    num_old: the first `num_old` samples were in the previous offline phase, too; 0 at first.
  """

  codes: np.ndarray
  labels: np.ndarray
  known: np.ndarray
  num_old: int
