# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which of ImageNet-1K's validation images are of a sequence's base classes.

FLUID's EWC has its Fisher information of these images (appendix E): 50 of each of 250 classes.
Simple CNAPS is meta-trained on them. Their labels are in the development kit that comes with them,
so the images may lie in one folder or tar, as they are distributed, or in folders of classes.
"""

from __future__ import annotations

from collections.abc import Sequence
import pathlib
from typing import NamedTuple

import numpy as np

from suite.data.sequences import fluid_sequences
from tfds_builders.parsers import imagenet_validation

KIT = "ILSVRC2012_devkit_t12.tar.gz"
_PER_CLASS = 50


class BaseValidation(NamedTuple):
  """Base names of M images, in the order of their numbers, and labels of the sequence, [M]."""

  names: list[str]
  labels: np.ndarray


def read(planned: fluid_sequences.PlannedSequence, roots: Sequence[str]) -> BaseValidation:
  """Reads the labels of the kit, which is anywhere in one of the folders `roots`."""
  label_of = _base_labels(planned)
  wnids = [int(wnid[1:]) for wnid in imagenet_validation.read_kit(_kit(roots))]
  missing = sorted(set(label_of) - set(wnids))
  if missing:
    raise ValueError(
        f"{KIT} has no image of {len(missing)} of the {len(label_of)} base classes: "
        f"{', '.join(f'n{wnid:08d}' for wnid in missing[:5])}. Give the kit of ILSVRC 2012.")
  of_base = [(number, label_of[wnid]) for number, wnid in enumerate(wnids, 1) if wnid in label_of]
  return BaseValidation([f"ILSVRC2012_val_{number:08d}.JPEG" for number, _ in of_base],
                        np.array([label for _, label in of_base], np.int64))


def stand_in(planned: fluid_sequences.PlannedSequence) -> BaseValidation:
  """As many images as the paper has, for a rehearsal."""
  labels = np.repeat(np.sort(list(_base_labels(planned).values())), _PER_CLASS)
  return BaseValidation([f"validation_{i}.JPEG" for i in range(len(labels))], labels)


def _base_labels(planned: fluid_sequences.PlannedSequence) -> dict[int, int]:
  """Label by number of the WordNet id; one class may have no sample, and so no WordNet id."""
  classes = planned.classes[:planned.num_base].tolist()
  return {wnid: label for label, wnid in enumerate(classes) if wnid >= 0}


def _kit(roots: Sequence[str]) -> pathlib.Path:
  folders = [pathlib.Path(root) for root in roots if pathlib.Path(root).is_dir()]
  for found in (*(folder / KIT for folder in folders),
                *(path for folder in folders for path in sorted(folder.rglob(KIT)))):
    if found.is_file():
      return found
  raise FileNotFoundError(
      f"EWC and meta-trained learners need ImageNet-1K's validation images and {KIT}, which has "
      "their labels and is not in "
      f"{', '.join(map(str, roots)) or 'FOLDER, which is None, nor in IMAGES'}. Copy it there, or "
      "name its folder in IMAGES.")
