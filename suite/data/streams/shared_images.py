# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images that one task trains on and another is scored on.

Data sets of one stream overlap: Office-Caltech is cut from Caltech-256, Stanford Dogs from
ImageNet. A learner that stores its training images could have test images before their test. So the
validation and test images of a task are removed from train and dev of all others, and its test
images from their validation, too (the paper removes duplicates to make splits and tasks disjoint).
Builders write digests of the stored bytes beside the records
(`tfds_builders/content.py`): copies of one file are found, images that were encoded again are not.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Dict, Iterable, Optional, Tuple

from absl import logging
import numpy as np

from suite.contracts import examples
from suite.data.images import image_set
from suite.data.images import tfds_source


def digests(dataset: str, split: str, *, data_dir: Optional[str] = None) -> np.ndarray:
  """uint64 [N], sorted; empty if the data set is not prepared, or by an older builder."""
  from tfds_builders import content  # pylint: disable=import-outside-toplevel
  path = pathlib.Path(tfds_source.folder(dataset, data_dir=data_dir), content.FILE)
  if not path.is_file():
    return np.zeros(0, np.uint64)
  with np.load(path, allow_pickle=False) as saved:
    return saved[split] if split in saved.files else np.zeros(0, np.uint64)


# Split -> the splits of other tasks whose images are removed from it.
_REMOVED = {"train": ("validation", "test"), "dev": ("validation", "test"),
            "validation": ("test",)}


class ScoredImages:
  """The digests of the images that a stream's data sets are scored on, read at the first access."""

  def __init__(self, datasets: Iterable[str], *, data_dir: Optional[str] = None):
    self._names, self._data_dir = tuple(dict.fromkeys(datasets)), data_dir
    self._read = functools.cache(functools.partial(digests, data_dir=data_dir))

  def of_others(self, dataset: str, split: str) -> np.ndarray:
    """Digests of images of other data sets that a split must not have: uint64, sorted."""
    others = [self._read(name, scored) for name in self._names if name != dataset
              for scored in _REMOVED[split]]
    return np.unique(np.concatenate(others)) if others else np.zeros(0, np.uint64)

  def drop_from(self, images: examples.ExampleSet, dataset: str, split: str
                ) -> Tuple[examples.ExampleSet, Dict[str, int]]:
    """(the images that no other data set is scored on, {"removed": number of the others}).

    A `StreamedSet` is returned unchanged, with {"removed": 0, "kept": number}.
    """
    shared = np.intersect1d(digests(dataset, split, data_dir=self._data_dir),
                            self.of_others(dataset, split))
    if not shared.size:
      return images, {"removed": 0}
    if not isinstance(images, image_set.ImageSet):
      logging.warning("%s %s is too large for memory: %d images that other tasks of the stream are "
                      "scored on stay in it", dataset, split, shared.size)
      return images, {"removed": 0, "kept": int(shared.size)}
    keep = ~_holds(dataset, split, shared, self._data_dir)
    num_shared = int(np.sum(~keep))
    logging.info("%s %s: %d images left out that other tasks of the stream are scored on",
                 dataset, split, num_shared)
    return images.subset(np.flatnonzero(keep)), {"removed": num_shared}


def _holds(dataset: str, split: str, wanted: np.ndarray, data_dir: Optional[str]) -> np.ndarray:
  """Whether each stored image has one of the wanted digests: bool [N]."""
  from tfds_builders import content  # pylint: disable=import-outside-toplevel
  source = tfds_source.open_split(dataset, split, data_dir=data_dir)
  stored = source.examples().map(lambda example: example["image"]).batch(1024)
  found = [content.digest(image) for batch in stored.as_numpy_iterator() for image in batch]
  return np.isin(np.array(found, np.uint64), wanted)
