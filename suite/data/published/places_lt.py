# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A sequence of Places-LT, the long-tailed Places365 (Liu et al., 2019), as FLUID's second set.

Its list, Places_LT_train.txt, has a path and a label, 0 to 364, a line. FLUID's own order and its
pretrained classes were not published (appendix J has results only): here all images come in the
order of a seed, and `num_base` classes of the seed are those of the pretraining, a quarter as on
ImageNet.
"""

from __future__ import annotations

import pathlib

import numpy as np

from suite.data.published import published_plans
from suite.data.sequences import fluid_sequences

LIST = "Places_LT_train.txt"
NUM_CLASSES, NUM_BASE = 365, 91
_PURPOSE = 9


def read(folder: pathlib.Path, *, seed: int = 0, num_base: int = NUM_BASE,
         num_classes: int = NUM_CLASSES) -> published_plans.PublishedPlan:
  """Reads the list, which is anywhere in a folder; names are ends of paths."""
  found = sorted(folder.rglob(LIST)) if folder.is_dir() else []
  if not found:
    raise FileNotFoundError(f"There is no {LIST} in {folder}. Copy the list of Liu et al. (2019) "
                            "there, with the images of Places365 at 256 pixels.")
  return of_list(found[0].read_text(encoding="utf-8"), str(found[0]), seed=seed,
                 num_base=num_base, num_classes=num_classes)


def of_list(text: str, where: str, *, seed: int = 0, num_base: int = NUM_BASE,
            num_classes: int = NUM_CLASSES) -> published_plans.PublishedPlan:
  """Makes the plan of lines "PATH LABEL"."""
  rows = [line.rsplit(None, 1) for line in text.splitlines() if line.strip()]
  wrong = [i for i, row in enumerate(rows) if len(row) != 2 or not row[1].isdigit()]
  if wrong or not rows:
    line = f", line {wrong[0] + 1}" if wrong else ""
    raise ValueError(f"{where}{line}: a path and a label were expected. It is another list.")
  labels = np.array([int(label) for _, label in rows])
  if labels.max() >= num_classes or not 0 <= num_base <= num_classes:
    raise ValueError(f"{where} has labels up to {labels.max()}, and {num_base} base classes were "
                     f"asked for; there are {num_classes} classes.")
  rng = np.random.default_rng([_PURPOSE, seed])
  slots = rng.permutation(num_classes)
  slots = np.concatenate([np.sort(slots[:num_base]), np.sort(slots[num_base:])])
  order = rng.permutation(len(rows))
  # Base names repeat from class to class: as many folders as every path has.
  depth = min(path.count("/") for path, _ in rows) + 1
  names = np.array(["/".join(path.split("/")[-depth:]) for path, _ in rows])[order]
  if len(np.unique(names)) < len(names):
    raise ValueError(f"{where} has paths that differ in their first folders only; no image can be "
                     "told from the other.")
  ids = np.array([f"places/{i:06d}/{name}" for i, name in enumerate(names.tolist())])
  planned = fluid_sequences.PlannedSequence(
      "places_lt", slots, num_base, np.arange(len(names)), ids, np.argsort(slots)[labels[order]],
      np.zeros(len(names), np.int64))
  return published_plans.PublishedPlan(planned, names, slots)


def stand_in() -> published_plans.PublishedPlan:
  """A plan of 62,500 images of a long tail, for a rehearsal."""
  sizes = np.maximum(5, (4980 * np.exp(-np.arange(NUM_CLASSES) / 12)).astype(int))
  sizes[1] -= sizes.sum() - 62_500
  lines = [f"stand_in/{label}/{i}.jpg {label}" for label, num in enumerate(sizes.tolist())
           for i in range(num)]
  return of_list("\n".join(lines), "stand-in")
