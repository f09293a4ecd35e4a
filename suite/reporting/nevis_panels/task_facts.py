# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Domain, training-set size and resolution of tasks, by which results are grouped.

Those of NEVIS'22's data sets are in the stream's table (appendix L of the paper). For other streams
a CSV file gives them, with the columns task, domain, train_size and resolution; task is a key or a
name, resolution HEIGHTxWIDTH, and empty cells are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
import math
import os
import pathlib
import re
from typing import NamedTuple

from suite.data.streams import nevis_table
from suite.metrics import stream_groups
from suite.reporting.nevis_panels import stream_results

COLUMNS = ("task", "domain", "train_size", "resolution")


class TaskFacts(NamedTuple):
  """Facts of one task; None or "unknown" where they are not known.

  train_size counts training examples as the paper does, dev included; resolution is the square root
  of the average height times width, in pixels.
  """

  domain: str = stream_groups.UNKNOWN
  train_size: float | None = None
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
  """The facts of each task: given by key or by name, else from the stream's table.

  A size that neither knows is the number of images that the records have.
  """
  given = given or {}
  table = _of_stream()
  found = []
  for task in tasks:
    facts = given.get(task.key) or given.get(task.name) or table.get(task.name) or TaskFacts()
    found.append(facts if facts.train_size is not None
                 else facts._replace(train_size=task.num_examples))
  return found


def _of_stream() -> dict[str, TaskFacts]:
  path = pathlib.Path(nevis_table.__file__).with_name("tables") / "nevis_stream.csv"
  with open(path, newline="", encoding="utf-8") as file:
    return {row["name"]: _facts(row, f"{path}, {row['name']}") for row in csv.DictReader(file)}


def _facts(row: Mapping[str, str], where: str) -> TaskFacts:
  size = row.get("train_size") or ""
  if size and not size.isdigit():
    raise ValueError(f"{where}: train_size is {size!r}; give a whole number, or nothing.")
  return TaskFacts(row.get("domain") or stream_groups.UNKNOWN, int(size) if size else None,
                   _resolution(row.get("resolution") or "", where))


def _resolution(text: str, where: str) -> float | None:
  """The side of a square with as many pixels as "HEIGHTxWIDTH" or "(HEIGHT, WIDTH)"."""
  if not text:
    return None
  sides = re.fullmatch(r"\(?(\d+)\s*[x,]\s*(\d+)\)?", text)
  if not sides:
    raise ValueError(f"{where}: resolution is {text!r}; give HEIGHTxWIDTH, or nothing.")
  return math.sqrt(int(sides[1]) * int(sides[2]))
