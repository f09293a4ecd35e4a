# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image sets of a protocol from one word: a folder, a table, or the name of a data set.

    photos/CLASS/...                        a set, of which a share is for testing
    photos/train/CLASS/..., photos/test/..  a training and a test set
    photos.csv, train.parquet               the same, by whether there is a column `split`
    photos.csv with a column `time`         a set for each year or month (`periods`)
    photos/2012/CLASS/..., photos/2013/..   the same
    "mnist", "nevis/cifar10"                a prepared TFDS data set: its split "test" is tested on
"""

from __future__ import annotations

from collections.abc import Mapping
import functools
import pathlib
from typing import Any

from absl import logging
import numpy as np

from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.images import tfds_source
from suite.data.own import image_folders
from suite.data.own import image_sources
from suite.data.own import labeled_table

TABLES = (".csv", ".tsv", ".parquet")
_TESTED = ("test", "validation", "dev")  # The first one that there is.
_SEED = 0  # Of which images are for testing, and which of base classes come in a sequence.


def pair(path: str, *, test_share: float = 0.3) -> tuple[Any, Any]:
  """The training and the test set.

  Args:
    path: a folder, a table or a prepared data set; see the module.
    test_share: of each class, where there is one set.
  """
  found = _sets(path)
  if not isinstance(found, Mapping):
    return image_set.stratified_split(found, test_share, seed=_SEED)
  tested = next((split for split in _TESTED if split in found), None)
  if tested is None or "train" not in found:
    raise ValueError(f"{path} has the splits {', '.join(found)}; needed are train, and test or "
                     "validation. Rename them, or give one set without splits.")
  unused = [split for split in found if split not in ("train", tested)]
  if unused:
    logging.warning("%s: train is trained on and %s is tested on; not used: %s.", path, tested,
                    ", ".join(unused))
  return found["train"](), found[tested]()


def periods(path: str) -> dict[str, Any]:
  """A set for each year or month of a table, or for each folder that holds folders of classes."""
  place, without = pathlib.Path(path).expanduser(), None
  if place.is_dir():
    inner = [one for one in _folders(place) if _folders(one)]
    if len(inner) > 1:
      return {one.name: image_sources.from_directory(one) for one in inner}
  elif place.suffix.lower() in TABLES and place.is_file():
    for by in labeled_table.PERIODS:
      try:
        found = image_sources.from_csv(place, by=by, columns={"split": None})
      except ValueError as error:
        if "no 'time'" not in str(error):
          raise
        without = error
        break
      if isinstance(found, image_sources.SplitSets) and len(found) > 1:
        return dict(found)
  raise ValueError(
      f"{path} has no dates, and buckets come in the order of time. Give a table with a column "
      "'time' of two months or more, a folder with a folder for each period (photos/2012/cat/...), "
      "or a prepared timeline (docs/own/data.md).") from without


def named_files(path: pathlib.Path) -> list[pathlib.Path]:
  """The image files that a table names by its column `path`; [] of another file."""
  if path.suffix.lower() not in TABLES:
    return []
  try:
    found = labeled_table.read(path, None, labeled_table.Columns(), None, labeled_table.LabelForm())
  except (ValueError, OSError):  # Another kind of table.
    return []
  return [one for one in found.files if isinstance(one, pathlib.Path)]


def base(path: str) -> image_set.ImageSet:
  """The base classes' training images of a sequence: half of the images of half of the classes."""
  return _sequence_parts(path)[0]


def sequence_images(path: str) -> image_set.ImageSet:
  """The images of a sequence: all that are not in `base`."""
  return _sequence_parts(path)[1]


def _sequence_parts(path: str) -> tuple[image_set.ImageSet, image_set.ImageSet]:
  found = _sets(path)
  whole = found["train"]() if isinstance(found, Mapping) and "train" in found else found
  if not isinstance(whole, image_set.ImageSet) or whole.kind != tasks.SINGLE_LABEL:
    raise ValueError(f"{path} is {whole!r}; a sequence is made of images in memory with one label "
                     "each. Give a smaller set, with one label an image.")
  if whole.class_names is None:  # By which the base classes are found.
    whole = whole.with_class_names([str(label) for label in range(whole.num_classes)])
  half, _ = image_set.stratified_split(whole, 0.5, seed=_SEED)
  assert isinstance(half, image_set.ImageSet)
  known = half.of_classes(range(max(1, whole.num_classes // 2)))
  return known, whole.subset(np.flatnonzero(~np.isin(whole.ids, known.ids)))


def _sets(path: str) -> Any:
  """A set, or what reads the set of each split, by the suite's names of splits."""
  place = pathlib.Path(path).expanduser()
  if place.exists():
    return own_sets(place)
  if place.suffix.lower() in TABLES or path.startswith((".", "/", "~")):
    raise FileNotFoundError(f"There is no file or folder {path!r}. Give a folder with a folder of "
                            "images for each class, a table, or the name of a prepared data set.")
  try:
    tfds_source.check_prepared(path)
  except (ValueError, OSError) as error:
    raise FileNotFoundError(f"There is no file or folder {path!r} here. {error}") from error
  splits = sorted(tfds_source.num_examples(path))
  tested = next((split for split in _TESTED if split in splits), None)
  if tested is None or len(splits) == 1:
    return image_sources.from_tfds(path, "+".join(splits))
  return {"train": functools.partial(image_sources.from_tfds, path, "+".join(
      split for split in splits if split != tested)),
          tested: functools.partial(image_sources.from_tfds, path, tested)}


def own_sets(place: pathlib.Path) -> Any:
  """A set of a folder or a table, or what reads the set of each of its splits."""
  if place.is_dir():
    inner = {one.name: one for one in _folders(place)}
    if inner and all(map(labeled_table.is_split, inner)):
      ours = labeled_table.our_names(str(place), list(inner))
      return {ours[name]: functools.partial(image_sources.from_directory, one)
              for name, one in inner.items()}
    return image_sources.from_directory(place)
  if place.suffix.lower() not in TABLES:
    raise ValueError(f"{place} is no table: the names of tables end with {', '.join(TABLES)}. Or "
                     "give a folder of images, or the name of a prepared data set.")
  found = image_sources.from_csv(place)
  return found if not isinstance(found, image_sources.SplitSets) else {
      split: functools.partial(dict.__getitem__, found, split) for split in found}


def _folders(place: pathlib.Path) -> list[pathlib.Path]:
  return [one for one in sorted(place.iterdir())
          if one.is_dir() and not image_folders.is_debris(one.name)]
