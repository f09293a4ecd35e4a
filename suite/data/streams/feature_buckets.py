# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets of features that `suite data features` has written, in place of buckets of images.

Names, splits, labels and ids are those of the images; the features of an image are found by its id
in the split that has the name of the bucket.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, Dict, Optional

import numpy as np

from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import class_lists
from suite.data.images import feature_set
from suite.data.streams import buckets as buckets_lib


def load(buckets: buckets_lib.Buckets, features: str, size: Optional[int] = None
         ) -> buckets_lib.Buckets:
  """The same buckets with features in place of images.

  Args:
    buckets: e.g. `clear_buckets.load("clear10/images")` or `drifting_buckets.load()`.
    features: the folder that `suite data features` wrote for their data set.
    size: width of the features, which a rehearsal stands in for if there are none yet.
  """
  rehearsed = rehearsal.current()
  if rehearsed is not None and size is not None and not pathlib.Path(features).exists():
    rehearsed.missing[features] = (
        "no features", f"suite data features {buckets.task.key} --encoder ENCODER --out {features}")
    # The buckets with zeros for features.
    def zeros(images: Any) -> feature_set.FeatureSet:
      return feature_set.FeatureSet.from_arrays(
          images.name, np.zeros([images.size, size], np.float32), images.labels, kind=images.kind,
          num_classes=images.num_classes, ids=images.ids, class_names=images.class_names)

    found = []
    for bucket in buckets:
      train = zeros(bucket.train)
      test = train if bucket.test is bucket.train else zeros(bucket.test)
      found.append(buckets_lib.Bucket(bucket.name, train, test,
                                      bucket.unlabelled and zeros(bucket.unlabelled)))
    return dataclasses.replace(buckets, buckets=tuple(found))
  found, folder = [], pathlib.Path(features)
  for bucket in buckets:
    train = test = _with_features(bucket.train, bucket.name, folder)
    if bucket.test is not bucket.train:
      # The images of a test archive are a separate split, and unlabelled images may be one.
      apart = f"test_{bucket.name}"
      is_apart = (apart in feature_set.read_manifest(folder)["splits"]
                  and apart in bucket.test.name)
      test = _with_features(bucket.test, apart if is_apart else bucket.name, folder)
    unlabelled = None
    if bucket.unlabelled is not None:
      apart = f"unlabelled_{bucket.name}"
      is_apart = apart in feature_set.read_manifest(folder)["splits"]
      unlabelled = _with_features(bucket.unlabelled, apart if is_apart else bucket.name, folder)
    found.append(buckets_lib.Bucket(bucket.name, train, test, unlabelled))
  return dataclasses.replace(buckets, buckets=tuple(found))


def _with_features(images: examples.ExampleSet, split: str, folder: pathlib.Path
                   ) -> feature_set.FeatureSet:
  stored = feature_set.read_split(folder, split)
  places: Dict[str, int] = {name: place for place, name in enumerate(stored.ids)}
  missing = [name for name in images.ids if name not in places]
  if missing:
    raise ValueError(
        f"{len(missing)} of the {images.size} images of {images.name!r} have no features in "
        f"{folder}, split {split!r}; the first is {missing[0]!r}. They are of another "
        f"data set or series: {feature_set.read_manifest(folder)['data_set']!r}. "
        "Write features of this one.")
  rows = np.asarray([places[name] for name in images.ids], np.int64)
  return feature_set.FeatureSet.from_arrays(
      images.name, stored.features[rows], images.labels, kind=images.kind,
      num_classes=images.num_classes, ids=images.ids, class_names=class_lists.of(images))
