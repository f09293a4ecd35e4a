# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The draws of an episode and the places of its images, the same for all episodes of a setting.

An episode is made in three steps; the first two draw, the last arranges:

  1. classes   P pools; a pool is an ordered draw of k different classes of the split
  2. images    G rows; row g is an ordered draw of m different images of class slot `row_slot[g]`
               (slot p * k + j is the j-th class of pool p)
  3. places    the image at place l is number `place[l]` of the G * m images, and its label
               `labels[l]`; support sets come first, set after set, then the targets

S support sets of N = way * shot images each, T targets; L = S * N + T places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suite.data.episodes import task_types


class Draws(NamedTuple):
  """The sizes of an episode's draws and the places of its images; letters as above.

  Attributes:
    num_pools: P.
    pool_size: k.
    num_rows: G.
    row_size: m.
    row_slot: int64 [G], an array, or a tensor of it.
    place: int64 [L], an array, or a tensor of it.
  """

  num_pools: int
  pool_size: int
  num_rows: int
  row_size: int
  row_slot: Any
  place: Any


class Layout(NamedTuple):
  """The plan of an episode; letters as above.

  Attributes:
    num_pools: P.
    pool_size: k.
    row_slot: int64 [G].
    row_size: m.
    place: int64 [L].
    labels: int64 [L].
    num_labels: output classes of a learner.
    num_support: S * N.
    fallback: a deviation because there are too few images, in words; '' for none.
  """

  num_pools: int
  pool_size: int
  row_slot: np.ndarray
  row_size: int
  place: np.ndarray
  labels: np.ndarray
  num_labels: int
  num_support: int
  fallback: str = ""

  @property
  def draws(self) -> Draws:
    """The sizes of the draws and the places of the images."""
    return Draws(self.num_pools, self.pool_size, len(self.row_slot), self.row_size, self.row_slot,
                 self.place)


class Grid(NamedTuple):
  """The indices of every support and target image of a setting, each [S, way, shot + targets].

  Attributes:
    s: support set.
    k: class within its set.
    i: image of that class and set; those below `shot` are support, the others targets.
    is_support: bool.
  """

  s: np.ndarray
  k: np.ndarray
  i: np.ndarray
  is_support: np.ndarray


def grid(setting: task_types.Setting) -> Grid:
  """All images of a setting, in order of set, class and number."""
  s, k, i = np.meshgrid(np.arange(setting.num_support_sets), np.arange(setting.way),
                        np.arange(setting.shot + setting.targets), indexing="ij")
  return Grid(s, k, i, i < setting.shot)


def arranged(is_support: np.ndarray, is_target: np.ndarray, number: np.ndarray, row: np.ndarray, *,
             labels: np.ndarray, row_size: int, **others) -> Layout:
  """The layout that puts image `number` of row `row` at each place of a grid, support first."""
  def in_order(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values[is_support], values[is_target]])

  return Layout(place=in_order(row * row_size + number), labels=in_order(labels),
                row_size=row_size, num_support=int(is_support.sum()), **others)
