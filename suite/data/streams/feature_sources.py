# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The sources of images to extract features from: prepared data sets, series of them, own images.

A source gives its images part by part, each with an id that is unique within its split.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
from typing import Any, Protocol

import numpy as np

from suite.compute import seeds
from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.images import sampling
from suite.data.images import tfds_source
from suite.data.own import named_data
from suite.data.streams import drifting_buckets


class FeatureSource(Protocol):
  """Images by split.

  Attributes:
    name: of the data set or series.
    version: differs between sources of one name.
    splits: {name: N}.
    are_own: whether the images are the user's, which may change: the features of each belong to its
      bytes.
  """

  name: str
  version: str
  splits: dict[str, int]
  are_own: bool

  def part(self, split: str, first: int, end: int) -> image_set.ImageSet:
    """Images first ... end - 1 of a split, in their stored order."""


def find(name: str, *, data_dir: str | None = None) -> FeatureSource:
  """A series by its name ("drifting/cifar10"), a folder or table of images, or a prepared data set.

  A folder has a folder for each class, or such folders in train/, test/, ...; a table is a .csv,
  .tsv or .parquet.
  """
  if name in drifting_buckets.SERIES:
    return _Series(name, data_dir)
  path = pathlib.Path(name).expanduser()
  is_prepared = next(path.glob("**/dataset_info.json"), None) if path.is_dir() else None
  if path.is_file() or path.suffix in named_data.TABLES or path.is_dir() and is_prepared is None:
    return _Own(path)
  return _DataSet(name, data_dir)


class Sample:
  """A source of at most `num` images of each split of another one, drawn by the seed 0."""

  def __init__(self, source: FeatureSource, num: int):
    self.name, self.version, self._source, self._num = source.name, source.version, source, num
    self.are_own = source.are_own
    self.splits = {split: min(num, size) for split, size in source.splits.items()}

  def part(self, split: str, first: int, end: int) -> image_set.ImageSet:
    size = self._source.splits[split]
    if size <= self._num:
      return self._source.part(split, first, end)
    rows = sampling.draw_without_replacement(
        size, self._num, seeds.derive(0, "sample of features", split))[first:end]
    return self._source.part(split, int(rows[0]), int(rows[-1]) + 1).subset(rows - rows[0])


class _DataSet:
  """A prepared data set, its images read shard by shard."""

  are_own = False

  def __init__(self, name: str, data_dir: str | None):
    self._data_dir, self.name = data_dir, name
    tfds_source.check_prepared(name, data_dir=data_dir)
    self.version = tfds_source.version(name, data_dir=data_dir)
    self.splits = {split: num for split, num in sorted(tfds_source.num_examples(
        name, data_dir=data_dir).items()) if num}
    features = tfds_source.open_split(
        name, next(iter(self.splits)), data_dir=data_dir).builder.info.features
    if "image" not in features:
      raise ValueError(f"Data set {name!r} has no images, but {', '.join(sorted(features))}. Name "
                       "one that has.")

  def part(self, split: str, first: int, end: int) -> image_set.ImageSet:
    source = tfds_source.open_split(self.name, f"{split}[{first}:{end}]", data_dir=self._data_dir)
    encoded, _, ids = source.read()
    if not source.has_id:  # As a whole set counts them.
      ids = [str(first + i) for i in range(len(encoded))]
    return image_set.ImageSet.from_encoded(
        f"{self.name} {split}", encoded, np.zeros(len(encoded), np.int64),
        kind=tasks.SINGLE_LABEL, num_classes=1, ids=ids)


class _Own:
  """A folder or a table of images; without splits, its split is "all"."""

  are_own = True

  def __init__(self, path: pathlib.Path):
    self.name = path.resolve().name
    found = named_data.own_sets(path)
    self._sets: dict[str, image_set.ImageSet] = {"all": found} if isinstance(
        found, image_set.ImageSet) else {split: read() for split, read in found.items()}
    digest = hashlib.sha256()
    for split, images in self._sets.items():
      digest.update(json.dumps([split, images.ids.tolist(), images.digests()]).encode())
    self.version = digest.hexdigest()
    self.splits = {split: images.size for split, images in self._sets.items()}

  def part(self, split: str, first: int, end: int) -> image_set.ImageSet:
    return self._sets[split].subset(np.arange(first, end))


class _Series:
  """A drifting series; its buckets, bucket 0 included, are the splits."""

  are_own = False

  def __init__(self, name: str, data_dir: str | None):
    self.name, self._series = name, drifting_buckets.find(name)
    facts = {**dataclasses.asdict(self._series),
             "version": tfds_source.version(self._series.data, data_dir=data_dir)}
    self.version = json.dumps(facts, sort_keys=True)
    self._sets: list[Any] = drifting_buckets.every_bucket(self._series, data_dir=data_dir)
    self.splits = {drifting_buckets.name(number): images.size
                   for number, images in enumerate(self._sets) if images is not None}

  def part(self, split: str, first: int, end: int) -> image_set.ImageSet:
    number = int(split.rsplit("_", 1)[1])
    return self._sets[number].subset(np.arange(first, end))
