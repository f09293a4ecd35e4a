# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Domain, training-set size and resolution of tasks, by which results are grouped.

Those of NEVIS'22's data sets are in the stream's table (appendix L of the paper). For other streams
a CSV file gives them, with the columns task, domain, size, height and width; task is a key or a
name, and empty cells are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
import math
import os
from typing import NamedTuple

from suite.data.streams import nevis_table
from suite.metrics import stream_groups
from suite.reporting.nevis_panels import stream_results

COLUMNS = ("task", "domain", "size", "height", "width")


class TaskFacts(NamedTuple):
  """Facts of one task; None or "unknown" where they are not known.

  size is the number of images in train and dev; resolution is the square root of the average height
  times width, in pixels.
  """

  domain: str = stream_groups.UNKNOWN
  size: float | None = None
  resolution: float | None = None


def read(path: str | os.PathLike) -> dict[str, TaskFacts]:
  """Reads a CSV file: {task: facts}."""
  with open(path, newline="", encoding="utf-8") as file:
    rows = csv.DictReader(file)
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
      raise ValueError(f"{path} has no column {', '.join(missing)}; a file of facts has the "
                       f"columns {', '.join(COLUMNS)}.")
    return {row["task"]: _facts(row, f"{path}, task {row['task']!r}") for row in rows}


def of(tasks: Sequence[stream_results.TaskRow], given: Mapping[str, TaskFacts] | None = None
       ) -> list[TaskFacts]:
  """The facts of each task: those given by key or name; else the stream table's.

  A size that is not given is that of the run's records, and without records that of the table.
  """
  given, table = given or {}, _of_stream()
  found = []
  for task in tasks:
    own = given.get(task.key) or given.get(task.name)
    known = table.get(task.key) or table.get(task.name) or TaskFacts()
    facts = own or known
    size = own.size if own is not None and own.size is not None else task.num_examples
    found.append(facts._replace(size=known.size if size is None else size))
  return found


def _of_stream() -> dict[str, TaskFacts]:
  """The table's facts by key, and by name for keys of other streams."""
  facts = {line: TaskFacts(line.domain, line.size, _side(*line.resolution))
           for line in nevis_table.full()}
  return {**{line.name: fact for line, fact in facts.items()},
          **{line.key: fact for line, fact in facts.items()}}


def _facts(row: Mapping[str, str], where: str) -> TaskFacts:
  size, height, width = (_number(row[name], f"{where}: {name}")
                         for name in ("size", "height", "width"))
  return TaskFacts(row["domain"] or stream_groups.UNKNOWN, size, _side(height, width))


def _number(text: str, where: str) -> int | None:
  if text and not text.isdigit():
    raise ValueError(f"{where} is {text!r}; give a whole number, or nothing.")
  return int(text) if text else None


def _side(height: int | None, width: int | None) -> float | None:
  """The side of the square with as many pixels; None if it is not known."""
  return math.sqrt(height * width) if height and width else None
