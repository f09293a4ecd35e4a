# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images that one task trains on and another is tested on.

Data sets of one stream overlap: Office-Caltech is cut from Caltech-256, Stanford Dogs from
ImageNet. A learner that stores its training images could have test images before their test, so
they are removed from the training and validation splits of all other tasks (the paper removes
duplicates, too). Builders write digests of the stored bytes beside the records
(`tfds_builders/content.py`): copies of one file are found, images that were encoded again are not.
"""

from __future__ import annotations

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


class TestImages:
  """The digests of all test images of a stream's data sets, read at the first access."""

  __test__ = False  # Not a test case, in spite of its name.

  def __init__(self, datasets: Iterable[str], *, data_dir: Optional[str] = None):
    self._names, self._data_dir = tuple(dict.fromkeys(datasets)), data_dir
    self._tests: Optional[Dict[str, np.ndarray]] = None

  def of_others(self, dataset: str) -> np.ndarray:
    """Digests of the test images of every other data set: uint64, sorted."""
    if self._tests is None:
      self._tests = {name: digests(name, "test", data_dir=self._data_dir) for name in self._names}
    others = [found for name, found in self._tests.items() if name != dataset]
    return np.unique(np.concatenate(others)) if others else np.zeros(0, np.uint64)

  def drop_from(self, images: examples.ExampleSet, dataset: str, split: str
                ) -> Tuple[examples.ExampleSet, Dict[str, int]]:
    """(the images that no other data set is tested on, {"removed": number of the others}).

    A `StreamedSet` is returned unchanged, with {"removed": 0, "kept": number}.
    """
    shared = np.intersect1d(digests(dataset, split, data_dir=self._data_dir),
                            self.of_others(dataset))
    if not shared.size:
      return images, {"removed": 0}
    if not isinstance(images, image_set.ImageSet):
      logging.warning("%s %s is too large for memory: %d images that other tasks of the stream are "
                      "tested on stay in it", dataset, split, shared.size)
      return images, {"removed": 0, "kept": int(shared.size)}
    keep = ~_holds(dataset, split, shared, self._data_dir)
    num_shared = int(np.sum(~keep))
    logging.info("%s %s: %d images left out that other tasks of the stream are tested on",
                 dataset, split, num_shared)
    return images.subset(np.flatnonzero(keep)), {"removed": num_shared}


def _holds(dataset: str, split: str, wanted: np.ndarray, data_dir: Optional[str]) -> np.ndarray:
  """Whether each stored image has one of the wanted digests: bool [N]."""
  from tfds_builders import content  # pylint: disable=import-outside-toplevel
  source = tfds_source.open_split(dataset, split, data_dir=data_dir)
  stored = source.examples().map(lambda example: example["image"]).batch(1024)
  found = [content.digest(image) for batch in stored.as_numpy_iterator() for image in batch]
  return np.isin(np.array(found, np.uint64), wanted)
