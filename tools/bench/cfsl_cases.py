# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of `tools/bench cfsl`, and the worker process that measures them; plain Python.

A worker (suite_cfsl.py, torch_cfsl.py) serves one case: it builds everything, takes its first step
(in which graphs are traced) and more to warm up, and answers with a line of JSON. Then it sleeps
until a line comes on its standard input, takes steps for about as many seconds as asked, and
answers again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
import dataclasses
import json
import os
import resource
import sys
import time
from typing import Any

WAY, SHOT, TARGETS, STEPS = 5, 1, 5, 5  # Targets of a class and set; inner steps on a set.
MAML_FILTERS, PROTO_FILTERS, PIXELS_PER_SIDE = 48, 64, 28
TRAIN_CLASSES, TEST_CLASSES, PER_CLASS = 1200, 212, 20  # Omniglot's.

Step = Callable[[], int]  # Completes a unit of work and returns its number of tasks.
_MAML, _HIGH, _SCA, _PROTO = "MAML++ low-end", "MAML++ high-end", "SCA", "ProtoNets"


@dataclasses.dataclass(frozen=True)
class Case:
  """One line of the table.

  Attributes:
    title: title of the line.
    make: key of the worker's function that builds it.
    num_sets: support sets of a task (NSS), of type B: new classes in each set.
    num_tasks: number of tasks of an update or evaluation, or of episodes of a batch.
    size, channels: shape of the images.
    classes, per_class: number of classes, and of images of each.
    as_seconds: number of tasks whose seconds the table gives; 0: tasks per second.
    unrolled: whether the suite's graph holds the steps of each support set.
  """

  title: str
  make: str
  num_sets: int = 1
  num_tasks: int = 1
  size: int = PIXELS_PER_SIDE
  channels: int = 1
  classes: int = TRAIN_CLASSES
  per_class: int = PER_CLASS
  as_seconds: int = 0
  unrolled: bool = False

  @property
  def num_labels(self) -> int:
    return WAY * self.num_sets

  @property
  def num_targets(self) -> int:
    """Number of targets of a task."""
    return WAY * TARGETS * self.num_sets

  def value(self, rate: float) -> float:
    """Converts tasks per second to the table's number."""
    return self.as_seconds / rate if self.as_seconds else rate

  @property
  def unit(self) -> str:
    if self.as_seconds:
      return f"s for {self.as_seconds} tasks"
    return "episodes/s" if self.make == "episodes" else "tasks/s"


def _test(title: str, make: str, **more: Any) -> Case:
  return Case(title, make, classes=TEST_CLASSES, **more)


CASES: dict[str, Case] = {
    "maml_train": Case(f"{_MAML}, training, 1 task an update", "maml_train"),
    "maml_train_8": Case(f"{_MAML}, training, 8 tasks an update", "maml_train", num_tasks=8),
    "maml_train_nss10": Case(f"{_MAML}, training, NSS 10", "maml_train", num_sets=10),
    "maml_train_nss10_unrolled": Case(
        f"{_MAML}, training, NSS 10, unrolled", "maml_train", num_sets=10, unrolled=True),
    "maml_test": _test(f"{_MAML}, evaluation", "maml_test", num_tasks=600),
    "maml_test_nss10": _test(f"{_MAML}, evaluation, NSS 10", "maml_test", num_sets=10,
                             num_tasks=300),
    "high_train": Case(f"{_HIGH}, training, 1 task an update", "high_train"),
    "high_train_nss10": Case(f"{_HIGH}, training, NSS 10", "high_train", num_sets=10),
    "high_test": _test(f"{_HIGH}, evaluation", "high_test", num_tasks=200),
    "sca_train": Case(f"{_SCA}, training, 1 task an update", "sca_train"),
    "sca_train_nss10": Case(f"{_SCA}, training, NSS 10", "sca_train", num_sets=10),
    "sca_test": _test(f"{_SCA}, evaluation", "sca_test", num_tasks=200),
    "proto_train": Case(f"{_PROTO}, training, 1 task an update", "proto_train"),
    "proto_train_nss10": Case(f"{_PROTO}, training, NSS 10", "proto_train", num_sets=10),
    "proto_test": _test(f"{_PROTO}, evaluation", "proto_test", num_tasks=600, as_seconds=600),
    "proto_test_nss10": _test(f"{_PROTO}, evaluation, NSS 10", "proto_test", num_sets=10,
                              num_tasks=600, as_seconds=600),
    "episodes": Case("episodes 28x28", "episodes", num_tasks=64),
    "episodes_nss10": Case("episodes 28x28, NSS 10", "episodes", num_sets=10, num_tasks=8),
    "episodes_64_nss10": Case("episodes 64x64x3, NSS 10", "episodes", num_sets=10, num_tasks=8,
                              size=64, channels=3, classes=200, per_class=200),
}


def chosen(names: str | None) -> list[str]:
  """Splits the names "a,b,c"; all by default."""
  wanted = names.split(",") if names else list(CASES)
  unknown = [name for name in wanted if name not in CASES]
  if unknown:
    raise ValueError(f"No such case: {', '.join(unknown)}; there are {', '.join(CASES)}.")
  return wanted


def serve(makers: Mapping[str, Callable[[Case], Step]],
          configure: Callable[[argparse.Namespace], str]) -> None:
  """Runs a worker. `configure` sets the threads and returns what the worker runs on."""
  parser = argparse.ArgumentParser()
  parser.add_argument("--case", required=True, choices=CASES)
  parser.add_argument("--seconds", type=float, default=2.0, help="of a round, about")
  for name in ("--threads", "--intra", "--inter"):
    parser.add_argument(name, type=int)
  args = parser.parse_args()
  # Other output goes to standard error; standard output is for the answers only.
  answers, sys.stdout = sys.stdout, sys.stderr
  case = CASES[args.case]
  version = configure(args)
  if case.make not in makers:
    _answer(answers, missing=True, version=version)
    return
  step = makers[case.make](case)
  _, first = _round(step, 1)
  count, second = _calibrate(step, args.seconds)
  _answer(answers, version=version, seconds_start=max(0.0, first - second))
  for _ in sys.stdin:
    used = time.process_time()
    tasks, seconds = _round(step, count)
    _answer(answers, tasks_per_second=tasks / seconds, peak_gib=_peak_gib(), seconds=seconds,
            seconds_cpu=time.process_time() - used)


def _calibrate(step: Step, seconds: float) -> tuple[int, float]:
  """Warms up; returns the number of steps that take about `seconds`, and the seconds of a step."""
  count = 1
  while True:
    _, took = _round(step, count)
    if took > seconds / 4:
      return max(1, round(count * seconds / took)), took / count
    count *= 2


def _round(step: Step, count: int) -> tuple[int, float]:
  began, tasks = time.perf_counter(), 0
  for _ in range(count):
    tasks += step()
  return tasks, time.perf_counter() - began


def _peak_gib() -> float:
  used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
  return used / (2 ** 30 if sys.platform == "darwin" else 2 ** 20)


def _answer(stream: Any, **values: Any) -> None:
  stream.write(json.dumps(values) + os.linesep)
  stream.flush()
