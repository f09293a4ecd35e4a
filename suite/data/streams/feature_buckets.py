# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets of features that `suite data features` has written, in place of buckets of images.

Names, splits, labels and ids are those of the images; the features of an image are found by its id
in the split that has the name of the bucket.
"""

from __future__ import annotations

import dataclasses
import pathlib

from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import feature_set
from suite.data.images import prepared_features
from suite.data.streams import buckets as buckets_lib


def load(buckets: buckets_lib.Buckets, features: str, size: int | None = None, *,
         subset: bool = False) -> buckets_lib.Buckets:
  """The same buckets with features in place of images.

  Args:
    buckets: e.g. `clear_buckets.load("clear10/images")` or `drifting_buckets.load()`.
    features: the folder that `suite data features` wrote for their data set.
    size: width of the features, which a rehearsal stands in for if there are none yet.
    subset: whether images without features are left out; else they are an error.
  """
  folder = prepared_features.Folder(
      features, size, subset,
      f"suite data features {buckets.task.key} --encoder ENCODER --out {features}")
  known = {} if folder.stands_in else feature_set.read_manifest(pathlib.Path(features))["splits"]

  def part(images: examples.ExampleSet, bucket: str, apart: str = "") -> feature_set.FeatureSet:
    # The images of a test archive are a separate split, and unlabelled images may be one.
    is_apart = apart in known and (apart in images.name or apart.startswith("unlabelled"))
    return prepared_features.of(images, folder, apart if is_apart else bucket)

  def joined() -> tuple[buckets_lib.Buckets, buckets_lib.Buckets]:
    found = []
    for bucket in buckets:
      train = test = part(bucket.train, bucket.name)
      if bucket.test is not bucket.train:
        test = part(bucket.test, bucket.name, f"test_{bucket.name}")
      unlabelled = bucket.unlabelled and part(
          bucket.unlabelled, bucket.name, f"unlabelled_{bucket.name}")
      found.append(buckets_lib.Bucket(bucket.name, train, test, unlabelled))
    return dataclasses.replace(buckets, buckets=tuple(found)), buckets

  # The buckets are kept beside: as long as they are, no others have their id.
  return rehearsal.shared(__name__, (id(buckets), features, size, subset), joined)[0]
