# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Inputs of comparisons of methods that are trained by gradient, made by NumPy alone from a seed.

Tasks of a few rows, and the first weights of a net with one hidden layer. A step takes all rows of
a task, so that nothing depends on an order.
"""

from __future__ import annotations

import method_fixtures
import numpy as np

Arrays = method_fixtures.Arrays


def tasks(seed: int = 0, *, num_tasks: int = 2, classes: int = 2, rows: int = 12, features: int = 6,
          hidden: int = 8, tests: int = 24, scale: float = 1.0, shared: int = 0) -> Arrays:
  """Rows of tasks with classes of their own, and first weights.

  Args:
    seed: of everything.
    num_tasks: T. classes: of each task. rows: N, of each task, equally many of each class.
    features: D. hidden: H. tests: M, rows of all classes.
    scale: of all rows.
    shared: the first tasks that have all classes.

  Returns:
    train float32 [T, N, D], train_labels int64 [T, N], test [M, D], and the weights of the hidden
    layer [D, H] and [H], and of the head [H, C] and [C].
  """
  draw = np.random.RandomState(seed)
  total = num_tasks * classes
  means = 2 * draw.normal(size=(total, features))
  labels = np.stack([draw.permutation(np.arange(rows) % classes) + classes * task
                     for task in range(num_tasks)])
  for task in range(shared):
    labels[task] = draw.permutation(np.arange(rows) % total)
  sizes = {"kernel_1": (features, hidden), "bias_1": (hidden,),
           "kernel_2": (hidden, total), "bias_2": (total,)}
  found = {"train": means[labels] + draw.normal(size=(num_tasks, rows, features)),
           "test": means[np.arange(tests) % total] + draw.normal(size=(tests, features))}
  found = {name: scale * value for name, value in found.items()}
  found.update({name: 0.4 * draw.normal(size=size) for name, size in sizes.items()})
  return {"train_labels": labels.astype(np.int64),
          **{name: value.astype(np.float32) for name, value in found.items()}}


def projected_tasks(seed: int = 0, width: int = 5) -> Arrays:
  """Tasks, and kernels [H, H] and [H, W] of a projection of the hidden layer."""
  found, draw = tasks(seed), np.random.RandomState(seed + 1)
  hidden = found["kernel_1"].shape[1]
  for name, num in (("projection_1", hidden), ("projection_2", width)):
    found[name] = (draw.normal(size=(hidden, num)) * 0.5).astype(np.float32)
  return found


def numbered_buckets() -> Arrays:
  """Buckets of as many rows as a memory has slots, and random seeds."""
  return {"buckets": np.array(5), "capacity": np.array(12), "num_seeds": np.array(40)}


def shares(held: np.ndarray, arrays: Arrays) -> Arrays:
  """Rows of each bucket, by seed, of those that a memory holds: numbers [S, k]."""
  buckets = held // int(arrays["capacity"])
  return {f"rows of bucket {bucket + 1}": np.sum(buckets == bucket, axis=1).astype(np.float64)
          for bucket in range(int(arrays["buckets"]))}
