# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tasks of an accuracy cache, and the check of its documents.

A sample whose id is TASK/DOCUMENT belongs to the task; of nested names the longest one counts.
The cache has the metric and the filter of each task, whose answers it keeps, so that later files
are read in the same way. Another hash of a document under a known id is another question under its
name, which is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import pathlib

import numpy as np

from suite.lifelong.cache import cache_input


@dataclasses.dataclass(frozen=True)
class Task:
  """What the answers to a task are.

  Attributes:
    metric: name of the metric; "": not known.
    filter: name of the filter; "": there are none.
    source: the file with which the task began.
  """

  metric: str = ""
  filter: str = ""
  source: str = ""


def of_rows(rows: Iterable[Sequence[str]]) -> dict[str, Task]:
  """Tasks from rows of the data base."""
  return {name: Task(*facts) for name, *facts in rows}


def rows(tasks: Mapping[str, Task]) -> list[tuple[str, ...]]:
  """Rows of the data base: name, metric, filter, source."""
  return [(name, *dataclasses.astuple(one)) for name, one in tasks.items()]


def agreed(known: Mapping[str, Task], given: Mapping[str, Task], where: pathlib.Path
           ) -> dict[str, Task]:
  """Joins tasks; raises an error if a metric or filter differs."""
  found = dict(known)
  for name, one in given.items():
    old = found.get(name, one)
    for what in ("metric", "filter"):
      mine, new = getattr(old, what), getattr(one, what)
      if mine and new and mine != new:
        flag = "score" if what == "metric" else what
        raise cache_input.CacheError(
            f"{where} keeps the answers to {name} by {what} {mine}; got {new}. Answers of two "
            f"kinds cannot be compared: leave out --{flag}, or make another cache.")
    found[name] = Task(old.metric or one.metric, old.filter or one.filter, old.source or one.source)
  return found


def codes(tasks: Sequence[str], chunks: Iterable[Sequence[str]]) -> np.ndarray:
  """Number of the task of each sample: int32 [N], -1 for none."""
  numbers = {name: index for index, name in enumerate(tasks)}
  found: list[int] = []
  for chunk in chunks:
    if isinstance(chunk, range):
      found += [-1] * len(chunk)
      continue
    for one in chunk:
      task = str(one)
      while True:  # From the longest prefix on.
        task, slash, _ = task.rpartition("/")
        if not slash:
          found.append(-1)
          break
        if task in numbers:
          found.append(numbers[task])
          break
  return np.array(found, np.int32)


def check_documents(known: np.ndarray, samples: np.ndarray, hashes: np.ndarray,
                    ids: Sequence[str], sources: Sequence[str], tasks: Mapping[str, Task]) -> None:
  """Raises an error if a sample of the cache is another document.

  Args:
    known: uint64, hashes of the first samples of the cache, 0 for unknown.
    samples: int64 [n], -1 for those that the cache does not have.
    hashes: uint64 [n], 0 for unknown.
    ids: [n]; `sources`: the file of each.
    tasks: of the cache.
  """
  is_known = (samples >= 0) & (samples < len(known)) & (hashes != 0)
  mine = np.zeros(len(samples), np.uint64)
  mine[is_known] = known[samples[is_known]]
  both = mine != 0
  differing = np.flatnonzero(both & (mine != hashes))
  if differing.size:
    first = int(differing[0])
    task = ids[first].rpartition("/")[0]
    source = tasks[task].source if task in tasks else ""
    raise cache_input.CacheError(
        f"{sources[first]}: {ids[first]!r} is not the document that the cache has under this id"
        f"{f', from {source}' if source else ''}; {differing.size:,} of {int(both.sum()):,} "
        "documents differ. The log is of another version or order of the task: evaluate again "
        "with the same version, or give the task another name.")
