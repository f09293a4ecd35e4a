# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The order and labels of FLUID's published sequences.

In the published files a base class keeps its ImageNet-1K index and the 750 novel classes take the
other indices. Here labels are 0 to 999 with base classes first, both kinds in the order of their
published labels. A published label without a sample (sequence 1 has one) counts as a base class.
Sequences 1 and 2 are for validation, 3 to 5 for testing.

A sequence of Places-LT, the long-tailed Places365 (Liu et al., 2019), as FLUID's second set.

Its list, Places_LT_train.txt, has a path and a label, 0 to 364, a line. FLUID's own order and its
pretrained classes were not published (appendix J has results only): here all images come in the
order of a seed, and `num_base` classes of the seed are those of the pretraining, a quarter as on
ImageNet.
"""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np

from suite.data.sequences import fluid_sequences
from tfds_builders.parsers import fluid_sequence
from tfds_builders.rows import fluid

NUMBERS = tuple(fluid.SIZES)
NUM_CLASSES, NUM_NOVEL = 1000, 750
SEGMENT_LENGTH, NUM_SEGMENTS = 10_000, 10
_EMPTY = -1  # The class of a label without samples.
LIST = "Places_LT_train.txt"
PLACES_CLASSES, PLACES_BASE = 365, 91
_PURPOSE = 9


@dataclasses.dataclass(frozen=True, eq=False)
class PublishedPlan:
  """A published sequence without its images.

  Attributes:
    planned: samples, labels and ids; its classes are numbers of WordNet ids.
    names: str [n], base names of the images.
    slots: int64 [C], the published label of each class, for a base class its ImageNet-1K index.
  """

  planned: fluid_sequences.PlannedSequence
  names: np.ndarray
  slots: np.ndarray


def check_number(number: int | str) -> int:
  """Returns the number, or raises an error that lists the allowed ones."""
  if not isinstance(number, int) or number not in NUMBERS:
    raise ValueError(f"There is no published sequence {number!r}; allowed are "
                     f"{', '.join(map(str, NUMBERS))}: 1 and 2 for validation, 3 to 5 for testing; "
                     "or alternating, places_lt.")
  return number


def file_names(number: int | str) -> tuple[str, str]:
  """Names of the published files: of paths, and of labels."""
  number = check_number(number)
  return f"sequence{number}.npy", "all_labels.npy" if number == 2 else f"all_labels{number}.npy"


def read(number: int | str, folder: pathlib.Path) -> PublishedPlan:
  """Reads the published files, which are anywhere in a folder."""
  paths = []
  for name in file_names(number):
    found = sorted(folder.rglob(name)) if folder.is_dir() else []
    if not found:
      raise FileNotFoundError(
          f"Sequence {number} needs {name}, which is not in {folder}. Copy S{number}/{name} of "
          f"{fluid.URL} there.")
    paths.append(found[0])
  steps = [(step, name) for name, found in fluid_sequence.read_steps(*paths).items()
           for step in found]
  steps.sort(key=lambda one: one[0].position)
  return of_steps(check_number(number), [step for step, _ in steps], [name for _, name in steps])


def of_steps(number: int, steps: list[fluid_sequence.Step], names: list[str]) -> PublishedPlan:
  """Makes the plan of steps in order of their positions."""
  published = np.array([step.label for step in steps], np.int64)
  novel = np.array([step.novel for step in steps])
  wnids = np.array([int(step.wnid[1:]) for step in steps], np.int64)
  if published.min() < 0 or published.max() >= NUM_CLASSES:
    raise ValueError(f"Sequence {number} has labels from {published.min()} to {published.max()}; "
                     f"the head has slots 0 to {NUM_CLASSES - 1}. Its label file is another one's.")
  novel_slots = np.unique(published[novel])
  base_slots = np.setdiff1d(np.arange(NUM_CLASSES), novel_slots)
  both = np.intersect1d(np.unique(published[~novel]), novel_slots)
  if len(both):
    raise ValueError(f"Published labels {both[:5].tolist()} of sequence {number} are of base "
                     "classes and of novel ones. Its files do not belong together.")
  slots = np.concatenate([base_slots, novel_slots])
  label_of = np.argsort(slots)
  classes = np.full(NUM_CLASSES, _EMPTY, np.int64)
  labels = label_of[published]
  classes[labels] = wnids
  ids = [f"{number}/{i:06d}/{name.rsplit('.', 1)[0]}" for i, name in enumerate(names)]
  planned = fluid_sequences.PlannedSequence(
      f"sequence{number}", classes, len(base_slots), np.arange(len(labels)), np.array(ids), labels,
      np.zeros(len(labels), np.int64))
  return PublishedPlan(planned, np.array(names), slots)


def alternating(plans: list[PublishedPlan], segment_length: int = SEGMENT_LENGTH,
                num_segments: int = NUM_SEGMENTS) -> PublishedPlan:
  """The non-stationary sequence (appendix Q): segments of several plans in turn.

  Its classes are those of all plans; see `fluid_sequences.alternate`. A class has the published
  label of the first plan that has it.
  """
  starts = np.cumsum([0, *(len(plan.planned) for plan in plans)])
  parts = []
  for start, plan in zip(starts, plans):
    planned = plan.planned
    kept = planned.classes != _EMPTY
    label_of = np.cumsum(kept) - 1
    parts.append(dataclasses.replace(
        planned, classes=planned.classes[kept], num_base=int(kept[:planned.num_base].sum()),
        labels=label_of[planned.labels], index=planned.index + start))
  merged = fluid_sequences.alternate(parts, segment_length, num_segments)
  slot_of: dict[int, int] = {}
  for plan in plans:
    for wnid, slot in zip(plan.planned.classes.tolist(), plan.slots.tolist()):
      slot_of.setdefault(wnid, slot)
  names = np.concatenate([plan.names for plan in plans])[merged.index]
  slots = np.array([slot_of[wnid] for wnid in merged.classes.tolist()])
  return PublishedPlan(dataclasses.replace(merged, index=np.arange(len(names))), names, slots)


def first(plan: PublishedPlan, num: int) -> PublishedPlan:
  """The first samples of a plan, whose classes stay."""
  if num < 1:
    raise ValueError(f"num_samples is {num}; a sequence has at least one.")
  return part(plan, np.arange(len(plan.names)) < num)


def part(plan: PublishedPlan, chosen: np.ndarray) -> PublishedPlan:
  """The samples of a plan for which `chosen`, bool [n], is true; its classes stay."""
  planned = plan.planned
  return PublishedPlan(dataclasses.replace(
      planned, index=planned.index[chosen], ids=planned.ids[chosen],
      labels=planned.labels[chosen], segments=planned.segments[chosen]), plan.names[chosen],
      plan.slots)


def stand_in(number: int | str) -> PublishedPlan:
  """A plan of the published length with generated labels, for a rehearsal."""
  number = check_number(number)
  counts = fluid_sequences.PAPER.counts()
  rng = np.random.default_rng(number)
  published = rng.permutation(np.repeat(rng.permutation(NUM_CLASSES), counts))
  size = fluid.SIZES[number]
  # 91,858 by the law; the published sequences lack some images. The first of each class stay.
  first = np.sort(np.unique(published, return_index=True)[1])
  others = np.setdiff1d(np.arange(len(published)), first)[:size - len(first)]
  published = published[np.sort(np.concatenate([first, others]))]
  # Novel classes of the five sequences are disjoint; base classes are not.
  steps = [fluid_sequence.Step(i, label, f"n{label + 10_000 * number * (label >= 250):08d}",
                               label >= 250) for i, label in enumerate(published.tolist())]
  return of_steps(number, steps, [f"{step.wnid}_{i}.JPEG" for i, step in enumerate(steps)])


def read_places_lt(folder: pathlib.Path, *, seed: int = 0, num_base: int = PLACES_BASE,
         num_classes: int = PLACES_CLASSES) -> PublishedPlan:
  """Reads the list, which is anywhere in a folder; names are ends of paths."""
  found = sorted(folder.rglob(LIST)) if folder.is_dir() else []
  if not found:
    raise FileNotFoundError(f"There is no {LIST} in {folder}. Copy the list of Liu et al. (2019) "
                            "there, with the images of Places365 at 256 pixels.")
  return places_lt_of_list(found[0].read_text(encoding="utf-8"), str(found[0]), seed=seed,
                 num_base=num_base, num_classes=num_classes)


def places_lt_of_list(text: str, where: str, *, seed: int = 0, num_base: int = PLACES_BASE,
            num_classes: int = PLACES_CLASSES) -> PublishedPlan:
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
  return PublishedPlan(planned, names, slots)


def stand_in_places_lt() -> PublishedPlan:
  """A plan of 62,500 images of a long tail, for a rehearsal."""
  sizes = np.maximum(5, (4980 * np.exp(-np.arange(PLACES_CLASSES) / 12)).astype(int))
  sizes[1] -= sizes.sum() - 62_500
  lines = [f"stand_in/{label}/{i}.jpg {label}" for label, num in enumerate(sizes.tolist())
           for i in range(num)]
  return places_lt_of_list("\n".join(lines), "stand-in")
