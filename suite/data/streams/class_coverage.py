# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Classes that are tested and never trained, and parts of a series that miss some class.

Both are seen in the labels, so they are reported when a user's sets are joined, not after hours of
training. Sets on disk, whose labels are among the images, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from absl import logging
import numpy as np

from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_set

_SHOWN = 5  # Classes in a warning.


def check_trained(where: str, trained: Sequence[Any], tested: Sequence[Any]) -> None:
  """Refuses test images of a class that no training set has.

  Args:
    where: begins the message, such as "buckets.of".
    trained, tested: sets with one list of classes.
  """
  if not all(isinstance(one, image_set.ImageSet) for one in trained):
    return
  known = np.any([_present(one) for one in trained], axis=0)
  for one in tested:
    if not isinstance(one, image_set.ImageSet):
      continue
    lost = np.flatnonzero(_present(one) & ~known)
    if lost.size:
      raise ValueError(
          f"{where}: {one.name!r} tests {_named(one, lost)}, of which there is no training image, "
          "so no answer can be right. Add training images, or leave these test images out. (A class"
          " with a single image cannot be divided.)")



def check_several(where: str, trained: Sequence[Any]) -> None:
  """Refuses training sets whose images are all of one class; arguments as of `check_trained`."""
  if not all(isinstance(one, image_set.ImageSet) for one in trained):
    return
  found = np.flatnonzero(np.any([_present(one) for one in trained], axis=0))
  if trained[0].kind == tasks.SINGLE_LABEL and len(found) == 1:
    raise ValueError(f"{where}: all training images of {trained[0].name!r} are of "
                     f"{_named(trained[0], found)}, so there is nothing to tell apart. Give images "
                     "of at least 2 classes.")


def warn_of_gaps(where: str, names: Sequence[str], sets: Sequence[Any], use: str) -> None:
  """Logs which parts of a series have no image of a class that others have.

  Args:
    where: begins the message.
    names: of the parts, such as buckets.
    sets: of each part, with one list of classes.
    use: "to train on", "to test on".
  """
  if len(sets) < 2 or not all(isinstance(one, image_set.ImageSet) for one in sets):
    return
  present = np.array([_present(one) for one in sets])
  gaps = [(_named(sets[0], [label]), [name for name, has in zip(names, column) if not has])
          for label, column in enumerate(present.T) if column.any() and not column.all()]
  if gaps:
    shown = "; ".join(f"{one} in {', '.join(missing[:_SHOWN])}"
                      f"{', ...' if len(missing) > _SHOWN else ''}"
                      for one, missing in gaps[:_SHOWN])
    more = f"; and of {len(gaps) - _SHOWN} more classes" if len(gaps) > _SHOWN else ""
    logging.warning(
        "%s: there is no image %s of %s%s. If that is not meant, join neighboring buckets, or leave"
        " the class out.", where, use, shown, more)


def _present(images: Any) -> np.ndarray:
  """Which classes a set has an image of, bool [C]."""
  if images.kind == tasks.SINGLE_LABEL:
    return np.bincount(images.labels, minlength=images.num_classes) > 0
  return images.labels.any(axis=0)


def _named(images: Any, labels: Any) -> str:
  names = class_lists.of(images)
  told = [repr(names[label]) if names else str(label) for label in labels[:_SHOWN]]
  more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
  return f"class{'es' if len(labels) > 1 else ''} {', '.join(told)}{more}"
