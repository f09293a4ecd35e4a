# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Inputs of the comparisons of methods, made by NumPy alone from a seed.

`RandomState` has the same streams in every version of NumPy, so that a test makes the inputs again
whose answers are stored. Rows of a class are not sorted, and features are not negative, as those of
a net that ends with a ReLU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

Arrays = dict[str, np.ndarray]


def classes_in_turn(seed: int = 0, *, phases: Sequence[int] = (6, 2, 2), features: int = 32,
                    rows: int = 50, tests: int = 100, spread: float = 2.5) -> Arrays:
  """Features of classes that come in phases, each class with a mean and directions of its own.

  Args:
    seed: of everything.
    phases: numbers of new classes, which have the labels 0, 1, ... in the order of their phases.
    features: D.
    rows, tests: examples of each class in training and for testing.
    spread: of the examples about their means, which are about 1 apart in each feature.

  Returns:
    train float32 [N, D], train_labels int64 [N], test, test_labels, and phases int64 [P].
  """
  draw = np.random.RandomState(seed)
  parts: dict[str, list[np.ndarray]] = {"train": [], "test": []}
  for _ in range(sum(phases)):
    mean = draw.normal(size=features)
    directions = draw.normal(size=(features, features)) / features ** 0.5
    for name, num in (("train", rows), ("test", tests)):
      noise = draw.normal(size=(num, features)) @ directions
      parts[name].append(np.maximum(0.5 + mean + spread * noise, 0.0))
  found: Arrays = {"phases": np.asarray(phases, np.int64)}
  for name, num in (("train", rows), ("test", tests)):
    order = draw.permutation(sum(phases) * num)
    found[name] = np.concatenate(parts[name]).astype(np.float32)[order]
    found[f"{name}_labels"] = np.repeat(np.arange(sum(phases)), num)[order]
  return found


def episode(way: int = 5, shot: int = 5, features: int = 32) -> Arrays:
  """Support float32 [way, shot, D, 1, 1] of an episode; test and test_labels as above."""
  drawn = classes_in_turn(phases=(way,), features=features, rows=shot, tests=1000 // way)
  order = np.argsort(drawn["train_labels"], kind="stable")
  return {"support": drawn["train"][order].reshape(way, shot, features, 1, 1),
          "test": drawn["test"][:, :, None, None], "test_labels": drawn["test_labels"]}


def visual_memory(classes: int = 10, features: int = 32) -> Arrays:
  """Features of all classes, and weights of OLTR's memory whose centroids are near them.

  Features are short, so that classes are nearer than the margin of OLTR's loss.
  """
  drawn = classes_in_turn(phases=(classes,), features=features, spread=0.5)
  drawn = {**drawn, **{name: 0.25 * drawn[name] for name in ("train", "test")}}
  draw = np.random.RandomState(1)
  centroids = [drawn["train"][drawn["train_labels"] == label].mean(axis=0)
               for label in range(classes)]
  shapes = {"hallucinator_kernel": (features, classes), "hallucinator_bias": (classes,),
            "selector_kernel": (features, features), "selector_bias": (features,),
            "cosine_kernel": (classes, features)}
  return {"test": drawn["test"], "test_labels": drawn["test_labels"],
          "centroids": (np.asarray(centroids) + 0.05 * draw.normal(size=(classes, features))
                        ).astype(np.float32),
          **{name: 0.3 * draw.normal(size=shape).astype(np.float32)
             for name, shape in shapes.items()}}


def in_phases(arrays: Arrays) -> Iterator[tuple[np.ndarray, np.ndarray]]:
  """Yields the rows of `train` that each phase brings, and the classes seen by then: numbers."""
  ends = np.cumsum(arrays["phases"])
  for start, end in zip(ends - arrays["phases"], ends):
    labels = arrays["train_labels"]
    yield np.flatnonzero((start <= labels) & (labels < end)), np.arange(end)


def answers(logits: Sequence[np.ndarray], arrays: Arrays) -> np.ndarray:
  """Answers int16 [P, N] after each phase, from logits [N, C]; -1 to rows of classes to come."""
  found = []
  for values, (_, seen) in zip(logits, in_phases(arrays)):
    top = np.argmax(values[:, :len(seen)], axis=1)
    found.append(np.where(arrays["test_labels"] < len(seen), top, -1))
  return np.asarray(found, np.int16)
