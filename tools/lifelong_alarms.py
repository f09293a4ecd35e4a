# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""False alarms of `suite lifelong watch` on real models in several orders; changes that it sees.

  python tools/lifelong_alarms.py nlu_known.npz --orders 3

Models come two at an update, as stored and in random orders; checkpoints of one network are a
declared family. Nothing has changed, so every alarm is a false one, or is about a model that is
unlike the known ones. Then some models come last, each with points added to its accuracy on one
task: a random share of its wrong answers become right.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import pathlib
import sys
import tempfile

import numpy as np

from suite.lifelong import drift
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_tasks

_PATTERN = r"(.+)_\w+"
_CHANGES = (0.1, 0.2, 0.3)


class Matrix:
  """Answers of models to items TASK_NUMBER."""

  def __init__(self, path: pathlib.Path):
    with np.load(path, allow_pickle=False) as arrays:
      self.names = arrays["models"].tolist()
      items = arrays["items"].tolist()
      self.answers = np.unpackbits(arrays["correct"], axis=1, count=len(items)).astype(np.int8)
    self.tasks = np.array([one.rpartition("_")[0] for one in items])
    self.ids = ["/".join(one.rsplit("_", 1)) for one in items]

  def add(self, cache: accuracy_cache.AccuracyCache, some: Sequence[int],
          answers: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Adds models; returns which of their answers are new, as `drift.tests` takes it."""
    facts = {} if cache.num_models else {
        "tasks": {one: cache_tasks.Task() for one in sorted(set(self.tasks))}}
    names = [self.names[model] for model in some]
    cache.add_models(names, self.answers[some] if answers is None else answers, self.ids, **facts)
    active_samples.set_families(cache, pattern=_PATTERN)
    return dict.fromkeys(names, np.arange(len(self.ids)))


def in_order(matrix: Matrix, order: Sequence[int]) -> tuple[int, int, list[str]]:
  """(updates with tests, of these with an alarm, alarms)."""
  history: dict[str, list[float]] = {}
  tested, alarms, found = 0, 0, []
  with tempfile.TemporaryDirectory() as folder:
    cache = accuracy_cache.AccuracyCache(folder, create=True)
    for start in range(0, len(order), 2):
      tests = drift.tests(cache, matrix.add(cache, order[start:start + 2]), history=history)
      for one in tests:
        if one.is_alarm:
          found.append(f"{one.kind} of {one.model} on {one.task}")
        elif one.kind == drift.LEVEL_TEST:
          history.setdefault(one.task, []).append(one.z)
      tested += bool(tests)
      alarms += any(one.is_alarm for one in tests)
  return tested, alarms, found


def changed(matrix: Matrix, model: int, rng: np.random.Generator) -> list[bool]:
  """Whether `_CHANGES` of a model's accuracy on a random task raise an alarm about the task."""
  row = matrix.answers[model]
  rest = np.setdiff1d(np.arange(len(matrix.names)), [model])
  right = {task: float(row[matrix.tasks == task].mean()) for task in sorted(set(matrix.tasks))}
  task = rng.choice([one for one, value in right.items() if value + max(_CHANGES) <= 1.0])
  wrong = rng.permutation(np.flatnonzero((matrix.tasks == task) & (row == 0)))
  seen = []
  for change in _CHANGES:
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      matrix.add(cache, rest)
      given = row.copy()
      given[wrong[:round(change * float(np.sum(matrix.tasks == task)))]] = 1
      tests = drift.tests(cache, matrix.add(cache, [model], given[None]))
    seen.append(any(one.is_alarm and one.task == task for one in tests))
  return seen


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("matrix", type=pathlib.Path)
  parser.add_argument("--orders", type=int, default=3, help="random orders, beside the stored one")
  parser.add_argument("--changed", type=int, default=20, help="models that are changed")
  args = parser.parse_args()
  matrix, rng = Matrix(args.matrix), np.random.default_rng(0)
  num = len(matrix.names)
  sys.stdout.write("| order | updates with tests | with an alarm | alarms |\n| --- | ---: | ---: | "
                   "--- |\n")
  orders = {f"random {seed}": np.random.default_rng(seed).permutation(num)
            for seed in range(args.orders)}
  for name, order in {"as stored": np.arange(num), **orders}.items():
    tested, alarms, found = in_order(matrix, order.tolist())
    sys.stdout.write(f"| {name} | {tested} | {alarms} | {'; '.join(found)} |\n")
    sys.stdout.flush()
  seen = np.array([changed(matrix, model, rng) for model in rng.permutation(num)[:args.changed]])
  sys.stdout.write("\n| points added on one task | models | seen, % |\n| ---: | ---: | ---: |\n")
  for change, share in zip(_CHANGES, seen.mean(axis=0)):
    sys.stdout.write(f"| {100 * change:.0f} | {len(seen)} | {100 * share:.0f} |\n")
  return 0


if __name__ == "__main__":
  sys.exit(main())
