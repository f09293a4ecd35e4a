# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Groups of the classes of several data sets, each with a year: the tasks of one stream."""

from __future__ import annotations

import dataclasses
import re
from typing import Iterator, Optional

import numpy as np

from suite.data.streams import class_groups
from suite.data.streams import stream_entry


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
  """

  data: str
  num_tasks: int
  num_classes: Optional[int] = None
  first_year: int = 1
  every: int = 1
  split: Optional[str] = None

  def entries(self, data_dir: Optional[str]) -> Iterator[stream_entry.StreamEntry]:
    """The tasks; all of them are meta-train."""
    data = class_groups.ClassGroups(self.data, split=self.split, data_dir=data_dir)
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
