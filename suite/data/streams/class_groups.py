# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Groups of the classes of one data set as the tasks of a stream, such as Split-ImageNet's.

Groups of the classes of several data sets, each with a year: the tasks of one stream.
"""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import functools
import re
from typing import Any

import numpy as np

from suite.contracts import tasks
from suite.data.images import prepared_features
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.streams import stream_entry


class ClassGroups:
  """One labeled data set, whose tasks have a part of its classes each.

  Args:
    data: the name of a data set, or what `stream_entry.of` takes.
    split: of a named data set without the four splits of a task: the one to divide.
    data_dir: where a named data set is prepared.
    features: of its images, in place of them; None: the images.
  """

  def __init__(self, data: Any, *, split: str | None = None, data_dir: str | None = None,
               features: prepared_features.Folder | None = None):
    self._data_dir, self._split, self._features = data_dir, split, features
    self._given = None if isinstance(data, str) else stream_entry.of(data, 0, seed=0)
    if self._given is None:
      self.name, self._kind = str(data), tfds_source.label_facts(data, data_dir=data_dir).kind
      self.num_classes = tfds_source.label_facts(data, data_dir=data_dir).num_classes
    else:
      self.name, self._kind = self._given.train.name, self._given.train.kind
      self.num_classes = self._given.train.num_classes
    if self._kind != tasks.SINGLE_LABEL:
      raise ValueError(f"{self.name!r} is {self._kind}; its images would belong to several groups "
                       "of classes. Take a data set with one label an image.")

  def deal(self, num_groups: int, seed: int | None) -> list[np.ndarray]:
    """The classes of each group, ascending: int [num_groups, C / num_groups]."""
    if num_groups < 1 or self.num_classes % num_groups or self.num_classes < 2 * num_groups:
      allowed = [n for n in range(1, self.num_classes // 2 + 1) if not self.num_classes % n]
      raise ValueError(f"The {self.num_classes} classes of {self.name!r} do not make {num_groups} "
                       "groups of equal size, of 2 classes or more; allowed are "
                       f"{', '.join(map(str, allowed))}.")
    order = (np.arange(self.num_classes) if seed is None
             else np.random.default_rng(seed).permutation(self.num_classes))
    return [np.sort(group) for group in np.split(order, num_groups)]

  def by_name(self) -> dict[str, np.ndarray]:
    """The classes of a named data set by what their names begin with, up to the first "/"."""
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(tfds_source.label_names(self.name, data_dir=self._data_dir)):
      groups.setdefault(name.partition("/")[0], []).append(number)
    found = {name: np.array(groups[name]) for name in sorted(groups) if len(groups[name]) > 1}
    if not found:  # Some data sets have the names of their classes only once they are prepared.
      tfds_source.check_prepared(self.name, data_dir=self._data_dir)
    return found

  def entry(self, classes: np.ndarray, number: int, role: str, *, name: str | None = None,
            year: int | None = None) -> stream_entry.StreamEntry:
    """The task of some classes, which it numbers from 0 in their order.

    Args:
      classes: those without an image are left out, which is seen when the data is read.
      number: 0, 1, ...
      role: of the task.
      name: of the task; None: the data set's and the number.
      year: None: number + 1.
    """
    key = name or f"{self.name.rpartition('/')[2].replace(' ', '_')}_{number:03d}"

    def present() -> np.ndarray:
      return classes if self._split is None else np.intersect1d(classes, self._classes)

    def load() -> stream_entry.Splits:
      sets: dict[str, Any] = {part: getattr(self._splits, part).of_classes(present())
                              for part in stream_entry.SPLITS}
      return stream_entry.Splits(**sets)

    return stream_entry.StreamEntry(
        lambda: tasks.Task(key, self._kind, len(present())), number + 1 if year is None else year,
        role, load, self.name, key=key, missing=self._missing, version=self._version)

  @functools.cached_property
  def _classes(self) -> np.ndarray:
    """The classes that have an image to train on, ascending."""
    return np.unique(self._splits.train.labels)

  @functools.cached_property
  def _splits(self) -> stream_entry.Splits:
    """The four splits with all classes."""
    if self._given is not None:
      return self._given
    read: Any = functools.partial(prepared_sets.read, self.name, data_dir=self._data_dir)
    if self._features is not None:
      read = functools.partial(prepared_features.read, self.name, folder=self._features,
                               data_dir=self._data_dir)
    if self._split is not None:
      return stream_entry.of(read(self._split), 0, seed=0)
    if (missing := self._missing()) is not None:
      raise FileNotFoundError(f"Data set {self.name!r} is not prepared, and its classes are the "
                              f"tasks of the stream: {missing.reason}"
                              f"{' Run: ' + missing.command if missing.command else ''}")
    found = tfds_source.num_examples(self.name, data_dir=self._data_dir)
    if not set(stream_entry.SPLITS) <= set(found):
      raise ValueError(f"Data set {self.name!r} has the splits {', '.join(sorted(found))}, not the "
                       f"four of a task, {', '.join(stream_entry.SPLITS)}. Name the one to divide: "
                       "streams.of_classes.split = 'train', say.")
    sets: dict[str, Any] = {part: read(part) for part in stream_entry.SPLITS}
    return stream_entry.Splits(**sets)

  def _missing(self) -> stream_entry.Missing | None:
    if self._given is not None:
      return None
    reason, command = tfds_source.why_missing(self.name, data_dir=self._data_dir)
    return stream_entry.Missing(self.name, reason, command) if reason else None

  def _version(self) -> str | None:
    return (None if self._given is not None
            else tfds_source.version(self.name, data_dir=self._data_dir))


@dataclasses.dataclass(frozen=True)
class DatedGroups:
  """Tasks of disjoint groups of the classes of one data set.

  Attributes:
    data: the name of a prepared data set, single-label.
    num_tasks: the number of groups.
    num_classes: classes of each group, in the order of their ids; None: the classes whose names are
      the same up to the first "/" are a group, as Omniglot's alphabets are, in alphabetical order.
    first_year, every: task number 0, 1, ... is of the year first_year + number * every.
    split: of a data set without the four splits of a task: the one to divide, by class. A class
      that has no image there takes no part.
    features, feature_size, subset: a folder of `suite data features`, whose features are taken in
      place of the images, see `prepared_features.Folder`; None: the images.
  """

  data: str
  num_tasks: int
  num_classes: int | None = None
  first_year: int = 1
  every: int = 1
  split: str | None = None
  features: str | None = None
  feature_size: int | None = None
  subset: bool = False

  def entries(self, data_dir: str | None) -> Iterator[stream_entry.StreamEntry]:
    """The tasks; all of them are meta-train."""
    folder = prepared_features.folder(
        self.data, self.features, self.feature_size, self.subset)
    data = ClassGroups(self.data, split=self.split, data_dir=data_dir, features=folder)
    if self.num_classes is None:
      named = data.by_name()
    else:
      places = range(0, data.num_classes - self.num_classes + 1, self.num_classes)
      named = {f"{number:03d}": np.arange(place, place + self.num_classes)
               for number, place in enumerate(places)}
    if not 1 <= self.num_tasks <= len(named):
      raise ValueError(f"num_tasks={self.num_tasks} of {self.data!r}, which has {len(named)} such "
                       f"groups of classes; allowed are 1 to {len(named)}.")
    title = self.data.removeprefix("nevis/").partition("/")[0]
    for number, (name, classes) in enumerate(list(named.items())[:self.num_tasks]):
      key = re.sub("[^A-Za-z0-9.-]+", "_", f"{title}_{name}").strip("_")
      yield data.entry(classes, number, stream_entry.META_TRAIN, name=key,
                       year=self.first_year + number * self.every)
