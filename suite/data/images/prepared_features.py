# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features that `suite data features` has written, in place of the images of a data set.

Labels, names of classes and ids are those of the data set; the features of an image are found by
its id. Features may have been written of a part of the images: `subset` then leaves out the others,
which is said in the set's name and never happens unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import pathlib
from typing import NamedTuple

from absl import logging
import numpy as np

from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import class_lists
from suite.data.images import feature_set
from suite.data.images import tfds_source


class Folder(NamedTuple):
  """A folder of features.

  Attributes:
    path: that `suite data features` wrote.
    size: width of the features, which a rehearsal stands in for if there are none yet.
    subset: whether images without features are left out; else they are an error.
    command: the command that writes them, for a rehearsal.
  """

  path: str
  size: int | None = None
  subset: bool = False
  command: str = "suite data features NAME --encoder ENCODER --out DIR"

  @property
  def stands_in(self) -> bool:
    """Whether zeros are taken, in a rehearsal without features; the rehearsal reports it."""
    rehearsed = rehearsal.current()
    if rehearsed is None or self.size is None or pathlib.Path(self.path).exists():
      return False
    rehearsed.missing[self.path] = "no features", self.command
    return True


def folder(name: str, path: str | None, size: int | None, subset: bool = False
           ) -> Folder | None:
  """The folder of the features of a data set; None if there is no path."""
  return None if path is None else Folder(
      path, size, subset, f"suite data features {name} --encoder ENCODER --out {path}")


class Labels(NamedTuple):
  """What a set has besides its images; as of `image_set.ImageSet`.

  digests: those of its images, where they may have changed since features were written.
  """

  name: str
  labels: np.ndarray
  ids: Sequence[str] | np.ndarray
  kind: str
  num_classes: int
  class_names: class_lists.ClassNames = None
  digests: Callable[[], Sequence[str]] | None = None


def read(name: str, split: str, folder: Folder, *, data_dir: str | None = None
         ) -> feature_set.FeatureSet:
  """The features of a prepared data set's split, or of several, "train+dev" (`with_features`)."""
  parts = []
  for one in split.split("+"):
    source = tfds_source.open_split(name, one, data_dir=data_dir)
    _, labels, ids = source.read()
    parts.append(with_features(
        Labels(source.title, labels, ids, source.kind, source.num_classes, source.class_names),
        folder, one.partition("[")[0]))
  if len(parts) == 1:
    return parts[0]
  ids = [one for part in parts for one in part.ids]
  if len(set(ids)) < len(ids):  # As `tfds_source` joins them.
    ids = [f"{one}/{name_}" for one, part in zip(split.split("+"), parts) for name_ in part.ids]
  return feature_set.FeatureSet.from_arrays(
      " + ".join(part.name for part in parts),
      rehearsal.concatenated([part.features for part in parts]),
      np.concatenate([part.labels for part in parts]), kind=parts[0].kind,
      num_classes=parts[0].num_classes, ids=ids, class_names=parts[0].class_names)


def train_and_test(name: str, features: str, *, size: int | None = None, subset: bool = False,
                   data_dir: str | None = None
                   ) -> tuple[feature_set.FeatureSet, feature_set.FeatureSet]:
  """(all other splits, the split "test") of a prepared data set, for `buckets.of_classes`.

  Args:
    name: of the data set, "nevis/cifar10".
    features, size, subset: as of `Folder`.
    data_dir: of TFDS.
  """
  others = sorted(set(tfds_source.num_examples(name, data_dir=data_dir)) - {"test"})
  found = folder(name, features, size, subset)
  assert found is not None
  return (read(name, "+".join(others), found, data_dir=data_dir),
          read(name, "test", found, data_dir=data_dir))


def of(images: examples.ExampleSet, folder: Folder, split: str | None = None
       ) -> feature_set.FeatureSet:
  """The features of a set of images; of a split of the folder, if one is given."""
  return with_features(Labels(images.name, images.labels, images.ids, images.kind,
                              images.num_classes, class_lists.of(images),
                              getattr(images, "digests", None)), folder, split)


def with_features(known: Labels, folder: Folder, split: str | None = None
                  ) -> feature_set.FeatureSet:
  """Finds the features of a set by ids.

  Raises:
    ValueError: images have none, unless `folder.subset`; or none has.
  """
  ids, name = np.asarray(known.ids), known.name
  if folder.stands_in:
    features = rehearsal.zeros([len(ids), folder.size or 1], np.float32)
    kept = np.arange(len(ids))
  else:
    path = pathlib.Path(folder.path)
    splits = [split] if split else sorted(feature_set.read_manifest(path)["splits"])
    parts = [feature_set.read_split(path, one) for one in splits]
    of_parts = [one for part in parts for one in part.ids]
    places = {one: place for place, one in enumerate(of_parts)}  # The row of each id.
    if len(places) < len(of_parts):
      raise ValueError(
          f"In {folder.path} {len(of_parts) - len(places)} ids stand in several splits "
          f"({', '.join(splits)}): an id does not say which image is meant. Write the features of "
          "one split, or of images with different ids.")
    stored = np.concatenate([part.features for part in parts])
    kept = np.array([i for i, one in enumerate(ids) if one in places], np.int64)
    missing = len(ids) - len(kept)
    if missing and not (folder.subset and len(kept)):
      lost = next(one for one in ids if one not in places)
      where = f", split {split!r}" if split else ""
      raise ValueError(
          f"{missing} of the {len(ids)} images of {name!r} have no features in {folder.path}{where}"
          f"; the first is {str(lost)!r}. They are of another data set or series than "
          f"{feature_set.read_manifest(path)['data_set']!r}, or were left out by --sample. Write "
          "features of this one, or set subset = True to leave out images that have none.")
    if missing:
      name = f"{name}, {len(kept)} of {len(ids)} images"
      logging.info("%s have features", name)
    rows = [places[one] for one in ids[kept]]
    features = stored[rows]
    written = [one for part in parts for one in part.digests]
    if known.digests is not None and len(written) == len(stored):
      now = known.digests()
      changed = [ids[i] for i, row in zip(kept, rows) if now[i] != written[row]]
      if changed:
        raise ValueError(
            f"{len(changed)} of the {len(ids)} images of {name!r} have changed since their "
            f"features were written to {folder.path}; the first is {str(changed[0])!r}. Write the "
            "features of the images as they are to another folder, with the same command.")
  return feature_set.FeatureSet.from_arrays(
      name, features, known.labels[kept], kind=known.kind, num_classes=known.num_classes,
      ids=ids[kept], class_names=known.class_names)
