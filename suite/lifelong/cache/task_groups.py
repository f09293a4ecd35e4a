# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Groups of tasks, whose mean a harness reports as one score: MMLU of 57 tasks.

They come from the results that lm-evaluation-harness writes beside its logs (`group_subtasks`), or
from a table of the user. A group that the harness reports no score of, such as a list of tasks, is
none. As there, a group is the mean of all tasks below it, of groups within it, too: weighted by
their samples, or not, whichever its reported score says. The score of a model is then the mean of
the groups that are in no other one, and of the tasks that are in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import csv
import dataclasses
import math
import pathlib
from typing import Any

import numpy as np

from suite.lifelong.cache import cache_input
from suite.lifelong.cache import catalog

_DIGITS = 1e-9  # Two means of a group are told apart by it.


@dataclasses.dataclass(frozen=True)
class Group:
  """The tasks of a group.

  Attributes:
    tasks: names, sorted.
    by_size: whether each has the weight of its samples; else all have the same.
  """

  tasks: tuple[str, ...]
  by_size: bool = True


Groups = Mapping[str, Group]


def of_results(results: Mapping[str, Any]) -> dict[str, Group]:
  """The groups that results of lm-evaluation-harness report a score of; {} if there are none."""
  listed, reported, scores = (results.get(name) for name in ("group_subtasks", "groups", "results"))
  if not all(isinstance(one, Mapping) for one in (listed, reported, scores)):
    return {}
  assert isinstance(listed, Mapping) and isinstance(reported, Mapping)
  assert isinstance(scores, Mapping)
  below = {str(name): [str(one) for one in members] for name, members in listed.items()
           if isinstance(members, list)}
  found = {}
  for name in map(str, reported):
    tasks = _leaves(name, below)
    if tasks and name in below:
      found[name] = Group(tuple(sorted(tasks)), _is_by_size(
          reported[name], [scores.get(one) for one in sorted(tasks)],
          [_size(results.get("n-samples"), one) for one in sorted(tasks)]))
  inner = {one for name in found for one in below[name]}
  return {name: one for name, one in found.items() if name not in inner}


def _leaves(name: str, below: Mapping[str, Sequence[str]]) -> set[str]:
  """The tasks below a group, of groups within it, too; a circle has none."""
  found: set[str] = set()
  waiting, met = [name], {name}
  while waiting:
    for one in below.get(waiting.pop(), ()):
      if not below.get(one):
        found.add(one)
      elif one not in met:
        met.add(one)
        waiting.append(one)
  return found


def _size(sizes: Any, task: str) -> float:
  one = sizes.get(task) if isinstance(sizes, Mapping) else None
  value = one.get("effective") if isinstance(one, Mapping) else None
  return float(value) if isinstance(value, (int, float)) else math.nan


def _is_by_size(reported: Any, scores: Sequence[Any], sizes: Sequence[float]) -> bool:
  """Whether the reported score is the mean by size; True, as by default, if it is not clear."""
  for metric, value in reported.items() if isinstance(reported, Mapping) else ():
    values = [one.get(metric) if isinstance(one, Mapping) else None for one in scores]
    if not isinstance(value, (int, float)) or not all(
        isinstance(one, (int, float)) for one in values) or "_stderr" in metric:
      continue
    numbers = np.array(values, np.float64)
    weighted = float(np.average(numbers, weights=sizes)) if np.all(np.isfinite(sizes)) else math.nan
    if abs(numbers.mean() - value) < _DIGITS and not abs(weighted - value) < _DIGITS:
      return False
  return True


def read(folder: pathlib.Path) -> dict[str, Group]:
  """The groups of a cache."""
  found: dict[str, tuple[bool, list[str]]] = {}
  for name, by_size, task in catalog.read(folder, ["groups"])["groups"]:
    found.setdefault(name, (bool(by_size), []))[1].append(task)
  return {name: Group(tuple(tasks), by_size) for name, (by_size, tasks) in found.items()}


def rows(groups: Groups) -> list[tuple[str, int, str]]:
  """Rows of the data base."""
  return [(name, int(one.by_size), task) for name, one in groups.items() for task in one.tasks]


@contextlib.contextmanager
def joining(folder: pathlib.Path, given: Groups) -> Iterator[None]:
  """Adds groups to those of a cache at the end; an error at first if one has other tasks."""
  _joined(folder, given)
  yield
  if given and _joined(folder, given) != read(folder):
    with catalog.changing(folder, ["groups"]) as tables:
      tables["groups"] = rows(_joined(folder, given))


def _joined(folder: pathlib.Path, given: Groups) -> dict[str, Group]:
  known = read(folder) if given else {}
  for name, one in given.items():
    old = known.get(name, one)
    if old != one:
      differing = sorted(set(old.tasks) ^ set(one.tasks))
      raise cache_input.CacheError(
          f"{folder} has the group {name!r} of {len(old.tasks)} tasks, and the new logs one of "
          f"{len(one.tasks)}{f', with or without {differing[0]}' if differing else ''}"
          f"{'' if old.by_size == one.by_size else ', weighted otherwise'}: their scores cannot be "
          "compared. Evaluate with one version of the harness, or make another cache.")
  return {**known, **given}


def of_table(path: pathlib.Path, tasks: Iterable[str]) -> dict[str, Group]:
  """The groups of a csv with the columns group and task, weighted by samples.

  Raises:
    CacheError: of another form, or a task that is none of `tasks`.
  """
  known, found = set(tasks), dict[str, set[str]]()
  with open(path, encoding="utf-8-sig", newline="") as file:
    rows = csv.DictReader(file)
    if not {"group", "task"} <= set(rows.fieldnames or ()):
      raise cache_input.CacheError(f"{path} has the columns {rows.fieldnames}; expected group and "
                                   "task.")
    for number, row in enumerate(rows, start=2):
      group, task = row["group"], row["task"]
      if not group or task not in known:
        raise cache_input.CacheError(
            f"{path}, line {number}: got the group {group!r} and the task {task!r}; expected a "
            f"name and one of {', '.join(sorted(known)[:8])}.")
      found.setdefault(group, set()).add(task)
  if not found:
    raise cache_input.CacheError(f"{path} has no group. Give one at least, or leave it out.")
  return {name: Group(tuple(sorted(of))) for name, of in found.items()}


def units(groups: Groups, tasks: Sequence[str], sizes: np.ndarray) -> dict[str, np.ndarray]:
  """What a score is the mean of: {group or task without one: weights [T] of the tasks, sum 1}.

  Args:
    groups: of the cache; tasks that it does not have are left out.
    tasks: T names. sizes: [T], samples of each.
  """
  found: dict[str, np.ndarray] = {}
  rest = np.ones(len(tasks), bool)
  for name, one in groups.items():
    inside = np.isin(tasks, one.tasks)
    if inside.any():
      weights = np.where(inside, sizes if one.by_size else 1.0, 0.0).astype(np.float64)
      found[name], rest = weights / weights.sum(), rest & ~inside
  for place in np.flatnonzero(rest):
    found[tasks[place]] = np.eye(len(tasks))[place]
  return found
