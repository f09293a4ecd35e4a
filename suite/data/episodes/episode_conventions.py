# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How episodes are formed: as the benchmark is specified, or as in two versions of its code.

  convention    classes            images of a class                     label without overwrite
  spec          never again        never again                           k + way * block
  paper_feb     each block draws   each set draws again: a target may    k + way * set
                from all of them   be a support image of another set
  paper_apr     never again        the same in all sets of a block       k + way * set

k is the class's place in its set. paper_feb made the FSL, A, B and C columns of the paper's Table 2
and paper_apr presumably its D columns, where one image has two labels; both have
way * num_support_sets output units without overwrite. They are for reproducing those numbers and
are not comparable with spec.

spec needs I * (shot + targets) images of each class (I = class_change_interval), as Algorithm 1 of
the paper draws them. Where a class has fewer, the sets of a block share one target set, and
I * shot + targets are enough. A task then has targets for each block and class only, as section 4
words it: T = way * targets * num_support_sets / I.

The draws of an episode and the places of its images, the same for all episodes of a setting.

An episode is made in three steps; the first two draw, the last arranges:

  1. classes   P pools; a pool is an ordered draw of k different classes of the split
  2. images    G rows; row g is an ordered draw of m different images of class slot `row_slot[g]`
               (slot p * k + j is the j-th class of pool p)
  3. places    the image at place l is number `place[l]` of the G * m images, and its label
               `labels[l]`; support sets come first, set after set, then the targets

S support sets of N = way * shot images each, T targets; L = S * N + T places.
"""

from __future__ import annotations

import typing
from typing import Any, Literal, NamedTuple

import numpy as np

from suite.data.episodes import task_types

Convention = Literal["spec", "paper_feb", "paper_apr"]
CONVENTIONS = SPEC, PAPER_FEB, PAPER_APR = typing.get_args(Convention)


def layout(convention: str, setting: task_types.Setting, counts: np.ndarray, source: str
           ) -> Layout:
  """The layout of a setting over classes of given sizes.

  Args:
    convention: one of CONVENTIONS.
    setting: of the tasks.
    counts: images of each class, int [number of classes].
    source: name of the images, for errors.

  Returns:
    The layout; `fallback` is set if targets are shared.
  """
  if convention not in CONVENTIONS:
    raise ValueError(f"Unknown convention {convention!r}; allowed are {', '.join(CONVENTIONS)}. "
                     "Use spec unless the paper's own numbers are to be explained.")
  least = int(counts.min()) if len(counts) else 0
  made = _spec(setting, least) if convention == SPEC else _paper(setting, convention)
  if len(counts) < made.pool_size:
    blocks = made.pool_size // setting.way
    limits = [("way", len(counts) // blocks, 2)]
    if blocks > 1:
      sets = len(counts) // setting.way * setting.class_change_interval
      limits.append(("num_support_sets", sets, 1))
    raise ValueError(
        f"{source} has {len(counts)} classes, but {setting.way}-way episodes of "
        f"{setting.num_support_sets} support sets with class_change_interval="
        f"{setting.class_change_interval} need {made.pool_size} different ones. "
        f"{_would_fit(limits)}")
  if least < made.row_size:
    interval = setting.class_change_interval if convention == SPEC else 1
    shared = ", even with one target set for all sets of a block" if made.fallback else ""
    limits = [("shot", (least - setting.targets) // interval, 1),
              ("targets", least - interval * setting.shot, 1)]
    if interval > 1:
      limits.append(("class_change_interval", (least - setting.targets) // setting.shot, 1))
    small = int((counts < made.row_size).sum())
    leave_out = "" if small == len(counts) else (
        f" Or leave out the {small} of {len(counts)} classes that have fewer: name the others in "
        "classes=.")
    raise ValueError(
        f"{source} has only {least} images of its smallest class, but an episode needs "
        f"{made.row_size} different ones of a class{shared}. "
        f"{_would_fit(limits)}{leave_out}")
  return made


def _spec(setting: task_types.Setting, least_images: int) -> Layout:
  """No class in two blocks and no image twice, with shared targets if images are few."""
  way, shot, targets = setting.way, setting.shot, setting.targets
  interval, blocks = setting.class_change_interval, setting.num_blocks
  grid = episode_grid(setting)
  block, turn = np.divmod(grid.s, interval)
  row_size, fallback, is_target = interval * (shot + targets), "", ~grid.is_support
  # A class's images: those of its support sets first, then those of its target sets.
  target_number = interval * shot + turn * targets + grid.i - shot
  if least_images < row_size and interval > 1:
    fallback = (f"shared targets: a class has {least_images} images and {row_size} would be "
                f"needed, so the {interval} sets of a block share one target set")
    row_size, is_target = interval * shot + targets, is_target & (turn == 0)
  number = np.where(grid.is_support, turn * shot + grid.i, target_number)
  row = block * way + grid.k
  return arranged(
      grid.is_support, is_target, number, row,
      labels=grid.k if setting.overwrite else row, row_slot=np.arange(blocks * way),
      num_pools=1, pool_size=blocks * way, row_size=row_size, num_labels=setting.num_labels,
      fallback=fallback)


def _paper(setting: task_types.Setting, convention: str) -> Layout:
  """Has the defects of the paper's code; a row of images belongs to a set (feb) or block (apr)."""
  way, sets, blocks = setting.way, setting.num_support_sets, setting.num_blocks
  grid = episode_grid(setting)
  slot = grid.s // setting.class_change_interval * way + grid.k
  by_set = grid.s * way + grid.k
  feb = convention == PAPER_FEB
  return arranged(
      grid.is_support, ~grid.is_support, grid.i, by_set if feb else slot,
      labels=grid.k if setting.overwrite else by_set,
      row_slot=slot[..., 0].ravel() if feb else np.arange(blocks * way),
      num_pools=blocks if feb else 1, pool_size=way if feb else blocks * way,
      row_size=setting.shot + setting.targets, num_labels=way if setting.overwrite else way * sets)


# (parameter, the greatest value that fits, the least value that is allowed)
_Limits = list[tuple[str, int, int]]


def _would_fit(limits: _Limits) -> str:
  fitting = [f"{name} <= {most}" for name, most, least in limits if most >= least]
  if not fitting:
    return "No change of a single parameter fits: choose a larger split or a smaller setting."
  return f"What would fit: {' or '.join(fitting)}."


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


def episode_grid(setting: task_types.Setting) -> Grid:
  """All images of a setting, in order of set, class and number."""
  s, k, i = np.meshgrid(np.arange(setting.num_support_sets), np.arange(setting.way),
                        np.arange(setting.shot + setting.targets), indexing="ij")
  return Grid(s, k, i, i < setting.shot)


def arranged(is_support: np.ndarray, is_target: np.ndarray, number: np.ndarray, row: np.ndarray, *,
             labels: np.ndarray, row_size: int, **others: Any) -> Layout:
  """The layout that puts image `number` of row `row` at each place of a grid, support first."""
  def in_order(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values[is_support], values[is_target]])

  return Layout(place=in_order(row * row_size + number), labels=in_order(labels),
                row_size=row_size, num_support=int(is_support.sum()), **others)
