# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Inputs of the comparisons of memories and corrected heads, and how what is held is compared."""

from __future__ import annotations

import method_fixtures
import numpy as np

Arrays = method_fixtures.Arrays


def herding() -> Arrays:
  """Classes in phases, and a memory that each phase divides without a rest."""
  return {**method_fixtures.classes_in_turn(), "capacity": np.array(120)}


def stream() -> Arrays:
  """A stream of rows by number, and a reservoir."""
  return {"rows": np.array(60), "capacity": np.array(12), "num_seeds": np.array(100)}


def labelled_stream() -> Arrays:
  """Labels of a stream in which some classes come often, and a memory."""
  draw = np.random.RandomState(0)
  labels = draw.permutation(np.repeat(np.arange(5), [40, 20, 20, 12, 12]))
  return {"labels": labels, "capacity": np.array(30), "num_seeds": np.array(40)}


def biased_logits(num: int = 200, num_old: int = 6, num_new: int = 4) -> Arrays:
  """Logits that favor new classes, of rows of all classes."""
  draw = np.random.RandomState(0)
  labels = draw.randint(num_old + num_new, size=num)
  logits = draw.normal(size=(num, num_old + num_new)) + 1.5 * np.eye(num_old + num_new)[labels]
  logits[:, num_old:] = 1.3 * logits[:, num_old:] + 0.3
  return {"logits": logits.astype(np.float32), "labels": labels, "num_old": np.array(num_old)}


def kernel(features: int = 32, num_old: int = 6, num_new: int = 4) -> Arrays:
  """A head's kernel [D, C] whose new classes have longer rows."""
  draw = np.random.RandomState(0)
  found = draw.normal(size=(features, num_old + num_new)) * ([1.0] * num_old + [1.8] * num_new)
  return {"kernel": found.astype(np.float32), "num_old": np.array(num_old)}


def shares_by_age(held: np.ndarray, rows: int) -> Arrays:
  """Of rows that each seed holds [S, k]: how many are of the first and the second third."""
  third = rows // 3
  return {"of the first third": (held < third).mean(axis=1),
          "of the second third": ((held >= third) & (held < 2 * third)).mean(axis=1)}


def counts_and_places(held: np.ndarray, labels: np.ndarray) -> Arrays:
  """Of rows that each seed holds [S, k]: how many of each class, and their mean place in it."""
  place = np.zeros(len(labels))
  for label in np.unique(labels):
    of_class = labels == label
    place[of_class] = np.arange(of_class.sum()) / of_class.sum()
  return {"rows of each class": np.array([np.bincount(labels[rows], minlength=labels.max() + 1)
                                          for rows in held], np.int16),
          "mean place in the class": place[held].mean(axis=1)}
