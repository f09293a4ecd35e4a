# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tasks of an accuracy cache, and hashes of its documents.

A sample whose id is TASK/DOCUMENT belongs to the task; of nested names the longest one counts.
format.json has the tasks, each with the metric and the filter whose answers the cache keeps, so
that later files are read in the same way. Caches of format 2 did not keep them: their tasks follow
from the ids if all have the form that logs of harnesses gave them.

documents.bin has a hash of each document, as logs give it: a line of JSON (padded to 4096 bytes)
with the state of the cache (and the next one, if its samples stay) and a digest, then uint64 [n], 0
where none is known. Another hash under a known id is another question under its name, which is
refused. The file is written after the addition is committed; if a crash comes in between, these
documents are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import json
import logging
import pathlib
import re
from typing import Any
import zlib

import numpy as np

from suite.lifelong.cache import cache_input
from suite.system import atomic_files
from suite.system import io_errors

_LOGGER = logging.getLogger(__name__)
FILE = "documents.bin"
_HEADER = 4096
_NUMBERED = re.compile(r"(.+?)/(?:id)?(?:0|[1-9]\d*)(?:/[A-Za-z]\w*)?")


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


def parsed(values: Any) -> dict[str, Task]:
  """Tasks from format.json; raises a ValueError or a TypeError if they are damaged."""
  found = {str(name): Task(**one) for name, one in values.items()}
  if not all(isinstance(text, str) for one in found.values() for text in dataclasses.astuple(one)):
    raise ValueError("tasks")
  return found


def plain(tasks: Mapping[str, Task]) -> dict[str, Any]:
  """Tasks as format.json has them."""
  return {name: {key: value for key, value in dataclasses.asdict(one).items() if value}
          for name, one in tasks.items()}


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


def inferred(chunks: Iterable[Sequence[str]]) -> dict[str, Task]:
  """Tasks of a cache that keeps none: if all ids are TASK/NUMBER or TASK/idNUMBER, else {}."""
  found: dict[str, Task] = {}
  for chunk in chunks:
    if isinstance(chunk, range):
      return {}
    for one in chunk:
      matched = _NUMBERED.fullmatch(str(one))
      if not matched:
        return {}
      found.setdefault(matched.group(1), Task())
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


class Documents:
  """Hashes of the documents of a cache; see above.

  Attributes:
    hashes: uint64 [n] of its first n samples, 0 where none is known.
    problem: what is damaged, so that they are not read; "" if nothing is.
  """

  def __init__(self, folder: pathlib.Path, states: Mapping[tuple[int, int], str]):
    """Reads the hashes, if they are of a state that the cache has had."""
    self._path = folder / FILE
    self.hashes, self.problem = np.zeros(0, np.uint64), ""
    try:
      data = self._path.read_bytes()
      header = json.loads(data[:_HEADER])
      if header["crc32"] != zlib.crc32(data[_HEADER:]):
        raise ValueError("bad sum")
      if not {header["state"], header.get("next")} & set(states.values()):
        _LOGGER.warning("%s is not read: it is of another state.", self._path)
        return
      self.hashes = np.frombuffer(data[_HEADER:], np.uint64)
    except FileNotFoundError:
      pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
      if io_errors.of(error):
        raise
      self.problem = f"{self._path} is damaged"
      _LOGGER.warning("%s (%s). Documents are not checked.", self.problem, error)

  def check(self, samples: np.ndarray, hashes: np.ndarray, ids: Sequence[str],
            sources: Sequence[str], tasks: Mapping[str, Task]) -> None:
    """Raises an error if a sample of the cache is another document.

    Args:
      samples: int64 [n], -1 for those that the cache does not have.
      hashes: uint64 [n], 0 for unknown.
      ids: [n]; `sources`: the file of each.
      tasks: of the cache.
    """
    known = (samples >= 0) & (samples < len(self.hashes)) & (hashes != 0)
    mine = np.zeros(len(samples), np.uint64)
    mine[known] = self.hashes[samples[known]]
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

  def write(self, samples: np.ndarray, hashes: np.ndarray, num_samples: int, state: str,
            following: str = "") -> None:
    """Adds hashes [n] of samples [n] and writes the file; it is also of the state `following`."""
    found = np.zeros(num_samples, np.uint64)
    found[:len(self.hashes)] = self.hashes[:num_samples]
    new = (hashes != 0) & (found[samples] == 0)
    found[samples[new]] = hashes[new]
    data = found.tobytes()
    header = json.dumps({"version": 1, "state": state, "crc32": zlib.crc32(data),
                         **({"next": following} if following else {})})
    atomic_files.write(self._path, header.encode().ljust(_HEADER) + data)
    self.hashes = found
